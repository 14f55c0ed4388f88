#include "kiln/targets/cuda/codegen/RowLoops.h"

#include "kiln/compiler/Codegen/Combiner.h"
#include "kiln/compiler/Codegen/LoopBody.h"
#include "kiln/compiler/Interfaces/RowMemory.h"
#include "kiln/targets/cuda/codegen/ColumnLoops.h"
#include "kiln/targets/cuda/codegen/Lanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

static constexpr int64_t warp = 32, mostThreads = 512, usualThreads = 128;
// Elements of each value that a thread keeps, where it keeps them: they are in registers.
static constexpr int64_t mostElements = 32;
// Ops that are written out for a thread's part of a row.
static constexpr int64_t mostOps = 4096;

RowShares RowShares::of(int64_t length, int64_t lanes) {
  RowShares shares;
  shares.lanes = lanes;
  shares.vectors = length / lanes;
  int64_t chunks = std::max<int64_t>(1, std::min<int64_t>(8, mostElements / lanes));
  int64_t needed = llvm::divideCeil(shares.vectors, chunks);
  // A warp needs no barrier, and where it has enough for all of its threads each has a vector at least.
  shares.threads = std::min<int64_t>(mostThreads, llvm::PowerOf2Ceil(std::max(needed, std::min(warp, shares.vectors))));
  int64_t parts = llvm::divideCeil(shares.vectors, shares.threads);
  shares.chunks = std::min(chunks, parts);
  shares.rounds = llvm::divideCeil(parts, shares.chunks);
  return shares;
}

int64_t RowShares::rows() const {
  return std::max<int64_t>(1, usualThreads / threads);
}

static Value rootOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

//===--- Which operations are a group
//------------------------------------------------------------------------------===//

class RowMatcher {
public:
  explicit RowMatcher(func::FuncOp function) : function(function), b(function.getContext()) {}

  std::optional<RowGroup> match() {
    if (!collect() || !chooseRows() || !hasOwnElements() || !chooseLanes())
      return std::nullopt;
    return group;
  }

private:
  bool collect() {
    Block &block = function.getFunctionBody().front();
    for (Operation &op : block.without_terminator()) {
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        group.ops.push_back(linalgOp);
      else if (!isMemoryEffectFree(&op) && !isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(op))
        return false;
    }
    return !group.ops.empty();
  }

  // The operation that reduces most says what the rows are.
  bool chooseRows() {
    linalg::LinalgOp root;
    for (linalg::LinalgOp op : group.ops)
      if (op.getNumReductionLoops() != 0 && (!root || op.getNumLoops() > root.getNumLoops()))
        root = op;
    std::optional<unsigned> rows = root ? countRowLoops(root) : std::nullopt;
    if (!rows)
      return false;
    group.rowLoops = *rows;
    SmallVector<OpFoldResult> expected = extentsOf(root);
    for (OpFoldResult extent : ArrayRef(expected).drop_front(*rows)) {
      std::optional<int64_t> known = getConstantIntValue(extent);
      if (!known || *known == 0)
        return false;
      group.rowLength.push_back(*known);
    }
    group.rowCount = 1;
    for (OpFoldResult extent : ArrayRef(expected).take_front(*rows)) {
      std::optional<int64_t> bound = boundOf(extent);
      if (!bound || *bound == 0 || *group.rowCount > INT32_MAX / *bound)
        return false;
      *group.rowCount *= *bound;
    }
    return llvm::all_of(group.ops, [&](linalg::LinalgOp op) { return fits(op, expected); });
  }

  SmallVector<OpFoldResult> extentsOf(linalg::LinalgOp op) {
    b.setInsertionPoint(op);
    return llvm::map_to_vector(op.createLoopRanges(b, op.getLoc()), [](const Range &range) { return range.size; });
  }

