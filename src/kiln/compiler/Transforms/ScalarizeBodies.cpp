#include "kiln/compiler/Interfaces/InitUse.h"
#include "kiln/compiler/Transforms/NameInSource.h"
#include "kiln/compiler/Transforms/TensorOps.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_SCALARIZEBODIESPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

bool isKernel(Operation *op) {
  return isa<linalg::LinalgOp, tensor::PadOp, tensor::GenerateOp>(op);
}

// Whether the kernel computes an element at all. A padding counts as one that does: only the host checks its slices.
static bool hasStep(Operation *kernel) {
  if (isa<tensor::PadOp>(kernel))
    return true;
  if (auto op = dyn_cast<linalg::LinalgOp>(kernel))
    return llvm::all_of(op.getStaticLoopRanges(), [](int64_t extent) { return extent > 0; });
  auto type = cast<RankedTensorType>(kernel->getResult(0).getType());
  return type.hasStaticShape() && type.getNumElements() > 0;
}

static bool isStatic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || type.hasStaticShape();
}

static bool isStaticSlice(OffsetSizeAndStrideOpInterface slice, Value whole) {
  return isStatic(whole) && slice.getOffsets().empty() && slice.getSizes().empty() && slice.getStrides().empty();
}

// Whether the extents of a structured operation's operands may contradict each other.
static bool comparesExtents(linalg::LinalgOp op) {
  SmallVector<unsigned> places(op.getNumLoops()), dynamicPlaces(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop && llvm::any_of(op->getOperands(), [](Value value) { return !isStatic(value); }))
        return true;
      if (loop) {
        ++places[loop.getPosition()];
        dynamicPlaces[loop.getPosition()] += type.isDynamicDim(dim);
      }
    }
  }
  return llvm::any_of(llvm::zip(places, dynamicPlaces),
                      [](auto counts) { return std::get<0>(counts) > 1 && std::get<1>(counts) > 0; });
}

// Whether kiln-insert-checks has something to check of the operation itself, on the host.
static bool mayFailItself(Operation *op) {
  auto isDivision = [&] {
    return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
               arith::FloorDivSIOp>(op);
  };
  auto isConstant = [](Value value) { return getConstantIntValue(value).value_or(0) > 0; };
  auto isExtent = [](Value value) { return value.getDefiningOp<tensor::DimOp>() != nullptr; };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](tensor::ExtractSliceOp slice) { return !isStaticSlice(slice, slice.getSource()); })
      .Case([](tensor::InsertSliceOp slice) {
        return !isStaticSlice(slice, slice.getDest()) || !isStatic(slice.getSource());
      })
      .Case([](linalg::LinalgOp linalgOp) { return comparesExtents(linalgOp); })
      .Case<tensor::ExtractOp, tensor::InsertOp>([](auto access) { return !access.getIndices().empty(); })
      .Case<tensor::EmptyOp, tensor::SplatOp>([&](auto made) {
        return made.getDynamicSizes().size() > 1 || !llvm::all_of(made.getDynamicSizes(), isExtent);
      })
      .Case([](tensor::CastOp cast) { return !isStatic(cast.getSource()); })
      .Case([&](scf::ForOp loop) { return !isConstant(loop.getStep()); })
      .Case<tensor::CollapseShapeOp, tensor::DimOp>([](auto) { return false; })
      .Default([&](Operation *other) {
        if (isDivision())
          return !isConstant(other->getOperand(1));
        return isa<tensor::TensorDialect, linalg::LinalgDialect>(other->getDialect()) &&
               !(llvm::all_of(other->getOperands(), isStatic) && llvm::all_of(other->getResults(), isStatic));
      });
}

