#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/Transforms/ReadLoops.h"
#include "kiln/compiler/Dialect/Flow/Transforms/SameInEachCall.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_JOINPRODUCTSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

// Fewer rows are multiplied as fast as weights are read, however many products those are.
constexpr int64_t kLeastRows = 8;
// The operation that joins weights has an operand for each.
constexpr size_t kMostProducts = 16;

bool isZero(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill && (matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) || matchPattern(fill.getInputs()[0], m_Zero()));
}

// Whether what is computed of a tensor moves its elements before anything else needs them, so that a part of a wider
// one is as good.
bool isMovedAnyway(Value tensor) {
  while (tensor.hasOneUse()) {
    OpOperand &use = *tensor.use_begin();
    Operation *user = use.getOwner();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user)) {
      tensor = user->getResult(0);
      continue;
    }
    auto op = dyn_cast<linalg::LinalgOp>(user);
    if (!op || op->getNumResults() != 1 || op.getNumReductionLoops() != 0 || op.isDpsInit(&use))
      return false;
    AffineMap from = op.getMatchingIndexingMap(&use), to = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (from != to)
      return from.isPermutation() && to.isPermutation();
    tensor = op->getResult(0);
  }
  return false;
}

// Products of one operand by weights of the same shape.
using Group = SmallVector<linalg::MatmulOp>;

bool canJoin(linalg::MatmulOp op) {
  auto result = dyn_cast<RankedTensorType>(op->getResultTypes().empty() ? Type() : op->getResult(0).getType());
  return result && !op.hasDynamicShape() && result.getDimSize(0) >= kLeastRows && isZero(op.getDpsInits()[0]) &&
         op.getIndexingMapsArray()[1].getNumResults() == 2 && !op->hasAttr("kiln.configuration") &&
         isMovedAnyway(op->getResult(0)) && isComputedOnce(op.getDpsInputs()[1]);
}

// Weights beside each other along dimension `dim`, which is one dimension of the result: which of them, and where
// there.
Value joined(OpBuilder &b, Location loc, ValueRange weights, unsigned dim) {
  auto type = cast<RankedTensorType>(weights[0].getType());
  const int64_t rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + dim, weights.size());
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  AffineMap one = b.getMultiDimIdentityMap(rank + 1).dropResult(dim);
  SmallVector<AffineMap> maps(weights.size(), one);
  maps.push_back(b.getMultiDimIdentityMap(rank + 1));
  auto all = linalg::GenericOp::create(b, loc, empty.getType(), weights, empty, maps,
                                       SmallVector<utils::IteratorType>(rank + 1, utils::IteratorType::parallel),
                                       [&](OpBuilder &inner, Location at, ValueRange args) {
                                         Value which = linalg::IndexOp::create(inner, at, dim), element = args[0];
                                         for (size_t i = 1; i < weights.size(); ++i) {
                                           Value isIt =
                                               arith::CmpIOp::create(inner, at, arith::CmpIPredicate::eq, which,
                                                                     arith::ConstantIndexOp::create(inner, at, i));
                                           element = arith::SelectOp::create(inner, at, isIt, args[i], element);
                                         }
                                         linalg::YieldOp::create(inner, at, element);
                                       });
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0, next = 0; i < rank; ++i) {
    groups.push_back({next++});
    if (i == dim)
      groups.back().push_back(next++);
  }
  return tensor::CollapseShapeOp::create(b, loc, all.getResult(0), groups);
}

// What reads one product out of several.
using Reads = DenseSet<Operation *>;

// Reads in the shape that what was read is expanded to.
struct ReadExpanded : OpRewritePattern<tensor::ExpandShapeOp> {
  ReadExpanded(MLIRContext *context, Reads &reads) : OpRewritePattern(context), reads(&reads) {}

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto read = op.getSrc().getDefiningOp<linalg::GenericOp>();
    if (!read || !reads->contains(read) || !read->hasOneUse())
      return failure();
    rewriter.setInsertionPoint(read);
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> places;
    SmallVector<ReassociationIndices> groups, ofResult = op.getReassociationIndices();
    for (AffineExpr place : read.getIndexingMapsArray()[0].getResults()) {
      ReassociationIndices &group = groups.emplace_back();
      auto dim = dyn_cast<AffineDimExpr>(place);
      if (!dim) {
        group.push_back(shape.size());
        shape.push_back(cast<RankedTensorType>(read.getInputs()[0].getType()).getDimSize(groups.size() - 1));
        places.push_back(place);
        continue;
      }
      for (int64_t of : ofResult[dim.getPosition()]) {
        group.push_back(shape.size());
        shape.push_back(op.getResultType().getDimSize(of));
        places.push_back(rewriter.getAffineDimExpr(of));
      }
    }
    Value parts = tensor::ExpandShapeOp::create(rewriter, op.getLoc(),
                                                RankedTensorType::get(shape, op.getResultType().getElementType()),
                                                read.getInputs()[0], groups);
    linalg::GenericOp made = readInLoops(rewriter, read.getLoc(), parts, op.getResultType().getShape(), places);
    reads->insert(made);
    rewriter.replaceOp(op, made.getResults());
    return success();
  }

  Reads *reads;
};

