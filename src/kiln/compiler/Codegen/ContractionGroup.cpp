#include "kiln/compiler/Codegen/ContractionGroup.h"

#include "kiln/compiler/Codegen/Combiner.h"
#include "kiln/compiler/Codegen/LoopBody.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace kiln {

// The loop of each result of a map that is a projected permutation; nullopt for others.
static std::optional<SmallVector<unsigned>> loopsOf(AffineMap map) {
  if (!map.isProjectedPermutation())
    return std::nullopt;
  SmallVector<unsigned> loops;
  for (AffineExpr expr : map.getResults())
    loops.push_back(cast<AffineDimExpr>(expr).getPosition());
  return loops;
}

// What a map says of slices of k, where each of its results is a loop of its own but for one, which is
// length * loop + k + first.
static std::optional<ContractionLoops::Slices> slicesOf(AffineMap map, unsigned k) {
  std::optional<ContractionLoops::Slices> found;
  llvm::SmallSet<unsigned, 4> seen;
  auto isNew = [&](unsigned loop) { return seen.insert(loop).second; };
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      if (!isNew(dim.getPosition()))
        return std::nullopt;
      continue;
    }
    SmallVector<int64_t> terms; // a factor for each loop, and what is added
    if (found || failed(getFlattenedAffineExpr(expr, map.getNumDims(), /*numSymbols=*/0, &terms)) ||
        terms.size() != map.getNumDims() + 1)
      return std::nullopt;
    found.emplace();
    found->first = terms.pop_back_val();
    for (auto [loop, factor] : llvm::enumerate(terms)) {
      if (factor == 0)
        continue;
      if (!isNew(loop) || (loop == k ? factor != 1 : factor < 1 || found->loop))
        return std::nullopt;
      if (loop != k) {
        found->loop = loop;
        found->length = factor;
      }
    }
    if (found->first < 0 || terms[k] == 0)
      return std::nullopt;
  }
  return found;
}

std::optional<ContractionLoops> ContractionLoops::of(linalg::LinalgOp op) {
  bool isExtentGiven = op.getNumDpsInputs() == 3 && isa<ShapedType>(op.getDpsInputs()[2].getType()) &&
                       op.getMatchingBlockArgument(op.getDpsInputOperand(2)).use_empty();
  if ((op.getNumDpsInputs() != 2 && !isExtentGiven) || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 1)
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (isExtentGiven)
    maps.erase(maps.begin() + 2);
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  ContractionLoops loops;
  if (!maps[0].isProjectedPermutation() && !maps[1].isProjectedPermutation()) {
    loops.slices = slicesOf(maps[0], reductions[0]);
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    auto isStatic = [](Value input) { return cast<ShapedType>(input.getType()).hasStaticShape(); };
    if (!loops.slices || slicesOf(maps[1], reductions[0]) != loops.slices || ShapedType::isDynamicShape(extents) ||
        llvm::is_contained(extents, 0) || !llvm::all_of(op.getDpsInputs(), isStatic))
      return std::nullopt;
  }
  for (AffineMap map : ArrayRef(maps).drop_front(loops.slices ? 2 : 0))
    if (!map.isProjectedPermutation() || map.getNumResults() == 0)
      return std::nullopt;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<unsigned> first, second;
  for (unsigned loop = 0; loop < kinds.size(); ++loop) {
    bool inFirst = maps[0].isFunctionOfDim(loop), inSecond = maps[1].isFunctionOfDim(loop);
    if (kinds[loop] == utils::IteratorType::reduction) {
      if (!inFirst || !inSecond)
        return std::nullopt;
      loops.k = loop;
    } else if (inFirst && inSecond) {
      loops.batch.push_back(loop);
    } else if (inFirst || inSecond) {
      (inFirst ? first : second).push_back(loop);
    } else {
      return std::nullopt;
    }
  }
  if (first.size() != 1 || second.size() != 1)
    return std::nullopt;
  // Tiles are copied along the innermost dimension of an input, where neighbours of a batch are none of the tile.
  for (AffineMap map : ArrayRef(maps).take_front(2))
    if (auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
        last && llvm::is_contained(loops.batch, last.getPosition()))
      return std::nullopt;
  unsigned innermost = cast<AffineDimExpr>(maps[2].getResults().back()).getPosition();
  if (innermost != first[0] && innermost != second[0])
    return std::nullopt;
  loops.isSwapped = innermost == first[0];
  loops.n = innermost;
  loops.m = loops.isSwapped ? second[0] : first[0];
  return loops;
}