  bool fits(linalg::LinalgOp op, ArrayRef<OpFoldResult> expected) {
    bool isWide = op.getNumLoops() > group.rowLoops;
    if (countRowLoops(op).value_or(0) < group.rowLoops || op.getNumDpsInits() == 0)
      return false;
    if (op.getNumReductionLoops() != 0 && op.getNumParallelLoops() != group.rowLoops)
      return false;
    SmallVector<OpFoldResult> extents = extentsOf(op);
    if (extents.size() != (isWide ? expected.size() : group.rowLoops) ||
        !llvm::equal(extents, expected.take_front(extents.size())))
      return false;
    bool isReduction = op.getNumReductionLoops() != 0;
    if (isReduction && !findWholeInput(op))
      return false;
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      Operation *combiner = findCombiner(op, i);
      if (isReduction && (!combiner || !neutralElement(combiner)))
        return false;
      unsigned dims = isReduction ? group.rowLoops : op.getNumLoops();
      if (op.getMatchingIndexingMap(&init) != identity(op, dims) ||
          bytesOfElement(getElementTypeOrSelf(init.get().getType())) == 0)
        return false;
    }
    return true;
  }

  static AffineMap identity(linalg::LinalgOp op, unsigned dims) {
    SmallVector<AffineExpr> exprs;
    for (unsigned loop = 0; loop < dims; ++loop)
      exprs.push_back(getAffineDimExpr(loop, op.getContext()));
    return AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext());
  }

  // What the group writes is each thread's own: nobody reads another one's elements, or by another name.
  bool hasOwnElements() {
    llvm::SetVector<Value> written;
    for (linalg::LinalgOp op : group.ops)
      for (Value init : op.getDpsInits())
        written.insert(init);
    llvm::SmallPtrSet<Value, 8> roots;
    for (Value memory : written)
      roots.insert(rootOf(memory));
    for (linalg::LinalgOp op : group.ops) {
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isa<MemRefType>(operand.get().getType()) || !roots.contains(rootOf(operand.get())))
          continue;
        AffineMap map = op.getMatchingIndexingMap(&operand);
        unsigned rank = map.getNumResults();
        bool isRow = rank == group.rowLoops;
        if (!written.contains(operand.get()) || map != identity(op, rank) || (!isRow && rank != op.getNumLoops()))
          return false;
      }
      WalkResult result = op.getBlock()->walk([&](Operation *inner) {
        bool touches = llvm::any_of(inner->getOperands(), [&](Value value) {
          return isa<MemRefType>(value.getType()) && roots.contains(rootOf(value));
        });
        return touches ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (result.wasInterrupted())
        return false;
    }
    // One name for each memory.
    return roots.size() == written.size();
  }

  bool isTemporary(Value memory) { return isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(memory.getDefiningOp()); }

  bool chooseLanes() {
    int64_t length = 1, largest = 1, lanes = accessBytes;
    for (int64_t extent : group.rowLength)
      if (llvm::MulOverflow(length, extent, length))
        return false;
    unsigned along = group.rowLoops + group.rowLength.size() - 1;
    bool hasRows = false;
    int64_t size = 0, uses = 1;
    for (linalg::LinalgOp op : group.ops) {
      if (op.getNumLoops() == group.rowLoops)
        continue;
      size += LaneEmitter(b, op).bodySize();
      uses += op.getNumReductionLoops() != 0;
      for (OpOperand &operand : op->getOpOperands()) {
        Along how = alongLoop(op, operand, along);
        if (how == Along::Nothing || isTemporary(operand.get()))
          continue;
        if (how == Along::Other)
          return false;
        int64_t bytes = bytesOfElement(getElementTypeOrSelf(operand.get().getType()));
        if (bytes == 0)
          return false;
        lanes = std::min(lanes, alignedElements(operand.get(), lanes));
        // What all rows read alike is short.
        AffineMap map = op.getMatchingIndexingMap(&operand);
        bool isRowwise = group.rowLoops == 0;
        for (unsigned loop = 0; loop < group.rowLoops; ++loop)
          isRowwise |= map.isFunctionOfDim(loop);
        if (isRowwise)
          largest = std::max(largest, bytes);
        hasRows = true;
      }
    }
    lanes = std::min(lanes, accessBytes / largest);
    while (lanes > 1 && group.rowLength.back() % lanes != 0)
      lanes /= 2;
    group.shares = RowShares::of(length, lanes);
    // What is computed again is written out for each reduction, and to be stored.
    int64_t times = group.shares.rounds == 1 ? 1 : uses;
    return hasRows && group.shares.chunks * lanes * size * times <= mostOps;
  }

  func::FuncOp function;
  OpBuilder b;
  RowGroup group;
};

std::optional<RowGroup> RowGroup::find(func::FuncOp function) {
  return RowMatcher(function).match();
}

int64_t RowGroup::threads() const {
  return std::max(warp, shares.threads * std::min<int64_t>(llvm::PowerOf2Ceil(*rowCount), shares.rows()));
}

//===--- What a thread computes
//------------------------------------------------------------------------------------===//

class RowEmitter {
public:
  RowEmitter(RowGroup &group, Value thread)
      : group(group), b(group.ops.back()), first(b, group.ops.back()), thread(thread), threads(group.threads()) {}