// Reshapes leave the way between elementwise operations, so that those are fused with what moves the elements: what
// expands goes before them, and what collapses behind.
void expandEarly(IRRewriter &rewriter, const SmallVectorImpl<Value> &results, Reads &reads) {
  SmallVector<Operation *> chain;
  for (Value value : results)
    while (value.hasOneUse()) {
      Operation *user = *value.user_begin();
      if (auto transpose = dyn_cast<linalg::TransposeOp>(user)) {
        rewriter.setInsertionPoint(transpose);
        user = *linalg::generalizeNamedOp(rewriter, transpose);
      }
      auto op = dyn_cast<linalg::GenericOp>(user);
      if (op ? op.getNumReductionLoops() != 0 || op->getNumResults() != 1
             : !isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
        break;
      chain.push_back(user);
      value = user->getResult(0);
    }
  RewritePatternSet patterns(rewriter.getContext());
  patterns.add<ReadExpanded>(rewriter.getContext(), reads);
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [&](OpOperand *fused) {
    Operation *producer = fused->get().getDefiningOp();
    return isa<tensor::ExpandShapeOp>(fused->getOwner())
               ? !reads.contains(producer)
               : isa_and_nonnull<tensor::CollapseShapeOp>(producer) && producer->hasOneUse();
  });
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  (void)applyOpPatternsGreedily(chain, std::move(patterns), config);
}

// The operation that follows a product alone and combines its columns with a tensor that has an element for each, such
// as a bias.
struct Bias {
  // Nothing where none follows.
  static std::optional<Bias> of(Value product) {
    Bias bias;
    OpOperand *use = product.hasOneUse() ? &*product.use_begin() : nullptr;
    if (use && isa<tensor::ExpandShapeOp>(use->getOwner())) {
      bias.expand = cast<tensor::ExpandShapeOp>(use->getOwner());
      use = bias.expand->hasOneUse() ? &*bias.expand->use_begin() : nullptr;
    }
    bias.op = use ? dyn_cast<linalg::GenericOp>(use->getOwner()) : linalg::GenericOp();
    if (!bias.op || bias.op.getNumDpsInputs() != 2 || bias.op->getNumResults() != 1 || use->getOperandNumber() > 1 ||
        bias.op.getNumParallelLoops() != bias.op.getNumLoops() || bias.op.hasIndexSemantics() ||
        bias.op.payloadUsesValueFromOperand(bias.op.getDpsInitOperand(0)))
      return std::nullopt;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(bias.op.getRegion(), captured);
    if (!captured.empty())
      return std::nullopt;
    bias.place = use->getOperandNumber();
    OpOperand *other = bias.op.getDpsInputOperand(1 - bias.place);
    const unsigned last = bias.op.getNumLoops() - 1;
    AffineMap columns = bias.op.getMatchingIndexingMap(other);
    auto type = cast<RankedTensorType>(product.getType());
    // An expansion of the columns would leave no dimension for all of them.
    if (!bias.op.getMatchingIndexingMap(use).isIdentity() ||
        !bias.op.getMatchingIndexingMap(bias.op.getDpsInitOperand(0)).isIdentity() || columns.getNumResults() != 1 ||
        columns.getResult(0) != getAffineDimExpr(last, product.getContext()) ||
        cast<RankedTensorType>(use->get().getType()).getShape().back() != type.getShape().back() ||
        !isComputedOnce(other->get()))
      return std::nullopt;
    bias.columns = other->get();
    return bias;
  }

  bool isLike(Bias &other) {
    return place == other.place && columns.getType() == other.columns.getType() &&
           op->getResultTypes() == other.op->getResultTypes() &&
           OperationEquivalence::isRegionEquivalentTo(&op.getRegion(), &other.op.getRegion(),
                                                      OperationEquivalence::IgnoreLocations);
  }

  tensor::ExpandShapeOp expand; // of the product, if any
  linalg::GenericOp op;
  unsigned place = 0; // which operand the product is
  Value columns;
};

// What follows all products of a group in the same way.
SmallVector<Bias> commonBias(ArrayRef<linalg::MatmulOp> group) {
  SmallVector<Bias> biases;
  for (linalg::MatmulOp op : group) {
    std::optional<Bias> bias = Bias::of(op->getResult(0));
    if (!bias || (!biases.empty() && !biases.front().isLike(*bias)))
      return {};
    biases.push_back(*bias);
  }
  return biases;
}

