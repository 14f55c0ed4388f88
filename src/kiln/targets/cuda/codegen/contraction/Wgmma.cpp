#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/schema/gpu_executable.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/KernelInterface.h"
#include "kiln/targets/cuda/codegen/contraction/WgmmaResults.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace kiln {

static constexpr int64_t kStepBytes = 32; // along k, of one instruction

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
  for (const ContractionGroup::Input *input : {&group.lhs, &group.rhs})
    if (!input->type().hasStaticShape() || alignmentOf(*input) < 16 || input->loops.size() > kGpuMostTensorRank ||
        input->loops.size() < 2)
      return std::nullopt;
  WgmmaKind found{typeOf(kind.lhs), typeOf(kind.rhs),
                  kind.accumulator.isInteger() ? NVVM::WGMMATypes::s32 : NVVM::WGMMATypes::f32, kind.accumulator,
                  kind.elementBytes};
  // wgmma turns elements of two bytes itself. Of four, one input may be turned on its way into registers.
  bool turnsLhs = group.lhs.innermost() != group.k, turnsRhs = group.rhs.innermost() != group.k;
  if (kind.elementBytes == 2 || (!turnsLhs && !turnsRhs))
    return found;
  if (kind.elementBytes != 4 || (turnsLhs && turnsRhs))
    return std::nullopt;
  found.isHeld = true;
  found.isSwapped = turnsRhs;
  return found;
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
  // k has the 128 bytes of a row, or the other loop has them and there is a box for each; the last one may reach into
  // the next tile.
  int64_t boxes(int64_t elementBytes) const {
    return isKInner ? 1 : llvm::divideCeil(extent * elementBytes, kRowBytes);
  }
};

class WgmmaEmitter {
public:
  WgmmaEmitter(const TileKernel &kernel, const WgmmaKind &kind, func::FuncOp function, Value total,
               llvm::function_ref<SmallVector<Value>(Value)> originOf)
      : kernel(kernel), kind(kind), function(function), b(kernel.b), config(kernel.config), group(kernel.group),
        i32(kernel.i32), total(total), originOf(originOf), consumers(consumersOf(config)),
        lhs{group.lhs, group.m, config.m, 0, group.lhs.innermost() == group.k, config.clusterN, {}},
        rhs{group.rhs,
            group.n,
            config.n,
            int64_t(llvm::alignTo(config.m, 64)) * kRowBytes,
            group.rhs.innermost() == group.k,
            config.clusterM,
            {}},
        rows(kind.isSwapped ? rhs : lhs), columns(kind.isSwapped ? lhs : rhs) {
    lhs.map = mapOf(lhs);
    rhs.map = mapOf(rhs);
    auto extents = group.extents;
    stepCount = llvm::divideCeil(extents[group.k], config.k * config.clusterK);
    lane = i32.rem(kernel.thread, 32);
    if (!config.hasCluster())
      return;
    Value rank = NVVM::ClusterId::create(b, b.getI32Type());
    if (config.clusterK != 1) {
      part = rank;
      return;
    }
    clusterRow = i32.div(rank, config.clusterN);
    clusterColumn = i32.rem(rank, config.clusterN);
  }

