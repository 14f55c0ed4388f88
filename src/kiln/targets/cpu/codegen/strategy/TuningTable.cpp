#include "kiln/targets/cpu/codegen/strategy/TuningTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace kiln {

bool TuningTable::Range::holds(int64_t extent) const {
  if (ShapedType::isDynamic(extent)) // May be anything, so only a row without a limit is meant for it.
    return most < 0;
  return extent >= least && (most < 0 || extent <= most);
}

FailureOr<TuningTable::Row> TuningTable::parseRow(DictionaryAttr attr, Location loc) {
  Row row;
  auto error = [&](const Twine &message) { return emitError(loc) << "a row of hal.tuning " << message; };
  for (NamedAttribute entry : attr) {
    StringRef key = entry.getName();
    Attribute value = entry.getValue();
    auto text = dyn_cast<StringAttr>(value);
    auto list = dyn_cast<ArrayAttr>(value);
    if (key == "strategy" && text) {
      row.strategy = text.str();
    } else if (key == "architecture" && text) {
      row.architecture = text.str();
    } else if (key == "features" && list && llvm::all_of(list, llvm::IsaPred<StringAttr>)) {
      for (StringRef feature : list.getAsValueRange<StringAttr>())
        row.features.push_back(feature.str());
    } else if (key == "types" && list && llvm::all_of(list, llvm::IsaPred<TypeAttr>)) {
      for (Type type : list.getAsValueRange<TypeAttr>())
        row.types.push_back(type);
    } else if ((key == "m" || key == "n" || key == "k") && list && llvm::all_of(list, llvm::IsaPred<IntegerAttr>) &&
               (list.size() == 1 || list.size() == 2)) {
      Range &range = key == "m" ? row.m : key == "n" ? row.n : row.k;
      range.least = cast<IntegerAttr>(list[0]).getInt();
      range.most = list.size() == 2 ? cast<IntegerAttr>(list[1]).getInt() : -1;
    } else if (key == "configuration" && text) {
      Result<TileConfig> config = TileConfig::parse(text.getValue());
      if (!config.ok())
        return error("has a wrong configuration: " + StringRef(config.status().message()));
      row.config = *config;
    } else {
      return error(
          "has an entry '" + key +
          "' that is not one of strategy, architecture, features, types, m, n, k = [least, most], configuration");
    }
  }
  if (row.strategy.empty() || !attr.get("configuration"))
    return error("needs a strategy and a configuration");
  return row;
}

FailureOr<TuningTable> TuningTable::load(MLIRContext *context) {
  TuningTable table;
  for (const TuningSource &source : tuningSources()) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(source.text, ParserConfig(context, /*verifyAfterParse=*/false), source.name);
    auto rows = module ? (*module)->getAttrOfType<ArrayAttr>("hal.tuning") : ArrayAttr();
    if (!rows)
      return emitError(FileLineColLoc::get(context, source.name, 1, 1))
             << "a tuning file must be a module with its rows in the attribute hal.tuning";
    for (Attribute entry : rows) {
      auto attr = dyn_cast<DictionaryAttr>(entry);
      if (!attr)
        return emitError(module->getLoc()) << "a row of hal.tuning must be a dictionary";
      FailureOr<Row> row = parseRow(attr, module->getLoc());
      if (failed(row))
        return failure();
      table.rows.push_back(std::move(*row));
    }
  }
  return table;
}

const TileConfig *TuningTable::find(const TuningKey &key, const CpuTarget &target) const {
  for (const Row &row : rows) {
    if (row.strategy != key.strategy || !row.m.holds(key.m) || !row.n.holds(key.n) || !row.k.holds(key.k) ||
        !StringRef(target.triple).starts_with(row.architecture) || (!row.types.empty() && row.types != key.types))
      continue;
    if (llvm::all_of(row.features, [&](const std::string &feature) { return target.has(feature); }))
      return &row.config;
  }
  return nullptr;
}

} // namespace kiln
