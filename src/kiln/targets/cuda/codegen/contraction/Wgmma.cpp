#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/schema/gpu_executable.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/KernelInterface.h"
#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

static constexpr int64_t kGroupThreads = 128; // of four warps that issue wgmma together
static constexpr int64_t kGroupRows = 64;
static constexpr int64_t kStepBytes = 32; // along k, of one instruction
static constexpr int64_t kRowBytes = 128; // of a box, and of the swizzle
static constexpr int64_t kBarrierBytes = 1024;
static constexpr int64_t kOutputBytes = 8 * 1024; // of a part of the result on its way out; each group has two

std::optional<WgmmaKind> WgmmaKind::of(const ContractionGroup &group, const MmaKind &kind) {
  auto typeOf = [](NVVM::MMATypes type) {
    switch (type) {
    case NVVM::MMATypes::f16: return NVVM::WGMMATypes::f16;
    case NVVM::MMATypes::bf16: return NVVM::WGMMATypes::bf16;
    case NVVM::MMATypes::tf32: return NVVM::WGMMATypes::tf32;
    case NVVM::MMATypes::u8: return NVVM::WGMMATypes::u8;
    default: return NVVM::WGMMATypes::s8;
    }
  };
  for (const ContractionGroup::Input *input : {&group.lhs, &group.rhs}) {
    if (!input->type().hasStaticShape() || alignmentOf(*input) < 16 || input->loops.size() > kGpuMostTensorRank ||
        input->loops.size() < 2)
      return std::nullopt;
    // Only elements of two bytes are turned on their way.
    if (kind.elementBytes != 2 && input->innermost() != group.k)
      return std::nullopt;
  }
  return WgmmaKind{typeOf(kind.lhs), typeOf(kind.rhs),
                   kind.accumulator.isInteger() ? NVVM::WGMMATypes::s32 : NVVM::WGMMATypes::f32, kind.accumulator,
                   kind.elementBytes};
}

static int64_t consumersOf(const TileConfig &config) {
  return config.m / kGroupRows;
}

int64_t sharedBytesOfWgmma(const TileConfig &config) {
  return kBarrierBytes + config.stages * (config.m + config.n) * kRowBytes + consumersOf(config) * 2 * kOutputBytes;
}

// CUDA's number of a type of elements.
static int64_t dataTypeOf(Type type) {
  if (type.isF16())
    return 6;
  if (type.isBF16())
    return 9;
  return type.isF32() ? 7 : 0;
}

namespace {

// An input on its way: boxes whose rows have 128 bytes, and where wgmma finds them. Blocks of a cluster that read the
// same tile of it copy a part each, to all of them.
struct BoxedInput {
  const ContractionGroup::Input &input;
  unsigned loop;  // that is not k
  int64_t extent; // of the tile along it
  int64_t start;  // in a stage
  bool isKInner;
  int64_t sharers; // blocks that read the same tile
  Value map;       // the kernel's parameter

  // Boxes that a block copies of a tile, and into how many each is cut where there are more blocks than boxes.
  int64_t boxesOfBlock(int64_t elementBytes) const { return std::max<int64_t>(1, boxes(elementBytes) / sharers); }
  int64_t cuts(int64_t elementBytes) const { return std::max<int64_t>(1, sharers / boxes(elementBytes)); }
  // k has the 128 bytes of a row, or the other loop has them and there is a box for each.
  int64_t boxes(int64_t elementBytes) const { return isKInner ? 1 : extent * elementBytes / kRowBytes; }
};

class WgmmaEmitter {
public:
  WgmmaEmitter(const TileKernel &kernel, const WgmmaKind &kind, func::FuncOp function, Value total,
               llvm::function_ref<SmallVector<Value>(Value)> originOf)
      : kernel(kernel), kind(kind), function(function), b(kernel.b), config(kernel.config), group(kernel.group),
        i32(kernel.i32), total(total), originOf(originOf), consumers(consumersOf(config)),
        lhs{group.lhs, group.m, config.m, 0, group.lhs.innermost() == group.k, config.clusterN, {}},
        rhs{group.rhs, group.n, config.n, config.m * kRowBytes, group.rhs.innermost() == group.k, config.clusterM, {}} {
    lhs.map = addTensorMap(function, lhs);
    rhs.map = addTensorMap(function, rhs);
    auto extents = group.extents;
    steps = i32.constant(llvm::divideCeil(extents[group.k], config.k));
    lane = i32.rem(kernel.thread, 32);
    if (!config.hasCluster())
      return;
    Value rank = NVVM::ClusterId::create(b, b.getI32Type());
    clusterRow = i32.div(rank, config.clusterN);
    clusterColumn = i32.rem(rank, config.clusterN);
  }