  void run() {
    WgmmaResults ofTiles(kernel, kind, function, config.streamK ? Value() : part);
    output = &ofTiles;
    std::optional<WgmmaResults> ofParts;
    if (config.streamK)
      outputOfParts = &ofParts.emplace(kernel, kind, function, part);
    // Barriers are made ready while the kernels before may still run.
    NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::launch_dependents);
    kernel.where(isZero(kernel.thread), [&] {
      SmallVector<Value> maps{lhs.map, rhs.map};
      llvm::append_range(maps, output->tensorMaps());
      for (Value map : maps)
        NVVM::PrefetchOp::create(b, NVVM::PrefetchCacheLevelAttr(), NVVM::CacheEvictionPriorityAttr(), map, Value(),
                                 /*tensormap=*/b.getUnitAttr(), UnitAttr(), UnitAttr());
      for (int64_t stage = 0; stage < config.stages; ++stage) {
        NVVM::MBarrierInitOp::create(b, full(i32.constant(stage)), i32.constant(1), Value());
        // Each warp says when it has read a stage.
        int64_t readers = takesTurns(config) ? 1 : consumers;
        NVVM::MBarrierInitOp::create(b, empty(i32.constant(stage)), i32.constant(readers * 4 * peers()), Value());
      }
      for (int64_t group = 0; group < consumers && takesTurns(config); ++group)
        NVVM::MBarrierInitOp::create(b, turnOf(i32.constant(group)), i32.constant(4), Value());
      NVVM::FenceMbarrierInitOp::create(b);
    });
    // Blocks of a cluster write to each other, which begins and ends with all of them there.
    if (config.hasCluster())
      clusterBarrier(b);
    else
      kernel.barrier();
    awaitEarlierKernels(b, function);
    Value isProducer = i32.less(kernel.thread, i32.constant(kGroupThreads));
    auto roles = scf::IfOp::create(b, isProducer, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(roles.thenBlock());
      giveRegisters(/*isProducer=*/true);
      kernel.where(part ? Value() : isZero(kernel.thread), [&] { produce(); });
      b.setInsertionPointToStart(roles.elseBlock());
      giveRegisters(/*isProducer=*/false);
      consume();
    }
    if (sharesCopies())
      clusterBarrier(b);
  }