bool ContractionLoops::areSlicesIndices(linalg::LinalgOp op) const {
  if (!slices)
    return true;
  int64_t length = op.getStaticLoopRanges()[k];
  if (slices->loop ? slices->length != length || slices->first != 0 : slices->first % length != 0)
    return false;
  return llvm::all_of(llvm::seq<unsigned>(2), [&](unsigned number) {
    OpOperand *input = op.getDpsInputOperand(number);
    for (auto [expr, extent] : llvm::zip(op.getMatchingIndexingMap(input).getResults(), op.getShape(input)))
      if (!isa<AffineDimExpr>(expr))
        return extent % length == 0;
    return true;
  });
}

Value bindingOf(Value tensor) {
  auto toTensor = tensor.getDefiningOp<bufferization::ToTensorOp>();
  if (!toTensor || !toTensor.getBuffer().getDefiningOp<HAL::InterfaceBindingSubspanOp>())
    return {};
  return toTensor.getBuffer();
}

static unsigned bindingNumber(Value memory) {
  return memory.getDefiningOp<HAL::InterfaceBindingSubspanOp>().getBinding();
}

namespace {

class GroupFinder {
public:
  explicit GroupFinder(func::FuncOp function) : function(function) {}

  std::optional<ContractionGroup> find() {
    if (!function.getFunctionBody().hasOneBlock() || !findRoot() || !findInitial() || !findSteps() || !findStores() ||
        hasOthers() || hasConflicts())
      return std::nullopt;
    return group;
  }

private:
  bool findRoot() {
    for (auto op : function.getFunctionBody().getOps<linalg::LinalgOp>())
      if (op.getNumReductionLoops() != 0) {
        if (group.root)
          return false;
        group.root = op;
      }
    if (!group.root || group.root->getNumResults() != 1)
      return false;
    std::optional<ContractionLoops> loops = ContractionLoops::of(group.root);
    group.sum = loops ? findCombiner(group.root, 0) : nullptr;
    if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(group.sum))
      return false;
    group.batch = loops->batch;
    group.m = loops->m;
    group.n = loops->n;
    group.k = loops->k;
    group.isSwapped = loops->isSwapped;
    group.extents = group.root.getStaticLoopRanges();
    bool areIndices = loops->areSlicesIndices(group.root);
    if (loops->slices && areIndices && !loops->slices->loop) {
      group.fixedLoop = group.extents.size();
      group.fixedIndex = loops->slices->first / group.extents[group.k];
      group.extents.push_back(1);
    }
    if (llvm::is_contained(group.extents, 0) || group.root.hasIndexSemantics())
      return false;
    // Kernels multiply what fills up a tile as well, of which nothing may be asserted.
    if (!llvm::all_of(group.root.getBlock()->without_terminator(),
                      [](Operation &op) { return isMemoryEffectFree(&op); }))
      return false;
    for (unsigned i = 0; i < 2; ++i) {
      OpOperand *operand = group.root.getDpsInputOperand(i);
      ContractionGroup::Input &input = (i == 0) != group.isSwapped ? group.lhs : group.rhs;
      input.memory = bindingOf(operand->get());
      if (!input.memory)
        return false;
      AffineMap map = group.root.getMatchingIndexingMap(operand);
      input.view = cast<MemRefType>(input.memory.getType());
      if (loops->slices)
        viewSlices(input, map, *loops->slices, areIndices);
      else
        input.loops = *loopsOf(map);
    }
    known[group.root->getResult(0)] = group.resultLoops();
    return true;
  }

