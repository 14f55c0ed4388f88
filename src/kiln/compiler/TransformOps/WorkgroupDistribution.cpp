#include "kiln/compiler/TransformOps/WorkgroupDistribution.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace kiln {

HAL::ExecutableExportOp findExport(FunctionOpInterface function) {
  auto variant = function->getParentOfType<HAL::ExecutableVariantOp>();
  if (!variant)
    return {};
  for (auto exportOp : variant.getBody().getOps<HAL::ExecutableExportOp>())
    if (exportOp.getSymName() == function.getName())
      return exportOp;
  return {};
}

//===--- Mapping --------------------------------------------------------------------------------------------------===//

namespace {
// How the dimensions of a loop lie in the grid.
struct BlockMapping {
  // Of each loop dimension: 0, 1, 2 for x, y, z; where `linear`, its place in one sequence along x, 0 varying fastest.
  SmallVector<unsigned> place;
  bool linear = false;

  // The loop dimensions from the one that varies fastest.
  SmallVector<unsigned> fastestFirst() const {
    SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, place.size()));
    llvm::sort(dims, [&](unsigned a, unsigned b) { return place[a] < place[b]; });
    return dims;
  }
};
} // namespace

static bool isMappedToBlocks(scf::ForallOp loop) {
  std::optional<ArrayAttr> mapping = loop.getMapping();
  return mapping && !mapping->empty() && isa<gpu::GPUBlockMappingAttr>((*mapping)[0]);
}

static FailureOr<BlockMapping> getBlockMapping(scf::ForallOp loop) {
  BlockMapping result;
  if (!isMappedToBlocks(loop))
    return loop.emitOpError("is not mapped to workgroups; give it a mapping such as [#gpu.block<y>, #gpu.block<x>]");
  ArrayAttr mapping = *loop.getMapping();
  for (Attribute attr : mapping) {
    auto block = dyn_cast<gpu::GPUBlockMappingAttr>(attr);
    if (!block || (!result.place.empty() && block.isLinearMapping() != result.linear))
      return loop.emitOpError(
          "mixes ways of mapping; use #gpu.block<x>, <y> and <z>, or only #gpu.block<linear_dim_N>");
    result.linear = block.isLinearMapping();
    unsigned place = block.getRelativeIndex();
    if (llvm::is_contained(result.place, place))
      return loop.emitOpError("maps two dimensions to ") << attr;
    result.place.push_back(place);
  }
  return result;
}

//===--- The count region -----------------------------------------------------------------------------------------===//

namespace {
// Computes values of a dispatch's function in the count region of its export.
class CountBuilder {
public:
  CountBuilder(OpBuilder &builder, HAL::ExecutableExportOp exportOp, Block *block)
      : builder(builder), exportOp(exportOp), block(block) {}

  FailureOr<Value> get(OpFoldResult bound) {
    if (auto attr = dyn_cast<Attribute>(bound))
      return constant(cast<IntegerAttr>(attr).getInt());
    return get(cast<Value>(bound));
  }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, exportOp.getLoc(), value); }

  FailureOr<Value> get(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    FailureOr<Value> made = make(value);
    if (succeeded(made))
      mapping.map(value, *made);
    return made;
  }

