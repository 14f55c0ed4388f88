#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Flow/Transforms/SameInEachCall.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/HAL/IR/Places.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/ConvolutionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_PACKCONSTANTSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

// The extents of a tensor whose dimension `dim` is cut into panels.
SmallVector<int64_t> cutShape(ArrayRef<int64_t> shape, unsigned dim, int64_t panel) {
  SmallVector<int64_t> cut(shape);
  cut[dim] /= panel;
  cut.insert(cut.begin() + dim + 1, panel);
  return cut;
}
RankedTensorType cutType(Type type, unsigned dim, int64_t panel) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(cutShape(tensor.getShape(), dim, panel), tensor.getElementType());
}

// The place of a loop among the results of a map: nothing where there is none, or where it is part of an expression.
std::optional<unsigned> placeOf(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

// Where a product has few rows, its weights are read from memory once; fewer stay in a cache however they lie.
constexpr int64_t kLeastStreamed = int64_t(1) << 18;

// A dispatch whose root is a product of an argument, or a convolution with it, and how it becomes one of panels: the
// loop along the columns is cut in two everywhere in the function, and arguments and results have another shape with
// the same bytes.
class Product {
public:
  static std::optional<Product> of(ExecutableOp executable, int64_t panelBytes) {
    Product product;
    product.function = *executable.getInnerModule().getOps<func::FuncOp>().begin();
    if (!product.findRoot(panelBytes) || !product.followColumns())
      return std::nullopt;
    return product;
  }

  unsigned argument() const { return weights.getArgNumber(); }
  // The weights with their columns cut in two, and as the kernel reads them: [columns / panel, what is summed up...,
  // panel].
  RankedTensorType cutWeightsType() const { return cutType(weights.getType(), *placeOf(weightsMap, columns), panel); }
  RankedTensorType packedType() const {
    auto type = cast<RankedTensorType>(weights.getType());
    SmallVector<int64_t> shape{type.getDimSize(*placeOf(weightsMap, columns)) / panel};
    for (unsigned loop : reductions)
      shape.push_back(type.getDimSize(*placeOf(weightsMap, loop)));
    shape.push_back(panel);
    return RankedTensorType::get(shape, type.getElementType());
  }
  // Which element of the cut weights goes to a place of the packed ones.
  AffineMap packingMap() const {
    MLIRContext *context = weights.getContext();
    const unsigned last = reductions.size() + 1;
    SmallVector<AffineExpr> source;
    for (AffineExpr expr : weightsMap.getResults()) {
      const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      if (loop == columns)
        llvm::append_range(source, ArrayRef{getAffineDimExpr(0, context), getAffineDimExpr(last, context)});
      else
        source.push_back(getAffineDimExpr(1 + (llvm::find(reductions, loop) - reductions.begin()), context));
    }
    return AffineMap::get(last + 1, 0, source, context);
  }

  void rewrite() {
    Block &body = function.getFunctionBody().front();
    for (auto [value, dim] : cutArguments)
      value.setType(cutType(value.getType(), dim, panel));
    RankedTensorType packed = packedType();
    weights.setType(packed);
    const unsigned insertDim = insert ? cutDims.lookup(insert.getSource()) : 0;
    for (Operation &op : llvm::make_early_inc_range(body))
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        cutOp(linalgOp);
    if (insert)
      cutInsert(insertDim);
    Operation *terminator = body.getTerminator();
    function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(), terminator->getOperandTypes()));
  }