  void emit() {
    allocatePartials();
    std::tie(team, position) = first.divide(thread, group.shares.threads, threads);
    Value total = countRows();
    int64_t rowsAtATime = threads / group.shares.threads;
    std::optional<int64_t> known = getConstantIntValue(total);
    if (known && *known <= rowsAtATime) {
      emitRows(team, total, *known == rowsAtATime);
    } else {
      auto loop = scf::ForOp::create(b, first.loc, first.index(0), total, first.index(rowsAtATime));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      emitRows(first.add(loop.getInductionVar(), team), total, known && *known % rowsAtATime == 0);
      if (!partials.empty()) // Others may still read what the next rows are going to overwrite.
        gpu::BarrierOp::create(b, first.loc);
    }
    for (linalg::LinalgOp op : llvm::reverse(group.ops))
      op->erase();
  }

private:
  // The elements of a value that this thread has: one for the row, or `lanes` for each of its chunks.
  using Elements = SmallVector<Value>;

  // Memory through which warps that share a row tell each other what they have.
  void allocatePartials() {
    if (group.shares.threads <= warp)
      return;
    for (linalg::LinalgOp op : group.ops)
      if (op.getNumReductionLoops() != 0)
        for (Value init : op.getDpsInits())
          partials.push_back(memref::AllocOp::create(
              b, first.loc, MemRefType::get({threads / warp}, getElementTypeOrSelf(init.getType()))));
  }

  Value countRows() {
    Value total = first.index(1);
    SmallVector<Range> ranges = group.ops.front().createLoopRanges(b, first.loc);
    for (const Range &range : ArrayRef(ranges).take_front(group.rowLoops)) {
      Value extent = getValueOrCreateConstantIndexOp(b, first.loc, range.size);
      extents.push_back(extent);
      total = b.createOrFold<arith::MulIOp>(first.loc, total, extent);
    }
    return total;
  }

  void emitRows(Value row, Value total, bool allInside) {
    isRow = Value();
    if (!allInside) {
      isRow = arith::CmpIOp::create(b, first.loc, arith::CmpIPredicate::ult, row, total);
      // Threads without a row compute the last one again, and store nothing.
      Value last = arith::SubIOp::create(b, first.loc, total, first.index(1));
      row = arith::MinUIOp::create(b, first.loc, row, last);
    }
    decodeRow(row);
    for (linalg::LinalgOp op : group.ops) {
      LaneEmitter lane(b, op);
      if (op.getNumLoops() == group.rowLoops)
        emitOnRows(lane);
      else if (op.getNumReductionLoops() != 0)
        emitReduction(lane);
      else
        emitElementwise(lane);
    }
    storeAll();
  }

  void decodeRow(Value row) {
    rowIvs.assign(group.rowLoops, Value());
    for (unsigned loop = group.rowLoops; loop-- > 0;) {
      if (loop == 0) {
        rowIvs[loop] = row;
        break;
      }
      std::optional<int64_t> known = getConstantIntValue(extents[loop]);
      if (known) {
        std::tie(row, rowIvs[loop]) = first.divide(row, *known, *group.rowCount);
      } else {
        rowIvs[loop] = arith::RemUIOp::create(b, first.loc, row, extents[loop]);
        row = arith::DivUIOp::create(b, first.loc, row, extents[loop]);
      }
    }
  }

  // A vector of the row, and whether the thread has it: null where all threads have.
  struct Chunk {
    SmallVector<Value> ivs;
    Value isInside;
  };

  // Vector `number` of the row: `start` of all threads.
  Chunk chunkAt(Value start, int64_t most) {
    const RowShares &shares = group.shares;
    Chunk chunk;
    Value vector = first.add(position, start);
    if (most + shares.threads > shares.vectors) {
      chunk.isInside =
          arith::CmpIOp::create(b, first.loc, arith::CmpIPredicate::ult, vector, first.index(shares.vectors));
      vector = arith::MinUIOp::create(b, first.loc, vector, first.index(shares.vectors - 1));
    }
    SmallVector<int64_t> box(group.rowLength);
    box.back() /= shares.lanes;
    chunk.ivs = rowIvs;
    llvm::append_range(chunk.ivs, first.decode(vector, box));
    chunk.ivs.back() = first.multiply(chunk.ivs.back(), shares.lanes);
    return chunk;
  }