private:
  FailureOr<Value> make(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return emitError(value.getLoc()) << "the workgroup count depends on a value that only the kernel has; it may "
                                          "depend on push constants, extents of bindings and arithmetic";
    if (auto load = dyn_cast<HAL::InterfaceConstantLoadOp>(op))
      return argument(load);
    if (std::optional<std::pair<Value, int64_t>> dim = asDim(op))
      return extent(op, dim->first, dim->second);
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
      return affine(apply.getLoc(), apply.getAffineMap(), apply.getOperands(), nullptr);
    if (auto min = dyn_cast<affine::AffineMinOp>(op))
      return affine(min.getLoc(), min.getAffineMap(), min.getOperands(),
                    [](OpBuilder &b, Location loc, Value x, Value y) {
                      return arith::MinSIOp::create(b, loc, x, y).getResult();
                    });
    if (auto max = dyn_cast<affine::AffineMaxOp>(op))
      return affine(max.getLoc(), max.getAffineMap(), max.getOperands(),
                    [](OpBuilder &b, Location loc, Value x, Value y) {
                      return arith::MaxSIOp::create(b, loc, x, y).getResult();
                    });
    if (op->getNumResults() == 1 && op->getNumRegions() == 0 && isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
      return arithmetic(op);
    return notComputable(op);
  }

  FailureOr<Value> notComputable(Operation *op) {
    return op->emitOpError(
        "cannot be part of the workgroup count, which is computed before the dispatch starts; it may "
        "depend on push constants, extents of bindings and arithmetic");
  }

  FailureOr<Value> argument(HAL::InterfaceConstantLoadOp load) {
    if (load.getOrdinal() >= block->getNumArguments())
      return load.emitOpError("has no such constant in the layout of its export");
    Value argument = block->getArgument(load.getOrdinal());
    if (load.getType().isIndex())
      return argument;
    if (!load.getType().isInteger())
      return notComputable(load);
    return arith::IndexCastOp::create(builder, load.getLoc(), load.getType(), argument).getResult();
  }

  static std::optional<std::pair<Value, int64_t>> asDim(Operation *op) {
    auto of = [](auto dim) -> std::optional<std::pair<Value, int64_t>> {
      std::optional<int64_t> index = dim.getConstantIndex();
      if (!index)
        return std::nullopt;
      return std::make_pair(Value(dim.getSource()), *index);
    };
    if (auto dim = dyn_cast<tensor::DimOp>(op))
      return of(dim);
    if (auto dim = dyn_cast<memref::DimOp>(op))
      return of(dim);
    return std::nullopt;
  }

  // Follows a tensor or memref to what gave it its shape.
  FailureOr<Value> extent(Operation *dim, Value shaped, int64_t index) {
    auto type = cast<ShapedType>(shaped.getType());
    if (!type.isDynamicDim(index))
      return constant(type.getDimSize(index));
    Operation *source = shaped.getDefiningOp();
    auto dynamicOperand = [&](ValueRange dynamicSizes) { return get(dynamicSizes[type.getDynamicDimIndex(index)]); };
    if (auto subspan = dyn_cast_or_null<HAL::InterfaceBindingSubspanOp>(source))
      return dynamicOperand(subspan.getDynamicDims());
    if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(source))
      return dynamicOperand(empty.getDynamicSizes());
    if (auto toTensor = dyn_cast_or_null<bufferization::ToTensorOp>(source))
      return extent(dim, toTensor.getBuffer(), index);
    if (auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(source))
      return extent(dim, destination.getTiedOpOperand(cast<OpResult>(shaped))->get(), index);
    if (auto loop = dyn_cast_or_null<scf::ForallOp>(source))
      return extent(dim, loop.getTiedOpOperand(cast<OpResult>(shaped))->get(), index);
    if (auto slice = dyn_cast_or_null<OffsetSizeAndStrideOpInterface>(source))
      if (slice.getMixedSizes().size() == static_cast<size_t>(type.getRank()))
        return get(slice.getMixedSizes()[index]);
    return notComputable(source ? source : dim);
  }

  using Combine = llvm::function_ref<Value(OpBuilder &, Location, Value, Value)>;
  FailureOr<Value> affine(Location loc, AffineMap map, ValueRange operands, Combine combine) {
    SmallVector<Value> values;
    for (Value operand : operands) {
      FailureOr<Value> value = get(operand);
      if (failed(value))
        return failure();
      values.push_back(*value);
    }
    ValueRange dims = ValueRange(values).take_front(map.getNumDims());
    ValueRange symbols = ValueRange(values).drop_front(map.getNumDims());
    Value result;
    for (AffineExpr expr : map.getResults()) {
      Value value = expand(loc, expr, dims, symbols);
      result = result ? combine(builder, loc, result, value) : value;
    }
    return result;
  }

  // Extents are not negative, so that the usual rounded-up division by a constant needs no care for signs.
  Value expand(Location loc, AffineExpr expr, ValueRange dims, ValueRange symbols) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (binary && expr.getKind() == AffineExprKind::CeilDiv && isa<AffineConstantExpr>(binary.getRHS()) &&
        isa<AffineDimExpr, AffineSymbolExpr>(binary.getLHS())) {
      int64_t by = cast<AffineConstantExpr>(binary.getRHS()).getValue();
      Value value = affine::expandAffineExpr(builder, loc, binary.getLHS(), dims, symbols);
      Value raised = arith::AddIOp::create(builder, loc, value, constant(by - 1));
      return arith::DivUIOp::create(builder, loc, raised, constant(by));
    }
    return affine::expandAffineExpr(builder, loc, expr, dims, symbols);
  }

  FailureOr<Value> arithmetic(Operation *op) {
    IRMapping operands;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> value = get(operand);
      if (failed(value))
        return failure();
      operands.map(operand, *value);
    }
    return builder.clone(*op, operands)->getResult(0);
  }

  OpBuilder &builder;
  HAL::ExecutableExportOp exportOp;
  Block *block;
  IRMapping mapping;
};
} // namespace