private:
  bool findRoot(int64_t panelBytes) {
    if (!function.getFunctionBody().hasOneBlock())
      return false;
    for (Operation &op : function.getFunctionBody().front()) {
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      if (auto into = dyn_cast<tensor::InsertSliceOp>(op); into && !insert)
        insert = into;
      else if (!linalgOp && !isa<tensor::EmptyOp, arith::ConstantOp, func::ReturnOp>(op))
        return false;
      if (linalgOp && (linalgOp.hasDynamicShape() || linalgOp->getNumResults() != linalgOp.getNumDpsInits()))
        return false;
      if (!linalgOp || linalgOp.getNumReductionLoops() == 0)
        continue;
      if (root)
        return false;
      root = linalgOp;
    }
    if (!root || root.getNumDpsInputs() != 2 || root->getNumResults() != 1)
      return false;
    std::optional<ConvolutionLoops> convolution = ConvolutionLoops::of(root);
    if (!linalg::isaContractionOpInterface(root) && !(convolution && convolution->channels))
      return false;
    AffineMap result = root.getMatchingIndexingMap(root.getDpsInitOperand(0));
    if (!result.isProjectedPermutation() || result.getNumResults() < 2)
      return false;
    columns = result.getDimPosition(result.getNumResults() - 1);
    root.getReductionDims(reductions);
    for (OpOperand *input : root.getDpsInputOperands()) {
      AffineMap map = root.getMatchingIndexingMap(input);
      if (!placeOf(map, columns))
        continue;
      weights = dyn_cast<BlockArgument>(input->get());
      weightsMap = map;
    }
    if (!weights || !weights.hasOneUse() || !weightsMap.isProjectedPermutation() ||
        weightsMap.getNumResults() != reductions.size() + 1)
      return false;
    SmallVector<int64_t> extents = root.getStaticLoopRanges();
    int64_t rows = 1;
    for (AffineExpr expr : result.getResults().drop_back())
      rows *= extents[cast<AffineDimExpr>(expr).getPosition()];
    for (Type type : {weights.getType(), root->getResult(0).getType()})
      if (!getElementTypeOrSelf(type).isF32())
        return false;
    panel = panelBytes / 4;
    if (rows < kLeastRowsOfPanels) {
      if (convolution || cast<RankedTensorType>(weights.getType()).getNumElements() < kLeastStreamed)
        return false;
      // As many registers as more rows would have.
      int64_t times = rows == 1 ? 4 : rows <= 3 ? 2 : 1;
      while (times > 1 && extents[columns] % (panel * times) != 0)
        times /= 2;
      panel *= times;
    }
    return panel > 0 && extents[columns] % panel == 0;
  }

  // Finds the dimension of each value of the function that runs along the columns.
  bool followColumns() {
    for (auto op : function.getFunctionBody().front().getOps<linalg::LinalgOp>()) {
      std::optional<unsigned> loop = op == root ? std::optional(columns) : std::nullopt;
      for (OpOperand &operand : op->getOpOperands())
        if (auto cut = cutDims.find(operand.get()); cut != cutDims.end() && op != root) {
          auto dim = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(cut->second));
          if (!dim || (loop && *loop != dim.getPosition()))
            return false;
          loop = dim.getPosition();
        }
      if (isa<linalg::FillOp>(op))
        continue; // is cut for who uses it
      if (!loop) {
        for (Value operand : op->getOperands())
          others.insert(operand);
        continue;
      }
      if (op.hasIndexSemantics())
        return false;
      for (OpOperand &operand : op->getOpOperands()) {
        if (operand.get() == weights)
          continue;
        if (!cut(op, operand, *loop))
          return false;
      }
      for (auto [result, init] : llvm::zip(op->getResults(), op.getDpsInitsMutable())) {
        std::optional<unsigned> dim = placeOf(op.getMatchingIndexingMap(&init), *loop);
        if (!dim)
          return false;
        cutDims[result] = *dim;
      }
      cutLoops.insert({op, *loop});
    }
    if (insert) {
      // What the last operation starts from is where its result goes, and so must be nothing that it reads.
      auto last = insert.getSource().getDefiningOp<linalg::LinalgOp>();
      Operation *start = last ? last.getDpsInits()[0].getDefiningOp() : nullptr;
      if (!cutDims.contains(insert.getSource()) || !insert.getSource().hasOneUse() ||
          !isa<BlockArgument>(insert.getDest()) || !isa_and_nonnull<linalg::FillOp, tensor::EmptyOp>(start))
        return false;
      others.insert(insert.getDest());
    }
    for (auto [value, dim] : cutDims)
      if (others.contains(value))
        return false;
    return true;
  }

  // What is stored as a part of another tensor is computed there, in panels, which lie beside each other as columns do.
  void cutInsert(unsigned dim) {
    auto last = cast<linalg::LinalgOp>(insert.getSource().getDefiningOp());
    OpBuilder b(last);
    Location loc = insert.getLoc();
    RankedTensorType type = insert.getDestType();
    SmallVector<ReassociationIndices> groups;
    for (int64_t i = 0, next = 0; i < type.getRank(); ++i) {
      groups.push_back({next++});
      if (i == dim)
        groups.back().push_back(next++);
    }
    Value place = tensor::ExtractSliceOp::create(b, loc, insert.getDest(), insert.getMixedOffsets(),
                                                 insert.getMixedSizes(), insert.getMixedStrides());
    place = tensor::ExpandShapeOp::create(b, loc, last->getResult(0).getType(), place, groups);
    OpOperand &init = last.getDpsInitsMutable()[0];
    if (auto fill = init.get().getDefiningOp<linalg::FillOp>())
      place = linalg::FillOp::create(b, loc, fill.getInputs()[0], place).getResult(0);
    init.set(place);
    b.setInsertionPoint(insert);
    insert.getSourceMutable().assign(tensor::CollapseShapeOp::create(b, loc, last->getResult(0), groups));
  }

  bool cut(linalg::LinalgOp op, OpOperand &operand, unsigned loop) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    std::optional<unsigned> dim = placeOf(map, loop);
    if (!dim) {
      others.insert(operand.get());
      return !map.isFunctionOfDim(loop);
    }
    for (auto [place, expr] : llvm::enumerate(map.getResults()))
      if (place != *dim && expr.isFunctionOfDim(loop))
        return false;
    Value value = operand.get();
    auto [known, isNew] = cutDims.try_emplace(value, *dim);
    if (known->second != *dim)
      return false;
    if (!isNew)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      cutArguments.push_back({argument, *dim});
      return true;
    }
    // Made for each of its uses anew.
    if (auto fill = value.getDefiningOp<linalg::FillOp>())
      return fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>() != nullptr;
    return isa<tensor::EmptyOp>(value.getDefiningOp());
  }

  Value remade(OpBuilder &b, Value value, unsigned dim) const {
    RankedTensorType type = cutType(value.getType(), dim, panel);
    Value empty = tensor::EmptyOp::create(b, value.getLoc(), type.getShape(), type.getElementType());
    if (auto fill = value.getDefiningOp<linalg::FillOp>())
      return linalg::FillOp::create(b, value.getLoc(), fill.getInputs()[0], empty).getResult(0);
    return empty;
  }

  void cutOp(linalg::LinalgOp op) {
    auto found = cutLoops.find(op);
    if (found == cutLoops.end())
      return;
    const unsigned loop = found->second;
    OpBuilder b(op);
    MLIRContext *context = op->getContext();
    const auto shifted = [&](unsigned place) { return getAffineDimExpr(place > loop ? place + 1 : place, context); };
    SmallVector<Value> operands;
    SmallVector<AffineMap> maps;
    for (OpOperand &operand : op->getOpOperands()) {
      SmallVector<AffineExpr> replacements, exprs;
      for (unsigned i = 0; i < op.getNumLoops(); ++i)
        replacements.push_back(shifted(i));
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (op == root && operand.get() == weights) {
        exprs.push_back(shifted(loop));
        llvm::append_range(exprs, llvm::map_range(reductions, shifted));
        exprs.push_back(getAffineDimExpr(loop + 1, context));
      } else {
        for (AffineExpr expr : map.getResults()) {
          exprs.push_back(expr.replaceDims(replacements));
          if (expr == getAffineDimExpr(loop, context))
            exprs.push_back(getAffineDimExpr(loop + 1, context));
        }
      }
      maps.push_back(AffineMap::get(op.getNumLoops() + 1, 0, exprs, context));
      Value value = operand.get();
      if (value != weights && !isa<BlockArgument>(value) && placeOf(map, loop) &&
          isa<tensor::EmptyOp, linalg::FillOp>(value.getDefiningOp()))
        value = remade(b, value, *placeOf(map, loop));
      operands.push_back(value);
    }
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    kinds.insert(kinds.begin() + loop + 1, utils::IteratorType::parallel);
    const size_t inputs = op.getNumDpsInputs();
    SmallVector<Type> types;
    for (Value init : ArrayRef(operands).drop_front(inputs))
      types.push_back(init.getType());
    auto made = linalg::GenericOp::create(b, op.getLoc(), types, ArrayRef(operands).take_front(inputs),
                                          ArrayRef(operands).drop_front(inputs), maps, kinds);
    IRMapping mapping;
    op->getRegion(0).cloneInto(&made.getRegion(), mapping);
    made->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    for (auto [old, replacement] : llvm::zip(op->getResults(), made.getResults()))
      old.replaceAllUsesWith(replacement);
    op->erase();
  }

  func::FuncOp function;
  linalg::LinalgOp root;
  tensor::InsertSliceOp insert; // of the last result, if it goes to another tensor
  unsigned columns = 0;         // of the root's loops
  SmallVector<unsigned> reductions;
  BlockArgument weights;
  AffineMap weightsMap;
  int64_t panel = 0;
  llvm::MapVector<Value, unsigned> cutDims;
  llvm::DenseSet<Value> others; // which are used as they are
  SmallVector<std::pair<BlockArgument, unsigned>> cutArguments;
  DenseMap<Operation *, unsigned> cutLoops;
};

