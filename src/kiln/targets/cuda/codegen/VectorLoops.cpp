#include "kiln/targets/cuda/codegen/VectorLoops.h"

#include "kiln/targets/cuda/codegen/Lanes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

// Ops that are written out for all the elements that a thread has at a time.
static constexpr int64_t mostOps = 1024;
// Vectors that are loaded before anything is computed.
static constexpr int64_t mostLoads = 8, mostVectors = 4;
// Shared memory that inputs are turned in; and the bytes of its banks, which all threads of a warp use at a time.
static constexpr int64_t mostTurnedBytes = 32 * 1024, bankBytes = 128;

// The loop by whose index an index of a body grows one by one.
static std::optional<unsigned> loopOfIndex(Value index) {
  if (auto loop = index.getDefiningOp<linalg::IndexOp>())
    return loop.getDim();
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return std::nullopt;
  AffineMap map = apply.getAffineMap();
  for (auto [number, operand] : llvm::enumerate(apply.getOperands())) {
    auto loop = operand.getDefiningOp<linalg::IndexOp>();
    if (!loop)
      continue;
    AffineExpr each = number < map.getNumDims() ? getAffineDimExpr(number, map.getContext())
                                                : getAffineSymbolExpr(number - map.getNumDims(), map.getContext());
    AffineExpr growth = map.getResult(0).replace(each, each + 1) - map.getResult(0);
    if (simplifyAffineExpr(growth, map.getNumDims(), map.getNumSymbols()) == 1)
      return loop.getDim();
    return std::nullopt;
  }
  return std::nullopt;
}

// The loop that all gathers of an operation run along, where that is one: the last index of each is this loop's.
static std::optional<unsigned> loopOfGathers(linalg::LinalgOp op) {
  std::optional<unsigned> found;
  bool isOne = true;
  op.getBlock()->walk([&](Operation *each) {
    Value last;
    if (auto extract = dyn_cast<tensor::ExtractOp>(each))
      last = extract.getIndices().empty() ? Value() : extract.getIndices().back();
    else if (auto load = dyn_cast<memref::LoadOp>(each))
      last = load.getIndices().empty() ? Value() : load.getIndices().back();
    else
      return;
    std::optional<unsigned> loop = last ? loopOfIndex(last) : std::nullopt;
    isOne &= loop && (!found || *found == *loop);
    found = loop ? loop : found;
  });
  return isOne ? found : std::nullopt;
}

// That loop, where what is gathered lies along another loop than the result, and nothing else is read along both.
static std::optional<unsigned> loopOfTurnedGathers(linalg::LinalgOp op, unsigned along) {
  std::optional<unsigned> across = loopOfGathers(op);
  if (!across || *across == along || op.getNumDpsInits() != 1 ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (isa<ShapedType>(input->get().getType()) && op.payloadUsesValueFromOperand(input) &&
        map.isFunctionOfDim(along) && map.isFunctionOfDim(*across))
      return std::nullopt;
  }
  return across;
}

bool movesInnermost(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  std::optional<unsigned> result = innermostLoop(op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]), extents);
  if (!result || op.getNumReductionLoops() != 0)
    return false;
  if (loopOfTurnedGathers(op, *result))
    return true;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    if (!isa<ShapedType>(input->get().getType()))
      return false;
    AffineMap map = op.getMatchingIndexingMap(input);
    std::optional<unsigned> loop = innermostLoop(map, extents);
    return loop && *loop != *result && map.isFunctionOfDim(*result);
  });
}

namespace {

// A box of iterations, of which the thread takes `lanes` at a time along the innermost loop.
class VectorEmitter {
public:
  VectorEmitter(OpBuilder &b, linalg::LinalgOp op, const FullTile &tile, Value thread, int64_t threads)
      : lane(b, op), extents(tile.extents), thread(thread), threads(threads) {}