// Iterations of one dimension of the loop.
static FailureOr<Value> tripCount(OpBuilder &builder, CountBuilder &counts, scf::ForallOp loop, unsigned dim) {
  OpFoldResult lower = loop.getMixedLowerBound()[dim], upper = loop.getMixedUpperBound()[dim],
               step = loop.getMixedStep()[dim];
  std::optional<int64_t> lowerValue = getConstantIntValue(lower), upperValue = getConstantIntValue(upper),
                         stepValue = getConstantIntValue(step);
  if (lowerValue && upperValue && stepValue)
    return counts.constant(std::max<int64_t>(0, llvm::divideCeilSigned(*upperValue - *lowerValue, *stepValue)));
  FailureOr<Value> count = counts.get(upper);
  if (failed(count))
    return failure();
  Location loc = loop.getLoc();
  if (lowerValue != 0) {
    FailureOr<Value> from = counts.get(lower);
    if (failed(from))
      return failure();
    count = arith::SubIOp::create(builder, loc, *count, *from).getResult();
  }
  if (stepValue != 1) {
    FailureOr<Value> by = counts.get(step);
    if (failed(by))
      return failure();
    Value less = stepValue ? counts.constant(*stepValue - 1)
                           : arith::SubIOp::create(builder, loc, *by, counts.constant(1)).getResult();
    Value raised = arith::AddIOp::create(builder, loc, *count, less);
    count = arith::DivUIOp::create(builder, loc, raised, *by).getResult();
  }
  return count;
}

// Computes x, y and z where the builder stands, in a block with the export's constants as arguments.
static FailureOr<SmallVector<Value, 3>> computeCount(OpBuilder &builder, HAL::ExecutableExportOp exportOp, Block *block,
                                                     scf::ForallOp loop, const BlockMapping &mapping) {
  CountBuilder counts(builder, exportOp, block);
  SmallVector<Value, 3> xyz(3);
  for (auto [dim, place] : llvm::enumerate(mapping.place)) {
    FailureOr<Value> trips = tripCount(builder, counts, loop, dim);
    if (failed(trips))
      return failure();
    Value &total = xyz[mapping.linear ? 0 : place];
    total = total ? builder.createOrFold<arith::MulIOp>(loop.getLoc(), total, *trips) : *trips;
  }
  for (Value &count : xyz)
    if (!count)
      count = counts.constant(1);
  return xyz;
}

SmallVector<Attribute> workgroupMapping(MLIRContext *context, unsigned rank) {
  SmallVector<Attribute> mapping;
  for (unsigned dim = 0; dim < rank; ++dim) {
    unsigned place = rank - 1 - dim;
    if (rank > 3)
      place += static_cast<unsigned>(gpu::MappingId::LinearDim0);
    mapping.push_back(gpu::GPUBlockMappingAttr::get(context, static_cast<gpu::MappingId>(place)));
  }
  return mapping;
}

LogicalResult populateWorkgroupCount(RewriterBase &rewriter, scf::ForallOp loop) {
  FailureOr<BlockMapping> mapping = getBlockMapping(loop);
  if (failed(mapping))
    return failure();
  auto function = loop->getParentOfType<FunctionOpInterface>();
  HAL::ExecutableExportOp exportOp = function ? findExport(function) : HAL::ExecutableExportOp();
  if (!exportOp)
    return loop.emitOpError("is not in a function that a hal.executable.export names, so it has no workgroup count");

  OpBuilder::InsertionGuard guard(rewriter);
  Region &region = exportOp.getWorkgroupCount();
  if (region.empty()) {
    Block *block = exportOp.createWorkgroupCountBlock();
    rewriter.setInsertionPointToEnd(block);
    FailureOr<SmallVector<Value, 3>> xyz = computeCount(rewriter, exportOp, block, loop, *mapping);
    if (failed(xyz)) {
      region.getBlocks().clear(); // Still open.
      return failure();
    }
    HAL::ReturnOp::create(rewriter, loop.getLoc(), *xyz);
    return success();
  }
  auto previous = cast<HAL::ReturnOp>(region.front().getTerminator());
  rewriter.setInsertionPoint(previous);
  FailureOr<SmallVector<Value, 3>> xyz = computeCount(rewriter, exportOp, &region.front(), loop, *mapping);
  if (failed(xyz))
    return failure();
  for (auto [count, before] : llvm::zip(*xyz, previous.getOperands()))
    count = rewriter.createOrFold<arith::MaxUIOp>(loop.getLoc(), before, count);
  rewriter.modifyOpInPlace(previous, [&] { previous->setOperands(*xyz); });
  return success();
}