  SmallVector<Chunk> chunksFrom(Value start, int64_t count, int64_t most) {
    SmallVector<Chunk> chunks;
    for (int64_t i = 0; i < count; ++i)
      chunks.push_back(chunkAt(i == 0 ? start : first.add(start, first.index(i * group.shares.threads)),
                               most + i * group.shares.threads));
    return chunks;
  }

  unsigned along() const { return group.rowLoops + group.rowLength.size() - 1; }

  // A value for each element of the chunks.
  Elements read(LaneEmitter &lane, OpOperand &operand, ArrayRef<Chunk> chunks) {
    int64_t lanes = group.shares.lanes;
    if (!lane.op.payloadUsesValueFromOperand(&operand))
      return Elements(chunks.size() * lanes);
    auto spread = [&](Value value) { return Elements(chunks.size() * lanes, value); };
    if (!isa<MemRefType>(operand.get().getType()))
      return spread(operand.get());
    AffineMap map = lane.op.getMatchingIndexingMap(&operand);
    if (Value value = earlier.lookup(&operand))
      return spread(value);
    if (linalg::LinalgOp producer = producers.lookup(&operand))
      return computeAgain(producer, operand.get(), chunks);
    if (auto known = values.find(operand.get()); known != values.end())
      return known->second.size() == 1 ? spread(known->second.front()) : known->second;
    auto key = std::make_pair(operand.get(), map);
    if (group.shares.rounds == 1)
      for (auto &[place, elements] : loaded)
        if (place == key && elements.size() == chunks.size() * lanes)
          return elements;
    bool isSame = true;
    for (unsigned loop = group.rowLoops; loop < lane.op.getNumLoops(); ++loop)
      isSame &= !map.isFunctionOfDim(loop);
    updatesRowValues |= isSame && isWritten(operand.get());
    Elements elements;
    if (isSame)
      elements = spread(lane.load(operand, chunks.front().ivs, along(), 1).front());
    else
      for (const Chunk &chunk : chunks)
        llvm::append_range(elements, lane.load(operand, chunk.ivs, along(), lanes));
    loaded.emplace_back(key, elements);
    return elements;
  }

  Value readOnRow(LaneEmitter &lane, OpOperand &operand) {
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    if (auto known = values.find(operand.get()); known != values.end())
      return known->second.front();
    updatesRowValues |= isWritten(operand.get());
    SmallVector<Value> ivs(rowIvs);
    ivs.resize(lane.op.getNumLoops());
    return lane.load(operand, ivs, /*along=*/0, 1).front();
  }

  bool isWritten(Value memory) {
    return llvm::any_of(group.ops, [&](linalg::LinalgOp op) { return llvm::is_contained(op.getDpsInits(), memory); });
  }

  void emitOnRows(LaneEmitter &lane) {
    SmallVector<Value> operands;
    for (OpOperand &operand : lane.op->getOpOperands())
      operands.push_back(lane.op.payloadUsesValueFromOperand(&operand) ? readOnRow(lane, operand) : Value());
    for (auto [init, value] : llvm::zip(lane.op.getDpsInitsMutable(), lane.emitBody(operands, rowIvs)))
      values[init.get()] = {value};
    for (OpOperand &init : lane.op.getDpsInitsMutable())
      owners[init.get()] = lane.op;
  }

  // Of a row that is longer than what its threads keep, elements are computed where they are used.
  void emitElementwise(LaneEmitter &lane) {
    linalg::LinalgOp op = lane.op;
    for (OpOperand &init : op.getDpsInitsMutable())
      owners[init.get()] = op;
    if (group.shares.rounds == 1) {
      SmallVector<Chunk> chunks = chunksFrom(first.index(0), group.shares.chunks, 0);
      for (auto [init, result] : llvm::zip(op.getDpsInitsMutable(), computeElements(lane, chunks)))
        values[init.get()] = result;
      return;
    }
    // What its operands are now: others may come to have their memory.
    for (OpOperand &operand : op->getOpOperands())
      if (auto known = values.find(operand.get()); known != values.end())
        earlier[&operand] = known->second.front();
    noteProducers(op);
    for (OpOperand &init : op.getDpsInitsMutable())
      writers[init.get()] = op;
  }

  void noteProducers(linalg::LinalgOp op) {
    for (OpOperand &operand : op->getOpOperands())
      if (linalg::LinalgOp writer = writers.lookup(operand.get()))
        producers[&operand] = writer;
  }

