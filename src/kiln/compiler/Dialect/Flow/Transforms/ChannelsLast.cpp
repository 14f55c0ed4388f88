#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/Transforms/SameInEachCall.h"
#include "kiln/compiler/Interfaces/ConvolutionLoops.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_CHANNELSLASTPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

// How a tensor lies in memory: dimension i there is dimension order[i] of the program.
using Order = SmallVector<int64_t>;

// Fewer channels of an image are read as they lie: vectors run along the filters.
constexpr int64_t kFewChannels = 8;

RankedTensorType typeIn(Type type, ArrayRef<int64_t> order) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(applyPermutation(tensor.getShape(), order), tensor.getElementType());
}

// The loop of `loops` that an expression depends on, if it is the only one.
std::optional<unsigned> loopOf(AffineExpr expr, const llvm::SmallBitVector &loops) {
  std::optional<unsigned> found;
  for (unsigned loop : loops.set_bits()) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (found)
      return std::nullopt;
    found = loop;
  }
  return found;
}

// The loops along the results of an operation, and for a tensor that has a dimension for each of them, which one that
// is.
class ResultLoops {
public:
  explicit ResultLoops(linalg::LinalgOp op) : op(op), loops(op.getNumLoops()) {
    for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
      if (type == utils::IteratorType::parallel)
        loops.set(loop);
  }

  // Nothing where dimensions and loops are not paired.
  std::optional<SmallVector<unsigned>> of(OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (map.getNumResults() != loops.count())
      return std::nullopt;
    SmallVector<unsigned> found;
    for (AffineExpr expr : map.getResults()) {
      std::optional<unsigned> loop = loopOf(expr, loops);
      if (!loop || llvm::is_contained(found, *loop))
        return std::nullopt;
      found.push_back(*loop);
    }
    return found;
  }

private:
  linalg::LinalgOp op;
  llvm::SmallBitVector loops;
};

// Of a convolution: which orders put channels last.
struct ConvolutionOrders {
  Order image, filter, result;
  bool fewChannels = false;
  bool isProduct = false; // windows of one pixel, each used once: rows of channels

  static std::optional<ConvolutionOrders> of(linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 || op.hasIndexSemantics() || !ConvolutionLoops::of(op))
      return std::nullopt;
    linalg::ConvolutionDimensions dims = *linalg::inferConvolutionDims(op);
    if (dims.outputImage.empty())
      return std::nullopt;
    ConvolutionOrders orders;
    const auto has = [](AffineExpr expr, ArrayRef<unsigned> loops) {
      return llvm::any_of(loops, [&](unsigned loop) { return expr.isFunctionOfDim(loop); });
    };
    const auto sorted = [&](AffineMap map, ArrayRef<ArrayRef<unsigned>> groups) {
      Order order;
      for (ArrayRef<unsigned> group : groups)
        for (auto [dim, expr] : llvm::enumerate(map.getResults()))
          if (has(expr, group) && !llvm::is_contained(order, int64_t(dim)))
            order.push_back(dim);
      return order.size() == map.getNumResults() ? order : Order();
    };
    AffineMap image = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    AffineMap filter = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    orders.image = sorted(image, {dims.batch, dims.outputImage, dims.depth, dims.inputChannel});
    // Filters of a channel of their own run along that.
    orders.filter = dims.inputChannel.empty() && dims.outputChannel.empty()
                        ? sorted(filter, {dims.filterLoop, dims.depth})
                        : sorted(filter, {dims.depth, dims.filterLoop, dims.inputChannel, dims.outputChannel});
    orders.result = sorted(result, {dims.batch, dims.outputImage, dims.depth, dims.outputChannel});
    if (orders.image.empty() || orders.filter.empty() || orders.result.empty() || !result.isProjectedPermutation())
      return std::nullopt;
    // The windows of a pool have no channels.
    if (filter.getNumResults() == dims.filterLoop.size())
      return std::nullopt;
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    int64_t channels = 1;
    for (unsigned loop : llvm::concat<unsigned>(dims.inputChannel, dims.depth))
      channels *= ShapedType::isDynamic(extents[loop]) ? kFewChannels : extents[loop];
    orders.fewChannels = channels < kFewChannels;
    const auto isOne = [](int64_t value) { return value == 1; };
    orders.isProduct = isa<linalg::Conv1DNcwFcwOp, linalg::Conv2DNchwFchwOp, linalg::Conv3DNcdhwFcdhwOp>(op) &&
                       !op.hasDynamicShape() && llvm::all_of(dims.strides, isOne) &&
                       llvm::all_of(dims.filterLoop, [&](unsigned loop) { return extents[loop] == 1; });
    return orders;
  }
};