  void run() {
    // Barriers are made ready while the kernels before may still run.
    NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::launch_dependents);
    kernel.where(isZero(kernel.thread), [&] {
      for (Value map : {lhs.map, rhs.map})
        NVVM::PrefetchOp::create(b, NVVM::PrefetchCacheLevelAttr(), NVVM::CacheEvictionPriorityAttr(), map, Value(),
                                 /*tensormap=*/b.getUnitAttr(), UnitAttr(), UnitAttr());
      for (int64_t stage = 0; stage < config.stages; ++stage) {
        NVVM::MBarrierInitOp::create(b, full(i32.constant(stage)), i32.constant(1), Value());
        // Each warp says when it has read a stage.
        NVVM::MBarrierInitOp::create(b, empty(i32.constant(stage)), i32.constant(consumers * 4 * peers()), Value());
      }
      NVVM::FenceMbarrierInitOp::create(b);
    });
    // Blocks of a cluster write to each other, which begins and ends with all of them there.
    if (config.hasCluster())
      clusterBarrier();
    else
      kernel.barrier();
    awaitEarlierKernels(b, function);
    Value isProducer = i32.less(kernel.thread, i32.constant(kGroupThreads));
    auto roles = scf::IfOp::create(b, isProducer, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(roles.thenBlock());
      giveRegisters(/*isProducer=*/true);
      kernel.where(isZero(kernel.thread), [&] { produce(); });
      b.setInsertionPointToStart(roles.elseBlock());
      giveRegisters(/*isProducer=*/false);
      consume();
    }
    if (config.hasCluster())
      clusterBarrier();
  }

private:
  // A place in the ring of stages: its number, and the parity of the round.
  struct Place {
    Value stage, parity;
  };

