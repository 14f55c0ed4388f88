#include "kiln/targets/cuda/codegen/contraction/WgmmaResults.h"

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/schema/gpu_executable.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

//===--- Shared memory --------------------------------------------------------------------------------------------===//

int64_t consumersOf(const TileConfig &config) {
  return threadsOf(config) / kGroupThreads - 1;
}

// Boxes of elements of two bytes are 64 wide.
int64_t stageBytesOf(const TileConfig &config) {
  return (llvm::alignTo(config.m, 64) + llvm::alignTo(config.n, 64)) * kRowBytes;
}

// Of a part of the result on its way out, of which each group has two: rows of 128 bytes, however many there are.
static int64_t outputBytesOf(const TileConfig &config) {
  return swapsSides(config) && consumersOf(config) > 2 ? 4 * 1024 : 8 * 1024;
}

// Where results are on their way out: behind the stages, and behind the sums that blocks of a cluster add up, which
// take the stages' place.
static int64_t outputStartOf(const TileConfig &config) {
  constexpr int64_t sumBytes = 4;
  const int64_t sums = config.clusterK == 1 ? 0 : config.m * config.n * sumBytes;
  return kStagesStart + std::max(config.stages * stageBytesOf(config), sums);
}

int64_t sharedBytesOfWgmma(const TileConfig &config) {
  return outputStartOf(config) + consumersOf(config) * 2 * outputBytesOf(config);
}

//===--- Tensor maps ----------------------------------------------------------------------------------------------===//

static int64_t bytesOf(Type element) {
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() / 8 : 0;
}
static Type elementOf(Value memory) {
  return cast<MemRefType>(memory.getType()).getElementType();
}

// CUDA's number of a type of elements.
static int64_t dataTypeOf(Type type) {
  if (type.isF16())
    return 6;
  if (type.isBF16())
    return 9;
  if (type.isF32())
    return 7;
  return bytesOf(type) == 4 ? 2 : bytesOf(type) == 2 ? 1 : 0;
}

Value addTensorMap(OpBuilder &b, func::FuncOp function, Value memory, MemRefType type, ArrayRef<unsigned> loops,
                   llvm::function_ref<int64_t(unsigned)> boxOf) {
  auto binding = memory.getDefiningOp<HAL::InterfaceBindingSubspanOp>();
  SmallVector<int64_t> extents(llvm::reverse(type.getShape()));
  auto box = llvm::map_to_vector(llvm::reverse(loops), boxOf);
  NamedAttribute fields[] = {b.getNamedAttr("binding", b.getI64IntegerAttr(binding.getBinding())),
                             b.getNamedAttr("box", b.getDenseI64ArrayAttr(box)),
                             b.getNamedAttr("data_type", b.getI64IntegerAttr(dataTypeOf(type.getElementType()))),
                             b.getNamedAttr("element_bytes", b.getI64IntegerAttr(bytesOf(type.getElementType()))),
                             b.getNamedAttr("extents", b.getDenseI64ArrayAttr(extents))};
  unsigned number = function.getNumArguments();
  (void)function.insertArgument(number, LLVM::LLVMPointerType::get(b.getContext()),
                                b.getDictionaryAttr(b.getNamedAttr(tensorMapAttr, b.getDictionaryAttr(fields))),
                                function.getLoc());
  return function.getArgument(number);
}

//===--- What leaves at once --------------------------------------------------------------------------------------===//

WgmmaResults::WgmmaResults(const TileKernel &kernel, const WgmmaKind &kind, func::FuncOp function, Value part)
    : kernel(kernel), kind(kind), b(kernel.b), config(kernel.config), group(kernel.group), i32(kernel.i32), part(part),
      lane(i32.rem(kernel.thread, 32)), columns(kind.isSwapped ? config.m : config.n) {
  chooseOutput(function);
}

