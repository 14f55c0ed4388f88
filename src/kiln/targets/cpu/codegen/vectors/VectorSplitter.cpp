#include "kiln/targets/cpu/codegen/vectors/VectorSplitter.h"

#include "kiln/targets/cpu/codegen/vectors/VectorAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {

// What is known of one vector value of the function as it was.
struct VectorSplitter::State {
  SmallVector<Value> pieces; // null where nobody has asked for it
  std::unique_ptr<VectorAccess> read;
  DenseMap<int64_t, Value> scalars;
  bool split = false; // defined by a rule, so that the value itself goes away
};

VectorSplitter::VectorSplitter(func::FuncOp func, SplitLimits limits) : func(func), options(limits), b(func) {}
VectorSplitter::~VectorSplitter() = default;

static bool isVector(Type type) {
  return isa<VectorType>(type);
}
static bool hasVectors(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isVector) || llvm::any_of(op->getResultTypes(), isVector);
}

//===--- Values ---------------------------------------------------------------------------------------------------===//

VectorSplitter::State &VectorSplitter::state(Value value) {
  while (Value same = aliases.lookup(value))
    value = same;
  std::unique_ptr<State> &entry = states[value];
  if (!entry) {
    entry = std::make_unique<State>();
    PieceLayout layout = this->layout(value);
    entry->pieces.resize(layout.pieceCount());
    if (layout.isNative())
      entry->pieces[0] = value;
  }
  return *entry;
}

Value VectorSplitter::piece(Value value, int64_t index) {
  State &entry = state(value);
  if (entry.pieces[index])
    return entry.pieces[index];
  PieceLayout layout = this->layout(value);
  Value result;
  if (entry.read) {
    result =
        entry.read->loadPiece(*this, entry.read->positionOf(b, layout.pieceStart(index)), layout.pieceLength(index));
  } else {
    // A value that no rule has made.
    assert(!entry.split && "all pieces of a value that a rule defines are known");
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(value);
    Location loc = value.getLoc();
    Type elementType = cast<VectorType>(value.getType()).getElementType();
    auto rowsType = VectorType::get({layout.rowCount(), layout.rowLength()}, elementType);
    Value rows = b.createOrFold<vector::ShapeCastOp>(loc, rowsType, value);
    result = vector::ExtractOp::create(b, loc, rows, ArrayRef<int64_t>{index / layout.chunkCount()});
    if (layout.chunkCount() > 1)
      result = vector::ExtractStridedSliceOp::create(
          b, loc, result, ArrayRef<int64_t>{layout.pieceStart(index) % layout.rowLength()},
          ArrayRef<int64_t>{layout.pieceLength(index)}, ArrayRef<int64_t>{1});
  }
  // Building it may have added states.
  state(value).pieces[index] = result;
  return result;
}

SmallVector<Value> VectorSplitter::pieces(Value value) {
  SmallVector<Value> result(layout(value).pieceCount());
  for (auto [index, piece] : llvm::enumerate(result))
    piece = this->piece(value, index);
  return result;
}

Value VectorSplitter::scalar(Value value, int64_t element) {
  if (Value known = state(value).scalars.lookup(element))
    return known;
  Value result;
  if (const VectorAccess *read = state(value).read.get(); read && read->isPlain()) {
    result = read->loadScalar(*this, read->positionOf(b, element));
  } else {
    auto [index, lane] = layout(value).locate(element);
    Value piece = this->piece(value, index);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(piece);
    result = b.createOrFold<vector::ExtractOp>(piece.getLoc(), piece, ArrayRef<int64_t>{lane});
  }
  state(value).scalars[element] = result;
  return result;
}

const VectorAccess *VectorSplitter::deferredRead(Value value) {
  return state(value).read.get();
}

Value VectorSplitter::constant(TypedAttr value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&func.getBody().front());
    known = arith::ConstantOp::create(b, func.getLoc(), value);
  }
  return known;
}