bool movesInFront(Operation *op, Operation *kernel) {
  if (op->getParentOp() == kernel && hasStep(kernel))
    return true;
  WalkResult result = op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    bool isInKernel = inner != op && isKernel(inner->getParentOp());
    auto gather = dyn_cast<tensor::ExtractOp>(inner);
    // In a kernel places are held to their tensors, which must have elements.
    bool mayFail = isInKernel ? gather && !isStatic(gather.getTensor()) : mayFailItself(inner);
    return mayFail ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

static bool isOneElement(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.hasStaticShape() && type.getNumElements() == 1;
}

// Clones the operations of a block, but for its terminator, to where the builder stands.
static void cloneBody(OpBuilder &builder, Block &block, IRMapping &mapping) {
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
}

namespace {
// Computes elements of tensors where the rewriter stands, by one step each: what is read for it are elements of the
// operands, which are computed in turn.
class ElementBuilder {
public:
  ElementBuilder(RewriterBase &rewriter, Operation *kernel) : b(rewriter), kernel(kernel), loc(b.getUnknownLoc()) {}

  // Null, after an error, where there is no such computation.
  Value elementOf(Value tensor, ValueRange indices) {
    Operation *op = tensor.getDefiningOp();
    if (!op) {
      Operation *owner = cast<BlockArgument>(tensor).getOwner()->getParentOp();
      return owner->emitError() << "'" << nameInSource(owner) << "' passes on a tensor in the body of '"
                                << kernel->getName() << "'; Kiln computes single elements there, so pass on those",
             Value();
    }
    loc = op->getLoc();
    unsigned result = cast<OpResult>(tensor).getResultNumber();
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](linalg::LinalgOp linalgOp) { return elementOf(linalgOp, result, indices); })
        .Case([&](tensor::EmptyOp) { return zero(tensor); })
        .Case([&](tensor::SplatOp splat) { return splat.getInput(); })
        .Case([&](tensor::GenerateOp made) { return computed(made.getBody().front(), indices); })
        .Case([&](tensor::FromElementsOp made) { return elementOf(made, indices); })
        .Case([&](tensor::CastOp cast) { return read(cast.getSource(), indices); })
        .Case([&](tensor::BitcastOp cast) {
          Type type = getElementTypeOrSelf(cast.getType());
          return arith::BitcastOp::create(b, loc, type, read(cast.getSource(), indices)).getResult();
        })
        .Case([&](arith::SelectOp select) {
          return arith::SelectOp::create(b, loc, select.getCondition(), read(select.getTrueValue(), indices),
                                         read(select.getFalseValue(), indices))
              .getResult();
        })
        .Case([&](tensor::ExpandShapeOp reshape) {
          return read(reshape.getSrc(), joined(reshape.getReassociationIndices(), reshape.getResult(), indices));
        })
        .Case([&](tensor::CollapseShapeOp reshape) {
          return read(reshape.getSrc(), parted(reshape.getReassociationIndices(), reshape.getSrc(), indices));
        })
        .Case([&](tensor::ExtractSliceOp slice) { return elementOf(slice, indices); })
        .Case([&](tensor::InsertSliceOp slice) { return elementOf(slice, indices); })
        .Case([&](tensor::InsertOp insert) {
          Value isPlace = truth(true);
          for (auto [index, place] : llvm::zip(indices, insert.getIndices()))
            isPlace = both(isPlace, compare(arith::CmpIPredicate::eq, index, place));
          return arith::SelectOp::create(b, loc, isPlace, insert.getScalar(), read(insert.getDest(), indices))
              .getResult();
        })
        .Case([&](tensor::PadOp pad) { return elementOf(pad, indices); })
        .Case([&](scf::IfOp branch) {
          auto part = [&](Block *block) {
            return [this, block, result, indices](OpBuilder &, Location) {
              IRMapping mapping;
              cloneBody(b, *block, mapping);
              Value yielded = mapping.lookupOrDefault(block->getTerminator()->getOperand(result));
              scf::YieldOp::create(b, loc, read(yielded, indices));
            };
          };
          return choose(branch.getCondition(), part(branch.thenBlock()), part(branch.elseBlock()));
        })
        .Default([&](Operation *other) {
          return other->emitError() << "'" << nameInSource(other) << "' gives a tensor in the body of '"
                                    << kernel->getName() << "', of which Kiln does not compute single elements",
                 Value();
        });
  }

  // An extent of a tensor of the body; null, after an error, where there is no computation of it.
  Value extentOf(Value tensor, int64_t dim) {
    loc = tensor.getLoc();
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.isDynamicDim(dim))
      return number(type.getDimSize(dim));
    auto result = dyn_cast<OpResult>(tensor);
    ReifiedRankedShapedTypeDims shapes;
    if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
      return empty.getDynamicSize(dim);
    if (auto destination = tensor.getDefiningOp<DestinationStyleOpInterface>())
      return tensor::DimOp::create(b, loc, destination.getTiedOpOperand(result)->get(), dim);
    if (auto cast = tensor.getDefiningOp<tensor::CastOp>())
      return tensor::DimOp::create(b, loc, cast.getSource(), dim);
    if (!result || failed(reifyResultShapes(b, result.getOwner(), shapes))) {
      Operation *op = result ? result.getOwner() : cast<BlockArgument>(tensor).getOwner()->getParentOp();
      return op->emitError() << "'" << nameInSource(op) << "' gives a tensor in the body of '" << kernel->getName()
                             << "' whose extents cannot be computed there",
             Value();
    }
    return getValueOrCreateConstantIndexOp(b, loc, shapes[result.getResultNumber()][dim]);
  }

