#include "kiln/targets/cpu/codegen/strategy/KernelPlan.h"

#include "kiln/compiler/Codegen/Combiner.h"
#include "kiln/compiler/Codegen/Polynomials.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"
#include "kiln/targets/cpu/codegen/math/LibraryFunctions.h"
#include "kiln/targets/cpu/codegen/strategy/Convolutions.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

KernelTarget KernelTarget::of(const CpuTarget &target) {
  KernelTarget result;
  result.vectorBits = target.nativeVectorBits;
  result.vectorRegisters = target.has("avx512f") || StringRef(target.triple).starts_with("aarch64") ? 32 : 16;
  if (target.has("avx512bw") && target.has("avx512vl"))
    result.maskedBits = 8;
  else if (target.has("avx512f") || target.has("avx"))
    result.maskedBits = 32;
  result.maskedBF16 = target.has("avx512bf16");
  result.vectorMath = hasVectorFunctions(target);
  result.reassociates = target.reassociates;
  result.fma = target.has("fma") || target.has("avx512f") || StringRef(target.triple).starts_with("aarch64");
  return result;
}

// The factor of `dim` in a linear expression; nullopt where the expression is not linear in it.
static std::optional<int64_t> factorOf(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> left = factorOf(binary.getLHS(), dim), right = factorOf(binary.getRHS(), dim);
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *left + *right;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul && constant)
    return *left * constant.getValue();
  return std::nullopt;
}

int64_t strideAlong(linalg::LinalgOp op, OpOperand &operand, unsigned loop) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto type = cast<MemRefType>(operand.get().getType());
  SmallVector<int64_t> strides;
  int64_t offset, total = 0;
  bool known = succeeded(type.getStridesAndOffset(strides, offset));
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    std::optional<int64_t> factor = factorOf(expr, loop);
    if (factor == 0)
      continue;
    if (!factor || !known || ShapedType::isDynamic(strides[dim]))
      return ShapedType::kDynamic;
    total += *factor * strides[dim];
  }
  // Vectors are loaded along a last dimension whose elements lie together; no other one counts, as of every second
  // column of a single one.
  if (total == 1 && !strides.empty() && strides.back() != 1)
    return ShapedType::kDynamic;
  // Factors that cancel out, as in a diagonal, still make the operand depend on the loop.
  return total == 0 && map.isFunctionOfDim(loop) ? ShapedType::kDynamic : total;
}

FloatType widerTypeOf(linalg::LinalgOp op, OpOperand &input) {
  FloatType wider;
  for (Operation *user : op.getMatchingBlockArgument(&input).getUsers()) {
    auto extend = dyn_cast<arith::ExtFOp>(user);
    if (!extend || (wider && extend.getType() != wider))
      return {};
    wider = dyn_cast<FloatType>(extend.getType());
  }
  return wider;
}

//===--- Bodies ---------------------------------------------------------------------------------------------------===//

namespace {
struct BodyFacts {
  bool vectorizable = true; // each op has a vector form, or is taken apart into elements
  bool hasLoads = false;    // reads memory itself; such lanes must exist
  bool mayTrap = false;     // divides integers or asserts, so that lanes must hold real values
  bool asserts = false;
  bool hasFunctions = false; // that are computed as polynomials
  int64_t cost = 0;          // multiples of a simple operation
};
} // namespace

static constexpr int64_t loadCost = 8; // for each lane of its own