void populateSingleWorkgroup(RewriterBase &rewriter, HAL::ExecutableExportOp exportOp) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(exportOp.createWorkgroupCountBlock());
  Value one = arith::ConstantIndexOp::create(rewriter, exportOp.getLoc(), 1);
  HAL::ReturnOp::create(rewriter, exportOp.getLoc(), ValueRange{one, one, one});
}

//===--- Races ----------------------------------------------------------------------------------------------------===//

namespace {
// What the ops of a region do to the memory of bindings and of allocations outside of it.
struct Accesses {
  llvm::SetVector<Value> reads, writes;
  llvm::DenseMap<Value, Operation *> reader, writer; // the first of each
};
} // namespace

static Value rootOf(Value memory) {
  while (true) {
    Operation *op = memory.getDefiningOp();
    if (auto view = dyn_cast_or_null<ViewLikeOpInterface>(op))
      memory = view.getViewSource();
    else if (auto argument = dyn_cast<BlockArgument>(memory)) {
      auto loop = dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
      OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
      if (!init)
        return memory;
      memory = init->get();
    } else
      return memory;
  }
}

static void collectAccesses(Operation *op, Accesses &accesses) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return;
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  for (const MemoryEffects::EffectInstance &effect : instances) {
    Value value = effect.getValue();
    if (!value || !isa<BaseMemRefType>(value.getType()))
      continue;
    Value root = rootOf(value);
    if (isa<MemoryEffects::Write>(effect.getEffect())) {
      accesses.writes.insert(root);
      accesses.writer.try_emplace(root, op);
    } else if (isa<MemoryEffects::Read>(effect.getEffect())) {
      accesses.reads.insert(root);
      accesses.reader.try_emplace(root, op);
    }
  }
}

static bool isWritableBinding(Value root) {
  auto subspan = root.getDefiningOp<HAL::InterfaceBindingSubspanOp>();
  return subspan && subspan.getAccess() != HAL::BindingAccess::ReadOnly;
}

static SmallVector<scf::ForallOp> workgroupLoops(FunctionOpInterface function) {
  SmallVector<scf::ForallOp> loops;
  function->walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
    if (!isMappedToBlocks(loop))
      return WalkResult::advance();
    loops.push_back(loop);
    return WalkResult::skip();
  });
  return loops;
}

bool dependsOn(Value value, Value index, llvm::DenseSet<Value> &visited) {
  if (value == index)
    return true;
  if (!visited.insert(value).second)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) { // Of an inner loop: through its bounds.
    Operation *parent = argument.getOwner()->getParentOp();
    return parent && !isa<FunctionOpInterface>(parent) &&
           index.getParentRegion()->isAncestor(parent->getParentRegion()) &&
           llvm::any_of(parent->getOperands(), [&](Value operand) { return dependsOn(operand, index, visited); });
  }
  Operation *op = value.getDefiningOp();
  return llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOn(operand, index, visited); });
}