  Elements computeAgain(linalg::LinalgOp op, Value memory, ArrayRef<Chunk> chunks) {
    if (!again.contains(op)) {
      LaneEmitter lane(b, op);
      SmallVector<Elements> computed = computeElements(lane, chunks); // which may add others
      again[op] = computed;
    }
    unsigned number = llvm::find(op.getDpsInits(), memory) - op.getDpsInits().begin();
    return again[op][number];
  }

  // The results of an elementwise operation, by init.
  SmallVector<Elements> computeElements(LaneEmitter &lane, ArrayRef<Chunk> chunks) {
    linalg::LinalgOp op = lane.op;
    SmallVector<Elements> operands;
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(read(lane, operand, chunks));
    SmallVector<Elements> results(op.getNumDpsInits());
    for (auto [number, chunk] : llvm::enumerate(chunks))
      for (int64_t i = 0; i < group.shares.lanes; ++i) {
        SmallVector<Value> step = llvm::map_to_vector(
            operands, [&](const Elements &elements) { return elements[number * group.shares.lanes + i]; });
        for (auto [result, value] : llvm::zip(results, lane.emitLane(step, chunk.ivs, along(), i)))
          result.push_back(value);
      }
    return results;
  }

  // What the thread has of the reduction, with these chunks.
  SmallVector<Value> reduceChunks(LaneEmitter &lane, ArrayRef<Chunk> chunks, SmallVector<Value> partial) {
    linalg::LinalgOp op = lane.op;
    again.clear();
    SmallVector<Elements> inputs;
    for (OpOperand *input : op.getDpsInputOperands())
      inputs.push_back(read(lane, *input, chunks));
    for (auto [number, chunk] : llvm::enumerate(chunks)) {
      SmallVector<Value> before = partial;
      for (int64_t i = 0; i < group.shares.lanes; ++i) {
        SmallVector<Value> step = llvm::map_to_vector(
            inputs, [&](const Elements &elements) { return elements[number * group.shares.lanes + i]; });
        llvm::append_range(step, partial);
        partial = lane.emitLane(step, chunk.ivs, along(), i);
      }
      if (chunk.isInside)
        for (auto [now, then] : llvm::zip(partial, before))
          now = arith::SelectOp::create(b, lane.loc, chunk.isInside, now, then);
    }
    return partial;
  }