void join(IRRewriter &rewriter, Group group, DominanceInfo &dominance) {
  linalg::MatmulOp first = group.front();
  SmallVector<Value> weights, columns;
  SmallVector<Location> locations;
  for (linalg::MatmulOp op : group) {
    weights.push_back(op.getDpsInputs()[1]);
    locations.push_back(op.getLoc());
  }
  SmallVector<Bias> biases = commonBias(group);
  for (Bias &bias : biases) {
    columns.push_back(bias.columns);
    locations.push_back(bias.op.getLoc());
  }
  if (failed(moveValueDefinitions(rewriter, weights, first, dominance)) ||
      failed(moveValueDefinitions(rewriter, columns, first, dominance)))
    return;
  rewriter.setInsertionPoint(first);
  Location loc = rewriter.getFusedLoc(locations);
  auto type = cast<RankedTensorType>(first->getResult(0).getType());
  const int64_t rows = type.getDimSize(0), wide = type.getDimSize(1), count = group.size();
  const unsigned column = first.getIndexingMapsArray()[1].getDimPosition(1) == 1 ? 1 : 0;
  Value empty = tensor::EmptyOp::create(rewriter, loc, {rows, count * wide}, type.getElementType());
  Value zero = first.getDpsInits()[0].getDefiningOp<linalg::FillOp>().getInputs()[0];
  Value start = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  Operation *product = mlir::clone(rewriter, first, start.getType(),
                                   {first.getDpsInputs()[0], joined(rewriter, loc, weights, column), start});
  product->setLoc(loc);
  Value all = product->getResult(0);
  if (!biases.empty()) {
    Bias &bias = biases.front();
    type = RankedTensorType::get(type.getShape(), getElementTypeOrSelf(bias.op->getResult(0).getType()));
    SmallVector<Value> inputs{all, joined(rewriter, loc, columns, 0)};
    AffineMap each = rewriter.getMultiDimIdentityMap(2);
    SmallVector<AffineMap> maps{each, each.dropResult(0)};
    if (bias.place == 1) {
      std::swap(inputs[0], inputs[1]);
      std::swap(maps[0], maps[1]);
    }
    maps.push_back(each);
    Value result = tensor::EmptyOp::create(rewriter, loc, {rows, count * wide}, type.getElementType());
    auto made = linalg::GenericOp::create(rewriter, loc, result.getType(), inputs, result, maps,
                                          SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel));
    rewriter.cloneRegionBefore(bias.op.getRegion(), made.getRegion(), made.getRegion().begin());
    all = made.getResult(0);
  }
  Value parts =
      tensor::ExpandShapeOp::create(rewriter, loc, RankedTensorType::get({rows, count, wide}, type.getElementType()),
                                    all, ArrayRef<ReassociationIndices>{{0}, {1, 2}});
  Reads reads;
  SmallVector<Value> results;
  for (auto [i, op] : llvm::enumerate(group)) {
    AffineExpr place[] = {rewriter.getAffineDimExpr(0), rewriter.getAffineConstantExpr(i),
                          rewriter.getAffineDimExpr(1)};
    Operation *last = biases.empty() ? op : biases[i].op;
    rewriter.setInsertionPoint(last);
    linalg::GenericOp read = readInLoops(rewriter, op.getLoc(), parts, type.getShape(), place);
    reads.insert(read);
    Value result = read.getResult(0);
    results.push_back(result);
    if (!biases.empty() && biases[i].expand)
      result = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), last->getResult(0).getType(), result,
                                             biases[i].expand.getReassociationIndices());
    rewriter.replaceOp(last, result);
  }
  for (auto [i, op] : llvm::enumerate(group)) {
    if (!biases.empty() && biases[i].expand)
      rewriter.eraseOp(biases[i].expand);
    if (!biases.empty())
      rewriter.eraseOp(op);
  }
  expandEarly(rewriter, results, reads);
}

class JoinProductsPass : public impl::JoinProductsPassBase<JoinProductsPass> {
public:
  explicit JoinProductsPass(const CompilerContext &context) : context(&context) {}
  JoinProductsPass(const JoinProductsPass &other) : JoinProductsPassBase(other), context(other.context) {}

  void runOnOperation() override {
    if (!context->options.evaluateConstants || !context->options.joinProducts)
      return;
    using Key = std::tuple<Block *, Value, Type, Type, Attribute>; // operand, weights, result, which way they lie
    llvm::MapVector<Key, Group> groups;
    getOperation().walk([&](linalg::MatmulOp op) {
      if (canJoin(op))
        groups[{op->getBlock(), op.getDpsInputs()[0], op.getDpsInputs()[1].getType(), op->getResult(0).getType(),
                op->getAttrDictionary()}]
            .push_back(op);
    });
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    for (auto &[key, group] : groups)
      for (ArrayRef<linalg::MatmulOp> left = group; left.size() > 1;) {
        ArrayRef<linalg::MatmulOp> next = left.take_front(kMostProducts);
        join(rewriter, Group(next), dominance);
        left = left.drop_front(next.size());
      }
  }

private:
  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createJoinProductsPass(const CompilerContext &context) {
  return std::make_unique<JoinProductsPass>(context);
}

} // namespace kiln::Flow