Value VectorSplitter::splat(Value scalar, int64_t length) {
  auto type = VectorType::get({length}, scalar.getType());
  Attribute value;
  if (matchPattern(scalar, m_Constant(&value)))
    return constant(DenseElementsAttr::get(type, value));
  Value &known = splats[{scalar, length}];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(scalar);
    known = vector::BroadcastOp::create(b, scalar.getLoc(), type, scalar);
  }
  return known;
}

Value VectorSplitter::maskOfFirst(Location loc, Value count, int64_t length) {
  auto type = VectorType::get({length}, b.getI1Type());
  IntegerAttr known;
  if (matchPattern(count, m_Constant(&known))) {
    SmallVector<bool> bits(length);
    for (int64_t i = 0; i < length; ++i)
      bits[i] = i < known.getInt();
    return constant(DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
  }
  Value all = constant(b.getIndexAttr(length));
  Value clamped = b.createOrFold<arith::MinSIOp>(loc, count, all);
  Value narrow = arith::IndexCastOp::create(b, loc, b.getI32Type(), clamped);
  SmallVector<int32_t> steps(length);
  for (int64_t i = 0; i < length; ++i)
    steps[i] = static_cast<int32_t>(i);
  Value lanes = constant(DenseElementsAttr::get(VectorType::get({length}, b.getI32Type()), ArrayRef<int32_t>(steps)));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lanes, splat(narrow, length));
}

void VectorSplitter::define(Value result, SmallVector<Value> pieces) {
  State &entry = state(result);
  assert(pieces.size() == entry.pieces.size() && "a rule makes all pieces of a result");
  entry.pieces = std::move(pieces);
  entry.split = true;
}

void VectorSplitter::alias(Value result, Value same) {
  aliases[result] = same;
}

void VectorSplitter::defineRead(Value result, std::unique_ptr<VectorAccess> access) {
  State &entry = state(result);
  entry.pieces.assign(entry.pieces.size(), Value());
  entry.split = true;
  entry.read = std::move(access);
  if (deferrable.contains(result.getDefiningOp()))
    return;
  pieces(result);
  state(result).read.reset();
}

// The value as it was, put together again where the builder stands.
Value VectorSplitter::whole(Value value) {
  if (!state(value).split)
    return value;
  PieceLayout layout = this->layout(value);
  SmallVector<Value> parts = pieces(value);
  if (layout.isNative())
    return parts[0];
  Location loc = value.getLoc();
  auto type = cast<VectorType>(value.getType());
  auto rowType = VectorType::get({layout.rowLength()}, type.getElementType());
  auto rowsType = VectorType::get({layout.rowCount(), layout.rowLength()}, type.getElementType());
  Value rows = ub::PoisonOp::create(b, loc, rowsType);
  for (int64_t r = 0; r < layout.rowCount(); ++r) {
    Value row = parts[r * layout.chunkCount()];
    if (layout.chunkCount() > 1) {
      row = ub::PoisonOp::create(b, loc, rowType);
      for (int64_t c = 0; c < layout.chunkCount(); ++c)
        row = vector::InsertStridedSliceOp::create(b, loc, parts[r * layout.chunkCount() + c], row,
                                                   ArrayRef<int64_t>{c * options.lanes}, ArrayRef<int64_t>{1});
    }
    rows = vector::InsertOp::create(b, loc, row, rows, ArrayRef<int64_t>{r});
  }
  return b.createOrFold<vector::ShapeCastOp>(loc, type, rows);
}

//===--- The walk -------------------------------------------------------------------------------------------------===//

LogicalResult VectorSplitter::run() {
  if (failed(processBlock(func.getBody().front())))
    return failure();
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : llvm::reverse(dead)) {
    assert(op->use_empty() && "a result of a rewritten operation is still used");
    op->erase();
  }
  for (BlockArgument argument : llvm::reverse(staleArguments))
    argument.getOwner()->eraseArgument(argument.getArgNumber());
  return success();
}

LogicalResult VectorSplitter::processBlock(Block &block) {
  findDeferrableReads(block);
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops) {
    b.setInsertionPoint(op);
    if (failed(process(op)))
      return failure();
  }
  return success();
}