  // The dimension that k and the number of the slice run along becomes one for each of them, or one for k where there
  // is no such number.
  void viewSlices(ContractionGroup::Input &input, AffineMap map, const ContractionLoops::Slices &slices,
                  bool areIndices) const {
    auto [strides, offset] = input.view.getStridesAndOffset();
    SmallVector<int64_t> shape, steps;
    auto add = [&](unsigned loop, int64_t extent, int64_t step) {
      input.loops.push_back(loop);
      shape.push_back(extent);
      steps.push_back(step);
    };
    const int64_t depth = group.extents[group.k];
    for (auto [expr, extent, stride] : llvm::zip(map.getResults(), input.view.getShape(), strides)) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        add(dim.getPosition(), extent, stride);
        continue;
      }
      if (areIndices)
        add(slices.loop ? *slices.loop : *group.fixedLoop, extent / depth, depth * stride);
      else if (slices.loop)
        add(*slices.loop, group.extents[*slices.loop], slices.length * stride);
      add(group.k, depth, stride);
      offset += areIndices ? 0 : slices.first * stride;
    }
    auto layout = StridedLayoutAttr::get(input.view.getContext(), offset, steps);
    input.view = MemRefType::get(shape, input.view.getElementType(),
                                 areIndices ? MemRefLayoutAttrInterface() : MemRefLayoutAttrInterface(layout),
                                 input.view.getMemorySpace());
  }

  bool findInitial() {
    Value init = group.root.getDpsInits()[0];
    if (auto fill = init.getDefiningOp<linalg::FillOp>())
      group.initial = fill.value();
    else if (Value memory = bindingOf(init))
      group.initial = memory;
    else if (auto op = init.getDefiningOp<linalg::LinalgOp>())
      return findStart(op, init);
    return group.initial != nullptr;
  }

  // An elementwise operation on bindings, with a result for each of the root's.
  bool findStart(linalg::LinalgOp op, Value result) {
    if (op.getNumReductionLoops() != 0 || !op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
        !result.hasOneUse() || op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
      return false;
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!map.isPermutation() ||
        !llvm::all_of(op.getDpsInputs(), [&](Value input) { return input != result && isReadable(input); }))
      return false;
    SmallVector<unsigned> loops(op.getNumLoops());
    for (auto [expr, loop] : llvm::zip(map.getResults(), group.resultLoops()))
      loops[cast<AffineDimExpr>(expr).getPosition()] = loop;
    group.initial = result;
    group.start = {op, loops};
    return true;
  }

  // Elementwise operations on the result, in the order of the text.
  bool findSteps() {
    for (auto op : function.getFunctionBody().getOps<linalg::LinalgOp>()) {
      if (op == group.root || isa<linalg::FillOp>(op) || (group.start && op == group.start->op))
        continue;
      std::optional<SmallVector<unsigned>> loops = loopsOfStep(op);
      if (!loops)
        return false;
      for (OpOperand &init : op.getDpsInitsMutable()) {
        AffineMap map = op.getMatchingIndexingMap(&init);
        if (!map.isPermutation() || (op.payloadUsesValueFromOperand(&init) && !isReadable(init.get())))
          return false;
        known[op.getTiedOpResult(&init)] = placesOf(map, *loops);
      }
      for (OpOperand *input : op.getDpsInputOperands())
        if (!isReadable(input->get()))
          return false;
      group.epilogue.push_back({op, *loops});
    }
    return true;
  }

  // Loops of an operation as the root's, by the values that it takes from the group.
  std::optional<SmallVector<unsigned>> loopsOfStep(linalg::LinalgOp op) {
    if (op.getNumReductionLoops() != 0 || !op.hasPureTensorSemantics())
      return std::nullopt;
    std::optional<SmallVector<unsigned>> found;
    for (OpOperand &operand : op->getOpOperands()) {
      auto value = known.find(operand.get());
      if (value == known.end())
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (!map.isPermutation())
        return std::nullopt;
      SmallVector<unsigned> loops(op.getNumLoops());
      for (auto [expr, loop] : llvm::zip(map.getResults(), value->second))
        loops[cast<AffineDimExpr>(expr).getPosition()] = loop;
      if (found && *found != loops)
        return std::nullopt;
      found = loops;
    }
    return found;
  }

  static SmallVector<unsigned> placesOf(AffineMap map, ArrayRef<unsigned> loops) {
    return llvm::map_to_vector(map.getResults(),
                               [&](AffineExpr expr) { return loops[cast<AffineDimExpr>(expr).getPosition()]; });
  }

  bool isReadable(Value value) {
    return known.contains(value) || !isa<ShapedType>(value.getType()) || bindingOf(value) ||
           value.getDefiningOp<linalg::FillOp>();
  }

  bool findStores() {
    for (auto op : function.getFunctionBody().getOps<bufferization::MaterializeInDestinationOp>()) {
      auto value = known.find(op.getSource());
      if (value == known.end() || !isa<MemRefType>(op.getDest().getType()) ||
          !op.getDest().getDefiningOp<HAL::InterfaceBindingSubspanOp>())
        return false;
      group.stores.push_back({op.getSource(), op.getDest(), value->second});
    }
    return !group.stores.empty();
  }

  // Whether there is anything that the group does not say.
  bool hasOthers() {
    for (Operation &op : function.getFunctionBody().front()) {
      bool isData = isa<linalg::LinalgOp, bufferization::ToTensorOp, bufferization::MaterializeInDestinationOp,
                        tensor::EmptyOp, tensor::DimOp>(op);
      if (isa<tensor::DimOp>(op) && !llvm::all_of(op.getUsers(), llvm::IsaPred<tensor::EmptyOp>))
        return true;
      if (!isData && (!isMemoryEffectFree(&op) || llvm::any_of(op.getOperandTypes(), llvm::IsaPred<ShapedType>)) &&
          !isa<HAL::InterfaceBindingSubspanOp, func::ReturnOp>(op))
        return true;
    }
    return false;
  }

  // Whether a binding that is stored to is read in another order.
  bool hasConflicts() {
    for (const ContractionGroup::Store &store : group.stores) {
      unsigned stored = bindingNumber(store.memory);
      auto isStored = [&](Value memory) { return memory && bindingNumber(memory) == stored; };
      if (isStored(group.lhs.memory) || isStored(group.rhs.memory))
        return true;
      if (isa<MemRefType>(group.initial.getType()) && isStored(group.initial) && store.loops != group.resultLoops())
        return true;
      auto readsOtherwise = [&](ContractionGroup::Step &step) {
        return llvm::any_of(step.op->getOpOperands(), [&](OpOperand &operand) {
          if (!isa<ShapedType>(operand.get().getType()) || known.contains(operand.get()) ||
              !isStored(bindingOf(operand.get())))
            return false;
          AffineMap map = step.op.getMatchingIndexingMap(&operand);
          return !map.isProjectedPermutation() || placesOf(map, step.loops) != store.loops;
        });
      };
      if (llvm::any_of(group.epilogue, readsOtherwise) || (group.start && readsOtherwise(*group.start)))
        return true;
      for (const ContractionGroup::Store &other : group.stores)
        if (&other != &store && isStored(other.memory))
          return true;
    }
    return false;
  }

  func::FuncOp function;
  ContractionGroup group;
  llvm::DenseMap<Value, SmallVector<unsigned>> known; // values of the group, with the loop of each dimension
};

} // namespace