private:
  // A place in the ring of stages: its number, and the parity of the round; and where groups take turns, of the turn.
  struct Place {
    Value stage, parity, turn = {};
  };
  // What a block computes of a tile.
  struct Work {
    ArrayRef<Value> origin;
    Value first, count; // steps along k
    Value isPart;       // whether other blocks compute the rest: null where that is always or never so, as `part` says
  };

  Value isZero(Value value) { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value, i32.constant(0)); }
  Value full(Value stage) { return kernel.sharedAt(i32.mul(stage, 8)); }
  Value empty(Value stage) { return kernel.sharedAt(i32.add(i32.mul(stage, 8), config.stages * 8)); }
  // Which group's turn it is to wait for stages. A group that is a round ahead of them would see the round before.
  Value turnOf(Value group) { return kernel.sharedAt(i32.add(i32.mul(group, 8), config.stages * 16)); }
  Value stageOffset(Value stage) { return i32.add(i32.mul(stage, stageBytesOf(config)), kStagesStart); }
  void wait(Value barrier, Value parity) {
    NVVM::MBarrierTryWaitParityOp::create(b, barrier, parity, i32.constant(10000000));
  }
  bool sharesCopies() const { return config.clusterM != 1 || config.clusterN != 1; }
  // The blocks that copy to a block, itself among them.
  int64_t peers() const { return config.clusterM + config.clusterN - 1; }
  // A warp has read a stage: each of its first lanes tells one of those that copy there. `peer` is the lane's. In the
  // block's scope to other blocks too: the reads are over, as wgmma was waited for, and nothing else is passed on, for
  // which a release to the cluster would be a fence of all memory in each stage.
  void release(Value stage, Value peer) {
    kernel.where(i32.less(lane, i32.constant(peers())), [&] {
      if (!sharesCopies()) {
        NVVM::MBarrierArriveOp::create(b, Type(), empty(stage), Value());
        return;
      }
      Value remote = NVVM::MapaOp::create(b, clusterPointer(), empty(stage), peer);
      NVVM::MBarrierArriveOp::create(b, Type(), remote, Value());
    });
  }
  // The rank of a lane's peer: the blocks of the same row of the cluster first, and then the others of the column.
  Value peerOfLane() {
    if (!sharesCopies())
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

  // So many stages further.
  Place after(const Place &place, int64_t count) {
    Value next = i32.add(place.stage, count % config.stages);
    Value isRound = i32.less(i32.constant(config.stages - 1), next);
    Value rest = arith::SelectOp::create(b, isRound, i32.add(next, -config.stages), next);
    return {rest, i32.bitXor(i32.bitXor(place.parity, i32.of(isRound)), count / config.stages % 2)};
  }

  // What the block got at its launch is shared out anew, where it has more than two groups.
  void giveRegisters(bool isProducer) {
    if (consumers == 1)
      return;
    unsigned others = consumers == 2 ? 232 : consumers == 3 ? 160 : 112;
    unsigned count = isProducer ? (consumers == 2 ? 40 : consumers == 3 ? 32 : 24) : others;
    NVVM::SetMaxRegisterOp::create(
        b, count, isProducer ? NVVM::SetMaxRegisterAction::decrease : NVVM::SetMaxRegisterAction::increase);
  }

  Value mapOf(const BoxedInput &boxed) {
    return addTensorMap(b, function, boxed.input.memory, boxed.input.type(), boxed.input.loops,
                        [&](unsigned loop) -> int64_t {
                          if (loop == boxed.input.innermost())
                            return kRowBytes / kind.elementBytes;
                          return loop == group.k || loop == boxed.loop ? rowsOf(boxed) : 1;
                        });
  }

  // Of a box.
  int64_t rowsOf(const BoxedInput &boxed) const {
    return (boxed.isKInner ? boxed.extent : config.k) / boxed.cuts(kind.elementBytes);
  }

  // Over the tiles that are the block's, with the place in the ring; where groups take turns, over every second one,
  // from `turn`, which is 0 or 1.
  void overTiles(llvm::function_ref<Place(const Work &work, Place place)> emit, Value turn = {}) {
    if (config.streamK)
      return overRounds(emit);
    Value first, step;
    if (config.hasCluster()) {
      first = kernel.index(NVVM::ClusterIdXOp::create(b, b.getI32Type()));
      step = kernel.index(NVVM::ClusterDimXOp::create(b, b.getI32Type()));
    } else {
      first = gpu::BlockIdOp::create(b, gpu::Dimension::x);
      step = gpu::GridDimOp::create(b, gpu::Dimension::x);
    }
    SmallVector<Value> carried{i32.constant(0), i32.constant(0)};
    if (turn) {
      first = arith::AddIOp::create(b, first, arith::MulIOp::create(b, step, kernel.index(turn)));
      step = arith::AddIOp::create(b, step, step);
      Place second = after({carried[0], carried[1]}, stepCount);
      // The first group's first turn is there.
      carried = {i32.mul(turn, second.stage), i32.mul(turn, second.parity), i32.bitXor(turn, 1)};
    }
    auto loop = scf::ForOp::create(b, first, total, step, carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> origin = originOf(loop.getInductionVar());
    if (sharesCopies())
      for (auto [along, number, extent] :
           {std::tuple(group.m, clusterRow, config.m), std::tuple(group.n, clusterColumn, config.n)})
        origin[along] = arith::AddIOp::create(b, origin[along], kernel.index(i32.mul(number, extent)));
    Place place{loop.getRegionIterArg(0), loop.getRegionIterArg(1), turn ? loop.getRegionIterArg(2) : Value()};
    Value nextTurn = turn ? i32.bitXor(place.turn, 1) : Value();
    Value steps = i32.constant(stepCount);
    place = emit({origin, part ? i32.mul(part, steps) : i32.constant(0), steps, {}}, place);
    if (!turn) {
      scf::YieldOp::create(b, ValueRange{place.stage, place.parity});
      return;
    }
    place = after(place, stepCount); // The other group's.
    scf::YieldOp::create(b, ValueRange{place.stage, place.parity, nextTurn});
  }

  // A whole tile for each block as often as there is one for all, and then parts of those that are left.
  void overRounds(llvm::function_ref<Place(const Work &work, Place place)> emit) {
    Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x), blocks = gpu::GridDimOp::create(b, gpu::Dimension::x);
    Value cluster = kernel.index(NVVM::ClusterIdXOp::create(b, b.getI32Type()));
    Value clusters = kernel.index(NVVM::ClusterDimXOp::create(b, b.getI32Type()));
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value whole = arith::DivUIOp::create(b, total, blocks), done = arith::MulIOp::create(b, whole, blocks);
    // Of the tiles that are left, every so many are the cluster's from the one on that has its number. With those that
    // would make them as many for each cluster, the difference is not negative.
    Value firstLeft = arith::AddIOp::create(b, done, cluster);
    Value filled = arith::AddIOp::create(b, total, arith::SubIOp::create(b, clusters, one));
    Value left = arith::DivUIOp::create(b, arith::SubIOp::create(b, filled, firstLeft), clusters);
    Value turns = arith::AddIOp::create(b, whole, left);
    auto loop = scf::ForOp::create(b, zero, turns, one, ValueRange{i32.constant(0), i32.constant(0)});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar();
    Value isPart = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, number, whole);
    auto select = [&](Value ofPart, Value ofWhole) -> Value {
      return arith::SelectOp::create(b, isPart, ofPart, ofWhole);
    };
    Value turn = arith::SubIOp::create(b, number, select(whole, zero));
    Value tile =
        arith::AddIOp::create(b, select(firstLeft, block), arith::MulIOp::create(b, turn, select(clusters, blocks)));
    SmallVector<Value> origin = originOf(tile);
    auto extents = group.extents;
    Value ofPart = i32.constant(stepCount), ofWhole = i32.constant(llvm::divideCeil(extents[group.k], config.k));
    Work work{origin, select(i32.mul(part, ofPart), i32.constant(0)), select(ofPart, ofWhole), isPart};
    Place place = emit(work, {loop.getRegionIterArg(0), loop.getRegionIterArg(1)});
    scf::YieldOp::create(b, ValueRange{place.stage, place.parity});
  }

  //===--- Copies ---===//

  void produce() {
    overTiles([&](const Work &work, Place place) -> Place {
      if (!part)
        return copyTile(work, place);
      // All threads of the cluster meet where its blocks' sums are added up.
      auto branch = scf::IfOp::create(b, TypeRange{place.stage.getType(), place.parity.getType()},
                                      isZero(kernel.thread), /*addThenBlock=*/true, /*addElseBlock=*/true);
      for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(block);
        Place next = block == branch.thenBlock() ? copyTile(work, place) : place;
        scf::YieldOp::create(b, ValueRange{next.stage, next.parity});
      }
      kernel.where(work.isPart, [&] {
        clusterBarrier(b);
        clusterBarrier(b);
      });
      return {branch.getResult(0), branch.getResult(1)};
    });
  }

  // The block's part of the inputs of a tile, stage by stage.
  Place copyTile(const Work &work, Place place) {
    auto loop =
        scf::ForOp::create(b, i32.constant(0), work.count, i32.constant(1), ValueRange{place.stage, place.parity});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Place here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    Value before = i32.bitXor(here.parity, 1);
    wait(empty(here.stage), before);
    Value barrier = full(here.stage);
    NVVM::MBarrierArriveExpectTxOp::create(b, Type(), barrier, i32.constant(bytesOf(lhs) + bytesOf(rhs)),
                                           NVVM::MemScopeKind::CTA,
                                           /*relaxed=*/false, Value());
    // Parts that reach beyond k are copied as zeros.
    Value k = i32.mul(i32.add(work.first, loop.getInductionVar()), config.k);
    for (const BoxedInput *boxed : {&lhs, &rhs})
      copyBoxes(*boxed, work.origin, k, stageOffset(here.stage), barrier);
    Place next = after(here);
    scf::YieldOp::create(b, ValueRange{next.stage, next.parity});
    return {loop.getResult(0), loop.getResult(1)};
  }

  // Of a tile of an input, in a stage.
  int64_t bytesOf(const BoxedInput &boxed) const {
    return boxed.boxes(kind.elementBytes) * (boxed.isKInner ? boxed.extent : config.k) * kRowBytes;
  }

  void copyBoxes(const BoxedInput &boxed, ArrayRef<Value> origin, Value k, Value stage, Value barrier) {
    int64_t rowElements = kRowBytes / kind.elementBytes, rows = rowsOf(boxed), cuts = boxed.cuts(kind.elementBytes);
    int64_t count = boxed.boxesOfBlock(kind.elementBytes);
    Value mask, share = i32.constant(0); // of the tile
    if (boxed.sharers > 1) {
      mask = maskOf(boxed);
      share = &boxed == &lhs ? clusterColumn : clusterRow;
    }
    for (int64_t each = 0; each < count; ++each) {
      Value box = i32.add(i32.mul(share, count), each);
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
    Value second = descriptor(columns, i32.constant(0));
    SmallVector<Type> registers(columns.extent / 2, kind.accumulator);
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), registers);
    if (kind.isHeld) {
      Value first = heldPlace(i32.mul(number, rowsBytes()));
      overTiles([&](const Work &work, Place place) -> Place {
        auto [next, sums] = consumeHeld(work, place, first, second, type, peer);
        finish(work, {number, number}, sums);
        return next;
      });
      output->end();
      return;
    }
    // Where the group's rows start: 64 of the tile's, or all where groups take turns.
    const int64_t count = takesTurns(config) ? config.m / kGroupRows : 1;
    Value first = descriptor(rows, takesTurns(config) ? i32.constant(0) : i32.mul(number, rowsBytes()));
    auto consumeTile = [&](const Work &work, Place place) -> Place {
      if (place.turn)
        wait(turnOf(number), place.turn);
      SmallVector<Value> carried{place.stage, place.parity, place.stage};
      for (int64_t i = 0; i < count; ++i)
        carried.push_back(LLVM::ZeroOp::create(b, type));
      auto loop = scf::ForOp::create(b, i32.constant(0), work.count, i32.constant(1), carried);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Place here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
        wait(full(here.stage), here.parity);
        SmallVector<Value> results = multiply(here.stage, first, second, loop.getRegionIterArgs().drop_front(3));
        // The step before is done where one at most is under way.
        NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
        Value before = loop.getRegionIterArg(2);
        kernel.where(i32.less(i32.constant(0), loop.getInductionVar()), [&] { release(before, peer); });
        Place next = after(here);
        results.insert(results.begin(), {next.stage, next.parity, here.stage});
        scf::YieldOp::create(b, results);
      }
      if (place.turn)
        kernel.where(isZero(lane),
                     [&] { NVVM::MBarrierArriveOp::create(b, Type(), turnOf(i32.bitXor(number, 1)), Value()); });
      NVVM::WgmmaWaitGroupSyncOp::create(b, 0);
      release(loop.getResult(2), peer);
      for (int64_t i = 0; i < count; ++i)
        finish(work, {number, takesTurns(config) ? i32.constant(i) : number}, loop.getResult(3 + i));
      return {loop.getResult(0), loop.getResult(1)};
    };
    overTiles(consumeTile, takesTurns(config) ? number : Value());
    output->end();
  }

  void finish(const Work &work, const WgmmaResults::Own &own, Value sums) {
    if (!work.isPart)
      return output->finish(work.origin, own, sums);
    auto branch = scf::IfOp::create(b, work.isPart, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    output->leave(own); // whose buffers are the parts', too
    outputOfParts->finish(work.origin, own, sums);
    b.setInsertionPointToStart(branch.elseBlock());
    output->finish(work.origin, own, sums);
  }

  // From 64 rows of a tile to the next.
  int64_t rowsBytes() const {
    return rows.isKInner ? kGroupRows * kRowBytes : config.k * kGroupRows * kind.elementBytes;
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

  // Where the stage's matrix is that a descriptor of the first stage tells of: what is added stays in its address.
  Value descriptorAt(Value descriptor, Value stage) {
    const Integers &i64 = kernel.i64;
    return i64.add(descriptor, i64.of(i32.mul(stage, stageBytesOf(config) / 16)));
  }
  // Elements along k of an instruction.
  int64_t depth() const { return kStepBytes / kind.elementBytes; }
  // How far a descriptor moves with a step along k: within the row, or by 128 bytes for each of k.
  int64_t ahead(const BoxedInput &boxed, int64_t step) const {
    return step * (boxed.isKInner ? kStepBytes : depth() * kRowBytes) / 16;
  }

  // `first` and `second` are the descriptors of the first stage; `sums` of 64 rows each.
  SmallVector<Value> multiply(Value stage, Value first, Value second, ValueRange sums) {
    const Integers &i64 = kernel.i64;
    first = descriptorAt(first, stage);
    second = descriptorAt(second, stage);
    auto layoutOf = [&](bool isKInner, bool isLhs) {
      return isKInner == isLhs ? NVVM::MMALayout::row : NVVM::MMALayout::col;
    };
    auto shape = NVVM::MMAShapeAttr::get(b.getContext(), kGroupRows, columns.extent, depth());
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (kind.accumulator.isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    SmallVector<Value> results(sums);
    NVVM::WgmmaFenceAlignedOp::create(b);
    for (auto [i, result] : llvm::enumerate(results))
      for (int64_t step = 0; step * depth() < config.k; ++step)
        result = NVVM::WgmmaMmaAsyncOp::create(
            b, result.getType(), result, i64.add(first, int64_t(i) * rowsBytes() / 16 + ahead(rows, step)),
            i64.add(second, ahead(columns, step)), shape, kind.lhs, kind.rhs, kind.result, NVVM::WGMMAScaleOut::one,
            NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one, layoutOf(rows.isKInner, true),
            layoutOf(columns.isKInner, false),
            overflow ? NVVM::MMAIntOverflowAttr::get(b.getContext(), *overflow) : NVVM::MMAIntOverflowAttr());
    NVVM::WgmmaGroupSyncAlignedOp::create(b);
    return results;
  }

  //===--- Rows that go through registers ---===//

  // wgmma reads elements of four bytes along k alone, or takes those of its rows from registers, whichever way they lie
  // in shared memory: a box has rows of 32 of them, one for each of k. A thread holds two rows at k = lane % 4 and 4
  // above. They are neighbours here, loaded at once, so that what wgmma calls rows 0 to 63 comes in another order.

  // Where they are in the first stage, for k = lane % 4.
  Value heldPlace(Value ownRows) {
    TileLayout box;
    box.rows = config.k;
    box.rowElements = kGroupRows;
    box.elementBytes = kind.elementBytes;
    box.isSwizzled = true;
    Value place =
        box.offset(i32, i32.rem(lane, 4), i32.mul(firstHeldRow(kernel, kind.elementBytes), kind.elementBytes));
    return i32.add(i32.add(i32.add(stageOffset(i32.constant(0)), rows.start), ownRows), place);
  }

  // The registers of all steps of a stage: four each.
  SmallVector<Value> loadHeld(Value stage, Value first) {
    Value place = i32.add(first, i32.mul(stage, stageBytesOf(config)));
    auto pair = VectorType::get({2}, b.getI32Type());
    SmallVector<Value> registers;
    for (int64_t k = 0; k < config.k; k += 4) {
      // Four rows below, the piece of 16 bytes is another one.
      Value at = i32.add(i32.bitXor(place, k % 8 * 16), k * kRowBytes);
      Value loaded = LLVM::LoadOp::create(b, pair, kernel.sharedAt(at), 8);
      for (int64_t i = 0; i < 2; ++i)
        registers.push_back(LLVM::ExtractElementOp::create(b, loaded, i32.constant(i)));
    }
    return registers;
  }

  // Over the steps of a tile: where the ring goes on, and the sums. While a stage is multiplied, the next is loaded.
  std::pair<Place, Value> consumeHeld(const Work &work, const Place &place, Value first, Value second, Type type,
                                      Value peer) {
    wait(full(place.stage), place.parity);
    SmallVector<Value> carried{place.stage, place.parity, LLVM::ZeroOp::create(b, type)};
    llvm::append_range(carried, loadHeld(place.stage, first));
    auto loop = scf::ForOp::create(b, i32.constant(1), work.count, i32.constant(1), carried);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Place here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
      ValueRange held = loop.getRegionIterArgs().drop_front(3);
      Value sums = multiplyHeld(here.stage, held, second, loop.getRegionIterArg(2));
      Place next = after(here);
      wait(full(next.stage), next.parity);
      SmallVector<Value> results{next.stage, next.parity, sums};
      llvm::append_range(results, loadHeld(next.stage, first));
      awaitHeld(held);
      release(here.stage, peer);
      scf::YieldOp::create(b, results);
    }
    Place last{loop.getResult(0), loop.getResult(1)};
    ValueRange held = loop.getResults().drop_front(3);
    Value sums = multiplyHeld(last.stage, held, second, loop.getResult(2));
    awaitHeld(held);
    release(last.stage, peer);
    return {after(last), sums};
  }

  // The dialect has wgmma with rows in shared memory alone.
  Value multiplyHeld(Value stage, ValueRange held, Value second, Value sums) {
    const Integers &i64 = kernel.i64;
    second = descriptorAt(second, stage);
    int64_t count = columns.extent / 2;
    // Results, the registers of rows, the descriptor, and results as they were before.
    std::string results, constraints, before;
    for (int64_t i = 0; i < count; ++i) {
      results += llvm::formatv("{0}${1}", i ? ", " : "", i);
      constraints += "=f,";
      before += llvm::formatv(",{0}", i);
    }
    constraints += "r,r,r,r,l" + before;
    std::string text =
        llvm::formatv("{{ .reg .pred p; setp.eq.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m{0}n{1}k{2}.f32.tf32.tf32 "
                      "{{{3}}, {{${4}, ${5}, ${6}, ${7}}, ${8}, p, 1, 1; }",
                      kGroupRows, columns.extent, depth(), results, count, count + 1, count + 2, count + 3, count + 4);
    NVVM::WgmmaFenceAlignedOp::create(b);
    for (int64_t step = 0; step * depth() < config.k; ++step) {
      SmallVector<Value> operands(held.slice(step * 4, 4));
      operands.push_back(i64.add(second, ahead(columns, step)));
      for (int64_t i = 0; i < count; ++i)
        operands.push_back(LLVM::ExtractValueOp::create(b, sums, i));
      sums = assembly(sums.getType(), operands, text, constraints);
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(b);
    return sums;
  }

  // The end of what goes on, for the warp: other lanes have loaded from the stage that one releases. What was held is
  // an operand, so that its registers are no others' before.
  void awaitHeld(ValueRange held) {
    std::string constraints = llvm::join(SmallVector<StringRef>(held.size(), "r"), ",");
    assembly(Type(), held, "wgmma.wait_group.sync.aligned 0;", constraints);
    NVVM::SyncWarpOp::create(b, i32.constant(-1));
  }

  Value assembly(Type result, ValueRange operands, StringRef text, StringRef constraints) {
    auto op =
        LLVM::InlineAsmOp::create(b, result ? TypeRange(result) : TypeRange(), operands, text, constraints,
                                  /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                  LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
    return result ? op.getResult(0) : Value();
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
  int64_t stepCount; // along k, of a tile, or of a block's part of it
  BoxedInput lhs, rhs;
  const BoxedInput &rows, &columns; // of wgmma: the one of which a group has 64 rows, and the other
  Value lane;
  Value clusterRow, clusterColumn; // of the block; null where no clusters share what they copy
  Value part;                      // of k, that is the block's; null where it has all
  // Of the tiles, and of those that are left where others are computed whole.
  WgmmaResults *output = nullptr, *outputOfParts = nullptr;
};

} // namespace

void emitWgmma(const TileKernel &kernel, const WgmmaKind &kind, func::FuncOp function, Value total,
               llvm::function_ref<SmallVector<Value>(Value)> originOf) {
  WgmmaEmitter(kernel, kind, function, total, originOf).run();
}

} // namespace kiln