LogicalResult VectorSplitter::process(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (auto vectorType = dyn_cast<VectorType>(type); vectorType && vectorType.isScalable())
      return op->emitOpError("uses scalable vectors, which this backend does not generate code for: ") << vectorType;
  if (failed(checkResults(op)))
    return failure();
  if (op->getNumRegions() != 0 && !isa<vector::MaskOp>(op))
    return splitRegionOp(op);
  if (!hasVectors(op))
    return success();
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    if (!flattened.contains(op->getParentOp()))
      return keep(op);
    SmallVector<Value> flat = flatten(op->getOperands());
    op->setOperands(flat);
    return success();
  }
  bool handled = false;
  if (failed(applyRule(op, handled)))
    return failure();
  if (!handled)
    return keep(op);
  dead.push_back(op);
  return success();
}

LogicalResult VectorSplitter::applyRule(Operation *op, bool &handled) {
  if (isa<vector::MaskOp, vector::CreateMaskOp, vector::ConstantMaskOp>(op))
    return splitMasking(*this, op, handled);
  if (isa<vector::ContractionOp, vector::OuterProductOp>(op))
    return splitContraction(*this, op, /*mask=*/{}, handled);
  if (isa<vector::MultiDimReductionOp, vector::ReductionOp>(op))
    return splitReduction(*this, op, /*mask=*/{}, handled);
  if (isa<MemoryEffectOpInterface>(op) && !isMemoryEffectFree(op))
    return splitMemoryOp(*this, op, handled);
  if (failed(splitElementwise(*this, op, handled)) || handled)
    return success(handled);
  return splitShapeOp(*this, op, handled);
}

// An operation that stays as it is, on whole vectors.
LogicalResult VectorSplitter::keep(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (isVector(operand.get().getType()))
      operand.set(whole(operand.get()));
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (auto vectorType = dyn_cast<VectorType>(type))
      unsplit |= !layout(vectorType).isNative();
  return success();
}

LogicalResult VectorSplitter::checkResults(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto vectorType = dyn_cast<VectorType>(type);
    if (!vectorType || deferrable.contains(op))
      continue;
    int64_t count = layout(vectorType).pieceCount();
    if (count > options.pieceLimit)
      return op->emitOpError("makes a ")
             << vectorType << ", which is " << count << " vectors of " << options.lanes << " elements; more than "
             << options.pieceLimit
             << " of them would take too long to compile: tile the operation before it is vectorized";
  }
  return success();
}

//===--- Reads that wait ------------------------------------------------------------------------------------------===//

static Operation *readIn(Operation *op) {
  if (auto mask = dyn_cast<vector::MaskOp>(op))
    op = mask.getMaskableOp();
  return isa_and_nonnull<vector::TransferReadOp, vector::LoadOp>(op) ? op : nullptr;
}

// A read may happen as late as its last use, if all uses are in its block, and nothing in between writes what it reads.
void VectorSplitter::findDeferrableReads(Block &block) {
  DenseMap<Operation *, unsigned> order;
  struct Write {
    unsigned order;
    Value memory; // null: anything
  };
  SmallVector<Write> writes;
  for (auto [index, op] : llvm::enumerate(block)) {
    order[&op] = index;
    std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(&op);
    if (!effects) {
      writes.push_back({static_cast<unsigned>(index), {}});
      continue;
    }
    for (const MemoryEffects::EffectInstance &effect : *effects)
      if (isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect()))
        writes.push_back({static_cast<unsigned>(index), effect.getValue()});
  }
  for (Operation &op : block) {
    Operation *read = readIn(&op);
    if (!read || !isa<MemRefType>(read->getOperand(0).getType()))
      continue;
    unsigned first = order[&op], last = first;
    bool local = true;
    for (Operation *user : op.getResult(0).getUsers()) {
      local &= user->getBlock() == &block;
      last = std::max(last, order.lookup(user));
    }
    Value memory = read->getOperand(0);
    if (local && llvm::none_of(writes, [&](const Write &write) {
          return write.order > first && write.order < last && (!write.memory || mayOverlap(write.memory, memory));
        }))
      deferrable.insert(&op);
  }
}