std::optional<ContractionGroup> ContractionGroup::of(func::FuncOp function) {
  return GroupFinder(function).find();
}

SmallVector<unsigned> ContractionGroup::resultLoops() const {
  auto op = root;
  return *loopsOf(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
}

Value ContractionGroup::extent(OpBuilder &b, Location loc, unsigned loop) const {
  if (ShapedType::isStatic(extents[loop]))
    return arith::ConstantIndexOp::create(b, loc, extents[loop]);
  for (const Input *input : {&lhs, &rhs})
    for (auto [dim, each] : llvm::enumerate(input->loops))
      if (each == loop)
        return memref::DimOp::create(b, loc, input->memory, dim);
  llvm_unreachable("each loop is one of an input's");
}

//===--- Epilogue -------------------------------------------------------------------------------------------------===//

// The index of a root's loop, for one of the elements along n.
static Value elementIndex(OpBuilder &b, Location loc, const ContractionGroup &group, ArrayRef<Value> indices,
                          unsigned loop, unsigned element) {
  if (loop != group.n || element == 0)
    return indices[loop];
  Value distance = arith::ConstantIndexOp::create(b, loc, element);
  return arith::AddIOp::create(b, loc, indices[loop], distance);
}

static llvm::MaybeAlign alignmentOf(Type element, int64_t width) {
  return llvm::MaybeAlign(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) * width);
}