void WgmmaResults::chooseOutput(func::FuncOp function) {
  mapOf.assign(group.stores.size(), Value());
  int64_t most = 0, fewest = 16;
  bool isStaged = group.extents[group.n] % 2 == 0;
  for (const ContractionGroup::Store &store : group.stores) {
    int64_t bytes = bytesOf(elementOf(store.memory));
    most = std::max(most, bytes);
    fewest = std::min(fewest, bytes);
    isStaged &= bytes > 0 && hasVectors(group, store.memory, store.loops, 16 / std::max<int64_t>(bytes, 1));
  }
  if (!isStaged)
    return;
  // Of wgmma's columns, as many at once as a buffer holds, or as rows of the result with 128 bytes have.
  width = std::min(columns, kind.isSwapped ? outputBytesOf(config) / (kGroupRows * most) : kRowBytes / most);
  // Something for each block that has a part of k, and for each thread of the group.
  if (part)
    width =
        std::max<int64_t>(32 / fewest, std::min<int64_t>(width, llvm::bit_floor(uint64_t(columns / config.clusterK))));
  storesMatrices = !kind.isHeld && most == 2 && fewest == 2;
  for (auto [i, store] : llvm::enumerate(group.stores)) {
    if (part || !canSendBoxes(store))
      continue;
    int64_t rows = kind.isSwapped ? width : kGroupRows;
    auto type = cast<MemRefType>(store.memory.getType());
    mapOf[i] = addTensorMap(b, function, store.memory, type, store.loops, [&](unsigned loop) {
      return loop == group.n ? kRowBytes / bytesOf(type.getElementType()) : loop == group.m ? rows : int64_t(1);
    });
    maps.push_back(mapOf[i]);
  }
}

// Whether what is stored at once is whole boxes, whose rows have 128 bytes.
bool WgmmaResults::canSendBoxes(const ContractionGroup::Store &store) const {
  constexpr size_t inputs = 2;
  auto type = cast<MemRefType>(store.memory.getType());
  int64_t rowBytes = (kind.isSwapped ? kGroupRows : width) * bytesOf(type.getElementType());
  return type.hasStaticShape() && store.memory.getDefiningOp<HAL::InterfaceBindingSubspanOp>() &&
         rowBytes % kRowBytes == 0 && llvm::count(store.loops, group.m) == 1 && store.loops.size() >= 2 &&
         store.loops.size() <= kGpuMostTensorRank && maps.size() + inputs < kGpuMostTensorMaps;
}

//===--- Elements of a thread -------------------------------------------------------------------------------------===//

// A quarter of 16 bytes for each two of a warp's eight lanes / 4, chosen so that the banks of four lanes % 4 differ,
// which are rows of the box when the input is read, and every second row of the result when it is written.
Value firstHeldRow(const TileKernel &kernel, int64_t elementBytes) {
  const Integers &i32 = kernel.i32;
  Value lane = i32.rem(kernel.thread, 32), warp = i32.rem(i32.div(kernel.thread, 32), 4), eighth = i32.div(lane, 4);
  Value piece =
      i32.bitXor(i32.add(i32.mul(i32.rem(warp, 2), 2), i32.div(eighth, 4)), i32.mul(i32.rem(i32.div(eighth, 2), 2), 5));
  return i32.add(i32.mul(i32.div(warp, 2), kRowBytes / elementBytes),
                 i32.add(i32.mul(piece, 4), i32.mul(i32.rem(eighth, 2), 2)));
}

Value WgmmaResults::rowOfThread() const {
  if (kind.isHeld)
    return firstHeldRow(kernel, kind.elementBytes);
  return i32.add(i32.mul(i32.rem(i32.div(kernel.thread, 32), 4), 16), i32.div(lane, 4));
}

