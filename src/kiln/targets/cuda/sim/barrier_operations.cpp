// mbarrier: barriers in shared memory.
#include "kiln/targets/cuda/sim/bulk_operations.h"
#include "kiln/targets/cuda/sim/memory_access.h"

#include <cstring>

namespace kiln::cudasim {

bool mayUseMbarrier(Thread &t, const Inst *i, Block &owner, uint64_t offset, bool isAsync) {
  auto found = owner.mbarriers.find(uint32_t(offset));
  if (found == owner.mbarriers.end() || offset > UINT32_MAX) {
    t.fault(i, FaultCode::IllegalInstruction,
            fmt::format("uses {:#x} of shared memory, where no mbarrier was initialized", offset));
    return false;
  }
  if (!t.mayUseShared(i, owner))
    return false;
  const Mbarrier &barrier = found->second;
  const Cluster &cluster = *t.block->cluster;
  auto refuse = [&](std::string_view why) {
    t.fault(i, FaultCode::LaunchFailed,
            fmt::format("uses the mbarrier at {:#x} of shared memory, which thread {} initialized at PTX line {}; {}",
                        offset, cluster.describe(barrier.initializer, *t.block), barrier.initLine, why));
    return false;
  };
  if (isAsync && !barrier.fenceClock)
    return refuse("fence.mbarrier_init is missing after that");
  const bool isKnown = barrier.knownPhase && t.clusterPhases >= barrier.knownPhase;
  if (!isKnown &&
      !cluster.shadow.knows(t.number, barrier.initializer, isAsync ? barrier.fenceClock : barrier.initClock))
    return refuse("nothing orders the two");
  return true;
}

namespace {
// The barrier at an address, and where it is; null where that is a fault, which is told.
struct Found {
  Mbarrier *barrier = nullptr;
  Block *owner = nullptr;
  uint32_t offset = 0;
};
} // namespace

static Found find(Thread &t, const Inst *i, uint64_t address) {
  uint64_t offset = 0;
  Block *owner = t.sharedOwner(i, address, offset);
  if (!owner || !mayUseMbarrier(t, i, *owner, offset, /*isAsync=*/false))
    return {};
  return {&owner->mbarriers[uint32_t(offset)], owner, uint32_t(offset)};
}
// Of the thread's own block.
static Found findOwn(Thread &t, const Inst *i, uint64_t address) {
  const Found found = find(t, i, address);
  if (!found.barrier || found.owner == t.block)
    return found;
  t.fault(i, FaultCode::IllegalAddress,
          fmt::format("uses an mbarrier of block {} of its cluster, where others can arrive only",
                      found.owner->describe()));
  return {};
}

void Block::completePhase(Mbarrier &barrier) {
  if (!barrier.tryComplete())
    return;
  for (Thread &thread : threads)
    if (thread.state == Thread::State::AtMbarrier)
      wake(thread); // looks again
}

bool Block::completeBytes(uint32_t address, int64_t bytes, uint32_t thread) {
  auto found = mbarriers.find(address);
  if (found == mbarriers.end())
    return false;
  Mbarrier &barrier = found->second;
  barrier.bytes -= bytes;
  cluster->shadow.release(thread, barrier.clocks);
  completePhase(barrier);
  return true;
}

namespace {

const Inst *initialize(const Inst *i, uint64_t *r, Thread &t) {
  const uint64_t address = r[i->a] + i->imm;
  const auto count = uint32_t(r[i->b]);
  uint8_t *at = locate(Where(i->extra), t, i, address, 8, Access::StrongWrite);
  if (!at)
    return nullptr;
  if (count == 0 || count >= 1 << 20)
    return t.fault(i, FaultCode::IllegalInstruction,
                   fmt::format("expects {} arrivals; 1 to 1,048,575 are possible", count));
  const auto offset = uint32_t(at - t.block->sharedMemory.data());
  t.block->cluster->shadow.setBarrier(t.block->shadowStart() + offset, true);
  Mbarrier &barrier = t.block->mbarriers[offset] = Mbarrier();
  barrier.expected = barrier.pending = count;
  barrier.initializer = t.number;
  barrier.initClock = t.block->cluster->shadow.clockOf(t.number);
  barrier.initLine = i->line;
  return i + 1;
}
const Inst *invalidate(const Inst *i, uint64_t *r, Thread &t) {
  const Found found = findOwn(t, i, r[i->a] + i->imm);
  if (!found.barrier)
    return nullptr;
  t.block->cluster->shadow.setBarrier(t.block->shadowStart() + found.offset, false);
  t.block->mbarriers.erase(found.offset);
  return i + 1;
}

// What `extra` of arrivals says: that `b` are bytes to expect, that the barrier expects one less from now on, and more.
constexpr uint32_t kExpectsBytes = 1, kDrops = 2, kArrives = 4, kCompletesBytes = 8, kHasState = 16;
// What `extra` of arrivals and waits says of how they order memory: not at all, or also for others of the cluster.
constexpr uint32_t kRelaxed = 32, kClusterScope = 64;

const Inst *arrive(const Inst *i, uint64_t *r, Thread &t) {
  const auto [barrier, owner, offset] = find(t, i, r[i->a] + i->imm);
  if (!barrier)
    return nullptr;
  const bool isRemote = owner != t.block;
  if (isRemote && i->extra & kHasState)
    return t.fault(i, FaultCode::IllegalInstruction,
                   fmt::format("asks for the state of an mbarrier of block {} of its cluster; '_' is expected",
                               owner->describe()));
  const auto value = uint32_t(r[i->b]);
  const uint32_t count = i->extra & kExpectsBytes ? 1 : value;
  r[i->d] = barrier->phase;
  if (i->extra & kExpectsBytes)
    barrier->bytes += value;
  if (i->extra & kCompletesBytes)
    barrier->bytes -= value;
  if (i->extra & kArrives) {
    if (count == 0 || count > barrier->pending)
      return t.fault(
          i, FaultCode::IllegalInstruction,
          fmt::format("arrives {} times at an mbarrier whose phase lacks {} arrivals", count, barrier->pending));
    barrier->pending -= count;
    if (i->extra & kDrops)
      barrier->expected -= count;
    // Within the scope of a block, what another one has done is not known.
    SharedShadow &shadow = t.block->cluster->shadow;
    const bool reaches = !isRemote || i->extra & kClusterScope;
    Clocks &ordered = isRemote ? barrier->remoteClocks : barrier->clocks;
    if (reaches && !(i->extra & kRelaxed)) {
      shadow.release(t.number, ordered);
    } else {
      if (reaches)
        shadow.releaseFenced(t.number, ordered);
      shadow.release(t.number, barrier->unorderedClocks);
    }
  }
  constexpr int64_t kMostBytes = (1 << 20) - 1;
  if (barrier->bytes > kMostBytes || barrier->bytes < -kMostBytes)
    return t.fault(i, FaultCode::IllegalInstruction,
                   fmt::format("has an mbarrier lack {} bytes; {} are possible", barrier->bytes, kMostBytes));
  owner->completePhase(*barrier);
  return i + 1;
}

// What `extra` of tests says: the operand is a parity; the thread sleeps until it is so; and how it orders memory.
constexpr uint32_t kParity = 1, kSleeps = 2;

const Inst *test(const Inst *i, uint64_t *r, Thread &t) {
  const auto [barrier, owner, offset] = findOwn(t, i, r[i->a] + i->imm);
  if (!barrier)
    return nullptr;
  const uint64_t value = r[i->b];
  const bool isComplete = i->extra & kParity ? (barrier->phase & 1) != (value & 1) : barrier->phase > value;
  r[i->d] = isComplete;
  if (isComplete) {
    SharedShadow &shadow = t.block->cluster->shadow;
    if (!(i->extra & kRelaxed))
      shadow.acquire(t.number, barrier->completed);
    if (i->extra & kClusterScope && !(i->extra & kRelaxed) && !barrier->remoteCompleted.empty())
      shadow.acquire(t.number, barrier->remoteCompleted);
    if (!barrier->unorderedCompleted.empty())
      shadow.acquireAsyncReads(t.number, barrier->unorderedCompleted);
    return i + 1;
  }
  if (!(i->extra & kSleeps)) {
    t.next = i + 1;
    return nullptr;
  }
  t.next = i;
  t.state = Thread::State::AtMbarrier;
  t.waitAddress = offset;
  return nullptr;
}

// The state is a count of phases here, which does not tell the arrivals that lack.
void decodeMbarrier(Decoder &in) {
  const std::string_view what =
      in.takeOneOf({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait"});
  const bool isTest = what == "test_wait" || what == "try_wait";
  const bool expectsBytes = (what == "arrive" || what == "arrive_drop") && in.take("expect_tx");
  const bool isParity = isTest && in.take("parity");
  const bool isRelaxed = in.takeOneOf({"release", "acquire", "relaxed"}) == "relaxed";
  const bool isOfCluster = in.takeOneOf({"cta", "cluster"}) == "cluster";
  const uint32_t order = (isRelaxed ? kRelaxed : 0) | (isOfCluster ? kClusterScope : 0);
  Where where = takeSpace(in);
  const bool isOwnAlone = isTest || what == "init" || what == "inval";
  if (where != Where::Generic && where != Where::Shared && (isOwnAlone || where != Where::SharedCluster))
    in.fail("it is in shared memory, of the block itself where others can arrive only");
  in.takeTypeOf({Type::B64});
  const bool hasResult = isTest || what == "arrive" || what == "arrive_drop";
  const size_t first = hasResult ? 1 : 0;
  in.expectOperands(first + 1, first + 3);
  if (in.failed())
    return;
  if (hasResult)
    in.inst.d = in.target(0, isTest ? Type::Pred : Type::B64);
  decodeAddress(in, in.operand(first), where, 8);
  const bool hasValue = in.operandCount() > first + 1;
  if (what == "init" || what == "inval") {
    in.inst.extra = uint32_t(where);
    if (what == "init")
      in.inst.b = in.source(1, Type::U32);
    in.inst.run = what == "init" ? &initialize : &invalidate;
  } else if (isTest) {
    in.inst.b = in.source(2, isParity ? Type::U32 : Type::B64);
    in.inst.extra = (isParity ? kParity : 0) | (what == "try_wait" ? kSleeps : 0) | order;
    in.inst.run = &test;
  } else {
    in.inst.b = hasValue ? in.source(first + 1, Type::U32) : in.constant(1);
    in.inst.extra = (expectsBytes || what == "expect_tx" ? kExpectsBytes : 0) | (what == "arrive_drop" ? kDrops : 0) |
                    (what == "complete_tx" ? kCompletesBytes : 0) | (hasResult ? kArrives : 0) | order |
                    (hasResult && in.operand(0).kind != Operand::Kind::Sink ? kHasState : 0);
    in.inst.run = &arrive;
  }
}

constexpr Opcode kOpcodes[] = {
    {"mbarrier", decodeMbarrier},
};

} // namespace

std::span<const Opcode> mbarrierOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
