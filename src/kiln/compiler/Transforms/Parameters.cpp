#include "kiln/compiler/Transforms/Parameters.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/CompilerContext.h"
#include "kiln/compiler/Transforms/Transforms.h"
#include "kiln/schema/parameters/irpa_writer.h"
#include "kiln/schema/parameters/parameter_file.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_EXPORTPARAMETERSPASS
#define GEN_PASS_DEF_ZEROFILLELIDEDPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace {

// The bytes of elements as memory has them; nothing where they would have to be converted.
std::optional<ArrayRef<char>> rawBytes(ElementsAttr elements) {
  Type type = elements.getElementType();
  if (type.isIndex() || !type.isIntOrFloat() || type.getIntOrFloatBitWidth() % 8 != 0 || elements.isSplat())
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return dense.getRawData();
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? std::optional(blob->getData()) : std::nullopt;
}

class Exporter {
public:
  Exporter(ModuleOp module, const ParameterExport &options) : module(module), options(options), symbols(module) {}

  LogicalResult run() {
    // What the program takes from this scope already is another's.
    module.walk([&](Operation *op) {
      for (NamedAttribute attr : op->getAttrs())
        if (auto parameter = dyn_cast<Flow::NamedParameterAttr>(attr.getValue());
            parameter && parameter.getScopeName() == options.scope)
          keys.insert(parameter.getKey().getValue());
    });
    SmallVector<arith::ConstantOp> constants;
    module.walk([&](arith::ConstantOp op) { constants.push_back(op); });
    for (arith::ConstantOp op : constants)
      if (auto elements = dyn_cast<ElementsAttr>(op.getValue()); elements && isa<RankedTensorType>(elements.getType()))
        if (std::optional<ArrayRef<char>> bytes = rawBytes(elements);
            bytes && static_cast<int64_t>(bytes->size()) >= options.minimumBytes &&
            elements.getNumElements() >= options.minimumElements)
          replace(op, elements, *bytes);
    if (options.path.empty())
      return success();
    Status status = writeIrpa(options.path, contents);
    return status.ok() ? success() : module.emitError(status.message());
  }

private:
  void replace(arith::ConstantOp op, ElementsAttr elements, ArrayRef<char> bytes) {
    Flow::NamedParameterAttr &parameter = known[elements];
    if (!parameter) {
      MLIRContext *context = module.getContext();
      parameter =
          Flow::NamedParameterAttr::get(context, StringAttr::get(context, options.scope),
                                        StringAttr::get(context, newKey(nameOf(op, elements))), elements.getType());
      ParameterContents one;
      one.key = parameter.getKey().str();
      one.length = bytes.size();
      one.bytes = std::as_bytes(std::span(bytes.data(), bytes.size()));
      contents.push_back(std::move(one));
    }
    OpBuilder builder(op);
    Value value;
    if (options.asGlobals)
      value = Util::GlobalLoadOp::create(builder, op.getLoc(), op.getType(), globalOf(parameter, op.getLoc()));
    else
      value = Flow::TensorParameterOp::create(builder, op.getLoc(), parameter);
    op.replaceAllUsesWith(value);
    op.erase();
  }

  // What the program's source calls it, if anything.
  static StringRef nameOf(arith::ConstantOp op, ElementsAttr elements) {
    StringRef known;
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
      known = resource.getRawHandle().getKey();
    else if (auto name = dyn_cast<NameLoc>(op.getLoc()))
      known = name.getName();
    return known.empty() ? "constant" : known;
  }

  std::string newKey(StringRef name) {
    std::string key = name.str();
    for (int i = 1; !keys.insert(key).second; ++i)
      key = (name + "_" + Twine(i)).str();
    return key;
  }

  StringRef globalOf(Flow::NamedParameterAttr parameter, Location loc) {
    Util::GlobalOp &global = globals[parameter];
    if (!global) {
      OpBuilder builder(module.getContext());
      global = Util::GlobalOp::create(builder, loc, parameter.getKey().getValue(), parameter.getType());
      global.setInitialValueAttr(parameter);
      symbols.insert(global, lastGlobal ? std::next(lastGlobal->getIterator()) : module.getBody()->begin());
      lastGlobal = global;
    }
    return global.getSymName();
  }

  ModuleOp module;
  const ParameterExport &options;
  SymbolTable symbols;
  std::vector<ParameterContents> contents;
  DenseMap<Attribute, Flow::NamedParameterAttr> known;
  DenseMap<Attribute, Util::GlobalOp> globals;
  Util::GlobalOp lastGlobal; // they come first, in the order of their use
  llvm::StringSet<> keys;
};

class ExportParametersPass : public impl::ExportParametersPassBase<ExportParametersPass> {
public:
  explicit ExportParametersPass(const CompilerContext &context) : context(&context) {}

  void runOnOperation() override {
    ParameterExport options;
    std::tie(options.scope, options.path) = splitScope(context->options.parameterExport);
    options.minimumBytes = context->options.parameterExportMinimumSize;
    if (failed(exportParameters(getOperation(), options)))
      signalPassFailure();
  }

private:
  const CompilerContext *context;
};

class ZeroFillElidedPass : public impl::ZeroFillElidedPassBase<ZeroFillElidedPass> {
public:
  void runOnOperation() override {
    AttrTypeReplacer replacer;
    replacer.addReplacement([](DenseResourceElementsAttr attr) -> std::optional<Attribute> {
      if (!attr.getRawHandle().getKey().starts_with("__elided__") || attr.getRawHandle().getBlob())
        return std::nullopt;
      return Attribute(Builder(attr.getContext()).getZeroAttr(attr.getType()));
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true);
  }
};
} // namespace

LogicalResult exportParameters(ModuleOp module, const ParameterExport &options) {
  return Exporter(module, options).run();
}

std::unique_ptr<Pass> createExportParametersPass(const CompilerContext &context) {
  return std::make_unique<ExportParametersPass>(context);
}

} // namespace kiln