bool hasVectors(const ContractionGroup &group, Value memory, ArrayRef<unsigned> loops, int64_t width) {
  auto type = cast<MemRefType>(memory.getType());
  Type element = type.getElementType();
  return width > 1 && !loops.empty() && loops.back() == group.n && llvm::count(loops, group.n) == 1 &&
         ShapedType::isStatic(type.getShape().back()) && type.getShape().back() % width == 0 &&
         element.isIntOrFloat() && !element.isInteger(1) && type.getLayout().isIdentity();
}

namespace {

// The values of some elements beside each other, or one for all of them.
using Elements = SmallVector<Value>;

class EpilogueEmitter {
public:
  EpilogueEmitter(OpBuilder &b, Location loc, const ContractionGroup &group, ArrayRef<Value> indices, unsigned width)
      : b(b), loc(loc), group(group), indices(indices), width(width) {}

  SmallVector<Elements> run(ArrayRef<Value> sums) {
    Elements results(sums);
    Operation *sum = group.sum;
    auto root = group.root;
    if (isa<ShapedType>(group.initial.getType())) {
      if (group.start)
        compute(*group.start);
      Elements initial = group.start
                             ? values[group.initial]
                             : load(group.initial, root.getMatchingIndexingMap(root.getDpsInitOperand(0)), rootLoops());
      for (auto [result, value] : llvm::zip(results, initial))
        result = cloneCombiner(b, sum, value, result);
    } else if (!isNeutral(sum, group.initial)) {
      for (Value &result : results)
        result = cloneCombiner(b, sum, group.initial, result);
    }
    values[root->getResult(0)] = results;
    for (const ContractionGroup::Step &step : group.epilogue)
      compute(step);
    return llvm::map_to_vector(group.stores, [&](const ContractionGroup::Store &store) { return values[store.value]; });
  }

private:
  SmallVector<unsigned> rootLoops() const {
    auto root = group.root;
    return llvm::to_vector(llvm::seq<unsigned>(0, root.getNumLoops()));
  }

  static bool isNeutral(Operation *sum, Value value) {
    std::optional<TypedAttr> neutral = neutralElement(sum);
    Attribute constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return false;
    auto number = dyn_cast<FloatAttr>(constant);
    return (neutral && constant == *neutral) || (number && number.getValue().isZero());
  }

  SmallVector<Value> placeOf(AffineMap map, ArrayRef<unsigned> loops, unsigned element) {
    SmallVector<Value> operands =
        llvm::map_to_vector(loops, [&](unsigned loop) { return elementIndex(b, loc, group, indices, loop, element); });
    SmallVector<Value> place;
    for (AffineExpr expr : map.getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        place.push_back(operands[dim.getPosition()]);
      else
        place.push_back(
            affine::AffineApplyOp::create(b, loc, AffineMap::get(map.getNumDims(), 0, expr), operands).getResult());
    }
    return place;
  }