static BodyFacts inspectBody(Block *body) {
  BodyFacts facts;
  for (Operation &op : body->without_terminator()) {
    if (isa<linalg::IndexOp>(op) || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (isa<cf::AssertOp>(op)) {
      facts.asserts = facts.mayTrap = true;
      facts.cost += 1;
      continue;
    }
    if (isa<memref::LoadOp>(op)) {
      facts.hasLoads = true;
      facts.cost += loadCost;
      continue;
    }
    auto isElement = [](Type type) { return type.isIntOrIndexOrFloat(); };
    if (op.getNumRegions() != 0 || !OpTrait::hasElementwiseMappableTraits(&op) ||
        !llvm::all_of(op.getOperandTypes(), isElement) || !llvm::all_of(op.getResultTypes(), isElement))
      facts.vectorizable = false;
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
            arith::FloorDivSIOp>(op)) {
      facts.mayTrap = true;
      facts.cost += 8;
    }
    bool simpleMath =
        isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::SqrtOp, math::FloorOp, math::CeilOp, math::CopySignOp>(op);
    facts.hasFunctions |= findPolynomialFunction(op.getName().getStringRef()) != nullptr;
    facts.cost += isa_and_nonnull<math::MathDialect>(op.getDialect()) && !simpleMath ? 16 : 1;
  }
  return facts;
}

// Bits of an element as it is computed with. Narrow floats are computed in f32.
static int64_t computeBits(Type type) {
  if (type.isIndex())
    return 64;
  int64_t bits = type.getIntOrFloatBitWidth();
  return isa<FloatType>(type) ? std::max<int64_t>(bits, 32) : std::max<int64_t>(bits, 8);
}

//===--- Choosing -------------------------------------------------------------------------------------------------===//

namespace {
class Planner {
public:
  Planner(linalg::LinalgOp op, const KernelTarget &target, const TileConfig *config)
      : op(op), target(target), config(config), body(inspectBody(op.getBlock())), extents(op.getStaticLoopRanges()),
        convolution(ConvolutionLoops::of(op)) {
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      bounds.push_back(ShapedType::isStatic(extents[loop]) ? extents[loop] : upperBound(loop));
    for (OpOperand *input : op.getDpsInputOperands())
      if (isa<MemRefType>(input->get().getType()))
        inputs.push_back(input);
    for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
      (type == utils::IteratorType::parallel ? parallel : reductions).push_back(loop);
  }

  KernelPlan run() {
    chooseVectorLoop();
    if (plan.vectorLoop >= 0) {
      inspectLanes();
      chooseLanes();
      findFactor();
      chooseRegisterTile();
      if (reductions.empty())
        chooseAhead();
      else if (!plan.reduceLanes)
        chooseBlocks();
    }
    orderLoops();
    return plan;
  }

private:
  bool isOne(unsigned loop) const { return extents[loop] == 1; }
  // May be true for what is not known.
  bool isLarge(unsigned loop, int64_t least) const {
    return ShapedType::isDynamic(bounds[loop]) || bounds[loop] >= least;
  }
  static bool isVectorStride(int64_t stride) { return stride == 0 || stride == 1; }
  // Whether vectors along the loop are loaded as they are, or put together from a few neighbouring ones.
  bool loadsVectors(OpOperand *input, unsigned loop) {
    int64_t stride = strideAlong(op, *input, loop);
    return isVectorStride(stride) || isShuffled(input, loop, stride);
  }
  bool isShuffled(OpOperand *input, unsigned loop, int64_t stride) {
    if (!convolution || stride < 2 || stride > largestShuffledStride)
      return false;
    ArrayRef<AffineExpr> exprs = op.getMatchingIndexingMap(input).getResults();
    auto [strides, offset] = cast<MemRefType>(input->get().getType()).getStridesAndOffset();
    return strides.back() == 1 &&
           llvm::none_of(exprs.drop_back(), [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); });
  }
  bool dependsOn(OpOperand *operand, unsigned loop) { return op.getMatchingIndexingMap(operand).isFunctionOfDim(loop); }

  void chooseVectorLoop() {
    // Vectors of a reduction may have lanes that hold no element: those of panels, and those beside the end of a row.
    if (!body.vectorizable || (body.asserts && !reductions.empty()) || (config && config->instructions == "scalar") ||
        !haveVectorTypes())
      return;
    int along = bestParallelLoop();
    int across = bestReductionLoop();
    if (along >= 0 && across >= 0) {
      bool direct = llvm::all_of(inputs, [&](OpOperand *in) { return loadsVectors(in, along); });
      if (!direct && !canPack(along))
        along = -1;
    }
    plan.vectorLoop = along >= 0 ? along : across;
    plan.reduceLanes = along < 0 && across >= 0;
    takeSteps();
    plan.shuffles = along >= 0 && llvm::all_of(inputs, [&](OpOperand *in) { return loadsVectors(in, along); });
  }