// One function.
class Rewriter {
public:
  explicit Rewriter(Operation *function) : function(function), builder(function->getContext()) {
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != function)
        ops.push_back(op);
      return isa<linalg::LinalgOp, tensor::PadOp, tensor::GenerateOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
  }

  void run() {
    findConvolutions();
    if (convolutions.empty())
      return;
    while (!changed.empty())
      spread(changed.pop_back_val());
    for (Operation *op : ops)
      rewrite(op);
    SmallVector<Operation *> all;
    function->walk<WalkOrder::PreOrder>([&](Operation *op) { all.push_back(op); });
    for (Operation *op : llvm::reverse(all))
      if (isOpTriviallyDead(op))
        op->erase();
  }

private:
  //===--- Which tensors lie in another order ---===//

  void findConvolutions() {
    for (Operation *op : ops) {
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      std::optional<ConvolutionOrders> wanted = linalgOp ? ConvolutionOrders::of(linalgOp) : std::nullopt;
      if (!wanted || (isIdentityPermutation(wanted->image) && isIdentityPermutation(wanted->result)) ||
          !isSameInEachCall(op->getOperand(1)))
        continue;
      convolutions[op] = *wanted;
      if (!wanted->fewChannels)
        assign(op->getOperand(0), wanted->image);
      assign(op->getResult(0), wanted->result);
      assign(linalgOp.getDpsInits()[0], wanted->result);
    }
  }

  void assign(Value value, ArrayRef<int64_t> order) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getEncoding() || isIdentityPermutation(order) || !orders.try_emplace(value, order).second)
      return;
    changed.push_back(value);
  }

  // The order of the dimensions that a reshape makes of `order`'s; nothing where those that become one lie apart.
  static std::optional<Order> collapse(ArrayRef<int64_t> order, ArrayRef<ReassociationIndices> groups) {
    SmallVector<int64_t> groupOf(order.size());
    for (auto [i, group] : llvm::enumerate(groups))
      for (int64_t dim : group)
        groupOf[dim] = i;
    Order result;
    for (size_t i = 0; i < order.size();) {
      const ReassociationIndices &group = groups[groupOf[order[i]]];
      if (order.size() - i < group.size() || ArrayRef(order).slice(i, group.size()) != ArrayRef<int64_t>(group))
        return std::nullopt;
      result.push_back(groupOf[order[i]]);
      i += group.size();
    }
    return result;
  }
  static Order expand(ArrayRef<int64_t> order, ArrayRef<ReassociationIndices> groups) {
    Order result;
    for (int64_t dim : order)
      llvm::append_range(result, groups[dim]);
    return result;
  }

  // Whether an operation computes the same, element by element, however its tensors lie.
  bool isFree(Operation *op) const {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || !linalgOp.hasPureTensorSemantics() || linalg::isaContractionOpInterface(linalgOp))
      return false;
    std::optional<ConvolutionLoops> loops = ConvolutionLoops::of(linalgOp);
    return !loops || !loops->channels;
  }

  void spread(Value value) {
    if (Operation *op = value.getDefiningOp())
      spread(value, op);
    for (Operation *user : llvm::SmallSetVector<Operation *, 4>(value.user_begin(), value.user_end()))
      spread(value, user);
  }

  void spread(Value value, Operation *op) {
    const Order order = orders.lookup(value);
    if (isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) && isPlainSlice(op)) {
      assign(op->getResult(0), order);
      assign(op->getOperand(0), order);
      if (isa<tensor::InsertSliceOp>(op))
        assign(op->getOperand(1), order);
    } else if (auto collapsing = dyn_cast<tensor::CollapseShapeOp>(op)) {
      SmallVector<ReassociationIndices> groups = collapsing.getReassociationIndices();
      if (value == collapsing.getResult())
        assign(collapsing.getSrc(), expand(order, groups));
      else if (std::optional<Order> result = collapse(order, groups))
        assign(collapsing.getResult(), *result);
    } else if (auto expanding = dyn_cast<tensor::ExpandShapeOp>(op)) {
      SmallVector<ReassociationIndices> groups = expanding.getReassociationIndices();
      if (value == expanding.getSrc())
        assign(expanding.getResult(), expand(order, groups));
      else if (std::optional<Order> source = collapse(order, groups))
        assign(expanding.getSrc(), *source);
    } else if (isFree(op)) {
      spread(value, order, cast<linalg::LinalgOp>(op));
    }
  }

  void spread(Value value, ArrayRef<int64_t> order, linalg::LinalgOp op) {
    ResultLoops loops(op);
    SmallVector<unsigned> inOrder;
    for (OpOperand &operand : op->getOpOperands()) {
      bool isValue = operand.get() == value || (op.isDpsInit(&operand) && op.getTiedOpResult(&operand) == value);
      if (std::optional<SmallVector<unsigned>> found = loops.of(operand); isValue && found)
        inOrder = applyPermutation(*found, order);
    }
    if (inOrder.empty())
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<SmallVector<unsigned>> found = loops.of(operand);
      if (!found)
        continue;
      Order wanted;
      for (unsigned loop : inOrder)
        wanted.push_back(llvm::find(*found, loop) - found->begin());
      assign(operand.get(), wanted);
      if (op.isDpsInit(&operand))
        assign(op.getTiedOpResult(&operand), wanted);
    }
    // An image that is resized is read by its indices.
    if (op.isAllParallelLoops() && value == op->getResult(0))
      op->walk([&](tensor::ExtractOp extract) {
        if (extract.getTensor().getType().getRank() == int64_t(order.size()))
          assign(extract.getTensor(), order);
      });
  }

  // Of as many dimensions as its tensors, and with padding that is the same everywhere.
  static bool isPlainSlice(Operation *op) {
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      Value padding = pad.getConstantPaddingValue();
      return padding && !pad->isAncestor(padding.getParentRegion()->getParentOp());
    }
    if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
      return extract.getSourceType().getRank() == extract.getType().getRank();
    auto insert = cast<tensor::InsertSliceOp>(op);
    return insert.getSourceType().getRank() == insert.getDestType().getRank();
  }

  //===--- Rewriting ---===//

  // A tensor in another order: where only dimensions of one element move, it lies in memory as it did.
  Value transposed(Value value, ArrayRef<int64_t> order) {
    auto type = cast<RankedTensorType>(value.getType());
    Location loc = value.getLoc();
    SmallVector<int64_t> longDims;
    for (int64_t dim : order)
      if (type.getDimSize(dim) != 1)
        longDims.push_back(dim);
    RankedTensorType to = typeIn(type, order);
    if (type.hasStaticShape() && llvm::is_sorted(longDims)) {
      SmallVector<ReassociationIndices> all(1, llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank())));
      auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
      Value collapsed = type.getRank() == 1 ? value : tensor::CollapseShapeOp::create(builder, loc, flat, value, all);
      return tensor::ExpandShapeOp::create(builder, loc, to, collapsed, all);
    }
    SmallVector<OpFoldResult> extents = applyPermutation(tensor::getMixedSizes(builder, loc, value), order);
    Value empty = tensor::EmptyOp::create(builder, loc, extents, type.getElementType());
    return linalg::TransposeOp::create(builder, loc, value, empty, order)->getResult(0);
  }

  // What stands for a value that lies in another order.
  Value moved(Value value) {
    Value &result = movedValues[value];
    if (!result) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(value);
      result = transposed(value, orders.lookup(value));
    }
    return result;
  }

  // The same where the order may be the program's.
  Value operandOf(Value value) { return isMoved(value) ? moved(value) : value; }

  // What was made instead of a result that lies as it does in the program, for those who want it so.
  void replace(Value old, Value made) {
    if (!orders.contains(old)) {
      old.replaceAllUsesWith(made);
      return;
    }
    movedValues[old] = made;
    Order order = orders.lookup(old);
    // Users that are rewritten take what was made; others a transpose, which goes where there are none.
    Value back = transposed(made, invertPermutationVector(order));
    orders[back] = order;
    old.replaceAllUsesWith(back);
    movedValues[back] = made;
  }

  bool isMoved(Value value) const { return orders.contains(value); }

  void rewrite(Operation *op) {
    const auto isAnyMoved = [&](ValueRange values) {
      return llvm::any_of(values, [&](Value value) { return isMoved(value); });
    };
    if (!isAnyMoved(op->getOperands()) && !isAnyMoved(op->getResults()))
      return;
    builder.setInsertionPoint(op);
    if (auto convolution = convolutions.find(op); convolution != convolutions.end())
      rewriteConvolution(cast<linalg::LinalgOp>(op), convolution->second);
    else if (auto pad = dyn_cast<tensor::PadOp>(op); pad && isPlainSlice(op))
      rewritePad(pad);
    else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op); extract && isPlainSlice(op))
      rewriteSlice(extract);
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op); insert && isPlainSlice(op))
      rewriteSlice(insert);
    else if (auto empty = dyn_cast<tensor::EmptyOp>(op))
      replace(empty.getResult(),
              tensor::EmptyOp::create(builder, op->getLoc(),
                                      applyPermutation(empty.getMixedSizes(), orders.lookup(empty.getResult())),
                                      empty.getType().getElementType()));
    else if (auto fill = dyn_cast<linalg::FillOp>(op))
      rewriteFill(fill);
    else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      rewriteReshape(op);
    else if (auto dim = dyn_cast<tensor::DimOp>(op))
      rewriteDim(dim);
    else if (isFree(op))
      rewriteLoops(cast<linalg::LinalgOp>(op));
  }

  void rewritePad(tensor::PadOp op) {
    if (!isMoved(op.getResult()) || !isMoved(op.getSource()))
      return;
    const Order order = orders.lookup(op.getResult());
    if (orders.lookup(op.getSource()) != order)
      return;
    auto made = tensor::PadOp::create(builder, op.getLoc(), typeIn(op.getType(), order), moved(op.getSource()),
                                      applyPermutation(op.getMixedLowPad(), order),
                                      applyPermutation(op.getMixedHighPad(), order), op.getConstantPaddingValue());
    replace(op.getResult(), made);
  }

  void rewriteSlice(tensor::ExtractSliceOp op) {
    const Order order = orders.lookup(op.getResult());
    if (order.empty() || orders.lookup(op.getSource()) != order)
      return;
    replace(op.getResult(),
            tensor::ExtractSliceOp::create(builder, op.getLoc(), typeIn(op.getType(), order), moved(op.getSource()),
                                           applyPermutation(op.getMixedOffsets(), order),
                                           applyPermutation(op.getMixedSizes(), order),
                                           applyPermutation(op.getMixedStrides(), order)));
  }

  void rewriteSlice(tensor::InsertSliceOp op) {
    const Order order = orders.lookup(op.getResult());
    if (order.empty() || orders.lookup(op.getSource()) != order || orders.lookup(op.getDest()) != order)
      return;
    auto made = tensor::InsertSliceOp::create(
        builder, op.getLoc(), moved(op.getSource()), moved(op.getDest()), applyPermutation(op.getMixedOffsets(), order),
        applyPermutation(op.getMixedSizes(), order), applyPermutation(op.getMixedStrides(), order));
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replace(op.getResult(), made);
  }

  void rewriteFill(linalg::FillOp op) {
    Value start = op.getOutputs()[0], result = op->getResult(0);
    if (isMoved(start) && isMoved(result) && orders.lookup(start) == orders.lookup(result))
      replace(result, linalg::FillOp::create(builder, op.getLoc(), op.getInputs(), moved(start)).getResult(0));
  }

  void rewriteReshape(Operation *op) {
    Value source = op->getOperand(0), result = op->getResult(0);
    if (!isMoved(source) || !isMoved(result))
      return;
    auto collapsing = dyn_cast<tensor::CollapseShapeOp>(op);
    auto expanding = dyn_cast<tensor::ExpandShapeOp>(op);
    SmallVector<ReassociationIndices> groups =
        collapsing ? collapsing.getReassociationIndices() : expanding.getReassociationIndices();
    const Order longOrder = orders.lookup(collapsing ? source : result);
    const Order shortOrder = orders.lookup(collapsing ? result : source);
    if (expand(shortOrder, groups) != longOrder)
      return;
    SmallVector<ReassociationIndices> movedGroups;
    int64_t next = 0;
    for (int64_t dim : shortOrder) {
      ReassociationIndices &group = movedGroups.emplace_back();
      for (size_t i = 0; i < groups[dim].size(); ++i)
        group.push_back(next++);
    }
    RankedTensorType type = typeIn(result.getType(), orders.lookup(result));
    if (collapsing)
      replace(result, tensor::CollapseShapeOp::create(builder, op->getLoc(), type, moved(source), movedGroups));
    else
      replace(result, tensor::ExpandShapeOp::create(builder, op->getLoc(), type, moved(source), movedGroups,
                                                    applyPermutation(expanding.getMixedOutputShape(), longOrder)));
  }

  void rewriteDim(tensor::DimOp op) {
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!isMoved(op.getSource()) || !dim)
      return;
    const Order order = orders.lookup(op.getSource());
    Value made =
        tensor::DimOp::create(builder, op.getLoc(), moved(op.getSource()), llvm::find(order, *dim) - order.begin());
    op.getResult().replaceAllUsesWith(made);
  }

  void rewriteConvolution(linalg::LinalgOp op, const ConvolutionOrders &wanted) {
    Value image = op->getOperand(0), filter = op->getOperand(1), init = op.getDpsInits()[0];
    bool isImageMoved = isMoved(image) || isIdentityPermutation(wanted.image);
    if (isMoved(image) && orders.lookup(image) != wanted.image)
      return;
    if (orders.lookup(op->getResult(0)) != wanted.result || orders.lookup(init) != wanted.result)
      return;
    Value movedFilter = transposed(filter, wanted.filter);
    if (isImageMoved && wanted.isProduct) {
      rewriteProduct(op, operandOf(image), movedFilter);
      return;
    }
    SmallVector<Value> operands{operandOf(image), movedFilter, moved(init)};
    SmallVector<Order> operandOrders{isMoved(image) ? wanted.image : identityOrder(image), wanted.filter,
                                     wanted.result};
    rewriteLoops(op, operands, operandOrders);
  }

  // Rows of pixels times columns of filters.
  void rewriteProduct(linalg::LinalgOp op, Value image, Value filter) {
    Location loc = op.getLoc();
    const auto groupsOf = [](RankedTensorType type) {
      const int64_t last = type.getRank() - 1;
      return SmallVector<ReassociationIndices>{llvm::to_vector<2>(llvm::seq<int64_t>(0, last)), {last}};
    };
    const auto flatType = [](RankedTensorType type) {
      const int64_t channels = type.getShape().back();
      return RankedTensorType::get({type.getNumElements() / channels, channels}, type.getElementType());
    };
    const auto rowsOf = [&](Value value) -> Value {
      auto type = cast<RankedTensorType>(value.getType());
      return tensor::CollapseShapeOp::create(builder, loc, flatType(type), value, groupsOf(type));
    };
    Value init = moved(op.getDpsInits()[0]), start;
    auto type = cast<RankedTensorType>(init.getType());
    if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
      Value empty = tensor::EmptyOp::create(builder, loc, flatType(type).getShape(), type.getElementType());
      start = linalg::FillOp::create(builder, loc, fill.getInputs()[0], empty).getResult(0);
    } else {
      start = rowsOf(init);
    }
    auto product = linalg::MatmulOp::create(builder, loc, ValueRange{rowsOf(image), rowsOf(filter)}, ValueRange{start});
    product->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replace(op->getResult(0), tensor::ExpandShapeOp::create(builder, loc, type, product.getResult(0), groupsOf(type)));
  }

  static Order identityOrder(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())) : Order();
  }

  void rewriteLoops(linalg::LinalgOp op) {
    SmallVector<Value> operands;
    SmallVector<Order> operandOrders;
    for (OpOperand &operand : op->getOpOperands()) {
      // A result starts from a tensor that lies as it does.
      const Value of = op.isDpsInit(&operand) ? Value(op.getTiedOpResult(&operand)) : operand.get();
      Order order = isMoved(of) ? orders.lookup(of) : identityOrder(of);
      Value value = operand.get();
      if ((isMoved(value) ? orders.lookup(value) : identityOrder(value)) == order)
        value = operandOf(value);
      else if (!isIdentityPermutation(order))
        value = transposed(value, order);
      operands.push_back(value);
      operandOrders.push_back(order);
    }
    rewriteLoops(op, operands, operandOrders);
  }

  // The same operation on tensors in other orders, with its loops in the order of the first result.
  void rewriteLoops(linalg::LinalgOp op, ArrayRef<Value> operands, ArrayRef<Order> operandOrders) {
    MLIRContext *context = op->getContext();
    SmallVector<AffineMap> maps;
    for (auto [operand, order] : llvm::zip(op->getOpOperands(), operandOrders)) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      maps.push_back(AffineMap::get(map.getNumDims(), 0, applyPermutation(map.getResults(), order), context));
    }
    const size_t inputs = op.getNumDpsInputs();
    SmallVector<int64_t> loops; // the old loops, in their new order
    for (AffineExpr expr : maps[inputs].getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !llvm::is_contained(loops, int64_t(dim.getPosition())))
        loops.push_back(dim.getPosition());
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (utils::IteratorType kind : {utils::IteratorType::parallel, utils::IteratorType::reduction})
      for (int64_t loop : loopsInOrder(op))
        if (kinds[loop] == kind && !llvm::is_contained(loops, loop))
          loops.push_back(loop);
    SmallVector<AffineExpr> places(loops.size());
    for (auto [place, loop] : llvm::enumerate(loops))
      places[loop] = getAffineDimExpr(place, context);
    for (AffineMap &map : maps)
      map = map.replaceDimsAndSymbols(places, {}, loops.size(), 0);
    SmallVector<Type> types;
    for (Value init : operands.drop_front(inputs))
      types.push_back(init.getType());
    auto made = linalg::GenericOp::create(builder, op.getLoc(), types, operands.take_front(inputs),
                                          operands.drop_front(inputs), maps, applyPermutation(kinds, loops));
    IRMapping mapping;
    op->getRegion(0).cloneInto(&made.getRegion(), mapping);
    made.walk([&](linalg::IndexOp index) { index.setDim(cast<AffineDimExpr>(places[index.getDim()]).getPosition()); });
    made.walk([&](tensor::ExtractOp extract) {
      if (!isMoved(extract.getTensor()))
        return;
      SmallVector<Value> indices =
          applyPermutation(SmallVector<Value>(extract.getIndices()), orders.lookup(extract.getTensor()));
      extract.getIndicesMutable().assign(indices);
      extract.getTensorMutable().assign(moved(extract.getTensor()));
    });
    made->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    made->removeAttr(linalg::LinalgDialect::kMemoizedIndexingMapsAttrName); // those of the old operation
    linalg::LinalgOp named = made;
    if (auto convolution = dyn_cast<linalg::Conv2DNchwFchwOp>(op.getOperation()))
      named = withName(made, convolution);
    for (auto [old, result] : llvm::zip(op->getResults(), named->getResults()))
      replace(old, result);
  }

  // A convolution that had a name keeps one, which specs of the user's match.
  linalg::LinalgOp withName(linalg::GenericOp op, linalg::Conv2DNchwFchwOp first) {
    auto named = linalg::Conv2DNhwcHwcfOp::create(builder, op.getLoc(), op->getResultTypes(), op.getInputs(),
                                                  op.getOutputs(), first.getStrides(), first.getDilations());
    const bool isSame = named.getIndexingMapsArray() == op.getIndexingMapsArray();
    if (isSame)
      named->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    (isSame ? op.getOperation() : named.getOperation())->erase();
    return isSame ? linalg::LinalgOp(named) : linalg::LinalgOp(op);
  }

  // The reductions of a convolution run along the pixels of the filter first, then along its channels.
  static SmallVector<int64_t> loopsInOrder(linalg::LinalgOp op) {
    SmallVector<int64_t> loops = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumLoops()));
    std::optional<ConvolutionLoops> convolution = ConvolutionLoops::of(op);
    if (convolution && convolution->channels) {
      llvm::erase(loops, int64_t(*convolution->channels));
      loops.push_back(*convolution->channels);
    }
    return loops;
  }

  Operation *function;
  SmallVector<Operation *> ops;
  OpBuilder builder;
  llvm::MapVector<Operation *, ConvolutionOrders> convolutions;
  DenseMap<Value, Order> orders; // of values that lie otherwise than in the program
  DenseMap<Value, Value> movedValues;
  SmallVector<Value> changed;
};

class ChannelsLastPass : public impl::ChannelsLastPassBase<ChannelsLastPass> {
public:
  ChannelsLastPass(const CompilerContext &context, bool isAlways) : context(&context) { always = isAlways; }
  ChannelsLastPass(const ChannelsLastPass &other) : ChannelsLastPassBase(other), context(other.context) {}

  void runOnOperation() override {
    FailureOr<DispatchLimits> limits = context->dispatchLimits(getOperation().getLoc());
    if (failed(limits))
      return signalPassFailure();
    if (!always && (!limits->channelsLast || !context->options.channelsLast))
      return;
    for (Operation &op : *getOperation().getBody())
      if (isa<FunctionOpInterface>(op))
        Rewriter(&op).run();
  }

private:
  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createChannelsLastPass(const CompilerContext &context, bool always) {
  return std::make_unique<ChannelsLastPass>(context, always);
}

} // namespace kiln::Flow