// One of two in eight of wgmma's columns: those `block` behind `begin`, where what is stored at once starts.
WgmmaResults::Pair WgmmaResults::pairAt(const Own &own, Value sums, int64_t begin, int64_t block, int64_t which) const {
  Value row = rowOfThread(), column = i32.add(i32.mul(i32.rem(lane, 4), 2), block);
  int64_t first = (begin + block) / 2;
  auto sum = [&](int64_t i) { return LLVM::ExtractValueOp::create(b, sums, first + i).getResult(); };
  SmallVector<Value> two;
  if (kind.isSwapped && kind.isHeld) {
    column = i32.add(column, which);
    two = {sum(which), sum(which + 2)};
  } else if (kind.isSwapped) {
    // The lane whose row is even takes the first column of both rows.
    Value isOdd = i32.rem(i32.div(lane, 4), 2),
          odd = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, isOdd, i32.constant(0));
    Value left = sum(which * 2), right = sum(which * 2 + 1);
    Value other =
        NVVM::ShflOp::create(b, left.getType(), i32.constant(-1), arith::SelectOp::create(b, odd, left, right),
                             i32.constant(4), i32.constant(31), NVVM::ShflKind::bfly, UnitAttr());
    two = {arith::SelectOp::create(b, odd, other, left), arith::SelectOp::create(b, odd, right, other)};
    row = i32.add(arith::SubIOp::create(b, row, isOdd), which * 8);
    column = i32.add(column, isOdd);
  } else {
    row = i32.add(row, which * (kind.isHeld ? 1 : 8));
    two = {sum(which * 2), sum(which * 2 + 1)};
  }
  Value wholeRow = i32.add(i32.mul(own.rows, kGroupRows), row), wholeColumn = i32.add(column, begin);
  if (kind.isSwapped)
    return {wholeColumn, wholeRow, column, row, two};
  return {wholeRow, wholeColumn, row, column, two};
}

// The same where sides are swapped and nothing is exchanged: the second is a row below the first.
WgmmaResults::Pair WgmmaResults::pairBelowAt(const Own &own, Value sums, int64_t begin, int64_t block,
                                             int64_t which) const {
  Value column = i32.add(rowOfThread(), which * 8), row = i32.add(i32.mul(i32.rem(lane, 4), 2), block);
  int64_t first = (begin + block) / 2 + which * 2;
  SmallVector<Value> two;
  for (int64_t i = first; i < first + 2; ++i)
    two.push_back(LLVM::ExtractValueOp::create(b, sums, i));
  return {i32.add(row, begin), i32.add(i32.mul(own.rows, kGroupRows), column), row, column, two};
}

// Of each store, the pair's elements.
SmallVector<SmallVector<Value>> WgmmaResults::finishPair(const TileKernel &tile, const Pair &pair) const {
  if (!storesMatrices || !kind.isSwapped)
    return computeEpilogue(b, b.getLoc(), group, pair.sums, existing(tile, pair.m, pair.n, /*width=*/2));
  SmallVector<SmallVector<Value>> both(group.stores.size());
  for (int64_t i = 0; i < 2; ++i) {
    SmallVector<Value> indices = existing(tile, i32.add(pair.m, i), pair.n, /*width=*/1);
    for (auto [all, each] : llvm::zip(both, computeEpilogue(b, b.getLoc(), group, pair.sums[i], indices)))
      llvm::append_range(all, each);
  }
  return both;
}

// The indices of places beside each other in the tile, or of some that exist where they do not.
SmallVector<Value> WgmmaResults::existing(const TileKernel &tile, Value m, Value n, int64_t width) const {
  SmallVector<Value> indices(tile.origin);
  for (auto [loop, place, whole, count] :
       {std::tuple(group.m, m, config.m, int64_t(1)), std::tuple(group.n, n, config.n, width)}) {
    indices[loop] = arith::AddIOp::create(b, tile.origin[loop], tile.index(place));
    if (tile.isWhole(loop, whole))
      continue;
    Value last = arith::ConstantIndexOp::create(b, group.extents[loop] - count);
    indices[loop] = arith::MinUIOp::create(b, indices[loop], last);
  }
  return indices;
}

//===--- Parts of k -----------------------------------------------------------------------------------------------===//

void WgmmaResults::finish(ArrayRef<Value> origin, const Own &own, Value sums) {
  if (!part)
    return finishTile(origin, own, sums);
  Type element = kind.accumulator;
  // All of the block have multiplied what is in the stages, and nothing is copied there before the blocks have met.
  NVVM::BarrierOp::create(b, Type(), i32.constant(consumersOf(config) + 1),
                          i32.constant(consumersOf(config) * kGroupThreads), NVVM::BarrierReductionAttr(), Value());
  for (int64_t block = 0; block < columns; block += 8) {
    Value four = LLVM::PoisonOp::create(b, VectorType::get({4}, element));
    for (int64_t i = 0; i < 4; ++i)
      four =
          LLVM::InsertElementOp::create(b, four, LLVM::ExtractValueOp::create(b, sums, block / 2 + i), i32.constant(i));
    LLVM::StoreOp::create(b, four, placeOfSums(block), 16);
  }
  clusterBarrier(b);
  finishTile(origin, own, sums);
  NVVM::FenceProxyOp::create(b, NVVM::ProxyKind::async_shared,
                             NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cluster));
  clusterBarrier(b);
}