private:
  using Part = llvm::function_ref<void(OpBuilder &, Location)>;

  Value number(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value truth(bool value) { return arith::ConstantIntOp::create(b, loc, value, 1); }
  Value zero(Value tensor) {
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(getElementTypeOrSelf(tensor.getType())));
  }
  Value valueOf(OpFoldResult value) { return getValueOrCreateConstantIndexOp(b, loc, value); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value subtract(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
  Value multiply(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  Value both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
  }
  Value read(Value tensor, ValueRange indices) {
    // One that moved in front of the kernel would be stored for this.
    if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
      return fill.getInputs()[0];
    return tensor::ExtractOp::create(b, loc, tensor, indices);
  }
  Value dimOf(Value tensor, int64_t dim) { return b.createOrFold<tensor::DimOp>(loc, tensor, dim); }
  Value choose(Value condition, Part ifTrue, Part ifFalse) {
    return scf::IfOp::create(b, loc, condition, ifTrue, ifFalse).getResult(0);
  }

  // The element that the body of a tensor.generate or a tensor.pad gives at a place.
  Value computed(Block &body, ValueRange indices) {
    IRMapping mapping;
    mapping.map(body.getArguments(), indices);
    cloneBody(b, body, mapping);
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  }

  //===--- Shapes ------------------------------------------------------------------------------------------------===//

  // Indices of the tensor whose dimensions are groups of those of `parts`.
  SmallVector<Value> joined(ArrayRef<ReassociationIndices> groups, Value parts, ValueRange indices) {
    SmallVector<Value> all;
    for (const ReassociationIndices &group : groups) {
      Value index = number(0);
      for (int64_t dim : group)
        index = add(multiply(index, dimOf(parts, dim)), indices[dim]);
      all.push_back(index);
    }
    return all;
  }

  // Indices of `parts`, from those of the tensor whose dimensions are groups of its dimensions.
  SmallVector<Value> parted(ArrayRef<ReassociationIndices> groups, Value parts, ValueRange indices) {
    SmallVector<Value> all(cast<RankedTensorType>(parts.getType()).getRank());
    for (auto [index, group] : llvm::zip(indices, groups)) {
      Value rest = index;
      for (int64_t dim : llvm::reverse(ArrayRef<int64_t>(group).drop_front())) {
        Value extent = dimOf(parts, dim);
        all[dim] = arith::RemUIOp::create(b, loc, rest, extent);
        rest = arith::DivUIOp::create(b, loc, rest, extent);
      }
      all[group.front()] = rest;
    }
    return all;
  }

  Value elementOf(tensor::FromElementsOp made, ValueRange indices) {
    Value place = number(0);
    for (auto [dim, index] : llvm::enumerate(indices))
      place = add(multiply(place, number(made.getType().getDimSize(dim))), index);
    if (std::optional<int64_t> known = getConstantIntValue(place); known && *known < made->getNumOperands())
      return made.getElements()[*known];
    Value element = made.getElements().back();
    for (auto [other, value] : llvm::enumerate(made.getElements().drop_back())) {
      Value isPlace = compare(arith::CmpIPredicate::eq, place, number(other));
      element = arith::SelectOp::create(b, loc, isPlace, value, element);
    }
    return element;
  }

  //===--- Slices and padding ------------------------------------------------------------------------------------===//

  Value elementOf(tensor::ExtractSliceOp slice, ValueRange indices) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), strides = slice.getMixedStrides();
    SmallVector<Value> from;
    for (auto [dim, offset, stride] : llvm::enumerate(offsets, strides)) {
      from.push_back(valueOf(offset));
      if (dropped.test(dim))
        continue;
      from.back() = add(multiply(indices.front(), valueOf(stride)), from.back());
      indices = indices.drop_front();
    }
    return read(slice.getSource(), from);
  }

  Value elementOf(tensor::InsertSliceOp slice, ValueRange indices) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes(),
                              strides = slice.getMixedStrides();
    SmallVector<Value> from;
    Value isInside = truth(true);
    for (auto [dim, offset, size, stride] : llvm::enumerate(offsets, sizes, strides)) {
      Value place = subtract(indices[dim], valueOf(offset));
      if (getConstantIntValue(stride) != 1) {
        Value step = valueOf(stride), rest = arith::RemUIOp::create(b, loc, place, step);
        isInside = both(isInside, compare(arith::CmpIPredicate::eq, rest, number(0)));
        place = arith::DivUIOp::create(b, loc, place, step);
      }
      // A place before the slice is a large one.
      isInside = both(isInside, compare(arith::CmpIPredicate::ult, place, valueOf(size)));
      if (!dropped.test(dim))
        from.push_back(place);
    }
    return choose(
        isInside, [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, read(slice.getSource(), from)); },
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, read(slice.getDest(), indices)); });
  }

  Value elementOf(tensor::PadOp pad, ValueRange indices) {
    SmallVector<Value> from;
    Value isInside = truth(true);
    for (auto [dim, low] : llvm::enumerate(pad.getMixedLowPad())) {
      from.push_back(subtract(indices[dim], valueOf(low)));
      isInside = both(isInside, compare(arith::CmpIPredicate::ult, from.back(), dimOf(pad.getSource(), dim)));
    }
    return choose(
        isInside, [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, read(pad.getSource(), from)); },
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, computed(pad.getRegion().front(), indices)); });
  }

  //===--- Structured operations ---------------------------------------------------------------------------------===//

  // What the operation stores at this place, or what its init has there if it stores nothing.
  Value elementOf(linalg::LinalgOp op, unsigned result, ValueRange indices) {
    AffineMap map = op.getIndexingMapMatchingResult(op->getResult(result));
    SmallVector<Value> loops(op.getNumLoops());
    Value isStored;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (loop && !loops[loop.getPosition()]) {
        loops[loop.getPosition()] = indices[dim];
        continue;
      }
      auto place = dyn_cast<AffineConstantExpr>(expr);
      if (!loop && !place)
        return unsupported(op);
      Value expected = loop ? loops[loop.getPosition()] : number(place.getValue());
      Value isSame = compare(arith::CmpIPredicate::eq, indices[dim], expected);
      isStored = isStored ? both(isStored, isSame) : isSame;
    }
    OpOperand *init = op.getDpsInitOperand(result);
    if (!isStored || reachesWholeResult(*init))
      return storedBy(op, result, indices, loops);
    bool isSupported = true;
    Value element = choose(
        isStored,
        [&](OpBuilder &, Location) {
          Value stored = storedBy(op, result, indices, loops);
          isSupported = stored != nullptr;
          scf::YieldOp::create(b, loc, isSupported ? stored : zero(init->get()));
        },
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, read(init->get(), indices)); });
    return isSupported ? element : Value();
  }

  // Loops over all dimensions that the place of the result does not fix, with the elements of the results at this
  // place.
  Value storedBy(linalg::LinalgOp op, unsigned result, ValueRange indices, SmallVector<Value> &loops) {
    AffineMap map = op.getIndexingMapMatchingResult(op->getResult(result));
    // Results at other places would not be complete.
    SmallVector<OpOperand *> carried;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (op.getMatchingIndexingMap(&init) == map)
        carried.push_back(&init);
      else if (op.payloadUsesValueFromOperand(&init))
        return unsupported(op);
    }
    SmallVector<Value> starts;
    for (OpOperand *init : carried)
      starts.push_back(needsInit(*init) ? read(init->get(), indices) : zero(init->get()));
    SmallVector<Value> results = runLoops(op, carried, loops, 0, starts);
    if (results.empty())
      return unsupported(op);
    return results[llvm::find(carried, op.getDpsInitOperand(result)) - carried.begin()];
  }

  Value unsupported(linalg::LinalgOp op) {
    return op->emitError() << "'" << nameInSource(op) << "' in the body of '" << kernel->getName()
                           << "' has results whose elements Kiln cannot compute one by one",
           Value();
  }

  // The carried values after the loops from `loop` on; nothing where the extent of one is hidden.
  SmallVector<Value> runLoops(linalg::LinalgOp op, ArrayRef<OpOperand *> carried, SmallVector<Value> &loops,
                              unsigned loop, ValueRange values) {
    while (loop < loops.size() && loops[loop])
      ++loop;
    if (loop == loops.size())
      return runPayload(op, carried, loops, values);
    Value extent = extentOfLoop(op, loop);
    if (!extent)
      return {};
    auto nest = scf::ForOp::create(b, loc, number(0), extent, number(1), values);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(nest.getBody());
    loops[loop] = nest.getInductionVar();
    SmallVector<Value> next = runLoops(op, carried, loops, loop + 1, nest.getRegionIterArgs());
    loops[loop] = nullptr;
    scf::YieldOp::create(b, loc, next.empty() ? SmallVector<Value>(values) : next);
    return next.empty() ? next : SmallVector<Value>(nest.getResults());
  }

  Value extentOfLoop(linalg::LinalgOp op, unsigned loop) {
    for (OpOperand &operand : op->getOpOperands())
      for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto place = dyn_cast<AffineDimExpr>(expr); place && place.getPosition() == loop)
          return dimOf(operand.get(), dim);
    return {};
  }

  SmallVector<Value> runPayload(linalg::LinalgOp op, ArrayRef<OpOperand *> carried, ArrayRef<Value> loops,
                                ValueRange values) {
    Block &body = *op.getBlock();
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      if (auto *init = llvm::find(carried, &operand); init != carried.end()) {
        mapping.map(argument, values[init - carried.begin()]);
      } else if (op.isScalar(&operand)) {
        mapping.map(argument, operand.get());
      } else if (!argument.use_empty()) {
        SmallVector<Value> place;
        for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
          place.push_back(affine::expandAffineExpr(b, loc, expr, loops, {}));
        mapping.map(argument, read(operand.get(), place));
      }
    }
    for (Operation &inner : body.without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        mapping.map(index.getResult(), loops[index.getDim()]);
      else
        b.clone(inner, mapping);
    }
    return llvm::map_to_vector(carried, [&](OpOperand *init) {
      unsigned place = init->getOperandNumber() - op.getNumDpsInputs();
      return mapping.lookupOrDefault(body.getTerminator()->getOperand(place));
    });
  }

  RewriterBase &b;
  Operation *kernel;
  Location loc;
};