  Elements load(Value memory, AffineMap map, ArrayRef<unsigned> loops) {
    Elements elements;
    SmallVector<unsigned> innermost;
    bool isPermutation = map.isProjectedPermutation();
    if (isPermutation)
      for (AffineExpr expr : map.getResults())
        innermost.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
    if (isPermutation && hasVectors(group, memory, innermost, width)) {
      Type element = cast<MemRefType>(memory.getType()).getElementType();
      auto type = VectorType::get({width}, element);
      Value vector = vector::LoadOp::create(b, loc, type, memory, placeOf(map, loops, 0), /*nontemporal=*/false,
                                            alignmentOf(element, width));
      for (unsigned i = 0; i < width; ++i)
        elements.push_back(vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{i}));
      return elements;
    }
    bool isSame = isPermutation && !llvm::is_contained(innermost, group.n);
    for (unsigned i = 0; i < width; ++i)
      elements.push_back(i > 0 && isSame ? elements[0]
                                         : memref::LoadOp::create(b, loc, memory, placeOf(map, loops, i)).getResult());
    return elements;
  }

  Elements operandOf(const ContractionGroup::Step &step, OpOperand &operand) {
    Value value = operand.get();
    if (auto found = values.find(value); found != values.end())
      return found->second;
    auto op = step.op;
    if (auto fill = value.getDefiningOp<linalg::FillOp>())
      return Elements(width, fill.value());
    if (Value memory = bindingOf(value))
      return load(memory, op.getMatchingIndexingMap(&operand), step.loops);
    return Elements(width, value);
  }

  void compute(const ContractionGroup::Step &step) {
    auto op = step.op;
    SmallVector<Elements> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      operands.push_back(argument.use_empty() ? Elements(width) : operandOf(step, operand));
    }
    for (unsigned i = 0; i < width; ++i) {
      auto elements = llvm::map_to_vector(operands, [i](const Elements &operand) { return operand[i]; });
      SmallVector<Value> yielded = cloneLoopBody(
          b, op, elements, [&](unsigned loop) { return elementIndex(b, loc, group, indices, step.loops[loop], i); });
      for (auto [result, value] : llvm::zip(op->getResults(), yielded))
        values[result].push_back(value);
    }
  }

  OpBuilder &b;
  Location loc;
  const ContractionGroup &group;
  ArrayRef<Value> indices;
  unsigned width;
  llvm::DenseMap<Value, Elements> values;
};

} // namespace

SmallVector<SmallVector<Value>> computeEpilogue(OpBuilder &b, Location loc, const ContractionGroup &group,
                                                ArrayRef<Value> sums, ArrayRef<Value> indices) {
  return EpilogueEmitter(b, loc, group, indices, sums.size()).run(sums);
}

void storeElements(OpBuilder &b, Location loc, const ContractionGroup &group, const ContractionGroup::Store &store,
                   ArrayRef<Value> elements, ArrayRef<Value> indices) {
  Type element = cast<MemRefType>(store.memory.getType()).getElementType();
  auto placeAt = [&](unsigned number) {
    return llvm::map_to_vector(store.loops,
                               [&](unsigned loop) { return elementIndex(b, loc, group, indices, loop, number); });
  };
  if (hasVectors(group, store.memory, store.loops, elements.size())) {
    auto type = VectorType::get({int64_t(elements.size())}, element);
    Value vector = vector::FromElementsOp::create(b, loc, type, elements);
    vector::StoreOp::create(b, loc, vector, store.memory, placeAt(0), /*nontemporal=*/false,
                            alignmentOf(element, elements.size()));
    return;
  }
  for (auto [i, value] : llvm::enumerate(elements))
    memref::StoreOp::create(b, loc, value, store.memory, placeAt(i));
}

} // namespace kiln