// Of a thread's four sums in eight of wgmma's columns: the same in each block of the cluster.
Value WgmmaResults::placeOfSums(int64_t block) const {
  constexpr int64_t bytes = 16;
  Value thread = i32.add(kernel.thread, -kGroupThreads);
  return kernel.sharedAt(
      i32.add(i32.mul(thread, bytes), kStagesStart + block / 8 * consumersOf(config) * kGroupThreads * bytes));
}

// Sums of some of wgmma's columns, of all parts of k. The blocks of the cluster take turns: `emit` is called where it
// is this one's, by the number of what it has.
void WgmmaResults::whereOwn(int64_t number, int64_t begin, int64_t count, Value sums,
                            llvm::function_ref<void(Value)> emit) const {
  if (!part)
    return emit(sums);
  Value isOwn = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, part, i32.constant(number % config.clusterK));
  kernel.where(isOwn, [&] {
    auto type = VectorType::get({4}, kind.accumulator);
    for (int64_t block = begin; block < begin + count; block += 8) {
      Value four = addUpParts(b, placeOfSums(block), type, config.clusterK);
      for (int64_t i = 0; i < 4; ++i)
        sums = LLVM::InsertValueOp::create(b, sums, LLVM::ExtractElementOp::create(b, four, i32.constant(i)),
                                           block / 2 + i);
    }
    emit(sums);
  });
}

//===--- Stores ---------------------------------------------------------------------------------------------------===//