  LogicalResult emit() {
    if (!order() || !chooseLanes())
      return failure();
    chooseTurned();
    turn();
    gather();
    int64_t inner = extents[along], whole = inner / lanes;
    emitVectors(whole);
    if (inner % lanes != 0)
      emitRest(whole * lanes, inner % lanes);
    return success();
  }

private:
  // The loops as they are in the first result, and the innermost of them.
  bool order() {
    linalg::LinalgOp op = lane.op;
    if (op.getNumReductionLoops() != 0 || op.getNumLoops() == 0)
      return false;
    AffineMap map = op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]);
    if (!map.isPermutation())
      return false;
    for (AffineExpr expr : map.getResults())
      loops.push_back(cast<AffineDimExpr>(expr).getPosition());
    along = loops.back();
    return true;
  }

  bool chooseLanes() {
    linalg::LinalgOp op = lane.op;
    int64_t largest = 1, loads = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      if (alongLoop(op, operand, along) != Along::Vector) {
        if (op.isDpsInit(&operand))
          return false;
        continue;
      }
      int64_t bytes = bytesOfElement(getElementTypeOrSelf(operand.get().getType()));
      if (bytes == 0)
        return false;
      largest = std::max(largest, bytes);
      loads += op.payloadUsesValueFromOperand(&operand);
    }
    lanes = std::max<int64_t>(1, accessBytes / largest);
    for (OpOperand &operand : op->getOpOperands())
      if (alongLoop(op, operand, along) == Along::Vector)
        lanes = std::min(lanes, alignedElements(operand.get(), lanes));
    lanes = std::min<int64_t>(lanes, llvm::bit_floor(uint64_t(extents[along])));
    int64_t size = lane.bodySize();
    while (lanes > 1 && lanes * size > mostOps)
      lanes /= 2;
    unroll = std::min({mostVectors, mostLoads / std::max<int64_t>(1, loads), mostOps / (lanes * size)});
    unroll = std::max<int64_t>(1, unroll);
    return true;
  }

  // Inputs that lie along another loop than the result. Where they cannot be turned they are loaded by elements.
  void chooseTurned() {
    linalg::LinalgOp op = lane.op;
    SmallVector<OpOperand *> inputs;
    int64_t bytes = 0;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!op.payloadUsesValueFromOperand(input) || alongLoop(op, *input, along) != Along::Other ||
          !op.getMatchingIndexingMap(input).isProjectedPermutation())
        continue;
      for (unsigned loop : loops)
        if (alongLoop(op, *input, loop) == Along::Vector && extents[loop] > 1 && (inputs.empty() || loop == across)) {
          across = loop;
          inputs.push_back(input);
        }
    }
    if (inputs.empty())
      return;
    for (unsigned loop : loops)
      if (loop != along && loop != across && extents[loop] != 1)
        return;
    int64_t most = std::min<int64_t>(lanes, 4);
    for (OpOperand *input : inputs) {
      int64_t size = bytesOfElement(getElementTypeOrSelf(input->get().getType()));
      if (size == 0)
        return;
      most = std::min(most, alignedElements(input->get(), std::min(most, accessBytes / size)));
      bytes += extents[across] * llvm::PowerOf2Ceil(extents[along]) * size;
    }
    while (extents[along] % most != 0 || extents[across] % most != 0)
      most /= 2;
    if (bytes > mostTurnedBytes || most * most * lane.bodySize() > mostOps)
      return;
    lanes = most;
    unroll = std::min(mostVectors, std::max<int64_t>(1, mostOps / (lanes * lane.bodySize())));
    turned.assign(inputs.begin(), inputs.end());
  }

  // Each thread turns squares of `lanes` times `lanes` elements in its registers. In shared memory there are rows of
  // the result, whose vectors are exchanged so that no two threads use a bank at the same time, neither along rows nor
  // across.
  void turn() {
    if (turned.empty())
      return;
    int64_t down = extents[across] / lanes, beside = extents[along] / lanes, total = down * beside;
    for (OpOperand *input : turned)
      memory.push_back(
          memref::AllocOp::create(lane.b, lane.loc,
                                  MemRefType::get({extents[across], int64_t(llvm::PowerOf2Ceil(beside)) * lanes},
                                                  getElementTypeOrSelf(input->get().getType()))));
    auto turnSquare = [&](Value number) {
      auto [column, row] = lane.divide(number, down, total);
      SmallVector<Value> ivs(lane.op.getNumLoops());
      ivs[across] = lane.multiply(row, lanes);
      Value start = lane.multiply(column, lanes);
      for (auto [input, buffer] : llvm::zip(turned, memory)) {
        SmallVector<SmallVector<Value>> square;
        for (int64_t i = 0; i < lanes; ++i) {
          ivs[along] = i == 0 ? start : lane.add(start, lane.index(i));
          square.push_back(lane.load(*input, ivs, across, lanes));
        }
        for (int64_t i = 0; i < lanes; ++i) {
          SmallVector<Value> vector = llvm::map_to_vector(square, [&](ArrayRef<Value> from) { return from[i]; });
          Value place = i == 0 ? ivs[across] : lane.add(ivs[across], lane.index(i));
          lane.storeAt(buffer, {place, exchange(column, row, buffer)}, vector);
        }
      }
    };
    int64_t done = 0;
    for (; done + threads <= total; done += threads)
      turnSquare(done == 0 ? thread : lane.add(thread, lane.index(done)));
    if (done < total) {
      Value number = lane.add(thread, lane.index(done));
      Value isInside = arith::CmpIOp::create(lane.b, lane.loc, arith::CmpIPredicate::ult, number, lane.index(total));
      lane.where(isInside, [&] { turnSquare(number); });
    }
    gpu::BarrierOp::create(lane.b, lane.loc);
  }

  // What is gathered along another loop than the result is computed in that loop's order, in shared memory.
  void gather() {
    linalg::LinalgOp op = lane.op;
    std::optional<unsigned> loopOfLoads = loopOfTurnedGathers(op, along);
    if (!turned.empty() || !loopOfLoads || extents[*loopOfLoads] == 1)
      return;
    for (unsigned loop : loops)
      if (loop != along && loop != *loopOfLoads && extents[loop] != 1)
        return;
    // Rows of the result, of which neighbours start in neighbouring banks.
    Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
    const int64_t rows = extents[*loopOfLoads], total = rows * extents[along], bytes = bytesOfElement(element);
    if (bytes == 0 || total * bytes > mostTurnedBytes)
      return;
    across = *loopOfLoads;
    gathered = memref::AllocOp::create(lane.b, lane.loc, MemRefType::get({rows, extents[along] + 1}, element));
    auto gatherSome = [&](Value first, int64_t count) {
      SmallVector<std::pair<SmallVector<Value>, Value>> computed; // place, value
      for (int64_t i = 0; i < count; ++i) {
        SmallVector<Value> ivs = llvm::map_to_vector(loops, [&](unsigned) { return lane.index(0); });
        std::tie(ivs[along], ivs[across]) =
            lane.divide(i == 0 ? first : lane.add(first, lane.index(i * threads)), rows, total);
        SmallVector<Value> operands = llvm::map_to_vector(op->getOpOperands(), [&](OpOperand &operand) {
          return op.payloadUsesValueFromOperand(&operand) ? lane.load(operand, ivs, along, 1)[0] : Value();
        });
        computed.emplace_back(ivs, lane.emitLane(operands, ivs, along, 0)[0]);
      }
      for (auto &[ivs, value] : computed)
        lane.storeAt(gathered, {ivs[across], ivs[along]}, {value});
    };
    const int64_t some = std::min<int64_t>(mostLoads, std::max<int64_t>(1, mostOps / lane.bodySize()));
    const int64_t step = threads * some, rounds = total / step;
    if (rounds > 0)
      loop(thread, lane.index(rounds * step), step, [&](Value first) { gatherSome(first, some); });
    if (rounds * step < total)
      loop(lane.add(thread, lane.index(rounds * step)), lane.index(total), threads,
           [&](Value first) { gatherSome(first, 1); });
    gpu::BarrierOp::create(lane.b, lane.loc);
  }

  void storeGathered(ArrayRef<SmallVector<Value>> places, int64_t width) {
    for (const SmallVector<Value> &ivs : places) {
      SmallVector<Value> values;
      for (int64_t i = 0; i < width; ++i) {
        Value column = i == 0 ? ivs[along] : lane.add(ivs[along], lane.index(i));
        values.push_back(lane.loadAt(gathered, {ivs[across], column}, 1)[0]);
      }
      lane.store(lane.op.getDpsInitsMutable()[0], values, ivs, along);
    }
  }

  // Where vector `column` of the rows of square `row` starts.
  Value exchange(Value column, Value row, Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    int64_t bytes = lanes * bytesOfElement(type.getElementType());
    int64_t mask = std::min<int64_t>(type.getDimSize(1) / lanes, bankBytes / bytes) - 1;
    Value bits = arith::AndIOp::create(lane.b, lane.loc, row, lane.index(mask));
    return lane.multiply(arith::XOrIOp::create(lane.b, lane.loc, column, bits), lanes);
  }

  SmallVector<Value> loadTurned(Value buffer, ArrayRef<Value> ivs, int64_t width) {
    int64_t rows = extents[across], columns = extents[along];
    Value row = lane.divide(ivs[across], lanes, rows).first, column = lane.divide(ivs[along], lanes, columns).first;
    return lane.loadAt(buffer, {ivs[across], exchange(column, row, buffer)}, width);
  }

  void emitVectors(int64_t whole) {
    SmallVector<int64_t> box = llvm::map_to_vector(loops, [&](unsigned loop) { return extents[loop]; });
    box.back() = whole;
    int64_t total = 1;
    for (int64_t extent : box)
      total *= extent;
    int64_t step = threads * unroll, rounds = total / step;
    if (rounds == 1)
      emitSome(thread, box, unroll);
    else if (rounds > 1)
      loop(thread, lane.index(rounds * step), step, [&](Value first) { emitSome(first, box, unroll); });
    int64_t done = rounds * step, left = (total - done) / threads;
    if (left > 0)
      emitSome(lane.add(thread, lane.index(done)), box, left);
    done += left * threads;
    if (done == total)
      return;
    Value number = lane.add(thread, lane.index(done));
    Value isInside = arith::CmpIOp::create(lane.b, lane.loc, arith::CmpIPredicate::ult, number, lane.index(total));
    lane.where(isInside, [&] { emitSome(number, box, 1); });
  }

  // What is left of each row, one element at a time.
  void emitRest(int64_t start, int64_t count) {
    SmallVector<int64_t> box = llvm::map_to_vector(loops, [&](unsigned loop) { return extents[loop]; });
    box.back() = count;
    int64_t total = 1;
    for (int64_t extent : box)
      total *= extent;
    loop(thread, lane.index(total), threads, [&](Value number) {
      SmallVector<Value> ivs = place(number, box, 1);
      ivs[along] = lane.add(ivs[along], lane.index(start));
      compute({ivs}, 1);
    });
  }

  void loop(Value from, Value to, int64_t step, llvm::function_ref<void(Value)> emit) {
    auto nest = scf::ForOp::create(lane.b, lane.loc, from, to, lane.index(step));
    OpBuilder::InsertionGuard guard(lane.b);
    lane.b.setInsertionPointToStart(nest.getBody());
    emit(nest.getInductionVar());
  }

  SmallVector<Value> place(Value number, ArrayRef<int64_t> box, int64_t width) {
    SmallVector<Value> ivs(lane.op.getNumLoops());
    for (auto [loop, iv] : llvm::zip(loops, lane.decode(number, box)))
      ivs[loop] = iv;
    ivs[along] = lane.multiply(ivs[along], width);
    return ivs;
  }

  void emitSome(Value first, ArrayRef<int64_t> box, int64_t count) {
    SmallVector<SmallVector<Value>> places;
    for (int64_t i = 0; i < count; ++i)
      places.push_back(place(i == 0 ? first : lane.add(first, lane.index(i * threads)), box, lanes));
    compute(places, lanes);
  }

  // All is loaded before anything is stored, so that loads do not wait for each other.
  void compute(ArrayRef<SmallVector<Value>> places, int64_t width) {
    if (gathered)
      return storeGathered(places, width);
    linalg::LinalgOp op = lane.op;
    SmallVector<SmallVector<SmallVector<Value>>> loaded; // by place, operand and lane
    for (ArrayRef<Value> ivs : places) {
      SmallVector<SmallVector<Value>> &operands = loaded.emplace_back();
      for (OpOperand &operand : op->getOpOperands()) {
        auto *found = llvm::find(turned, &operand);
        if (found != turned.end())
          operands.push_back(loadTurned(memory[found - turned.begin()], ivs, width));
        else
          operands.push_back(op.payloadUsesValueFromOperand(&operand) ? lane.load(operand, ivs, along, width)
                                                                      : SmallVector<Value>(width));
      }
    }
    for (auto [ivs, operands] : llvm::zip(places, loaded)) {
      SmallVector<SmallVector<Value>> results(op.getNumDpsInits());
      for (int64_t i = 0; i < width; ++i) {
        SmallVector<Value> step = llvm::map_to_vector(operands, [&](ArrayRef<Value> values) { return values[i]; });
        for (auto [result, value] : llvm::zip(results, lane.emitLane(step, ivs, along, i)))
          result.push_back(value);
      }
      for (auto [result, init] : llvm::zip(results, op.getDpsInitsMutable()))
        lane.store(init, result, ivs, along);
    }
  }

  LaneEmitter lane;
  ArrayRef<int64_t> extents;
  Value thread;
  int64_t threads;
  SmallVector<unsigned> loops; // the last one is `along`
  unsigned along = 0, across = 0;
  SmallVector<OpOperand *> turned; // which lie along the loop `across`
  SmallVector<Value> memory;       // a buffer for each of them
  Value gathered;                  // or one for the result, where it is computed in the order of `across`
  int64_t lanes = 1, unroll = 1;
};

} // namespace

LogicalResult emitVectorLoops(OpBuilder &b, linalg::LinalgOp op, const FullTile &tile, Value thread, int64_t threads) {
  return VectorEmitter(b, op, tile, thread, threads).emit();
}

} // namespace kiln