class PackConstantsPass : public impl::PackConstantsPassBase<PackConstantsPass> {
public:
  explicit PackConstantsPass(const CompilerContext &context) : context(&context) {}

  void runOnOperation() override {
    FailureOr<DispatchLimits> limits = context->dispatchLimits(getOperation().getLoc());
    if (failed(limits))
      return signalPassFailure();
    if (limits->panelBytes == 0 || !context->options.evaluateConstants || !context->options.dataTiling)
      return;
    packers.clear();
    llvm::MapVector<StringAttr, SmallVector<DispatchOp>> users;
    for (Operation &op : *getOperation().getBody()) {
      if (isa<ExecutableOp>(op))
        continue;
      op.walk([&](DispatchOp dispatch) { users[dispatch.getEntry().getRootReference()].push_back(dispatch); });
    }
    SymbolTable symbols(getOperation());
    for (auto &[name, dispatches] : users) {
      auto executable = symbols.lookup<ExecutableOp>(name);
      std::optional<Product> product = Product::of(executable, limits->panelBytes);
      if (!product || !llvm::all_of(dispatches, [&](DispatchOp dispatch) {
            return !HAL::placeOf(dispatch) && isConstant(dispatch.getArgs()[product->argument()]) &&
                   !llvm::is_contained(dispatch.getTied(), static_cast<int64_t>(product->argument()));
          }))
        continue;
      ExecutableOp packer = packerOf(*product, symbols);
      product->rewrite();
      for (DispatchOp dispatch : dispatches)
        rewriteDispatch(dispatch, executable, *product, packer);
    }
  }

private:
  static int64_t bytesOf(TypeRange types) {
    int64_t bytes = 0;
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
        bytes += llvm::divideCeil(tensor.getNumElements() * HAL::packedBitWidth(tensor), 8);
    return bytes;
  }