//===--- Control flow ---------------------------------------------------------------------------------------------===//

SmallVector<Type> VectorSplitter::flattenTypes(TypeRange types) const {
  SmallVector<Type> result;
  for (Type type : types) {
    auto vectorType = dyn_cast<VectorType>(type);
    if (!vectorType) {
      result.push_back(type);
      continue;
    }
    PieceLayout layout = this->layout(vectorType);
    for (int64_t i = 0; i < layout.pieceCount(); ++i)
      result.push_back(layout.pieceType(i));
  }
  return result;
}

SmallVector<Value> VectorSplitter::flatten(ValueRange values) {
  SmallVector<Value> result;
  for (Value value : values) {
    if (isVector(value.getType()))
      llvm::append_range(result, pieces(value));
    else
      result.push_back(value);
  }
  return result;
}

void VectorSplitter::defineAll(ValueRange results, ValueRange flat) {
  for (Value result : results) {
    if (!isVector(result.getType())) {
      result.replaceAllUsesWith(flat.front());
      flat = flat.drop_front();
      continue;
    }
    int64_t count = layout(result).pieceCount();
    define(result, SmallVector<Value>(flat.take_front(count)));
    flat = flat.drop_front(count);
  }
}

// Replaces the block's arguments from `first` on by their pieces.
void VectorSplitter::expandArguments(Block &block, unsigned first) {
  SmallVector<BlockArgument> old(block.getArguments().drop_front(first));
  SmallVector<Value> flat;
  for (Type type : flattenTypes(ValueRange(old).getTypes()))
    flat.push_back(block.addArgument(type, block.getParentOp()->getLoc()));
  for (BlockArgument argument : old)
    staleArguments.push_back(argument);
  defineAll(ValueRange(old), flat);
}

LogicalResult VectorSplitter::splitRegionOp(Operation *op) {
  Operation *target = op;
  Location loc = op->getLoc();
  auto carriesVectors = [](TypeRange types) { return llvm::any_of(types, isVector); };
  auto loop = dyn_cast<scf::ForOp>(op);
  auto condition = dyn_cast<scf::IfOp>(op);
  auto whileLoop = dyn_cast<scf::WhileOp>(op);
  if (loop && carriesVectors(op->getResultTypes())) {
    auto split = scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                    flatten(loop.getInitArgs()), /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
    split.getRegion().takeBody(loop.getRegion());
    expandArguments(split.getRegion().front(), /*first=*/1);
    target = split;
  } else if (condition && carriesVectors(op->getResultTypes())) {
    auto split = scf::IfOp::create(b, loc, flattenTypes(op->getResultTypes()), condition.getCondition(),
                                   /*withElseRegion=*/true);
    split.getThenRegion().takeBody(condition.getThenRegion());
    split.getElseRegion().takeBody(condition.getElseRegion());
    target = split;
  } else if (whileLoop && (carriesVectors(op->getResultTypes()) || carriesVectors(op->getOperandTypes()))) {
    auto split = scf::WhileOp::create(b, loc, flattenTypes(op->getResultTypes()), flatten(op->getOperands()));
    split.getBefore().takeBody(whileLoop.getBefore());
    split.getAfter().takeBody(whileLoop.getAfter());
    expandArguments(split.getBefore().front(), 0);
    expandArguments(split.getAfter().front(), 0);
    target = split;
  } else if (hasVectors(op) && failed(keep(op))) {
    return failure();
  }
  if (target != op) {
    target->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    flattened.insert(target);
  }
  for (Region &region : target->getRegions())
    for (Block &block : region)
      if (failed(processBlock(block)))
        return failure();
  b.setInsertionPointAfter(target);
  if (target != op) {
    defineAll(op->getResults(), target->getResults());
    dead.push_back(op);
  }
  return success();
}

} // namespace kiln