// Workgroups that differ in an index only must not store to the same place: the place has to depend on each index.
static LogicalResult verifyStoresApart(scf::ForallOp loop) {
  WalkResult result = loop->walk([&](MemoryEffectOpInterface op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects<MemoryEffects::Write>(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      Value memory = effect.getValue();
      if (!memory || !isa<BaseMemRefType>(memory.getType()) || !isWritableBinding(rootOf(memory)))
        continue;
      for (auto [dim, index] : llvm::enumerate(loop.getInductionVars())) {
        std::optional<int64_t> lower = getConstantIntValue(loop.getMixedLowerBound()[dim]),
                               upper = getConstantIntValue(loop.getMixedUpperBound()[dim]),
                               step = getConstantIntValue(loop.getMixedStep()[dim]);
        if (lower && upper && step && *upper - *lower <= *step)
          continue;
        llvm::DenseSet<Value> visited;
        if (llvm::any_of(op->getOperands(), [&](Value operand) {
              bool isPlace = operand == memory || operand.getType().isIndex();
              return isPlace && dependsOn(operand, index, visited);
            }))
          continue;
        op->emitOpError("stores to the same place in all workgroups along dimension ")
            << dim << " of the distributed loop, so that they race; do not tile a reduction over workgroups";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult verifyNoWorkgroupRaces(FunctionOpInterface function) {
  SmallVector<scf::ForallOp> loops = workgroupLoops(function);
  if (loops.empty())
    return success();
  Accesses outside;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForallOp>(op); loop && llvm::is_contained(loops, loop))
      return WalkResult::skip();
    collectAccesses(op, outside);
    return WalkResult::advance();
  });
  for (Value root : outside.writes)
    if (isWritableBinding(root))
      return outside.writer[root]
                 ->emitOpError(
                     "stores into a binding outside of the distributed loop, so that every workgroup would repeat it "
                     "and "
                     "race with the others; fuse it into the loop (transform.structured.fuse_into_containing_op)")
                 .attachNote(loops.front().getLoc())
             << "this loop is distributed over workgroups";

  for (scf::ForallOp loop : loops)
    if (failed(verifyStoresApart(loop)))
      return failure();

  Accesses earlier = std::move(outside);
  // Reads outside count wherever they stand: a binding that a loop writes may be half written by then.
  for (auto [index, loop] : llvm::enumerate(loops)) {
    Accesses here;
    loop->walk([&](Operation *op) { collectAccesses(op, here); });
    auto isShared = [&](Value root) {
      Operation *definition = root.getDefiningOp();
      return !definition || !loop->isProperAncestor(definition);
    };
    for (Value root : here.writes) {
      if (!isShared(root))
        continue;
      Operation *other = earlier.reader.lookup(root) ? earlier.reader.lookup(root) : earlier.writer.lookup(root);
      if (other && !(earlier.writes.contains(root) && !earlier.reads.contains(root) && !isWritableBinding(root)))
        return here.writer[root]
                   ->emitOpError("stores what an op outside of this distributed loop uses too; workgroups do "
                                 "not wait for each other, so both must be in one loop "
                                 "(transform.structured.fuse_into_containing_op)")
                   .attachNote(other->getLoc())
               << "the other use";
    }
    for (Value root : here.reads)
      if (isShared(root) && index > 0 && earlier.writes.contains(root) && isWritableBinding(root))
        return here.reader[root]
                   ->emitOpError("loads what another distributed loop stores; workgroups do not wait for "
                                 "each other, so both must be in one loop "
                                 "(transform.structured.fuse_into_containing_op)")
                   .attachNote(earlier.writer[root]->getLoc())
               << "the store";
    for (Value root : here.reads)
      if (earlier.reads.insert(root))
        earlier.reader.try_emplace(root, here.reader[root]);
    for (Value root : here.writes)
      if (earlier.writes.insert(root))
        earlier.writer.try_emplace(root, here.writer[root]);
  }
  return success();
}

//===--- Ids ------------------------------------------------------------------------------------------------------===//

// Whether the count region returns the iterations of this loop. False where that cannot be seen.
static bool countsIterations(HAL::ExecutableExportOp exportOp, scf::ForallOp loop, const BlockMapping &mapping) {
  Region region;
  Block &block = region.emplaceBlock();
  for (BlockArgument argument : exportOp.getWorkgroupCount().getArguments())
    block.addArgument(argument.getType(), argument.getLoc());
  OpBuilder builder(exportOp.getContext());
  builder.setInsertionPointToEnd(&block);
  FailureOr<SmallVector<Value, 3>> xyz = computeCount(builder, exportOp, &block, loop, mapping);
  if (failed(xyz))
    return false;
  auto ret = cast<HAL::ReturnOp>(exportOp.getWorkgroupCount().front().getTerminator());
  if (llvm::all_of(llvm::zip(*xyz, ret.getOperands()), [](auto pair) {
        std::optional<int64_t> mine = getConstantIntValue(std::get<0>(pair));
        return mine && mine == getConstantIntValue(std::get<1>(pair));
      }))
    return true;
  HAL::ReturnOp::create(builder, loop.getLoc(), *xyz);
  return OperationEquivalence::isRegionEquivalentTo(&region, &exportOp.getWorkgroupCount(),
                                                    OperationEquivalence::IgnoreLocations);
}

// Where ids may be out of the loop's range, `guarded`, a workgroup looks whether it has an iteration.
static void distributeLoop(RewriterBase &rewriter, scf::ForallOp loop, const BlockMapping &mapping, bool guarded) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  auto value = [&](OpFoldResult bound) { return getValueOrCreateConstantIndexOp(rewriter, loc, bound); };
  SmallVector<Value> ids(loop.getRank());
  auto tripsOf = [&](unsigned dim) {
    AffineExpr lower, upper, step;
    bindSymbols(rewriter.getContext(), lower, upper, step);
    return value(affine::makeComposedFoldedAffineApply(
        rewriter, loc, (upper - lower).ceilDiv(step),
        {loop.getMixedLowerBound()[dim], loop.getMixedUpperBound()[dim], loop.getMixedStep()[dim]}));
  };
  Value left; // of a linear id, what the dimensions so far have not taken
  if (mapping.linear)
    left = HAL::InterfaceWorkgroupIDOp::create(rewriter, loc, 0);
  SmallVector<unsigned> order = mapping.fastestFirst();
  for (unsigned dim : order) {
    if (!mapping.linear) {
      ids[dim] = HAL::InterfaceWorkgroupIDOp::create(rewriter, loc, mapping.place[dim]);
    } else if (dim == order.back()) {
      ids[dim] = left;
    } else {
      Value trips = tripsOf(dim);
      ids[dim] = arith::RemUIOp::create(rewriter, loc, left, trips);
      left = arith::DivUIOp::create(rewriter, loc, left, trips);
    }
  }
  if (guarded) {
    Value inside;
    for (auto [dim, id] : llvm::enumerate(ids)) {
      Value below = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, id, tripsOf(dim));
      inside = inside ? arith::AndIOp::create(rewriter, loc, inside, below).getResult() : below;
    }
    // Ids of dimensions that the loop does not have.
    for (unsigned place = 0; place < 3; ++place) {
      if (mapping.linear ? place == 0 : llvm::is_contained(mapping.place, place))
        continue;
      Value id = HAL::InterfaceWorkgroupIDOp::create(rewriter, loc, place);
      Value first = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, id, value(rewriter.getIndexAttr(0)));
      inside = arith::AndIOp::create(rewriter, loc, inside, first);
    }
    auto branch = scf::IfOp::create(rewriter, loc, inside, /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
  }
  SmallVector<Value> ivs;
  for (unsigned dim = 0; dim < ids.size(); ++dim) {
    AffineExpr id, lower, step;
    bindDims(rewriter.getContext(), id);
    bindSymbols(rewriter.getContext(), lower, step);
    ivs.push_back(value(affine::makeComposedFoldedAffineApply(
        rewriter, loc, id * step + lower, {ids[dim], loop.getMixedLowerBound()[dim], loop.getMixedStep()[dim]})));
  }
  rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), rewriter.getInsertionBlock(), rewriter.getInsertionPoint(), ivs);
  rewriter.eraseOp(loop);
}