  // Whether the value is the same in each call, and kept from when the module is loaded, so that it is packed once.
  static bool isConstant(Value value) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<TensorParameterOp>(op))
      return true;
    if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
      return !isa<SplatElementsAttr>(constant.getValue());
    return isa_and_nonnull<TensorReshapeOp, DispatchOp>(op) && op->getNumOperands() > 0 &&
           (isa<TensorReshapeOp>(op) ||
            bytesOf(op->getResultTypes()) <= mostBytesKept(bytesOf(op->getOperandTypes()))) &&
           llvm::all_of(op->getOperands(), [](Value operand) { return isConstant(operand); });
  }

  // The executable that makes panels of weights.
  ExecutableOp packerOf(const Product &product, SymbolTable &symbols) {
    RankedTensorType from = product.cutWeightsType();
    AffineMap source = product.packingMap();
    ExecutableOp &executable = packers[{from, source}];
    if (executable)
      return executable;
    RankedTensorType to = product.packedType();
    OpBuilder b(&getContext());
    Location loc = getOperation().getLoc();
    executable = ExecutableOp::create(b, loc, "pack_weights");
    symbols.insert(executable, getOperation().getBody()->begin());
    b.setInsertionPointToStart(&executable.getBody().front());
    auto inner = mlir::ModuleOp::create(b, loc);
    b.setInsertionPointToStart(inner.getBody());
    std::string name = executable.getSymName().str();
    for (auto [i, extent] : llvm::enumerate(to.getShape()))
      name += (i == 0 ? "_" : "x") + std::to_string(extent);
    name += "_f32";
    auto func = func::FuncOp::create(b, loc, name, b.getFunctionType({from}, {to}));
    Block *body = func.addEntryBlock();
    b.setInsertionPointToStart(body);
    Value empty = tensor::EmptyOp::create(b, loc, to.getShape(), to.getElementType());
    const int64_t rank = to.getRank();
    SmallVector<AffineMap> maps = {source, b.getMultiDimIdentityMap(rank)};
    auto copy = linalg::GenericOp::create(
        b, loc, to, ValueRange{body->getArgument(0)}, ValueRange{empty}, maps,
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [](OpBuilder &inside, Location at, ValueRange args) { linalg::YieldOp::create(inside, at, args[0]); });
    func::ReturnOp::create(b, loc, copy.getResults());
    return executable;
  }

  static SymbolRefAttr entryOf(ExecutableOp executable) {
    auto func = *executable.getInnerModule().getOps<func::FuncOp>().begin();
    return SymbolRefAttr::get(executable.getSymNameAttr(), {FlatSymbolRefAttr::get(func.getSymNameAttr())});
  }

  static void rewriteDispatch(DispatchOp dispatch, ExecutableOp executable, const Product &product,
                              ExecutableOp packer) {
    OpBuilder b(dispatch);
    Location loc = dispatch.getLoc();
    const auto reshaped = [&](Value value, Type type) -> Value {
      return value.getType() == type ? value : TensorReshapeOp::create(b, loc, type, value, ValueRange()).getResult();
    };
    auto func = *executable.getInnerModule().getOps<func::FuncOp>().begin();
    auto packerFunc = *packer.getInnerModule().getOps<func::FuncOp>().begin();
    SmallVector<Value> args;
    for (auto [i, arg] : llvm::enumerate(dispatch.getArgs())) {
      if (i != product.argument()) {
        args.push_back(reshaped(arg, func.getFunctionType().getInput(i)));
        continue;
      }
      Value weights = reshaped(arg, packerFunc.getFunctionType().getInput(0));
      args.push_back(DispatchOp::create(b, loc, packerFunc.getFunctionType().getResults(), entryOf(packer),
                                        ValueRange{weights}, ValueRange(), ArrayRef<int64_t>{-1})
                         .getResult(0));
    }
    auto made = DispatchOp::create(b, loc, func.getFunctionType().getResults(), dispatch.getEntry(), args,
                                   dispatch.getResultDims(), dispatch.getTied());
    for (auto [old, result] : llvm::zip(dispatch.getResults(), made.getResults()))
      old.replaceAllUsesWith(reshaped(result, old.getType()));
    dispatch.erase();
  }

  const CompilerContext *context;
  DenseMap<std::pair<Type, AffineMap>, ExecutableOp> packers; // by what is packed, and how
};
} // namespace

std::unique_ptr<Pass> createPackConstantsPass(const CompilerContext &context) {
  return std::make_unique<PackConstantsPass>(context);
}

} // namespace kiln::Flow
