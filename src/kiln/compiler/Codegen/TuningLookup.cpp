#include "kiln/compiler/Codegen/TuningLookup.h"

#include "kiln/base/file.h"
#include "kiln/compiler/Interfaces/DumpFiles.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

//===--- Keys -----------------------------------------------------------------------------------------------------===//

// The loops in an order that follows from what is computed: as the result is indexed, then as inputs are.
static SmallVector<unsigned> canonicalLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> order;
  auto add = [&](AffineMap map) {
    for (AffineExpr expr : map.getResults())
      expr.walk([&](AffineExpr inner) {
        if (auto dim = dyn_cast<AffineDimExpr>(inner); dim && !llvm::is_contained(order, dim.getPosition()))
          order.push_back(dim.getPosition());
      });
  };
  for (OpOperand &init : op.getDpsInitsMutable())
    add(op.getMatchingIndexingMap(&init));
  for (OpOperand *input : op.getDpsInputOperands())
    add(op.getMatchingIndexingMap(input));
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(order, loop))
      order.push_back(loop);
  return order;
}

static std::string extentText(int64_t extent) {
  return ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
}

static void printLoops(raw_ostream &os, ArrayRef<int64_t> extents, ArrayRef<utils::IteratorType> kinds,
                       ArrayRef<unsigned> order) {
  for (unsigned loop : order)
    os << " " << (kinds[loop] == utils::IteratorType::parallel ? "p" : "r") << extentText(extents[loop]);
}

// "f32(d0, d2)"
static void printOperand(raw_ostream &os, OpOperand *operand, AffineMap map, ArrayRef<AffineExpr> renamed) {
  os << getElementTypeOrSelf(operand->get().getType()) << "(";
  llvm::interleaveComma(map.getResults(), os, [&](AffineExpr expr) { os << expr.replaceDims(renamed); });
  os << ")";
}

static void printLinalg(raw_ostream &os, linalg::LinalgOp op) {
  SmallVector<unsigned> order = canonicalLoops(op);
  SmallVector<AffineExpr> renamed(order.size());
  for (auto [place, loop] : llvm::enumerate(order))
    renamed[loop] = getAffineDimExpr(place, op.getContext());
  printLoops(os, op.getStaticLoopRanges(), op.getIteratorTypesArray(), order);
  os << ":";
  for (OpOperand *input : op.getDpsInputOperands())
    printOperand(os << " ", input, op.getMatchingIndexingMap(input), renamed);
  os << " ->";
  for (OpOperand &init : op.getDpsInitsMutable())
    printOperand(os << " ", &init, op.getMatchingIndexingMap(&init), renamed);
  os << " by";
  for (Operation &inner : op.getBlock()->without_terminator())
    os << " " << inner.getName();
}

std::string tuningOperation(const DispatchRoot &root) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << root.strategy;
  TilingInterface op = root.op;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op.getOperation())) {
    printLinalg(os, linalgOp);
    return text;
  }
  os << " " << op->getName() << ":";
  for (Type type : op->getOperandTypes())
    os << " " << type;
  os << " ->";
  for (Type type : op->getResultTypes())
    os << " " << type;
  return text;
}

LogicalResult dumpTuningKey(StringRef folder, func::FuncOp function, const DispatchRoot &root, StringRef target,
                            HAL::LoweringAttr chosen, StringRef source) {
  if (failed(makeDumpFolder(function, folder)))
    return failure();
  TuningKeyRecord record{function.getSymName().str(), tuningOperation(root), target.str(),
                         chosen.getConfiguration().name(), source.str()};
  Status status = writeFile(dumpPath(folder, function.getSymName() + ".json"), record.text());
  return status.ok() ? success() : function.emitError(StringRef(status.message()));
}

//===--- Lookup ---------------------------------------------------------------------------------------------------===//

FailureOr<TuningLookup> TuningLookup::load(const std::string &path, int64_t threads, Location loc) {
  TuningLookup lookup;
  if (path.empty())
    return lookup;
  if (threads < 0)
    return emitError(loc) << "--tuning-threads: " << threads << " is no number of threads";
  Result<TuningDatabase> database = TuningDatabase::open(path);
  if (!database.ok())
    return emitError(loc) << "--tuning-db: " << StringRef(database.status().message());
  lookup.path = path;
  lookup.threads = threads;
  lookup.database = std::make_shared<const TuningDatabase>(*std::move(database));
  return lookup;
}

FailureOr<TuningLookup> TuningLookup::parse(StringRef text, StringRef name, Location loc) {
  Result<TuningDatabase> database = TuningDatabase::parse(text);
  if (!database.ok())
    return emitError(loc) << name << ": " << StringRef(database.status().message());
  TuningLookup lookup;
  lookup.path = name.str();
  lookup.database = std::make_shared<const TuningDatabase>(*std::move(database));
  return lookup;
}

HAL::LoweringAttr TuningLookup::find(func::FuncOp function, const DispatchRoot &root, StringRef target,
                                     llvm::function_ref<std::string(HAL::LoweringAttr)> faultOf) const {
  if (!database)
    return {};
  std::string operation = tuningOperation(root);
  const TuningEntry *entry = threads ? database->find(operation, target, static_cast<uint32_t>(threads))
                                     : database->findAny(operation, target);
  if (!entry)
    return {};
  MLIRContext *context = function.getContext();
  auto lowering = HAL::LoweringAttr::get(context, StringAttr::get(context, root.strategy), entry->configuration);
  std::string fault = faultOf(lowering);
  if (fault.empty())
    return lowering;
  warnOfTuning(function, path, entry->configuration, fault);
  return {};
}

void TuningLookup::warnWithout(StringRef target, Location loc) const {
  if (!database || database->size() == 0)
    return;
  std::vector<std::string> targets = database->targets();
  if (!llvm::is_contained(targets, target))
    emitWarning(loc) << "--tuning-db: nothing in '" << path << "' was measured for " << target
                     << ", so that dispatches take their defaults there; it was measured for "
                     << llvm::join(targets, ", ");
}

void warnOfTuning(func::FuncOp function, StringRef path, const TileConfig &config, StringRef fault) {
  function.emitWarning("takes the default configuration, since what '")
      << path << "' says of it, " << config.name() << ", is not legal for it: " << fault;
}

LogicalResult checkTuning(const TuningOptions &options, StringRef target, Location loc) {
  FailureOr<TuningLookup> lookup = TuningLookup::load(options.database, options.threads, loc);
  if (failed(lookup))
    return failure();
  lookup->warnWithout(target, loc);
  return success();
}

} // namespace kiln