// Rewrites one body until it reads no tensors but those from outside.
class BodyScalarizer {
public:
  explicit BodyScalarizer(Operation *kernel) : kernel(kernel), rewriter(kernel->getContext()) {}

  LogicalResult run() {
    while (true) {
      if (failed(prepare()))
        return failure();
      SmallVector<Operation *> reads = opsOfBody(
          [&](Operation *op) { return isa<tensor::ExtractOp, tensor::DimOp>(op) && isInBody(op->getOperand(0)); });
      if (reads.empty())
        break;
      constexpr size_t mostReads = 1 << 16;
      if (reads.size() > mostReads)
        return kernel->emitError() << "'" << nameInSource(kernel)
                                   << "' has a body that reads elements of its own tensors "
                                   << "in more than " << mostReads << " places; compute them in front of it";
      for (Operation *read : reads)
        if (!replaced.contains(read) && failed(replaceRead(read)))
          return failure();
      replaced.clear();
      eraseUnused();
    }
    for (Operation *op : opsOfBody([](Operation *op) { return givesTensor(op); }))
      return op->emitError() << "'" << nameInSource(op) << "' gives a tensor in the body of '" << kernel->getName()
                             << "', of which Kiln does not compute single elements";
    return success();
  }

private:
  static bool givesTensor(Operation *op) { return llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>); }

  bool isInBody(Value value) {
    return kernel->isProperAncestor(value.getParentBlock()->getParentOp()) ||
           value.getParentBlock()->getParentOp() == kernel;
  }

  // Operations of the body, but not of the bodies in it.
  SmallVector<Operation *> opsOfBody(llvm::function_ref<bool(Operation *)> isWanted) {
    SmallVector<Operation *> ops;
    for (Region &region : kernel->getRegions())
      region.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isWanted(op))
          ops.push_back(op);
        return isKernel(op) ? WalkResult::skip() : WalkResult::advance();
      });
    return ops;
  }

  // What does not depend on the element is computed in front, and aggregates become the operations they stand for. What
  // is read twice becomes one read, or a chain of operations that read their operand twice would double with each.
  LogicalResult prepare() {
    for (Operation *op : opsOfBody([](Operation *op) { return isAggregate(op); }))
      if (failed(decomposeAggregate(rewriter, op)))
        return failure();
    for (Operation *op : opsOfBody([](Operation *op) { return givesTensor(op) && isPure(op); })) {
      // It may have moved with an operation that it is in.
      bool isInvariant = kernel->isProperAncestor(op);
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          isInvariant &= !isInBody(operand) || op->isAncestor(operand.getParentBlock()->getParentOp());
      });
      if (isInvariant && movesInFront(op, kernel))
        rewriter.moveOpBefore(op, kernel);
    }
    if (opsOfBody([](Operation *op) { return givesTensor(op); }).empty())
      return success();
    DominanceInfo dominance(kernel);
    eliminateCommonSubExpressions(rewriter, dominance, kernel);
    return success();
  }

  LogicalResult replaceRead(Operation *read) {
    Value tensor = read->getOperand(0);
    ElementBuilder builder(rewriter, kernel);
    rewriter.setInsertionPoint(read);
    Value value;
    if (auto dim = dyn_cast<tensor::DimOp>(read)) {
      std::optional<int64_t> index = dim.getConstantIndex();
      if (!index || *index >= cast<RankedTensorType>(tensor.getType()).getRank())
        return dim.emitError() << "'tensor.dim' needs a constant dimension of a tensor that has it";
      value = builder.extentOf(tensor, *index);
    } else if (auto op = tensor.getDefiningOp<linalg::LinalgOp>(); op && isOneElement(tensor)) {
      return computeOnce(builder, op, tensor);
    } else {
      value = builder.elementOf(tensor, cast<tensor::ExtractOp>(read).getIndices());
    }
    if (!value)
      return failure();
    rewriter.replaceOp(read, value);
    return success();
  }

  // All that read the only element of a tensor share its computation.
  LogicalResult computeOnce(ElementBuilder &builder, linalg::LinalgOp op, Value tensor) {
    rewriter.setInsertionPointAfter(op);
    SmallVector<Value> indices;
    for (int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank(); rank > 0; --rank)
      indices.push_back(arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0));
    Value element = builder.elementOf(tensor, indices);
    if (!element)
      return failure();
    for (Operation *user : llvm::make_early_inc_range(tensor.getUsers()))
      if (auto read = dyn_cast<tensor::ExtractOp>(user)) {
        replaced.insert(read);
        rewriter.replaceOp(read, element);
      }
    Value made = tensor::FromElementsOp::create(rewriter, op.getLoc(), cast<RankedTensorType>(tensor.getType()),
                                                ValueRange(element));
    rewriter.replaceAllUsesWith(tensor, made);
    return success();
  }

  void eraseUnused() {
    SmallVector<Operation *> ops = opsOfBody([](Operation *op) { return givesTensor(op); });
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty())
        rewriter.eraseOp(op);
  }

  Operation *kernel;
  IRRewriter rewriter;
  llvm::SmallPtrSet<Operation *, 8> replaced; // in the current round, beside others
};

class ScalarizeBodiesPass : public impl::ScalarizeBodiesPassBase<ScalarizeBodiesPass> {
public:
  void runOnOperation() override {
    SmallVector<Operation *> kernels;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isKernel(op))
        kernels.push_back(op);
      return isKernel(op) ? WalkResult::skip() : WalkResult::advance();
    });
    for (Operation *kernel : kernels)
      if (failed(BodyScalarizer(kernel).run()))
        return signalPassFailure();
  }
};
} // namespace
} // namespace kiln
