// mbarrier: barriers in shared memory.
#include "kiln/targets/cuda/sim/memory_access.h"

#include <cstring>

namespace kiln::cudasim {

// Barriers are known by their offset in shared memory; addresses may be generic.
static uint64_t offsetOf(uint64_t address) {
  return address >> kRegionBits == kSharedWindow >> kRegionBits ? address - kSharedWindow : address;
}

// The barrier at an address, or null where that is a fault, which is told.
static Mbarrier *find(Thread &t, const Inst *i, uint64_t address) {
  address = offsetOf(address);
  auto found = t.block->mbarriers.find(uint32_t(address));
  if (found != t.block->mbarriers.end() && address <= UINT32_MAX)
    return &found->second;
  t.fault(i, FaultCode::IllegalInstruction,
          fmt::format("uses {:#x} of shared memory, where no mbarrier was initialized", address));
  return nullptr;
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
  shadow.release(thread, barrier.clocks);
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
  Mbarrier &barrier = t.block->mbarriers[offset] = Mbarrier();
  barrier.expected = barrier.pending = count;
  return i + 1;
}
const Inst *invalidate(const Inst *i, uint64_t *r, Thread &t) {
  if (!find(t, i, r[i->a] + i->imm))
    return nullptr;
  t.block->mbarriers.erase(uint32_t(offsetOf(r[i->a] + i->imm)));
  return i + 1;
}

// What `extra` of arrivals says: that `b` are bytes to expect, that the barrier expects one less from now on.
constexpr uint32_t kExpectsBytes = 1, kDrops = 2, kArrives = 4, kCompletesBytes = 8;

const Inst *arrive(const Inst *i, uint64_t *r, Thread &t) {
  Mbarrier *barrier = find(t, i, r[i->a] + i->imm);
  if (!barrier)
    return nullptr;
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
    t.block->shadow.release(t.index, barrier->clocks);
  }
  t.block->completePhase(*barrier);
  return i + 1;
}

// What `extra` of tests says: the operand is a parity; the thread sleeps until it is so.
constexpr uint32_t kParity = 1, kSleeps = 2;

const Inst *test(const Inst *i, uint64_t *r, Thread &t) {
  Mbarrier *barrier = find(t, i, r[i->a] + i->imm);
  if (!barrier)
    return nullptr;
  const uint64_t value = r[i->b];
  const bool isComplete = i->extra & kParity ? (barrier->phase & 1) != (value & 1) : barrier->phase > value;
  r[i->d] = isComplete;
  if (isComplete) {
    t.block->shadow.acquire(t.index, barrier->completed);
    return i + 1;
  }
  if (!(i->extra & kSleeps)) {
    t.next = i + 1;
    return nullptr;
  }
  t.next = i;
  t.state = Thread::State::AtMbarrier;
  t.waitAddress = uint32_t(offsetOf(r[i->a] + i->imm));
  return nullptr;
}

// The state is a count of phases here, which does not tell the arrivals that lack.
void decodeMbarrier(Decoder &in) {
  const std::string_view what =
      in.takeOneOf({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait"});
  const bool isTest = what == "test_wait" || what == "try_wait";
  const bool expectsBytes = (what == "arrive" || what == "arrive_drop") && in.take("expect_tx");
  const bool isParity = isTest && in.take("parity");
  in.skipModifiers({"release", "acquire", "relaxed", "cta", "cluster"});
  Where where = takeSpace(in);
  if (in.take("shared::cluster"))
    where = Where::Shared;
  if (where != Where::Generic && where != Where::Shared)
    in.fail("it is in shared memory");
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
    in.inst.extra = (isParity ? kParity : 0) | (what == "try_wait" ? kSleeps : 0);
    in.inst.run = &test;
  } else {
    in.inst.b = hasValue ? in.source(first + 1, Type::U32) : in.constant(1);
    in.inst.extra = (expectsBytes || what == "expect_tx" ? kExpectsBytes : 0) | (what == "arrive_drop" ? kDrops : 0) |
                    (what == "complete_tx" ? kCompletesBytes : 0) | (hasResult ? kArrives : 0);
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
