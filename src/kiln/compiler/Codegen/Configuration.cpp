#include "kiln/compiler/Codegen/Configuration.h"

using namespace mlir;

namespace kiln {

static constexpr StringRef kConfigurationAttr = "kiln.configuration";

Operation *findConfigured(func::FuncOp function) {
  Operation *configured = nullptr;
  function.walk([&](Operation *op) {
    if (op->hasAttr(kConfigurationAttr))
      configured = op;
  });
  return configured;
}

FailureOr<std::optional<TileConfig>> takeConfiguration(func::FuncOp function) {
  Operation *op = findConfigured(function);
  if (!op)
    return std::optional<TileConfig>();
  auto text = op->getAttrOfType<StringAttr>(kConfigurationAttr);
  if (!text)
    return op->emitOpError("has a '") << kConfigurationAttr << "' that is no text, as in \"tile_config_...\"";
  Result<TileConfig> config = TileConfig::parse(text.getValue());
  if (!config.ok())
    return function.emitOpError("has a wrong configuration: ") << StringRef(config.status().message());
  op->removeAttr(kConfigurationAttr);
  return std::optional(*config);
}

} // namespace kiln
