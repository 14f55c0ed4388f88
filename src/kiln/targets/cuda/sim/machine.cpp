#include "kiln/targets/cuda/sim/machine.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "fmt/format.h"

namespace kiln::cudasim {

//===--- Thread ---------------------------------------------------------------------------------------------------===//

void Thread::fillSpecials(const Code &code) {
  const Launch &launch = *block->launch;
  const uint32_t threadCount = launch.threadsOfBlock();
  for (const SpecialSlot &special : code.specials) {
    uint64_t value = 0;
    switch (special.kind) {
    case SpecialKind::TidX: value = tid[0]; break;
    case SpecialKind::TidY: value = tid[1]; break;
    case SpecialKind::TidZ: value = tid[2]; break;
    case SpecialKind::NtidX: value = launch.blockSize[0]; break;
    case SpecialKind::NtidY: value = launch.blockSize[1]; break;
    case SpecialKind::NtidZ: value = launch.blockSize[2]; break;
    case SpecialKind::CtaidX: value = block->id[0]; break;
    case SpecialKind::CtaidY: value = block->id[1]; break;
    case SpecialKind::CtaidZ: value = block->id[2]; break;
    case SpecialKind::NctaidX: value = launch.grid[0]; break;
    case SpecialKind::NctaidY: value = launch.grid[1]; break;
    case SpecialKind::NctaidZ: value = launch.grid[2]; break;
    case SpecialKind::ClusterIdX: value = block->cluster->id[0]; break;
    case SpecialKind::ClusterIdY: value = block->cluster->id[1]; break;
    case SpecialKind::ClusterIdZ: value = block->cluster->id[2]; break;
    case SpecialKind::NclusterIdX: value = launch.grid[0] / launch.cluster[0]; break;
    case SpecialKind::NclusterIdY: value = launch.grid[1] / launch.cluster[1]; break;
    case SpecialKind::NclusterIdZ: value = launch.grid[2] / launch.cluster[2]; break;
    case SpecialKind::ClusterCtaidX: value = block->id[0] % launch.cluster[0]; break;
    case SpecialKind::ClusterCtaidY: value = block->id[1] % launch.cluster[1]; break;
    case SpecialKind::ClusterCtaidZ: value = block->id[2] % launch.cluster[2]; break;
    case SpecialKind::ClusterNctaidX: value = launch.cluster[0]; break;
    case SpecialKind::ClusterNctaidY: value = launch.cluster[1]; break;
    case SpecialKind::ClusterNctaidZ: value = launch.cluster[2]; break;
    case SpecialKind::ClusterCtaRank: value = block->rank; break;
    case SpecialKind::ClusterNctaRank: value = launch.blocksOfCluster(); break;
    case SpecialKind::IsExplicitCluster: value = launch.hasClusters; break;
    case SpecialKind::LaneId: value = lane(); break;
    case SpecialKind::WarpId: value = index / 32; break;
    case SpecialKind::NWarpId: value = (threadCount + 31) / 32; break;
    case SpecialKind::SmId: value = 0; break;
    case SpecialKind::NSmId: value = 1; break;
    case SpecialKind::GridId: value = 1; break;
    case SpecialKind::LaneMaskEq: value = uint64_t(1) << lane(); break;
    case SpecialKind::LaneMaskLe: value = (uint64_t(2) << lane()) - 1; break;
    case SpecialKind::LaneMaskLt: value = (uint64_t(1) << lane()) - 1; break;
    case SpecialKind::LaneMaskGe: value = uint32_t(-1) << lane(); break;
    case SpecialKind::LaneMaskGt: value = uint32_t(uint64_t(0xfffffffe) << lane()); break;
    case SpecialKind::DynamicSharedBytes: value = launch.dynamicSharedBytes; break;
    case SpecialKind::TotalSharedBytes: value = launch.sharedBytes(); break;
    case SpecialKind::DynamicSharedAddress: value = launch.dynamicSharedOffset() + special.offset; break;
    case SpecialKind::LocalAddress: value = frames.back().local + special.offset; break;
    }
    registers[special.slot] = value;
  }
}

void Thread::enter(const Code &code, const Inst *call) {
  Frame frame{&code, call, 0, 0, 0};
  if (!frames.empty()) {
    const Frame &caller = frames.back();
    frame.registers = caller.registers + caller.code->frame.size();
    frame.params = caller.params + caller.code->paramBytes;
    frame.local = caller.local + caller.code->localBytes;
  }
  frames.push_back(frame);
  if (registerStack.size() < frame.registers + code.frame.size())
    registerStack.resize(frame.registers + code.frame.size());
  params.resize(frame.params + code.paramBytes, 0xff);
  if (local.size() < frame.local + code.localBytes)
    local.resize(frame.local + code.localBytes);
  registers = registerStack.data() + frame.registers;
  std::memcpy(registers, code.frame.data(), code.frame.size() * sizeof(uint64_t));
  fillSpecials(code);
  next = code.insts.data();
}

const Inst *Thread::fault(const Inst *inst, FaultCode code, std::string_view what) {
  block->setFault(*this, inst, code, what);
  next = inst;
  return nullptr;
}

static std::string_view nameOf(Access access) {
  switch (access) {
  case Access::Read:
  case Access::AsyncRead:
  case Access::StrongRead: return "reads";
  case Access::Write:
  case Access::StrongWrite: return "writes";
  case Access::StrongUpdate: return "updates";
  }
  return "";
}

void Thread::badAddress(const Inst *inst, uint64_t address, uint32_t bytes, Access access, std::string_view space,
                        std::string_view why) {
  fault(inst, FaultCode::IllegalAddress,
        fmt::format("{} {} bytes at {:#x} of {} memory, {}", nameOf(access), bytes, address, space, why));
}

bool Thread::isAligned(const Inst *inst, uint64_t address, uint32_t bytes, Access access, std::string_view space) {
  if ((address & (bytes - 1)) == 0) [[likely]]
    return true;
  fault(inst, FaultCode::Misaligned,
        fmt::format("{} {} bytes at {:#x} of {} memory, which is no multiple of {}", nameOf(access), bytes, address,
                    space, bytes));
  return false;
}

bool Thread::mayUseGlobal(const Inst *inst) {
  if (!isEarly) [[likely]]
    return true;
  fault(inst, FaultCode::LaunchFailed,
        "uses global memory before griddepcontrol.wait, while the kernels before may still run");
  return false;
}

uint8_t *Thread::global(const Inst *inst, uint64_t address, uint32_t bytes, Access access) {
  if (!isAligned(inst, address, bytes, access, "global") || !mayUseGlobal(inst)) [[unlikely]]
    return nullptr;
  uint8_t *found = block->launch->memory->find(address, bytes);
  if (!found && access == Access::Read) [[unlikely]]
    found = pastTheEnd(address, bytes);
  if (!found) [[unlikely]]
    badAddress(inst, address, bytes, access, "global", block->launch->memory->explain(address, bytes));
  else if (isStrong(access))
    block->cluster->shadow.strongAccess(number, address, access, orders);
  return found && isInOrder(inst, address, bytes, access) ? found : nullptr;
}

static std::string describeRace(const Cluster &cluster, Access access, uint64_t address, uint64_t bytes,
                                const GlobalShadow::Race &race, const Block &here) {
  return fmt::format("{} {} bytes at {:#x} of global memory, a race: thread {} wrote there at PTX line {}, and no "
                     "barrier is between the two",
                     nameOf(access), bytes, address, cluster.describe(race.thread, here), race.line);
}

bool Thread::isInOrder(const Inst *inst, uint64_t address, uint32_t bytes, Access access) {
  Cluster &cluster = *block->cluster;
  if (cluster.doubtful && !cluster.settleDoubtful()) [[unlikely]]
    return false;
  const GlobalShadow::Race race = cluster.globalShadow.note(cluster.shadow, number, inst->line, address, bytes, access);
  if (!race.isThere) [[likely]]
    return true;
  if (access == Access::Write) {
    const uint8_t *found = block->launch->memory->find(address, bytes);
    cluster.doubtful = {this, inst, address, {found, found + bytes}, race};
    return true;
  }
  fault(inst, FaultCode::LaunchFailed, describeRace(cluster, access, address, bytes, race, *block));
  return false;
}

bool Cluster::settleDoubtful() {
  const Doubtful store = *std::exchange(doubtful, std::nullopt);
  const uint8_t *now = launch->memory->find(store.address, store.before.size());
  if (now && std::equal(store.before.begin(), store.before.end(), now))
    return true;
  Block &block = *store.thread->block;
  block.setFault(*store.thread, store.inst, FaultCode::LaunchFailed,
                 describeRace(*this, Access::Write, store.address, store.before.size(), store.race, block));
  return false;
}

// Compilers make one load of some neighbours and the rest of its aligned bytes, which no device minds: all of them are
// in one page. What is past the end is no number to rely on.
uint8_t *Thread::pastTheEnd(uint64_t address, uint32_t bytes) {
  const uint64_t there = block->launch->memory->bytesFrom(address);
  if (there == 0 || bytes > straddling.size())
    return nullptr;
  straddling.fill(0xdb);
  std::memcpy(straddling.data(), block->launch->memory->find(address, there < bytes ? there : bytes),
              there < bytes ? there : bytes);
  return straddling.data();
}

uint8_t *Thread::shared(const Inst *inst, uint64_t address, uint32_t bytes, Access access) {
  if (!isAligned(inst, address, bytes, access, "shared")) [[unlikely]]
    return nullptr;
  return sharedUnaligned(inst, address, bytes, access);
}

uint8_t *Thread::sharedOfCluster(const Inst *inst, uint64_t address, uint32_t bytes, Access access) {
  uint64_t offset = 0;
  if (!isAligned(inst, address, bytes, access, "shared")) [[unlikely]]
    return nullptr;
  Block *owner = sharedOwner(inst, address, offset);
  return owner ? sharedOf(*owner, inst, offset, bytes, access) : nullptr;
}

Block *Thread::sharedOwner(const Inst *inst, uint64_t address, uint64_t &offset) {
  if (address >> kRegionBits == kSharedWindow >> kRegionBits)
    address -= kSharedWindow;
  offset = address & ((uint64_t(1) << kClusterRankShift) - 1);
  const uint64_t rank = address >> kClusterRankShift;
  const std::vector<std::unique_ptr<Block>> &blocks = block->cluster->blocks;
  if (rank == 0)
    return block;
  if (rank <= blocks.size())
    return blocks[rank - 1].get();
  fault(
      inst, FaultCode::IllegalAddress,
      fmt::format("uses {:#x} of shared memory, which is in none of the cluster's {} blocks", address, blocks.size()));
  return nullptr;
}

bool Thread::mayUseShared(const Inst *inst, const Block &owner) {
  if (&owner == block || (owner.instructions && !owner.hasEnded())) [[likely]]
    return true;
  fault(inst, FaultCode::IllegalAddress,
        fmt::format("uses the shared memory of block {} of its cluster, {}", owner.describe(),
                    owner.hasEnded() ? "all threads of which have ended; barrier.cluster is missing at its end"
                                     : "which has not begun; barrier.cluster is missing before"));
  return false;
}

uint8_t *Thread::sharedOf(Block &owner, const Inst *inst, uint64_t address, uint32_t bytes, Access access) {
  const size_t size = owner.sharedMemory.size();
  if (address > size || address + bytes > size) [[unlikely]] {
    badAddress(inst, address, bytes, access, "shared", fmt::format("of which the block has {} bytes", size));
    return nullptr;
  }
  if (!mayUseShared(inst, owner))
    return nullptr;
  SharedShadow &shadow = block->cluster->shadow;
  const uint32_t start = owner.shadowStart();
  if (isStrong(access))
    shadow.strongAccess(number, kSharedWindow + start + address, access, orders);
  SharedShadow::Problem problem = shadow.note(number, inst->line, start + uint32_t(address), bytes, access);
  if (problem.kind == SharedShadow::Problem::Kind::None) [[likely]]
    return owner.sharedMemory.data() + address;
  problem.byte -= start;
  const std::string other = block->cluster->describe(problem.otherThread, *block);
  if (problem.kind == SharedShadow::Problem::Kind::Uninitialized)
    fault(inst, FaultCode::LaunchFailed,
          fmt::format("reads {} bytes at {:#x} of shared memory, of which byte {:#x} was never written", bytes, address,
                      problem.byte));
  else if (problem.kind == SharedShadow::Problem::Kind::Barrier)
    fault(inst, FaultCode::LaunchFailed,
          fmt::format("{} {} bytes at {:#x} of shared memory, where an mbarrier lies; mbarrier.inval ends it",
                      nameOf(access), bytes, address));
  else if (problem.kind == SharedShadow::Problem::Kind::InFlight)
    fault(inst, FaultCode::LaunchFailed,
          fmt::format(
              "{} {} bytes at {:#x} of shared memory, into which an asynchronous copy of thread {} goes on, from PTX "
              "line {}; nothing has waited for its end",
              nameOf(access), bytes, address, other, problem.otherLine));
  else if (problem.kind == SharedShadow::Problem::Kind::Unfenced)
    fault(inst, FaultCode::LaunchFailed,
          fmt::format(
              "has {} bytes at {:#x} of shared memory read asynchronously, of which thread {} wrote byte {:#x} at PTX "
              "line {}; fence.proxy.async is missing between the two",
              bytes, address, other, problem.byte, problem.otherLine));
  else
    fault(inst, FaultCode::LaunchFailed,
          fmt::format("{} {} bytes at {:#x} of shared memory, a race: thread {} {} byte {:#x} at PTX line {}, and no "
                      "barrier is between the two",
                      nameOf(access), bytes, address, other, problem.otherWrote ? "wrote" : "read", problem.byte,
                      problem.otherLine));
  return nullptr;
}

uint8_t *Thread::localMemory(const Inst *inst, uint64_t address, uint32_t bytes, Access access) {
  if (!isAligned(inst, address, bytes, access, "local")) [[unlikely]]
    return nullptr;
  const Frame &frame = frames.back();
  const uint64_t size = frame.local + frame.code->localBytes;
  if (address > size || address + bytes > size) [[unlikely]] {
    badAddress(inst, address, bytes, access, "local", fmt::format("of which the thread has {} bytes", size));
    return nullptr;
  }
  return local.data() + address;
}

uint8_t *Thread::launchParams(const Inst *inst, uint64_t address, uint32_t bytes, Access access) {
  std::vector<uint8_t> &params = block->launch->params;
  if (address > params.size() || address + bytes > params.size() || writes(access)) [[unlikely]] {
    badAddress(inst, address, bytes, access, "parameter",
               writes(access) ? "which cannot be written"
                              : fmt::format("of which the kernel has {} bytes", params.size()));
    return nullptr;
  }
  return params.data() + address;
}

uint8_t *Thread::generic(const Inst *inst, uint64_t address, uint32_t bytes, Access access) {
  const uint64_t offset = address & ((uint64_t(1) << kRegionBits) - 1);
  switch (address >> kRegionBits) {
  case kSharedWindow >> kRegionBits: return sharedOfCluster(inst, offset, bytes, access);
  case kLocalWindow >> kRegionBits: return localMemory(inst, offset, bytes, access);
  case kParamWindow >> kRegionBits: return launchParams(inst, offset, bytes, access);
  default: return global(inst, address, bytes, access);
  }
}

//===--- Block ----------------------------------------------------------------------------------------------------===//

void Block::start(Cluster &owner, uint32_t rankInCluster, std::array<uint32_t, 3> blockId) {
  cluster = &owner;
  launch = owner.launch;
  rank = rankInCluster;
  id = blockId;
  const uint64_t place = (uint64_t(id[2]) * launch->grid[1] + id[1]) * launch->grid[0] + id[0];
  random = Random(randomBits(launch->options.seed, place, 1));
  const uint32_t count = launch->threadsOfBlock();
  threads.resize(count);
  sharedMemory.assign(launch->sharedBytes(), 0xff);
  barriers.fill({});
  mbarriers.clear();
  inFlight.clear();
  warpgroups.assign((count + 127) / 128, {});
  instructions = 0;
  ended = 0;
  ready.resize(count);
  std::iota(ready.begin(), ready.end(), 0);
  for (uint32_t i = 0; i < count; ++i) {
    Thread &thread = threads[i];
    thread.block = this;
    thread.index = i;
    thread.number = rank * count + i;
    thread.clusterPhases = 0;
    thread.hasArrivedAtCluster = false;
    thread.tid[0] = i % launch->blockSize[0];
    thread.tid[1] = i / launch->blockSize[0] % launch->blockSize[1];
    thread.tid[2] = i / launch->blockSize[0] / launch->blockSize[1];
    thread.state = Thread::State::Ready;
    thread.isListed = true;
    thread.isEarly = launch->options.startsEarly;
    thread.copies.clear();
    thread.copyGroups.clear();
    thread.bulkGroups.clear();
    thread.products.clear();
    thread.startedProducts = 0;
    thread.productGroups.clear();
    thread.busySlots.clear();
    thread.fencedRegisters.clear();
    thread.frames.clear();
    thread.params.clear();
    thread.enter(launch->program->kernel(), nullptr);
  }
}

uint32_t Block::lanesOfWarp(uint32_t warp) const {
  const size_t lanes = std::min<size_t>(threads.size() - warp * 32, 32);
  return lanes == 32 ? ~0u : (1u << lanes) - 1;
}

// Whether an instruction touches a register of a product that goes on, which is a fault.
bool Block::isBusy(Thread &thread, const Inst *inst) {
  const std::vector<std::vector<uint32_t>> &touched = thread.code().touched;
  const auto index = size_t(inst - thread.code().insts.data());
  if (index >= touched.size() || std::ranges::none_of(touched[index], [&](uint32_t slot) {
        return std::ranges::binary_search(thread.busySlots, slot);
      }))
    return false;
  thread.fault(inst, FaultCode::LaunchFailed,
               "touches a register of a wgmma that goes on; no wgmma.wait_group has waited for its end");
  return true;
}

void Block::runThread(Thread &thread, uint64_t budget) {
  const Inst *inst = thread.next;
  uint64_t left = budget;
  do {
    if (!thread.busySlots.empty() && isBusy(thread, inst)) [[unlikely]] {
      inst = nullptr;
      break;
    }
    if (thread.registers[inst->guard] == inst->expected) [[likely]]
      inst = inst->run(inst, thread.registers, thread);
    else
      ++inst;
  } while (inst && --left);
  if (inst)
    thread.next = inst;
  const uint64_t used = budget - left + (inst ? 0 : 1);
  instructions += used;
  launch->instructions += used;
  launch->ticks += used;
}

void Block::run(uint64_t budget) {
  const uint64_t limit = instructions + budget;
  while (!hasEnded()) {
    if (launch->hasFault)
      return;
    if (!inFlight.empty() && (ready.empty() || random.below(16) == 0)) {
      endOneInFlight();
      continue;
    }
    if (ready.empty())
      return;
    if (instructions >= limit) {
      if (instructions > launch->options.mostInstructions)
        setFault(threads[ready[0]], threads[ready[0]].next, FaultCode::LaunchTimeout,
                 fmt::format("still runs after {} instructions of its block", instructions));
      return;
    }
    const size_t place = random.below(ready.size());
    Thread &thread = threads[ready[place]];
    // Mostly until the thread stops by itself; sometimes only for a few instructions.
    const uint64_t bits = random.bits();
    runThread(thread, bits % 4 ? 1024 + (bits >> 8) % 4096 : 1 + (bits >> 8) % 48);
    if (thread.state == Thread::State::Ready)
      continue;
    thread.isListed = false;
    ready[place] = ready.back();
    ready.pop_back();
  }
  // Copies that have read all that they write end by themselves.
  for (InFlight &each : std::exchange(inFlight, {}))
    if (each.needsBlock)
      inFlight.push_back(std::move(each));
    else
      each.end();
  for (const Warpgroup &group : warpgroups)
    if (!group.ahead.empty() && !launch->hasFault)
      setFault(threads[size_t(&group - warpgroups.data()) * 128], group.ahead.front(), FaultCode::LaunchFailed,
               "is of all four warps of a warpgroup, and some of them have ended without it");
  if (!inFlight.empty()) {
    const InFlight &first = inFlight.front();
    setFault(threads[first.thread], first.inst, FaultCode::LaunchFailed,
             "has started a copy that goes on when all threads of the block have ended");
  }
}

void Block::end(Thread &thread) {
  thread.state = Thread::State::Ended;
  ++ended;
  cluster->end(thread);
  // Those of its warp may have waited for it alone.
  const uint32_t warp = thread.index / 32;
  for (uint32_t lanes = lanesOfWarp(warp); lanes; lanes &= lanes - 1) {
    Thread &other = lane(warp, uint32_t(std::countr_zero(lanes)));
    if (other.state == Thread::State::AtMeeting && (other.waitMask >> thread.lane() & 1))
      tryMeeting(warp, other.waitMask, other.meeting, other.sameInstruction);
  }
}

const Inst *Block::meet(Thread &thread, const Inst *inst, uint32_t mask, Meeting meeting, bool sameInstruction) {
  thread.next = inst;
  if (!(mask >> thread.lane() & 1))
    return thread.fault(inst, FaultCode::IllegalInstruction,
                        fmt::format("has the mask {:#x} of threads, in which it is not itself", mask));
  thread.state = Thread::State::AtMeeting;
  thread.waitMask = mask;
  thread.meeting = meeting;
  thread.sameInstruction = sameInstruction;
  tryMeeting(thread.index / 32, mask, meeting, sameInstruction);
  return nullptr;
}

bool Block::tryMeeting(uint32_t warp, uint32_t mask, Meeting meeting, bool sameInstruction) {
  uint32_t present = 0;
  const Inst *place = nullptr;
  const uint32_t existing = sameInstruction ? mask : mask & lanesOfWarp(warp);
  if (existing & ~lanesOfWarp(warp))
    return false;
  for (uint32_t lanes = existing; lanes; lanes &= lanes - 1) {
    const auto number = uint32_t(std::countr_zero(lanes));
    const Thread &other = lane(warp, number);
    if (other.state == Thread::State::Ended && !sameInstruction)
      continue;
    if (other.state != Thread::State::AtMeeting || other.waitMask != mask || other.meeting != meeting)
      return false;
    if (place && (sameInstruction ? other.next != place : other.next->run != place->run))
      return false;
    place = other.next;
    present |= 1u << number;
  }
  if (!present || !meeting(*this, warp, present))
    return false;
  for (uint32_t lanes = present; lanes; lanes &= lanes - 1) {
    Thread &member = lane(warp, uint32_t(std::countr_zero(lanes)));
    ++member.next;
    wake(member);
  }
  return true;
}

void Block::wake(Thread &thread) {
  thread.state = Thread::State::Ready;
  if (!thread.isListed)
    ready.push_back(thread.index);
  thread.isListed = true;
}

const Inst *Block::arrive(Thread &thread, const Inst *inst, uint32_t number, uint32_t expected, bool value) {
  thread.next = inst;
  if (number >= barriers.size())
    return thread.fault(inst, FaultCode::IllegalInstruction, fmt::format("names barrier {}; there are 16", number));
  const auto all = uint32_t(threads.size());
  const uint32_t warps = (all + 31) / 32 * 32;
  if (expected % 32 != 0 || expected > warps)
    return thread.fault(
        inst, FaultCode::IllegalInstruction,
        fmt::format("expects {} threads, which must be a multiple of 32 and at most {}", expected, warps));
  expected = expected ? std::min(expected, all) : all;
  Barrier &barrier = barriers[number];
  if (barrier.arrived && barrier.expected != expected)
    return thread.fault(
        inst, FaultCode::IllegalInstruction,
        fmt::format("expects {} threads at barrier {}, at which others expect {}", expected, number, barrier.expected));
  if (barrier.members[thread.index])
    return thread.fault(inst, FaultCode::IllegalInstruction,
                        fmt::format("comes to barrier {} a second time, before the other threads have come", number));
  barrier.expected = expected;
  barrier.votes += value;
  barrier.members.set(thread.index);
  ++barrier.arrived;
  if (!(inst->imm & kBarrierArrives)) {
    thread.state = Thread::State::AtBarrier;
    thread.barrier = number;
    barrier.waiting.push_back(thread.index);
  } else {
    cluster->shadow.release(thread.number, barrier.clocks);
  }
  if (barrier.arrived == expected && !complete(barrier, inst))
    return nullptr;
  return inst->imm & kBarrierArrives ? inst + 1 : nullptr;
}

bool Block::complete(Barrier &barrier, const Inst *inst) {
  // Aligned barriers are executed by a warp as a whole.
  std::ranges::sort(barrier.waiting);
  for (size_t i = 0; i + 1 < barrier.waiting.size(); ++i) {
    const Thread &a = threads[barrier.waiting[i]], &b = threads[barrier.waiting[i + 1]];
    if (a.index / 32 == b.index / 32 && a.next != b.next && (a.next->imm & b.next->imm & kBarrierAligned)) {
      setFault(b, b.next, FaultCode::LaunchFailed,
               fmt::format("is at a barrier, and thread {} of its warp is at another one, at PTX line {}; an aligned "
                           "barrier is for whole warps",
                           describe(a.index), a.next->line));
      return false;
    }
  }
  const uint32_t votes = barrier.votes, arrived = barrier.arrived;
  if (barrier.waiting.size() == threads.size() && cluster->blocks.size() == 1) {
    cluster->shadow.meetAll();
  } else {
    for (uint32_t member : barrier.waiting)
      cluster->shadow.release(threads[member].number, barrier.clocks);
    for (uint32_t member : barrier.waiting)
      cluster->shadow.acquire(threads[member].number, barrier.clocks);
  }
  std::vector<uint32_t> waiting = std::move(barrier.waiting);
  barrier = {};
  for (uint32_t member : waiting) {
    Thread &thread = threads[member];
    const Inst *at = thread.next;
    switch (at->imm & kBarrierReduces) {
    case kBarrierAnd: thread.registers[at->d] = votes == arrived; break;
    case kBarrierOr: thread.registers[at->d] = votes != 0; break;
    case kBarrierCount: thread.registers[at->d] = votes; break;
    default: break;
    }
    ++thread.next;
    wake(thread);
  }
  return true;
}

void Block::endOneInFlight() {
  const size_t place = random.below(inFlight.size());
  const InFlight operation = std::move(inFlight[place]);
  inFlight.erase(inFlight.begin() + long(place));
  operation.end();
}

bool Block::arriveInWarpgroup(Thread &thread, const Inst *inst) {
  Warpgroup &group = warpgroups[thread.index / 128];
  if ((thread.index / 128 + 1) * 128 > threads.size()) {
    setFault(thread, inst, FaultCode::IllegalInstruction,
             fmt::format("is of a warpgroup of 128 threads, and its block has {} threads", threads.size()));
    return false;
  }
  const uint64_t number = group.arrived[thread.index / 32 % 4]++;
  if (number - group.first == group.ahead.size())
    group.ahead.push_back(inst);
  if (const Inst *others = group.ahead[number - group.first]; others != inst) {
    setFault(
        thread, inst, FaultCode::LaunchFailed,
        fmt::format("is of all four warps of a warpgroup, of which others are at PTX line {} instead", others->line));
    return false;
  }
  while (!group.ahead.empty() && *std::ranges::min_element(group.arrived) > group.first) {
    group.ahead.pop_front();
    ++group.first;
  }
  return true;
}

bool Block::explainDeadlock() {
  for (Thread &thread : threads)
    if (thread.state == Thread::State::AtMbarrier) {
      const Mbarrier &barrier = mbarriers[thread.waitAddress];
      setFault(
          thread, thread.next, FaultCode::LaunchFailed,
          fmt::format("waits for the mbarrier at {:#x} of shared memory, whose phase {} lacks {} of {} arrivals and {} "
                      "bytes; {} of the block's {} threads have ended, and the block cannot proceed",
                      thread.waitAddress, barrier.phase, barrier.pending, barrier.expected, barrier.bytes, ended,
                      threads.size()));
      return true;
    }
  for (Thread &thread : threads) {
    if (thread.state == Thread::State::AtBarrier) {
      const Barrier &barrier = barriers[thread.barrier];
      setFault(
          thread, thread.next, FaultCode::LaunchFailed,
          fmt::format("waits at barrier {} for {} threads, of which {} have come; {} of the block's {} threads have "
                      "ended, and the block cannot proceed",
                      thread.barrier, barrier.expected, barrier.arrived, ended, threads.size()));
      return true;
    }
  }
  for (Thread &thread : threads) {
    if (thread.state == Thread::State::AtMeeting) {
      setFault(
          thread, thread.next, FaultCode::LaunchFailed,
          fmt::format("waits for the threads {:#x} of its warp, of which some do not come to this instruction; {} of "
                      "the block's {} threads have ended, and the block cannot proceed",
                      thread.waitMask, ended, threads.size()));
      return true;
    }
  }
  return false;
}

std::string Block::describe() const {
  return fmt::format("({}, {}, {})", id[0], id[1], id[2]);
}

std::string Block::describe(uint32_t thread) const {
  const uint32_t *tid = threads[thread].tid;
  return fmt::format("({}, {}, {})", tid[0], tid[1], tid[2]);
}

void Block::setFault(const Thread &thread, const Inst *inst, FaultCode code, std::string_view what) {
  if (launch->hasFault)
    return;
  launch->hasFault = true;
  const Code &function = thread.code();
  const Module &module = *launch->program->module;
  std::string place, text = "the end of the function";
  if (const auto index = size_t(inst - function.insts.data()); index < function.function->body.size()) {
    const Instruction &instruction = function.function->body[index];
    text = fmt::format("instruction '{}'", instruction.text);
    place = fmt::format(" at PTX line {}", instruction.line);
    auto file = module.files.find(instruction.sourceFile);
    if (file != module.files.end() && instruction.sourceLine)
      place += fmt::format(" ({}:{})", file->second, instruction.sourceLine);
  }
  launch->fault = {code,
                   fmt::format("kernel '{}', {}{}, block {}, thread {}: {}", launch->program->kernel().function->name,
                               text, place, describe(), describe(thread.index), what)};
}

} // namespace kiln::cudasim