  bool haveVectorTypes() {
    return llvm::all_of(op->getOperands(),
                        [](Value operand) { return getElementTypeOrSelf(operand.getType()).isIntOrIndexOrFloat(); });
  }

  // A loop of two or four steps that belong together: they use what is loaded along `loop` again, as numbers use a byte
  // that holds several, or have elements beside each other, of which those along `loop` are as many apart. -1: none.
  int stepsBeside(unsigned loop) {
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (unsigned other = 0; other < kinds.size(); ++other) {
      if (other == loop || kinds[other] != kinds[loop] || (extents[other] != 2 && extents[other] != 4))
        continue;
      bool isShared = false, isOwn = false, isBeside = false, isApart = false, fits = true;
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isa<MemRefType>(operand.get().getType()))
          continue;
        int64_t stride = strideAlong(op, operand, loop);
        isBeside |= stride == 1;
        isShared |= stride == 1 && !dependsOn(&operand, other);
        isOwn |= stride != 0 && dependsOn(&operand, other);
        isApart |= isInterleaved(&operand, loop, other);
        fits &= isVectorStride(stride) || isInterleaved(&operand, loop, other);
      }
      bool isReduced = kinds[loop] == utils::IteratorType::reduction;
      if (fits && ((isReduced && isShared && isOwn) || (isBeside && isApart)))
        return static_cast<int>(other);
    }
    return -1;
  }

  bool isInterleaved(OpOperand *operand, unsigned loop, unsigned steps) {
    ArrayRef<AffineExpr> places = op.getMatchingIndexingMap(operand).getResults();
    return strideAlong(op, *operand, loop) == extents[steps] && strideAlong(op, *operand, steps) == 1 &&
           places.back() == getAffineDimExpr(steps, op.getContext());
  }

  void takeSteps() {
    if (plan.vectorLoop < 0 || (!reductions.empty() && !plan.reduceLanes))
      return;
    plan.stepLoop = stepsBeside(plan.vectorLoop);
    if (plan.stepLoop < 0)
      return;
    plan.steps = extents[plan.stepLoop];
    for (OpOperand *input : inputs)
      if (isInterleaved(input, plan.vectorLoop, plan.stepLoop))
        plan.interleaved.push_back(input->getOperandNumber());
    llvm::erase(parallel, static_cast<unsigned>(plan.stepLoop));
    llvm::erase(reductions, static_cast<unsigned>(plan.stepLoop));
  }

  // The parallel loop along which all results are contiguous, and most inputs.
  int bestParallelLoop() {
    if (reductions.empty())
      for (unsigned loop : parallel)
        if (stepsBeside(loop) >= 0)
          return static_cast<int>(loop);
    int best = -1, bestScore = -1;
    for (unsigned loop : parallel) {
      if (isOne(loop) || !llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
            return isa<MemRefType>(init.get().getType()) && strideAlong(op, init, loop) == 1;
          }))
        continue;
      int score = 0;
      for (OpOperand *input : inputs)
        score += strideAlong(op, *input, loop) == 1 ? 2 : strideAlong(op, *input, loop) == 0 ? 1 : 0;
      if (score >= bestScore) {
        best = loop;
        bestScore = score;
      }
    }
    return best;
  }

  // The reduction loop along which the inputs are contiguous, where lanes can be combined at the end.
  int bestReductionLoop() {
    for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
      Operation *combiner = findCombiner(op, i);
      if (!combiner || (!target.reassociates && isa<arith::AddFOp, arith::MulFOp>(combiner)))
        return -1;
    }
    for (unsigned loop : reductions)
      if (stepsBeside(loop) >= 0)
        return static_cast<int>(loop);
    for (unsigned loop : llvm::reverse(reductions)) {
      bool contiguous = false, vector = true;
      for (OpOperand *input : inputs) {
        int64_t stride = strideAlong(op, *input, loop);
        contiguous |= stride == 1;
        vector &= isVectorStride(stride);
      }
      if (contiguous && vector && !isOne(loop))
        return loop;
    }
    return -1;
  }

  // Which operations of the body have a value for each lane, and what that makes of them.
  void inspectLanes() {
    for (OpOperand &operand : op->getOpOperands())
      if (op.isDpsInit(&operand) || dependsOn(&operand, plan.vectorLoop))
        perLane.insert(op.getMatchingBlockArgument(&operand));
    auto isPerLane = [&](Value value) { return perLane.contains(value); };
    for (Operation &inner : op.getBlock()->without_terminator()) {
      auto index = dyn_cast<linalg::IndexOp>(inner);
      if (index ? static_cast<int>(index.getDim()) != plan.vectorLoop : llvm::none_of(inner.getOperands(), isPerLane))
        continue;
      perLane.insert_range(inner.getResults());
      if (auto load = dyn_cast<memref::LoadOp>(inner); load && loadsRow(load)) {
        plan.rowLoads.push_back(load);
        body.cost -= loadCost - 1;
      } else if (load || isElementByElement(&inner)) {
        plan.elementByElement.push_back(&inner);
      }
    }
  }

  // Whether lanes have values one apart: the loop's index, also with something added that is the same for all of them.
  bool isConsecutive(Value value) const {
    Operation *source = value.getDefiningOp();
    if (!perLane.contains(value) || !source)
      return false;
    if (auto add = dyn_cast<arith::AddIOp>(source); add && add.getType().isIndex()) {
      bool left = perLane.contains(add.getLhs());
      return left != perLane.contains(add.getRhs()) && isConsecutive(left ? add.getLhs() : add.getRhs());
    }
    return isa<linalg::IndexOp>(source);
  }

  bool loadsRow(memref::LoadOp load) const {
    SmallVector<int64_t> strides;
    int64_t offset;
    OperandRange indices = load.getIndices();
    return !indices.empty() && isConsecutive(indices.back()) &&
           llvm::none_of(indices.drop_back(), [&](Value index) { return perLane.contains(index); }) &&
           !load.getType().isIndex() && load.getType().getIntOrFloatBitWidth() % 8 == 0 &&
           succeeded(load.getMemRefType().getStridesAndOffset(strides, offset)) && strides.back() == 1;
  }

  // Whether a value of the body serves as an address of such loads only.
  bool isAddress(Value value) const {
    return isConsecutive(value) && llvm::all_of(value.getUsers(), [&](Operation *user) {
             return llvm::is_contained(plan.rowLoads, user) ||
                    (isa<arith::AddIOp>(user) && isAddress(user->getResult(0)));
           });
  }

  // Whether neither the CPU nor the C library does it with vectors.
  bool isElementByElement(Operation *inner) const {
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
            arith::FloorDivSIOp>(inner))
      return !matchPattern(inner->getOperand(1), m_Constant());
    if (isa<arith::RemFOp>(inner))
      return true;
    if (target.vectorMath)
      return false;
    StringRef name = inner->getName().getStringRef();
    return isa<math::FPowIOp, math::SincosOp>(inner) ||
           (!libraryFunctionOf(name).empty() &&
            (inner->getResult(0).getType().isF64() || !findPolynomialFunction(name)));
  }

  void chooseLanes() {
    int64_t bits = 8, narrowest = 64;
    for (Value operand : op->getOperands()) {
      Type type = getElementTypeOrSelf(operand.getType());
      if (type.isBF16() && !target.maskedBF16)
        narrowest = 0;
      bits = std::max(bits, computeBits(type));
      if (isa<MemRefType>(operand.getType()))
        narrowest = std::min<int64_t>(narrowest, type.isIndex() ? 64 : std::max(8u, type.getIntOrFloatBitWidth()));
    }
    for (Operation &inner : op.getBlock()->without_terminator())
      for (Value value : inner.getResults())
        if (!value.getType().isInteger(1) && perLane.contains(value) && !isAddress(value))
          bits = std::max(bits, computeBits(value.getType()));
    plan.lanes = std::max<int64_t>(1, target.vectorBits / bits);
    if (config && config->lanes)
      plan.lanes = config->lanes;
    plan.masked =
        target.maskedBits != 0 && narrowest >= target.maskedBits && !body.mayTrap && !body.hasLoads &&
        plan.stepLoop < 0 &&
        (plan.reduceLanes ||
         llvm::all_of(
             inputs, [&](OpOperand *in) { return loadsVectors(in, plan.vectorLoop) || canPack(plan.vectorLoop); }));
    int64_t extent = extents[plan.vectorLoop];
    if (ShapedType::isDynamic(extent) || extent == 0)
      return;
    // A short loop needs short vectors; without masks they must not be longer than it.
    if (plan.masked)
      plan.lanes = std::min<int64_t>(plan.lanes, llvm::PowerOf2Ceil(extent));
    else
      plan.lanes = std::min<int64_t>(plan.lanes, llvm::bit_floor<uint64_t>(extent));
  }

  // A factor of what is summed up along vectors, as the scale of a block of weights; of integers only, as other weights
  // may be scaled when a module is loaded, which is to make no difference.
  void findFactor() {
    if (!plan.reduceLanes || !target.reassociates || op.getNumDpsInits() != 1 ||
        llvm::none_of(*op.getBlock(), llvm::IsaPred<arith::SIToFPOp, arith::UIToFPOp>))
      return;
    Operation *sum = findCombiner(op, 0);
    if (!isa<arith::AddFOp>(sum))
      return;
    SmallVector<Value> products(sum->getOperands());
    while (!products.empty()) {
      auto multiply = products.pop_back_val().getDefiningOp<arith::MulFOp>();
      if (!multiply || !multiply->hasOneUse() || multiply->getBlock() != op.getBlock())
        continue;
      for (Value value : multiply->getOperands()) {
        auto argument = dyn_cast<BlockArgument>(value);
        if (argument && argument.getOwner() == op.getBlock() && !perLane.contains(argument) && argument.hasOneUse() &&
            isSameInSteps(&op->getOpOperand(argument.getArgNumber()))) {
          plan.scaling = multiply;
          plan.factor = static_cast<int>(argument.getArgNumber());
          return;
        }
        products.push_back(value);
      }
    }
  }

  bool isSameInSteps(OpOperand *operand) {
    return isa<MemRefType>(operand->get().getType()) && (plan.stepLoop < 0 || !dependsOn(operand, plan.stepLoop));
  }

  int64_t vectorsOf(int64_t wanted) const {
    int64_t most = bounds[plan.vectorLoop];
    return ShapedType::isDynamic(most)
               ? wanted
               : std::clamp<int64_t>(llvm::divideCeil(most, plan.lanes), 1, std::max<int64_t>(1, wanted));
  }

  void chooseRegisterTile() {
    int64_t columns = config && config->columns ? llvm::divideCeil(config->columns, plan.lanes) : 0;
    if (plan.reduceLanes) {
      // What steps share is loaded from one place at a time, and shared by rows as well.
      plan.rowLoop = largestLoop([&](unsigned loop) {
        return plan.stepLoop < 0 || llvm::any_of(
                                        inputs,
                                        [&](OpOperand *input) {
                                          return strideAlong(op, *input, plan.vectorLoop) == 1 &&
                                                 !dependsOn(input, plan.stepLoop) && !dependsOn(input, loop);
                                        });
      });
      // Bytes come from one place at a time, as they are so few that waiting for several takes longer.
      const bool readsBytes = plan.rowLoop >= 0 && llvm::any_of(inputs, [&](OpOperand *input) {
                                return getElementTypeOrSelf(input->get().getType()).isInteger(8) &&
                                       dependsOn(input, plan.rowLoop) && strideAlong(op, *input, plan.vectorLoop) == 1;
                              });
      plan.rows = plan.rowLoop >= 0 && !readsBytes ? rowsOf(4) : 1;
      plan.vectors = plan.stepLoop >= 0 && plan.rows > 1 ? 1 : vectorsOf(columns ? columns : plan.rows > 1 ? 2 : 4);
    } else if (reductions.empty()) {
      plan.vectors = vectorsOf(columns ? columns : body.hasFunctions ? 4 : body.cost > 8 ? 1 : 4);
      if (plan.stepLoop < 0)
        chooseTransposedTile();
      plan.storesLast = body.hasFunctions && plan.stepLoop < 0 && plan.rows == 1;
    } else {
      // Rows that the vector input does not depend on use what is loaded of it again.
      plan.rowLoop = largestLoop([&](unsigned loop) {
        return llvm::any_of(inputs,
                            [&](OpOperand *in) { return dependsOn(in, plan.vectorLoop) && !dependsOn(in, loop); });
      });
      plan.vectors = vectorsOf(columns ? columns : plan.rowLoop >= 0 ? 2 : 4);
      int64_t registers = target.vectorRegisters - plan.vectors - 2;
      plan.rows = plan.rowLoop >= 0 ? rowsOf(std::max<int64_t>(1, registers / plan.vectors)) : 1;
    }
    if (plan.rows == 1)
      plan.rowLoop = -1;
  }

  // A static number of rows is shared evenly among the tiles, so that the last one is not much smaller.
  int64_t rowsOf(int64_t most) const {
    int64_t extent = bounds[plan.rowLoop];
    if (ShapedType::isDynamic(extent) || extent == 0)
      return config && config->rows ? config->rows : most;
    if (config && config->rows)
      return std::min(config->rows, extent);
    return llvm::divideCeil(extent, llvm::divideCeil(extent, most));
  }

  // The parallel loop with the most iterations that is not the vector loop; the innermost of several.
  int largestLoop(llvm::function_ref<bool(unsigned)> wanted) const {
    int best = -1;
    auto size = [&](unsigned loop) {
      return ShapedType::isDynamic(bounds[loop]) ? std::numeric_limits<int64_t>::max() : bounds[loop];
    };
    for (unsigned loop : parallel)
      if (static_cast<int>(loop) != plan.vectorLoop && !isOne(loop) && wanted(loop) &&
          (best < 0 || size(loop) >= size(best)))
        best = loop;
    return best;
  }

  // An input that is contiguous along another parallel loop is read in square blocks, transposed in registers.
  void chooseTransposedTile() {
    for (OpOperand *input : inputs) {
      if (isVectorStride(strideAlong(op, *input, plan.vectorLoop)))
        continue;
      for (unsigned loop : parallel) {
        if (static_cast<int>(loop) == plan.vectorLoop || strideAlong(op, *input, loop) != 1)
          continue;
        plan.lanes = std::min<int64_t>(plan.lanes, 16);
        if (isLarge(loop, plan.lanes)) {
          plan.rowLoop = loop;
          plan.rows = plan.lanes;
          plan.vectors = 1;
        }
        return;
      }
    }
  }

  // Whether one input, the only one that depends on the loop, can be copied into panels along it.
  bool canPack(unsigned loop) { return packable(loop) != nullptr; }

  OpOperand *packable(unsigned loop) {
    // The last panel has lanes that hold no element, for which nothing can be loaded besides.
    if (blockableLoop() < 0 || inputs.size() < 2 || body.hasLoads)
      return nullptr;
    OpOperand *found = nullptr;
    for (OpOperand *input : inputs) {
      if (!dependsOn(input, loop))
        continue;
      if (found)
        return nullptr;
      found = input;
    }
    if (!found || !op.getMatchingIndexingMap(found).isProjectedPermutation() ||
        !llvm::all_of(reductions, [&](unsigned reduction) { return dependsOn(found, reduction); }))
      return nullptr;
    // Packing costs about as much as two rows; panels must be used more often than that.
    constexpr int64_t fewestUses = 8;
    int64_t uses = 1;
    for (unsigned other : parallel)
      if (!dependsOn(found, other))
        uses *= isLarge(other, fewestUses) ? fewestUses : bounds[other];
    const bool reused = uses >= fewestUses;
    int64_t stride = strideAlong(op, *found, loop), depth = strideAlong(op, *found, blockableLoop());
    // The panels of a convolution hold all pixels of its filters, and are not turned.
    if (reductions.size() > 1 && (stride != 1 || ShapedType::isDynamic(tapCount())))
      return nullptr;
    return reused && (stride == 1 || depth == 1) ? found : nullptr;
  }

  // The reduction that can be done in blocks: the only one, or a convolution's input channels; -1: none.
  int blockableLoop() const {
    if (reductions.size() == 1)
      return reductions[0];
    return convolution && convolution->channels ? static_cast<int>(*convolution->channels) : -1;
  }

  // Iterations of the reductions that are not done in blocks.
  int64_t tapCount() const {
    int64_t count = 1;
    for (unsigned loop : reductions) {
      if (static_cast<int>(loop) == blockableLoop())
        continue;
      if (ShapedType::isDynamic(extents[loop]))
        return ShapedType::kDynamic;
      count *= extents[loop];
    }
    return count;
  }

  // What has rows, and is otherwise the same in all that is inside of the blocks.
  void chooseWidened() {
    OpOperand &packed = op->getOpOperand(plan.packedOperand);
    int64_t rows = bounds[plan.rowLoop];
    for (OpOperand *input : inputs) {
      bool isSettled = llvm::all_of(llvm::seq<unsigned>(0, extents.size()), [&](unsigned loop) {
        return !dependsOn(input, loop) || static_cast<int>(loop) == blockableLoop() ||
               static_cast<int>(loop) == plan.rowLoop ||
               (static_cast<int>(loop) != plan.vectorLoop && dependsOn(&packed, loop));
      });
      FloatType wider = widerTypeOf(op, *input);
      if (input == &packed || !isSettled || !wider || !dependsOn(input, plan.rowLoop) ||
          strideAlong(op, *input, blockableLoop()) != 1 || ShapedType::isDynamic(rows) ||
          rows * plan.block * wider.getWidth() / 8 > largestPanels)
        continue;
      plan.widenedOperand = static_cast<int>(input->getOperandNumber());
      plan.widenedRows = rows;
    }
  }

  void chooseAhead() {
    for (OpOperand *input : inputs) {
      auto view = input->get().getDefiningOp<memref::SubViewOp>();
      if (!view || !view.getType().hasStaticShape() || view.getType().getRank() < 2 ||
          strideAlong(op, *input, plan.vectorLoop) != 1)
        continue;
      const auto isReadBefore = [&](Operation *user) {
        Operation *there = op->getBlock()->findAncestorOpInBlock(*user);
        return isa<vector::LoadOp, vector::MaskedLoadOp, memref::LoadOp>(user) && there && there->isBeforeInBlock(op);
      };
      const auto others = llvm::make_filter_range(view->getUsers(), [&](Operation *user) { return user != op; });
      if (!others.empty() && llvm::all_of(others, isReadBefore))
        plan.lastReads.push_back(input->getOperandNumber());
    }
  }

  void chooseBlocks() {
    if (blockableLoop() < 0)
      return;
    unsigned loop = blockableLoop();
    int64_t block = config && config->k ? config->k : 256;
    if (ShapedType::isStatic(extents[loop]))
      block = std::min(block, extents[loop]);
    OpOperand *packed = plan.rowLoop >= 0 ? packable(plan.vectorLoop) : nullptr;
    bool strided = packed && strideAlong(op, *packed, plan.vectorLoop) != 1;
    // What is a panel already, whose rows follow each other.
    int64_t width = extents[plan.vectorLoop];
    bool isPanel = packed && !strided && ShapedType::isStatic(width) && width <= plan.vectors * plan.lanes &&
                   strideAlong(op, *packed, loop) == width;
    if (isPanel)
      plan.panelOperand = packed->getOperandNumber();
    if (packed && !isPanel && (strided || (config && config->packB))) {
      int64_t extent = bounds[plan.vectorLoop];
      FloatType wider = widerTypeOf(op, *packed);
      unsigned bits = wider ? wider.getWidth() : getElementTypeOrSelf(packed->get().getType()).getIntOrFloatBitWidth();
      bool fits = reductions.size() == 1 ||
                  llvm::alignTo(std::max<int64_t>(extent, 0), plan.vectors * plan.lanes) * block * tapCount() <=
                      largestPanels * 8 / bits;
      if (ShapedType::isStatic(extent) && block > 0 && fits) {
        plan.packedOperand = packed->getOperandNumber();
        plan.packedExtent = extent;
        plan.block = block;
        chooseWidened();
      }
    }
    if (plan.packedOperand < 0 && strided) {
      // Elements are put together one by one, and then there must be as many as there are lanes.
      plan.masked = false;
      int64_t extent = extents[plan.vectorLoop];
      if (ShapedType::isStatic(extent) && extent > 0)
        plan.lanes = std::min<int64_t>(plan.lanes, llvm::bit_floor<uint64_t>(extent));
    }
    if (plan.packedOperand >= 0 || (config && config->k && extents[loop] != block)) {
      plan.blockedLoop = loop;
      plan.block = block;
    }
  }

  // What the extent of a loop is at most, from the sizes of the tile that an operand is; kDynamic where that is not
  // known.
  int64_t upperBound(unsigned loop) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
        if (expr != getAffineDimExpr(loop, op.getContext()))
          continue;
        FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
            presburger::BoundType::UB, {operand.get(), static_cast<int64_t>(dim)}, /*stopCondition=*/nullptr,
            /*closedUB=*/true);
        if (succeeded(bound))
          return *bound;
      }
    }
    return ShapedType::kDynamic;
  }

  void orderLoops() {
    plan.reductionLoops = reductions;
    if (plan.reduceLanes) { // Innermost.
      llvm::erase(plan.reductionLoops, static_cast<unsigned>(plan.vectorLoop));
      plan.reductionLoops.push_back(plan.vectorLoop);
    }
    auto isTiled = [&](unsigned loop) {
      return static_cast<int>(loop) == plan.vectorLoop || static_cast<int>(loop) == plan.rowLoop;
    };
    for (unsigned loop : parallel)
      if (!isTiled(loop))
        plan.parallelLoops.push_back(loop);
    // The rows are innermost where a reduction lets them use the same panel of the vector input; elsewhere memory is
    // walked through in its order.
    bool rowsInside = !reductions.empty();
    if (plan.rowLoop >= 0 && !rowsInside)
      plan.parallelLoops.push_back(plan.rowLoop);
    if (plan.vectorLoop >= 0 && !plan.reduceLanes)
      plan.parallelLoops.push_back(plan.vectorLoop);
    if (plan.rowLoop >= 0 && rowsInside)
      plan.parallelLoops.push_back(plan.rowLoop);
    if (plan.packedOperand < 0)
      return;
    // What the packed input depends on has to be settled before it is packed.
    OpOperand *packed = &op->getOpOperand(plan.packedOperand);
    SmallVector<unsigned> outside, inside;
    for (unsigned loop : plan.parallelLoops)
      (!isTiled(loop) && dependsOn(packed, loop) ? outside : inside).push_back(loop);
    plan.parallelLoops = llvm::to_vector(llvm::concat<unsigned>(outside, inside));
  }

  linalg::LinalgOp op;
  const KernelTarget &target;
  const TileConfig *config;
  BodyFacts body;
  llvm::DenseSet<Value> perLane;        // of the body
  SmallVector<int64_t> extents, bounds; // of the loops: exactly, and at most; kDynamic where not known
  std::optional<ConvolutionLoops> convolution;
  SmallVector<OpOperand *> inputs;
  SmallVector<unsigned> parallel, reductions;
  KernelPlan plan;
};
} // namespace

KernelPlan planKernel(linalg::LinalgOp op, const KernelTarget &target, const TileConfig *config) {
  return Planner(op, target, config).run();
}

} // namespace kiln
