#include "kiln/targets/cpu/codegen/strategy/TuningLookup.h"

#include "kiln/base/file.h"
#include "kiln/compiler/Interfaces/DumpFiles.h"
#include "kiln/targets/cpu/codegen/strategy/Strategy.h"

#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Triple.h"

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

std::string tuningTarget(const CpuTarget &target) {
  std::string text = "llvm-cpu " + llvm::Triple(target.triple).getArchName().str() + " " + target.cpu;
  return target.features.empty() ? text : text + " " + target.features;
}

LogicalResult dumpTuningKey(StringRef folder, func::FuncOp function, const DispatchRoot &root, const CpuTarget &target,
                            HAL::LoweringAttr chosen, StringRef source) {
  if (failed(makeDumpFolder(function, folder)))
    return failure();
  TuningKeyRecord record{function.getSymName().str(), tuningOperation(root), tuningTarget(target),
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

// What verifyLowering says is wrong, instead of saying it as an error; empty where nothing is.
static std::string whyNot(func::FuncOp function, HAL::LoweringAttr lowering) {
  std::string text;
  uint64_t thread = llvm::get_threadid();
  // Handlers see what every thread says; other threads' errors go on to where they would have gone.
  ScopedDiagnosticHandler handler(function.getContext(), [&](Diagnostic &diagnostic) {
    if (llvm::get_threadid() != thread)
      return failure();
    text += (text.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  bool legal = succeeded(verifyLowering(function, lowering));
  return legal ? "" : text.empty() ? "it cannot be followed" : text;
}

HAL::LoweringAttr TuningLookup::find(func::FuncOp function, const DispatchRoot &root, const CpuTarget &target) const {
  if (!database)
    return {};
  std::string operation = tuningOperation(root), name = tuningTarget(target);
  const TuningEntry *entry =
      threads ? database->find(operation, name, static_cast<uint32_t>(threads)) : database->findAny(operation, name);
  if (!entry)
    return {};
  MLIRContext *context = function.getContext();
  auto lowering = HAL::LoweringAttr::get(context, StringAttr::get(context, root.strategy), entry->configuration);
  std::string fault = whyNot(function, lowering);
  if (fault.empty())
    return lowering;
  function.emitWarning("takes the default configuration, since what '")
      << path << "' says of it, " << entry->configuration.name() << ", is not legal for it: " << fault;
  return {};
}

} // namespace kiln