LogicalResult forallToWorkgroup(RewriterBase &rewriter, FunctionOpInterface function) {
  SmallVector<scf::ForallOp> loops = workgroupLoops(function);
  if (loops.empty())
    return success();
  HAL::ExecutableExportOp exportOp = findExport(function);
  if (!exportOp)
    return function->emitOpError("holds a loop over workgroups, but no hal.executable.export names it");
  if (exportOp.getWorkgroupCount().empty())
    return loops.front().emitOpError("cannot be distributed: the export's workgroup count is open; fill it in first "
                                     "(transform.kiln.populate_workgroup_count_region_using_num_threads_slice)");
  SmallVector<BlockMapping> mappings;
  for (scf::ForallOp loop : loops) {
    if (loop.getNumResults() != 0)
      return loop.emitOpError("still works on tensors; bufferize it before it is distributed");
    if (loop->getParentOp() != function)
      return loop.emitOpError("is inside of another loop or branch; only loops at the top of a dispatch's function are "
                              "distributed over workgroups");
    FailureOr<BlockMapping> mapping = getBlockMapping(loop);
    if (failed(mapping))
      return failure();
    bool nested = false;
    loop.getBody()->walk([&](scf::ForallOp inner) { nested |= isMappedToBlocks(inner); });
    if (nested)
      return loop.emitOpError("holds another loop over workgroups");
    mappings.push_back(std::move(*mapping));
  }
  if (failed(verifyNoWorkgroupRaces(function)))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  for (auto [loop, mapping] : llvm::zip(loops, mappings)) {
    distributeLoop(rewriter, loop, mapping, /*guarded=*/!countsIterations(exportOp, loop, mapping));
  }
  return success();
}

} // namespace kiln