  Value isZero(Value value) { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value, i32.constant(0)); }
  Value full(Value stage) { return kernel.sharedAt(i32.mul(stage, 8)); }
  Value empty(Value stage) { return kernel.sharedAt(i32.add(i32.mul(stage, 8), config.stages * 8)); }
  Value stageOffset(Value stage) { return i32.add(i32.mul(stage, (config.m + config.n) * kRowBytes), kBarrierBytes); }
  void wait(Value barrier, Value parity) {
    NVVM::MBarrierTryWaitParityOp::create(b, barrier, parity, i32.constant(10000000));
  }
  void clusterBarrier() {
    NVVM::ClusterArriveOp::create(b, UnitAttr());
    NVVM::ClusterWaitOp::create(b, UnitAttr());
  }
  // The blocks that copy to a block, itself among them.
  int64_t peers() const { return config.clusterM + config.clusterN - 1; }
  // A warp has read a stage: each of its first lanes tells one of those that copy there. `peer` is the lane's. In the
  // block's scope to other blocks too: the reads are over, as wgmma was waited for, and nothing else is passed on, for
  // which a release to the cluster would be a fence of all memory in each stage.
  void release(Value stage, Value peer) {
    kernel.where(i32.less(lane, i32.constant(peers())), [&] {
      if (!config.hasCluster()) {
        NVVM::MBarrierArriveOp::create(b, Type(), empty(stage), Value());
        return;
      }
      Value remote = NVVM::MapaOp::create(b, clusterPointer(), empty(stage), peer);
      NVVM::MBarrierArriveOp::create(b, Type(), remote, Value());
    });
  }
  // The rank of a lane's peer: the blocks of the same row of the cluster first, and then the others of the column.
  Value peerOfLane() {
    if (!config.hasCluster())
      return Value();
    Value inColumn = i32.add(lane, -config.clusterN);
    Value isBefore = i32.less(inColumn, clusterRow);
    Value row = arith::SelectOp::create(b, isBefore, inColumn, i32.add(inColumn, 1));
    Value ofColumn = i32.add(i32.mul(row, config.clusterN), clusterColumn);
    Value ofRow = i32.add(i32.mul(clusterRow, config.clusterN), lane);
    Value peer = arith::SelectOp::create(b, i32.less(lane, i32.constant(config.clusterN)), ofRow, ofColumn);
    // A rank of the cluster for all lanes, since addresses of their blocks may be computed before lanes part.
    return arith::MinUIOp::create(b, peer, i32.constant(config.clusterM * config.clusterN - 1));
  }
  Type clusterPointer() {
    return LLVM::LLVMPointerType::get(b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  }

  Place after(const Place &place) {
    Value next = i32.add(place.stage, 1);
    Value isRound = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next, i32.constant(config.stages));
    return {arith::SelectOp::create(b, isRound, i32.constant(0), next), i32.bitXor(place.parity, i32.of(isRound))};
  }

  // What the block got at its launch is shared out anew, where it has more than two groups.
  void giveRegisters(bool isProducer) {
    if (consumers == 1)
      return;
    unsigned count = isProducer ? (consumers == 2 ? 40 : 24) : (consumers == 2 ? 232 : 112);
    NVVM::SetMaxRegisterOp::create(
        b, count, isProducer ? NVVM::SetMaxRegisterAction::decrease : NVVM::SetMaxRegisterAction::increase);
  }

  Value addTensorMap(func::FuncOp function, const BoxedInput &boxed) {
    auto binding = boxed.input.memory.getDefiningOp<HAL::InterfaceBindingSubspanOp>();
    ArrayRef<int64_t> shape = boxed.input.type().getShape();
    SmallVector<int64_t> extents(llvm::reverse(shape)), box;
    for (unsigned loop : llvm::reverse(boxed.input.loops)) {
      bool isInner = box.empty();
      if (isInner)
        box.push_back(kRowBytes / kind.elementBytes);
      else if (loop == group.k || loop == boxed.loop)
        box.push_back(rowsOf(boxed));
      else
        box.push_back(1);
    }
    NamedAttribute fields[] = {
        b.getNamedAttr("binding", b.getI64IntegerAttr(binding.getBinding())),
        b.getNamedAttr("box", b.getDenseI64ArrayAttr(box)),
        b.getNamedAttr("data_type", b.getI64IntegerAttr(dataTypeOf(boxed.input.type().getElementType()))),
        b.getNamedAttr("element_bytes", b.getI64IntegerAttr(kind.elementBytes)),
        b.getNamedAttr("extents", b.getDenseI64ArrayAttr(extents))};
    unsigned number = function.getNumArguments();
    (void)function.insertArgument(number, LLVM::LLVMPointerType::get(b.getContext()),
                                  b.getDictionaryAttr(b.getNamedAttr(tensorMapAttr, b.getDictionaryAttr(fields))),
                                  function.getLoc());
    return function.getArgument(number);
  }

  // Of a box.
  int64_t rowsOf(const BoxedInput &boxed) const {
    return (boxed.isKInner ? boxed.extent : config.k) / boxed.cuts(kind.elementBytes);
  }

  // Over the tiles that are the block's, with the place in the ring.
  void overTiles(llvm::function_ref<Place(ArrayRef<Value> origin, Place place)> emit) {
    Value first, step;
    if (config.hasCluster()) {
      first = kernel.index(NVVM::ClusterIdXOp::create(b, b.getI32Type()));
      step = kernel.index(NVVM::ClusterDimXOp::create(b, b.getI32Type()));
    } else {
      first = gpu::BlockIdOp::create(b, gpu::Dimension::x);
      step = gpu::GridDimOp::create(b, gpu::Dimension::x);
    }
    SmallVector<Value> carried{i32.constant(0), i32.constant(0)};
    auto loop = scf::ForOp::create(b, first, total, step, carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> origin = originOf(loop.getInductionVar());
    if (config.hasCluster())
      for (auto [along, number, extent] :
           {std::tuple(group.m, clusterRow, config.m), std::tuple(group.n, clusterColumn, config.n)})
        origin[along] = arith::AddIOp::create(b, origin[along], kernel.index(i32.mul(number, extent)));
    Place place = emit(origin, {loop.getRegionIterArg(0), loop.getRegionIterArg(1)});
    scf::YieldOp::create(b, ValueRange{place.stage, place.parity});
  }

  //===--- Copies ---===//

  void produce() {
    overTiles([&](ArrayRef<Value> origin, Place place) -> Place {
      auto loop = scf::ForOp::create(b, i32.constant(0), steps, i32.constant(1), ValueRange{place.stage, place.parity});
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Place here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
      Value before = i32.bitXor(here.parity, 1);
      wait(empty(here.stage), before);
      Value barrier = full(here.stage);
      NVVM::MBarrierArriveExpectTxOp::create(b, Type(), barrier, i32.constant((config.m + config.n) * kRowBytes),
                                             NVVM::MemScopeKind::CTA,
                                             /*relaxed=*/false, Value());
      Value k = i32.mul(loop.getInductionVar(), config.k);
      for (const BoxedInput *boxed : {&lhs, &rhs})
        copyBoxes(*boxed, origin, k, stageOffset(here.stage), barrier);
      Place next = after(here);
      scf::YieldOp::create(b, ValueRange{next.stage, next.parity});
      return {loop.getResult(0), loop.getResult(1)};
    });
  }

  void copyBoxes(const BoxedInput &boxed, ArrayRef<Value> origin, Value k, Value stage, Value barrier) {
    int64_t rowElements = kRowBytes / kind.elementBytes, rows = rowsOf(boxed), cuts = boxed.cuts(kind.elementBytes);
    int64_t count = boxed.boxesOfBlock(kind.elementBytes);
    Value mask, part = i32.constant(0); // of the tile
    if (boxed.sharers > 1) {
      mask = maskOf(boxed);
      part = &boxed == &lhs ? clusterColumn : clusterRow;
    }
    for (int64_t each = 0; each < count; ++each) {
      Value box = i32.add(i32.mul(part, count), each);
      Value alongLoop = i32.mul(i32.div(box, cuts), rowElements), alongRows = i32.mul(i32.rem(box, cuts), rows);
      SmallVector<Value> place;
      for (unsigned loop : llvm::reverse(boxed.input.loops)) {
        Value index = loop == group.k ? k : i32.of(origin[loop]);
        if (loop == boxed.loop)
          index = i32.add(index, boxed.isKInner ? alongRows : alongLoop);
        else if (loop == group.k && !boxed.isKInner)
          index = i32.add(index, alongRows);
        place.push_back(index);
      }
      Value target = kernel.sharedAt(i32.add(i32.add(stage, boxed.start), i32.mul(box, rows * kRowBytes)));
      target = LLVM::AddrSpaceCastOp::create(b, clusterPointer(), target);
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(b, target, boxed.map, place, barrier, ValueRange(), mask,
                                                             Value(), NVVM::TMALoadMode::TILE,
                                                             /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(), Value());
    }
  }

  // A bit for each block of the cluster that reads the same tile of an input: those of its row, or of its column.
  Value maskOf(const BoxedInput &boxed) {
    int64_t bits = 0;
    for (int64_t i = 0; i < boxed.sharers; ++i)
      bits |= int64_t(1) << (&boxed == &lhs ? i : i * config.clusterN);
    Value first = &boxed == &lhs ? i32.mul(clusterRow, config.clusterN) : clusterColumn;
    return Integers(b, 16).of(arith::ShLIOp::create(b, i32.constant(bits), first));
  }

  //===--- Products ---===//

  void consume() {
    // From the first lane: ptxas takes it that all lanes have the same, and computes with it once for the warp.
    Value own = i32.add(i32.div(kernel.thread, kGroupThreads), -1);
    Value number = NVVM::ShflOp::create(b, b.getI32Type(), i32.constant(-1), own, i32.constant(0), i32.constant(31),
                                        NVVM::ShflKind::idx, UnitAttr());
    Value peer = peerOfLane();
    int64_t part = lhs.isKInner ? kGroupRows * kRowBytes : config.k * kRowBytes * (kGroupRows * 2 / kRowBytes);
    Value a = descriptor(lhs, i32.mul(number, part)), c = descriptor(rhs, i32.constant(0));
    SmallVector<Type> registers(config.n / 2, kind.accumulator);
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), registers);
    overTiles([&](ArrayRef<Value> origin, Place place) -> Place {
      Value sums = LLVM::ZeroOp::create(b, type);
      auto loop = scf::ForOp::create(b, i32.constant(0), steps, i32.constant(1),
                                     ValueRange{place.stage, place.parity, place.stage, sums});
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Place here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
        wait(full(here.stage), here.parity);
        Value result = multiply(here.stage, a, c, loop.getRegionIterArg(3));
        // The step before is done where one at most is under way.
        NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
        Value before = loop.getRegionIterArg(2);
        kernel.where(i32.less(i32.constant(0), loop.getInductionVar()), [&] { release(before, peer); });
        Place next = after(here);
        scf::YieldOp::create(b, ValueRange{next.stage, next.parity, here.stage, result});
      }
      NVVM::WgmmaWaitGroupSyncOp::create(b, 0);
      Value done = loop.getResult(3);
      release(loop.getResult(2), peer);
      finish(origin, number, done);
      return {loop.getResult(0), loop.getResult(1)};
    });
  }

  // What wgmma is told of an input in the first stage of shared memory: distances are in units of 16 bytes.
  Value descriptor(const BoxedInput &boxed, Value offset) {
    const Integers &i64 = kernel.i64;
    Value pointer = kernel.sharedAt(i32.add(i32.add(stageOffset(i32.constant(0)), boxed.start), offset));
    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), pointer);
    Value field = i64.div(i64.bitAnd(address, 0x3ffff), 16);
    constexpr int64_t swizzle128 = int64_t(1) << 62;
    // Eight rows, and, where rows run along the other loop, the next 128 bytes of it.
    int64_t fields =
        swizzle128 | int64_t(8 * kRowBytes / 16) << 32 | (boxed.isKInner ? 1 : config.k * kRowBytes / 16) << 16;
    return i64.add(field, fields);
  }

  // `a` and `c` are the descriptors of the first stage; what is added for another stays within their address.
  Value multiply(Value stage, Value a, Value c, Value sums) {
    const Integers &i64 = kernel.i64;
    Value distance = i64.of(i32.mul(stage, (config.m + config.n) * kRowBytes / 16));
    a = i64.add(a, distance);
    c = i64.add(c, distance);
    auto layoutOf = [&](bool isKInner, bool isLhs) {
      return isKInner == isLhs ? NVVM::MMALayout::row : NVVM::MMALayout::col;
    };
    int64_t depth = kStepBytes / kind.elementBytes;
    auto shape = NVVM::MMAShapeAttr::get(b.getContext(), kGroupRows, config.n, depth);
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (kind.accumulator.isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    NVVM::WgmmaFenceAlignedOp::create(b);
    for (int64_t step = 0; step * depth < config.k; ++step) {
      // Bytes along k: within the row, or 128 for each of k.
      auto ahead = [&](const BoxedInput &boxed) {
        return step * (boxed.isKInner ? kStepBytes : depth * kRowBytes) / 16;
      };
      sums = NVVM::WgmmaMmaAsyncOp::create(
          b, sums.getType(), sums, i64.add(a, ahead(lhs)), i64.add(c, ahead(rhs)), shape, kind.lhs, kind.rhs,
          kind.result, NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
          layoutOf(lhs.isKInner, true), layoutOf(rhs.isKInner, false),
          overflow ? NVVM::MMAIntOverflowAttr::get(b.getContext(), *overflow) : NVVM::MMAIntOverflowAttr());
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(b);
    return sums;
  }

  //===--- Results ---===//

  // A thread has two elements each of rows lane / 4 and 8 below of its warp's 16 rows, in every eight columns.
  void finish(ArrayRef<Value> origin, Value number, Value sums) {
    Value inGroup = i32.rem(kernel.thread, kGroupThreads);
    Value row = i32.add(i32.mul(i32.div(inGroup, 32), 16), i32.div(lane, 4));
    Value column = i32.mul(i32.rem(lane, 4), 2);
    Value firstRow = i32.mul(number, kGroupRows);
    auto sumsAt = [&](int64_t block, int64_t half) {
      SmallVector<Value> pair;
      for (int64_t i = 0; i < 2; ++i)
        pair.push_back(LLVM::ExtractValueOp::create(b, sums, block * 4 + half * 2 + i));
      return pair;
    };
    TileKernel tile = kernel;
    tile.origin.assign(origin.begin(), origin.end());
    int64_t most = 0;
    bool isStaged = true;
    for (const ContractionGroup::Store &store : group.stores) {
      int64_t bytes = bytesOf(store);
      most = std::max(most, bytes);
      isStaged &= bytes > 0 && hasVectors(group, store.memory, store.loops, 16 / std::max<int64_t>(bytes, 1));
    }
    if (!isStaged || group.extents[group.n] % 2 != 0) {
      for (int64_t half = 0; half < 2; ++half) {
        Value m = i32.add(i32.add(firstRow, row), half * 8);
        whereRow(tile, m, [&] {
          for (int64_t block = 0; block < config.n / 8; ++block)
            finishElements(tile, sumsAt(block, half), m, i32.add(column, block * 8));
        });
      }
      return;
    }
    int64_t width = std::min(config.n, kRowBytes / most), turn = 0;
    for (int64_t begin = 0; begin < config.n; begin += width) {
      // Of each store: the elements of each block and half.
      SmallVector<SmallVector<SmallVector<Value>>> elements(group.stores.size());
      for (int64_t block = begin / 8; block < (begin + width) / 8; ++block)
        for (int64_t half = 0; half < 2; ++half) {
          Value m = i32.add(i32.add(firstRow, row), half * 8);
          SmallVector<SmallVector<Value>> values =
              computeEpilogue(b, b.getLoc(), group, sumsAt(block, half), existing(tile, m, i32.add(column, block * 8)));
          for (auto [all, each] : llvm::zip(elements, values))
            all.push_back(each);
        }
      for (auto [store, each] : llvm::zip(group.stores, elements))
        sendOut(tile, store, each, width, begin, inGroup, number, row, column, turn++);
    }
    // Two buffers in turn are enough within a tile; the next one begins with the first again.
    if (turn % 2 != 0)
      groupBarrier(number);
  }

  // Of the warps of a group alone; barrier 0 is all of the block's.
  void groupBarrier(Value number) {
    NVVM::BarrierOp::create(b, Type(), i32.add(number, 1), i32.constant(kGroupThreads), NVVM::BarrierReductionAttr(),
                            Value());
  }

  static int64_t bytesOf(const ContractionGroup::Store &store) {
    Type element = cast<MemRefType>(store.memory.getType()).getElementType();
    return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() / 8 : 0;
  }

  // The indices of a place in the tile, or of one that exists where it does not.
  SmallVector<Value> existing(const TileKernel &tile, Value m, Value n) {
    SmallVector<Value> indices(tile.origin);
    for (auto [loop, place, whole, width] :
         {std::tuple(group.m, m, config.m, 1), std::tuple(group.n, n, config.n, 2)}) {
      indices[loop] = arith::AddIOp::create(b, tile.origin[loop], tile.index(place));
      if (tile.isWhole(loop, whole))
        continue;
      Value last = arith::ConstantIndexOp::create(b, group.extents[loop] - width);
      indices[loop] = arith::MinUIOp::create(b, indices[loop], last);
    }
    return indices;
  }

  // Through shared memory, so that threads beside each other store 16 bytes beside each other.
  void sendOut(const TileKernel &tile, const ContractionGroup::Store &store, ArrayRef<SmallVector<Value>> elements,
               int64_t width, int64_t begin, Value inGroup, Value number, Value row, Value column, int64_t turn) {
    int64_t bytes = bytesOf(store);
    TileLayout layout;
    layout.rows = kGroupRows;
    layout.rowElements = width;
    layout.elementBytes = bytes;
    layout.isSwizzled = true;
    Value buffer = i32.add(i32.mul(number, 2 * kOutputBytes),
                           kBarrierBytes + config.stages * (config.m + config.n) * kRowBytes + turn % 2 * kOutputBytes);
    Type element = cast<MemRefType>(store.memory.getType()).getElementType();
    for (auto [i, pair] : llvm::enumerate(elements)) {
      Value place = layout.offset(i32, i32.add(row, i % 2 * 8), i32.mul(i32.add(column, i / 2 * 8), bytes));
      Value vector = LLVM::PoisonOp::create(b, VectorType::get({2}, element));
      for (int64_t each = 0; each < 2; ++each)
        vector = LLVM::InsertElementOp::create(b, vector, pair[each], i32.constant(each));
      LLVM::StoreOp::create(b, vector, kernel.sharedAt(i32.add(buffer, place)), 2 * bytes);
    }
    groupBarrier(number);
    int64_t perPiece = 16 / bytes, piecesOfRow = width / perPiece;
    for (int64_t first = 0; first < kGroupRows * piecesOfRow; first += kGroupThreads) {
      Value piece = i32.add(inGroup, first);
      Value pieceRow = i32.div(piece, piecesOfRow), pieceColumn = i32.mul(i32.rem(piece, piecesOfRow), perPiece);
      Value from = kernel.sharedAt(i32.add(buffer, layout.offset(i32, pieceRow, i32.mul(pieceColumn, bytes))));
      Value vector = LLVM::LoadOp::create(b, VectorType::get({perPiece}, element), from, 16);
      Value m = i32.add(pieceRow, i32.mul(number, kGroupRows)), n = i32.add(pieceColumn, begin);
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

  const TileKernel &kernel;
  const WgmmaKind &kind;
  func::FuncOp function;
  ImplicitLocOpBuilder &b;
  const TileConfig &config;
  const ContractionGroup &group;
  const Integers &i32;
  Value total;
  llvm::function_ref<SmallVector<Value>(Value)> originOf;
  int64_t consumers;
  BoxedInput lhs, rhs;
  Value steps, lane;
  Value clusterRow, clusterColumn; // of the block; null where there are no clusters
};

} // namespace

void emitWgmma(const TileKernel &kernel, const WgmmaKind &kind, func::FuncOp function, Value total,
               llvm::function_ref<SmallVector<Value>(Value)> originOf) {
  WgmmaEmitter(kernel, kind, function, total, originOf).run();
}

} // namespace kiln