  void emitReduction(LaneEmitter &lane) {
    linalg::LinalgOp op = lane.op;
    SmallVector<Operation *> combiners;
    SmallVector<Value> partial;
    for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
      combiners.push_back(findCombiner(op, i));
      partial.push_back(arith::ConstantOp::create(b, lane.loc, *neutralElement(combiners.back())));
    }
    noteProducers(op);
    partial = overRow(partial, [&](ArrayRef<Chunk> chunks, ArrayRef<Value> before) {
      return reduceChunks(lane, chunks, SmallVector<Value>(before));
    });
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      Value all = combineThreads(lane, combiners[i], partial[i]);
      values[init.get()] = {cloneCombiner(b, combiners[i], readOnRow(lane, init), all)};
      owners[init.get()] = op;
    }
  }

  // All that the thread has of the row, as many chunks at a time as it keeps. What is emitted for them gives what is
  // carried on.
  SmallVector<Value> overRow(SmallVector<Value> carried,
                             llvm::function_ref<SmallVector<Value>(ArrayRef<Chunk>, ArrayRef<Value>)> emit) {
    const RowShares &shares = group.shares;
    if (shares.rounds == 1)
      return emit(chunksFrom(first.index(0), shares.chunks, 0), carried);
    int64_t step = shares.chunks * shares.threads, whole = shares.vectors / step * step;
    auto loop = scf::ForOp::create(b, first.loc, first.index(0), first.index(whole), first.index(step), carried);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> before(loop.getRegionIterArgs());
      SmallVector<Value> after = emit(chunksFrom(loop.getInductionVar(), shares.chunks, 0), before);
      if (!after.empty())
        scf::YieldOp::create(b, first.loc, after);
    }
    carried.assign(loop.getResults().begin(), loop.getResults().end());
    if (int64_t left = llvm::divideCeil(shares.vectors - whole, shares.threads))
      carried = emit(chunksFrom(first.index(whole), left, whole), carried);
    return carried;
  }

  Value combineThreads(LaneEmitter &lane, Operation *combiner, Value value) {
    int64_t count = group.shares.threads;
    value = lane.combineLanes(combiner, value, 1, std::min(count, warp));
    if (count <= warp)
      return value;
    Value memory = partials[nextPartial++];
    auto [warpNumber, laneNumber] = lane.divide(thread, warp, threads);
    Value isFirst = arith::CmpIOp::create(b, lane.loc, arith::CmpIPredicate::eq, laneNumber, lane.index(0));
    lane.where(isFirst,
               [&, warpNumber = warpNumber] { memref::StoreOp::create(b, lane.loc, value, memory, warpNumber); });
    gpu::BarrierOp::create(b, lane.loc);
    // Each warp combines what all warps of its row have.
    int64_t warps = count / warp;
    Value place = lane.add(lane.multiply(team, warps), lane.divide(laneNumber, warps, warp).second);
    Value theirs = memref::LoadOp::create(b, lane.loc, memory, place);
    return lane.combineLanes(combiner, theirs, 1, warps);
  }

  // What stays in memory after the group, as the last operation on it left it.
  void storeAll() {
    SmallVector<std::pair<LaneEmitter, OpOperand *>> wide, narrow;
    for (auto &[memory, op] : owners) {
      if (isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(memory.getDefiningOp()))
        continue;
      OpOperand *init =
          llvm::find_if(op.getDpsInitsMutable(), [memory = memory](OpOperand &each) { return each.get() == memory; });
      bool isWide = op.getMatchingIndexingMap(init).getNumResults() != group.rowLoops;
      (isWide ? wide : narrow).emplace_back(LaneEmitter(b, op), init);
    }
    if (!wide.empty())
      overRow({}, [&](ArrayRef<Chunk> chunks, ArrayRef<Value>) {
        storeChunks(wide, chunks);
        return SmallVector<Value>();
      });
    // All threads of a row have read such a value, and those that have no row the last row's; one of them stores it.
    if (updatesRowValues && (group.shares.threads > 1 || isRow))
      gpu::BarrierOp::create(b, first.loc);
    Value isFirst;
    if (!narrow.empty() && group.shares.threads > 1)
      isFirst = arith::CmpIOp::create(b, first.loc, arith::CmpIPredicate::eq, position, first.index(0));
    for (auto &[lane, init] : narrow) {
      SmallVector<Value> ivs(rowIvs);
      ivs.resize(lane.op.getNumLoops());
      lane.where(lane.both(isFirst, isRow),
                 [&, &lane = lane, init = init] { lane.store(*init, values[init->get()], ivs, /*along=*/0); });
    }
  }

  // All is computed before any of it is stored, since what is stored may be what is read.
  void storeChunks(MutableArrayRef<std::pair<LaneEmitter, OpOperand *>> wide, ArrayRef<Chunk> chunks) {
    again.clear();
    SmallVector<Elements> results;
    for (auto &[lane, init] : wide)
      results.push_back(group.shares.rounds == 1 ? values[init->get()] : computeAgain(lane.op, init->get(), chunks));
    int64_t lanes = group.shares.lanes;
    for (auto [target, elements] : llvm::zip(wide, results))
      for (auto [number, chunk] : llvm::enumerate(chunks))
        first.where(first.both(isRow, chunk.isInside), [&, number = number, &chunk = chunk] {
          target.first.store(*target.second, ArrayRef(elements).slice(number * lanes, lanes), chunk.ivs, along());
        });
  }

  RowGroup &group;
  OpBuilder b;
  LaneEmitter first; // for what belongs to no operation
  Value thread;
  int64_t threads;
  Value team, position;          // the number of the row, and of the thread among those of the row
  Value isRow;                   // null: all threads have a row
  bool updatesRowValues = false; // reads values of rows from memory that it writes
  SmallVector<Value> extents, rowIvs;
  SmallVector<Value> partials;
  size_t nextPartial = 0;
  llvm::DenseMap<Value, Elements> values; // of what the group has written
  // Of rows that are longer than what is kept: which elementwise operation has written an operand, or its value where
  // it is one for the row; which one has written memory so far; and what has been computed again of some chunks.
  llvm::DenseMap<OpOperand *, linalg::LinalgOp> producers;
  llvm::DenseMap<OpOperand *, Value> earlier;
  llvm::DenseMap<Value, linalg::LinalgOp> writers;
  llvm::DenseMap<Operation *, SmallVector<Elements>> again;
  llvm::MapVector<Value, linalg::LinalgOp> owners;                      // the operation that has written it last
  SmallVector<std::pair<std::pair<Value, AffineMap>, Elements>> loaded; // of what it has not
};

void RowGroup::emit(Value thread) {
  RowEmitter(*this, thread).emit();
}

} // namespace kiln
