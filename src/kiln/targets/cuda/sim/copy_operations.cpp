// Asynchronous copies of threads, cp.async.
#include "kiln/targets/cuda/sim/bulk_operations.h"
#include "kiln/targets/cuda/sim/memory_access.h"

#include <cstring>

namespace kiln::cudasim {

namespace {

// A copy takes place when its thread waits for it. Until then its target may not be touched.
bool finish(Thread &t, const Thread::Copy &copy) {
  t.block->cluster->shadow.setInFlight(t.block->shadowStart() + uint32_t(copy.target), copy.bytes, false);
  uint8_t *to = t.shared(copy.inst, copy.target, copy.bytes, Access::Write);
  if (!to)
    return false;
  std::memset(to, 0, copy.bytes);
  if (!copy.sourceBytes)
    return true;
  const uint8_t *from = t.block->launch->memory->find(copy.source, copy.sourceBytes);
  if (!from) {
    t.fault(copy.inst, FaultCode::IllegalAddress,
            fmt::format("copies {} bytes from {:#x} of global memory, {}", copy.sourceBytes, copy.source,
                        t.block->launch->memory->explain(copy.source, copy.sourceBytes)));
    return false;
  }
  std::memcpy(to, from, copy.sourceBytes);
  return true;
}

// `a` and `imm` are the source's address, `b` and the first of `list` the target's; `c` has how many bytes the source
// has, `extra` how many the target; the second of `list` is a predicate that takes the source away.
constexpr uint32_t kIgnores = 0x100;

const Inst *copy(const Inst *i, uint64_t *r, Thread &t) {
  const uint32_t bytes = i->extra & 0xff;
  const uint64_t target = r[i->b] + i->list[0], source = r[i->a] + i->imm;
  const bool ignored = i->extra & kIgnores && r[i->list[1]];
  const auto sourceBytes = ignored ? 0 : uint32_t(r[i->c]);
  if (sourceBytes > bytes)
    return t.fault(i, FaultCode::IllegalInstruction, fmt::format("copies {} bytes of {}", sourceBytes, bytes));
  if ((source & (bytes - 1)) != 0)
    return t.fault(i, FaultCode::Misaligned,
                   fmt::format("copies from {:#x}, which is no multiple of {}", source, bytes));
  // Where less than all is copied, the end is looked at when the copy takes place.
  if (sourceBytes && !t.global(i, source, sourceBytes == bytes ? bytes : 1, Access::Read))
    return nullptr;
  if (!t.shared(i, target, bytes, Access::Write))
    return nullptr;
  t.block->cluster->shadow.setInFlight(t.block->shadowStart() + uint32_t(target), bytes, true);
  t.copies.push_back({i, source, target, bytes, sourceBytes});
  return i + 1;
}

const Inst *commit(const Inst *i, uint64_t *, Thread &t) {
  t.copyGroups.push_back(std::move(t.copies));
  t.copies.clear();
  return i + 1;
}
// All groups but the newest `imm`.
const Inst *waitGroups(const Inst *i, uint64_t *, Thread &t) {
  while (t.copyGroups.size() > i->imm) {
    for (const Thread::Copy &each : t.copyGroups.front())
      if (!finish(t, each))
        return nullptr;
    t.copyGroups.erase(t.copyGroups.begin());
  }
  return i + 1;
}
const Inst *waitAll(const Inst *i, uint64_t *r, Thread &t) {
  commit(i, r, t);
  return waitGroups(i, r, t);
}

void decodeCopy(Decoder &in) {
  const bool isCg = in.take("cg");
  if (!isCg && !in.take("ca"))
    return in.fail("'.ca' or '.cg' is expected");
  Where target = takeSpace(in);
  Where source = takeSpace(in);
  // Both state spaces are named, and taken in one order.
  if (!((target == Where::Global && source == Where::Shared) || (target == Where::Shared && source == Where::Global)))
    return in.fail("it copies from global to shared memory");
  in.skipModifiers({"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"});
  in.expectOperands(3, 5);
  if (in.failed())
    return;
  source = Where::Global;
  const uint64_t bytes = in.immediate(2);
  if (isCg ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16)
    return in.fail("it copies 4, 8 or 16 bytes, with .cg 16");
  uint64_t targetOffset = 0;
  in.inst.b = in.address(in.operand(0), targetOffset);
  decodeAddress(in, in.operand(1), source, bytes);
  in.inst.extra = uint32_t(bytes);
  in.inst.c = in.constant(bytes);
  uint32_t ignores = 0;
  if (in.operandCount() > 3) {
    const Operand &last = in.operand(3);
    if (last.kind == Operand::Kind::Register && last.type == Type::Pred) {
      ignores = in.source(3, Type::Pred);
      in.inst.extra |= kIgnores;
    } else {
      in.inst.c = in.source(3, Type::U32);
    }
  }
  in.inst.list = in.list({uint32_t(targetOffset), ignores});
  in.inst.run = &copy;
}

void decodeCpAsync(Decoder &in) {
  if (!in.take("async"))
    return in.fail("'.async' is expected");
  if (in.take("bulk"))
    return decodeBulkCopy(in);
  if (in.take("commit_group")) {
    in.expectOperands(0);
    in.inst.run = &commit;
  } else if (in.take("wait_group")) {
    in.expectOperands(1);
    in.inst.imm = in.immediate(0);
    in.inst.run = &waitGroups;
  } else if (in.take("wait_all")) {
    in.expectOperands(0);
    in.inst.run = &waitAll;
  } else {
    decodeCopy(in);
  }
}

constexpr Opcode kOpcodes[] = {
    {"cp", decodeCpAsync},
};

} // namespace

std::span<const Opcode> copyOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