void WgmmaResults::finishTile(ArrayRef<Value> origin, const Own &own, Value sums) const {
  TileKernel tile = kernel;
  tile.origin.assign(origin.begin(), origin.end());
  if (width == 0) {
    finishByPairs(tile, own, sums);
    return;
  }
  const int64_t turns = llvm::divideCeil(columns, width) * int64_t(group.stores.size());
  int64_t turn = 0;
  for (int64_t begin = 0; begin < columns; begin += width) {
    int64_t count = std::min(width, columns - begin);
    whereOwn(begin / width, begin, count, sums, [&](Value totals) {
      SmallVector<Elements> elements(group.stores.size());
      SmallVector<Pair> pairs;
      for (int64_t block = 0; block < count; block += 8)
        for (int64_t which = 0; which < 2; ++which) {
          Pair &pair =
              pairs.emplace_back(storesMatrices && kind.isSwapped ? pairBelowAt(own, totals, begin, block, which)
                                                                  : pairAt(own, totals, begin, block, which));
          for (auto [all, each] : llvm::zip(elements, finishPair(tile, pair)))
            llvm::append_range(all, each);
        }
      Value atRow = i32.mul(own.rows, kGroupRows), atColumn = i32.constant(begin);
      OutputPart output{kGroupRows, count, atRow, atColumn};
      if (kind.isSwapped)
        output = {count, kGroupRows, atColumn, atRow};
      for (size_t i = 0; i < group.stores.size(); ++i, ++turn) {
        const ContractionGroup::Store &store = group.stores[i];
        TileLayout layout;
        layout.rows = output.rows;
        layout.rowElements = output.columns;
        layout.elementBytes = bytesOf(elementOf(store.memory));
        layout.isSwizzled = true;
        // Through shared memory, by two buffers in turn; a tile begins with the first again.
        Value buffer = i32.add(i32.mul(own.group, 2 * outputBytesOf(config)),
                               outputStartOf(config) + turn % 2 * outputBytesOf(config));
        if (!maps.empty())
          awaitBoxes(own.group, turn == 0 && turns % 2 != 0 ? 0 : 1);
        if (storesMatrices)
          writeMatrices(layout, buffer, elements[i]);
        else
          writePairs(layout, buffer, elementOf(store.memory), pairs, elements[i]);
        const bool areBoxes = mapOf[i] && count == width;
        if (areBoxes)
          NVVM::FenceProxyOp::create(b, NVVM::ProxyKind::async_shared,
                                     NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
        groupBarrier(own.group);
        if (areBoxes)
          sendBoxes(tile, i, output, buffer);
        else
          sendPieces(tile, store, output, layout, buffer);
        // Of each turn, so that waiting for all but the last is waiting for the buffer.
        if (!maps.empty())
          kernel.where(isFirstOfGroup(), [&] { NVVM::CpAsyncBulkCommitGroupOp::create(b); });
      }
      // Which of two buffers a block had last depends on its turns.
      if (part)
        groupBarrier(own.group);
    });
  }
  // Two buffers in turn are enough within a tile; the next one begins with the first again.
  if (!part && maps.empty() && turn % 2 != 0)
    groupBarrier(own.group);
}

void WgmmaResults::leave(const Own &own) const {
  if (!maps.empty())
    awaitBoxes(own.group, 0);
}

void WgmmaResults::end() {
  if (!maps.empty())
    kernel.where(isFirstOfGroup(), [&] { NVVM::CpAsyncBulkWaitGroupOp::create(b, 0, b.getUnitAttr()); });
}

// Each thread its elements, where rows of the result are not stored 16 bytes at once.
void WgmmaResults::finishByPairs(const TileKernel &tile, const Own &own, Value sums) const {
  for (int64_t which = 0; which < 2; ++which) {
    auto finishBlock = [&](int64_t block, llvm::function_ref<void(const Pair &, llvm::function_ref<void()>)> where) {
      whereOwn(block / 8, block, 8, sums, [&](Value totals) {
        Pair pair = pairAt(own, totals, 0, block, which);
        where(pair, [&] { finishElements(tile, pair.sums, pair.m, pair.n); });
      });
    };
    if (kind.isSwapped) {
      // All lanes take part where they exchange sums.
      for (int64_t block = 0; block < columns; block += 8)
        finishBlock(block, [&](const Pair &pair, llvm::function_ref<void()> emit) { whereRow(tile, pair.m, emit); });
      continue;
    }
    whereRow(tile, pairAt(own, sums, 0, 0, which).m, [&] {
      for (int64_t block = 0; block < columns; block += 8)
        finishBlock(block, [&](const Pair &, llvm::function_ref<void()> emit) { emit(); });
    });
  }
}

// To shared memory, as two elements that are beside each other.
void WgmmaResults::writePairs(const TileLayout &layout, Value buffer, Type element, ArrayRef<Pair> pairs,
                              ArrayRef<Value> elements) const {
  for (auto [i, pair] : llvm::enumerate(pairs)) {
    Value place = layout.offset(i32, pair.row, i32.mul(pair.column, layout.elementBytes));
    Value vector = LLVM::PoisonOp::create(b, VectorType::get({2}, element));
    for (int64_t each = 0; each < 2; ++each)
      vector = LLVM::InsertElementOp::create(b, vector, elements[2 * i + each], i32.constant(each));
    LLVM::StoreOp::create(b, vector, kernel.sharedAt(i32.add(buffer, place)), 2 * layout.elementBytes);
  }
}

// To shared memory, as matrices of 8 by 8, of which there are two in eight of wgmma's columns: four at once, the
// address of each of whose rows a lane tells. Where sides are swapped, they are turned on the way.
void WgmmaResults::writeMatrices(const TileLayout &layout, Value buffer, ArrayRef<Value> elements) const {
  Value warpStart = i32.mul(i32.rem(i32.div(kernel.thread, 32), 4), 16);
  Value matrix = i32.div(lane, 8), inMatrix = i32.rem(lane, 8);
  const int64_t count = elements.size() / 2;
  for (int64_t first = 0; first < count; first += 4) {
    SmallVector<Value> words;
    for (int64_t i = first; i < std::min(first + 4, count); ++i) {
      Value two = LLVM::PoisonOp::create(b, VectorType::get({2}, elements[2 * i].getType()));
      for (int64_t each = 0; each < 2; ++each)
        two = LLVM::InsertElementOp::create(b, two, elements[2 * i + each], i32.constant(each));
      words.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), two));
    }
    // Along wgmma's rows, and along its columns.
    Value across = i32.add(warpStart, i32.mul(i32.rem(matrix, 2), 8));
    Value along = i32.add(i32.mul(i32.rem(i32.div(matrix, 2), 2), 8), first / 2 * 8);
    Value row = i32.add(kind.isSwapped ? along : across, inMatrix), column = kind.isSwapped ? across : along;
    Value place = layout.offset(i32, row, i32.mul(column, layout.elementBytes));
    NVVM::StMatrixOp::create(b, kernel.sharedAt(i32.add(buffer, place)), words,
                             kind.isSwapped ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                             NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
  }
}

