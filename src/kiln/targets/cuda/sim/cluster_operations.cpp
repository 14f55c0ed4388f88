// What blocks of a cluster do together: barrier.cluster, and addresses of each other's shared memory.
#include "kiln/targets/cuda/sim/memory_access.h"

namespace kiln::cudasim {

namespace {

// `imm` is whether the arrival releases.
const Inst *arrive(const Inst *i, uint64_t *, Thread &t) {
  return t.block->cluster->arrive(t, i, i->imm);
}
const Inst *wait(const Inst *i, uint64_t *, Thread &t) {
  return t.block->cluster->wait(t, i);
}

// What mapa and getctarank are given: an address of shared memory, or, where `imm` is its window, a generic one. Null
// where it is neither, which is told.
const Block *ownerOf(const Inst *i, const uint64_t *r, Thread &t, uint64_t &offset) {
  if (!i->imm || r[i->a] >> kRegionBits == i->imm >> kRegionBits)
    return t.sharedOwner(i, r[i->a], offset);
  t.fault(i, FaultCode::IllegalAddress, fmt::format("has the address {:#x}, which is not of shared memory", r[i->a]));
  return nullptr;
}
const Inst *mapToRank(const Inst *i, uint64_t *r, Thread &t) {
  uint64_t offset = 0;
  const auto rank = uint32_t(r[i->b]);
  const auto blocks = uint32_t(t.block->cluster->blocks.size());
  if (rank >= blocks)
    return t.fault(i, FaultCode::IllegalInstruction,
                   fmt::format("maps to rank {} of a cluster that has {} blocks", rank, blocks));
  if (!ownerOf(i, r, t, offset))
    return nullptr;
  r[i->d] = i->imm + (uint64_t(rank + 1) << kClusterRankShift | offset);
  return i + 1;
}

const Inst *rankOf(const Inst *i, uint64_t *r, Thread &t) {
  uint64_t offset = 0;
  const Block *owner = ownerOf(i, r, t, offset);
  if (!owner)
    return nullptr;
  r[i->d] = owner->rank;
  return i + 1;
}

// mapa{.shared::cluster}.type d, a, b and getctarank{.shared::cluster}.type d, a.
void decodeRank(Decoder &in, bool isMap) {
  const bool isShared = in.take("shared::cluster");
  const Type type = in.takeTypeOf({Type::U32, Type::U64});
  in.expectOperands(isMap ? 3 : 2);
  if (in.failed())
    return;
  in.inst.d = in.target(0, isMap ? type : Type::U32);
  in.inst.a = in.source(1, type);
  if (isMap)
    in.inst.b = in.source(2, Type::U32);
  in.inst.imm = isShared ? 0 : kSharedWindow;
  in.inst.run = isMap ? &mapToRank : &rankOf;
}

constexpr Opcode kOpcodes[] = {
    {"mapa", [](Decoder &in) { decodeRank(in, true); }},
    {"getctarank", [](Decoder &in) { decodeRank(in, false); }},
};

} // namespace

void decodeClusterBarrier(Decoder &in) {
  const bool arrives = in.take("arrive");
  if (!arrives && !in.take("wait"))
    return in.fail("'.arrive' or '.wait' is expected");
  const std::string_view order = arrives ? in.takeOneOf({"release", "relaxed"}) : in.takeOneOf({"acquire"});
  in.take("aligned");
  in.expectOperands(0);
  in.inst.imm = order != "relaxed";
  in.inst.run = arrives ? &arrive : &wait;
}

std::span<const Opcode> clusterOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