// From shared memory by a tensor map, which leaves out what is beyond the result.
void WgmmaResults::sendBoxes(const TileKernel &tile, size_t number, const OutputPart &output, Value buffer) const {
  const ContractionGroup::Store &store = group.stores[number];
  const int64_t elements = kRowBytes / bytesOf(elementOf(store.memory));
  kernel.where(isFirstOfGroup(), [&] {
    for (int64_t box = 0; box * elements < output.columns; ++box) {
      SmallVector<Value> place;
      for (unsigned loop : llvm::reverse(store.loops)) {
        Value index = i32.of(tile.origin[loop]);
        if (loop == group.m)
          index = i32.add(index, output.m);
        if (loop == group.n)
          index = i32.add(index, i32.add(output.n, box * elements));
        place.push_back(index);
      }
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
          b, mapOf[number], kernel.sharedAt(i32.add(buffer, box * output.rows * kRowBytes)), place, Value(),
          NVVM::TMAStoreMode::TILE, Value());
    }
  });
}

// From shared memory by the group's threads, so that those beside each other store 16 bytes beside each other.
void WgmmaResults::sendPieces(const TileKernel &tile, const ContractionGroup::Store &store, const OutputPart &output,
                              const TileLayout &layout, Value buffer) const {
  Value inGroup = i32.rem(kernel.thread, kGroupThreads);
  int64_t perPiece = 16 / layout.elementBytes, piecesOfRow = output.columns / perPiece;
  for (int64_t first = 0; first < output.rows * piecesOfRow; first += kGroupThreads) {
    Value piece = i32.add(inGroup, first);
    Value pieceRow = i32.div(piece, piecesOfRow), pieceColumn = i32.mul(i32.rem(piece, piecesOfRow), perPiece);
    Value from =
        kernel.sharedAt(i32.add(buffer, layout.offset(i32, pieceRow, i32.mul(pieceColumn, layout.elementBytes))));
    Value vector = LLVM::LoadOp::create(b, VectorType::get({perPiece}, elementOf(store.memory)), from, 16);
    Value m = i32.add(pieceRow, output.m), n = i32.add(pieceColumn, output.n);
    whereRow(tile, m, [&] {
      SmallVector<Value> indices(tile.origin);
      indices[group.m] = arith::AddIOp::create(b, tile.origin[group.m], tile.index(m));
      indices[group.n] = arith::AddIOp::create(b, tile.origin[group.n], tile.index(n));
      Value inside;
      if (!tile.isWhole(group.n, config.n))
        inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, indices[group.n], tile.extents[group.n]);
      tile.where(inside, [&] {
        SmallVector<Value> place = llvm::map_to_vector(store.loops, [&](unsigned loop) { return indices[loop]; });
        vector::StoreOp::create(b, vector, store.memory, place, /*nontemporal=*/false, llvm::MaybeAlign(16));
      });
    });
  }
}

// The group goes on when all but the last `pending` of its boxes have been read.
void WgmmaResults::awaitBoxes(Value ofGroup, int64_t pending) const {
  kernel.where(isFirstOfGroup(), [&] { NVVM::CpAsyncBulkWaitGroupOp::create(b, pending, b.getUnitAttr()); });
  groupBarrier(ofGroup);
}

Value WgmmaResults::isFirstOfGroup() const {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, i32.rem(kernel.thread, kGroupThreads), i32.constant(0));
}

// Of the warps of a group alone; barrier 0 is all of the block's.
void WgmmaResults::groupBarrier(Value ofGroup) const {
  NVVM::BarrierOp::create(b, Type(), i32.add(ofGroup, 1), i32.constant(kGroupThreads), NVVM::BarrierReductionAttr(),
                          Value());
}

} // namespace kiln
