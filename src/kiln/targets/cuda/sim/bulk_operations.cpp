// Copies by the async proxy, cp.async.bulk: of bytes, and of boxes of tensors.
#include "kiln/targets/cuda/sim/bulk_operations.h"

#include "kiln/targets/cuda/sim/memory_access.h"
#include "kiln/targets/cuda/sim/tensor_map.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kiln::cudasim {

namespace {

// One run of bytes that a copy moves: null in global memory where it is outside of the tensor.
struct Piece {
  uint64_t global, shared;
  uint32_t bytes;
  bool isInside;
};

// Writes what a copy brings into a block, and tells its barrier there.
void endLoad(Block &block, const Thread &thread, const Inst *i, const std::vector<Piece> &pieces, uint64_t barrier,
             uint32_t total, uint8_t outside) {
  const Block &from = *thread.block;
  if (block.hasEnded() && &block != &from)
    return thread.block->setFault(
        thread, i, FaultCode::IllegalAddress,
        fmt::format("copies into the shared memory of block {} of its cluster, all threads of "
                    "which have ended; barrier.cluster is missing at its end",
                    block.describe()));
  for (const Piece &piece : pieces) {
    uint8_t *to = block.sharedMemory.data() + piece.shared;
    if (const uint8_t *source = piece.isInside ? block.launch->memory->find(piece.global, piece.bytes) : nullptr)
      std::memcpy(to, source, piece.bytes);
    else
      std::memset(to, outside, piece.bytes);
    block.cluster->shadow.setWrittenAsync(thread.number, i->line, block.shadowStart() + uint32_t(piece.shared),
                                          piece.bytes);
  }
  if (!block.completeBytes(uint32_t(barrier), total, thread.number))
    thread.block->setFault(thread, i, FaultCode::IllegalInstruction, "has an mbarrier that is gone when the copy ends");
}

// Starts a copy into the shared memory of each of `blocks`, at the same offsets, which brings `total` bytes to the
// barrier of each.
const Inst *startLoad(Thread &t, const Inst *i, std::span<Block *const> blocks, std::vector<Piece> pieces,
                      uint64_t barrier, uint32_t total, uint8_t outside) {
  if (!t.mayUseGlobal(i))
    return nullptr;
  for (const Piece &piece : pieces)
    if (piece.isInside && !t.block->launch->memory->find(piece.global, piece.bytes))
      return t.fault(i, FaultCode::IllegalAddress,
                     fmt::format("copies {} bytes from {:#x} of global memory, {}", piece.bytes, piece.global,
                                 t.block->launch->memory->explain(piece.global, piece.bytes)));
  auto shared = std::make_shared<const std::vector<Piece>>(std::move(pieces));
  for (Block *block : blocks) {
    if (!mayUseMbarrier(t, i, *block, barrier, /*isAsync=*/true))
      return nullptr;
    for (const Piece &piece : *shared)
      if (!t.sharedOf(*block, i, piece.shared, piece.bytes, Access::Write))
        return nullptr;
    for (const Piece &piece : *shared)
      block->cluster->shadow.setInFlight(block->shadowStart() + uint32_t(piece.shared), piece.bytes, true);
    t.block->inFlight.push_back({t.index, i, [=, &t] { endLoad(*block, t, i, *shared, barrier, total, outside); }});
  }
  return i + 1;
}

// Where a copy into shared memory goes: the blocks of its mask, or the one that its addresses name.
struct Destination {
  std::vector<Block *> blocks;
  uint64_t data = 0, barrier = 0; // offsets
};

// False where that is a fault. `mask` is null where there is none.
bool findDestination(Thread &t, const Inst *i, uint64_t data, uint64_t barrier, const uint64_t *mask,
                     Destination &found) {
  Block *dataOwner = t.sharedOwner(i, data, found.data);
  Block *barrierOwner = dataOwner ? t.sharedOwner(i, barrier, found.barrier) : nullptr;
  if (!barrierOwner)
    return false;
  if (dataOwner != barrierOwner) {
    t.fault(i, FaultCode::IllegalAddress, "has its mbarrier in another block's shared memory than what it copies to");
    return false;
  }
  if (!mask) {
    found.blocks = {dataOwner};
    return true;
  }
  const std::vector<std::unique_ptr<Block>> &blocks = t.block->cluster->blocks;
  const auto bits = uint16_t(*mask);
  if (bits == 0 || bits >> blocks.size()) {
    t.fault(i, FaultCode::IllegalInstruction,
            fmt::format("copies to the blocks of the mask {:#x}; the cluster has {}", bits, blocks.size()));
    return false;
  }
  for (size_t rank = 0; rank < blocks.size(); ++rank)
    if (bits >> rank & 1)
      found.blocks.push_back(blocks[rank].get());
  return true;
}

void wakeWaiting(Block &block) {
  for (Thread &thread : block.threads)
    if (thread.state == Thread::State::AtCopies)
      block.wake(thread);
}

void writePieces(Block &block, const std::vector<Piece> &pieces, const std::vector<std::vector<uint8_t>> &bytes) {
  for (size_t k = 0; k < pieces.size(); ++k)
    if (uint8_t *to = pieces[k].isInside ? block.launch->memory->find(pieces[k].global, pieces[k].bytes) : nullptr)
      std::memcpy(to, bytes[k].data(), pieces[k].bytes);
}

// Starts a copy out of shared memory, as a part of the thread's group that is not committed.
const Inst *startStore(Thread &t, const Inst *i, std::vector<Piece> pieces) {
  Block &block = *t.block;
  if (!t.mayUseGlobal(i))
    return nullptr;
  for (const Piece &piece : pieces) {
    if (piece.isInside && !block.launch->memory->find(piece.global, piece.bytes))
      return t.fault(i, FaultCode::IllegalAddress,
                     fmt::format("copies {} bytes to {:#x} of global memory, {}", piece.bytes, piece.global,
                                 block.launch->memory->explain(piece.global, piece.bytes)));
    if (!t.sharedUnaligned(i, piece.shared, piece.bytes, Access::AsyncRead))
      return nullptr;
  }
  if (t.bulkGroups.empty())
    t.bulkGroups.push_back(std::make_shared<Thread::BulkGroup>());
  std::shared_ptr<Thread::BulkGroup> group = t.bulkGroups.back();
  ++group->reading;
  ++group->writing;
  // It reads until it ends, whatever the thread has told others since it began.
  block.inFlight.push_back({t.index, i, [&t, i, &block, group, pieces = std::move(pieces)] {
                              for (const Piece &piece : pieces)
                                if (!t.sharedUnaligned(i, piece.shared, piece.bytes, Access::AsyncRead))
                                  return;
                              std::vector<std::vector<uint8_t>> held;
                              for (const Piece &piece : pieces) {
                                const uint8_t *from = block.sharedMemory.data() + piece.shared;
                                held.emplace_back(from, from + piece.bytes);
                              }
                              --group->reading;
                              wakeWaiting(block);
                              block.inFlight.push_back({t.index, i,
                                                        [&block, group, pieces, held = std::move(held)] {
                                                          writePieces(block, pieces, held);
                                                          --group->writing;
                                                          wakeWaiting(block);
                                                        },
                                                        /*needsBlock=*/false});
                            }});
  return i + 1;
}

// A copy out of shared memory is of the block's own.
bool findSource(Thread &t, const Inst *i, uint64_t address, uint64_t &offset) {
  const Block *owner = t.sharedOwner(i, address, offset);
  if (owner && owner != t.block)
    t.fault(i, FaultCode::IllegalAddress, "copies from another block's shared memory to global memory");
  return owner == t.block;
}

//===--- Bytes ----------------------------------------------------------------------------------------------------===//

// What is added to an address in a register may be negative.
uint64_t extended(uint32_t offset) {
  return uint64_t(int64_t(int32_t(offset)));
}

// Of multicasts, the third of what `list` ends with is the slot of the mask; else 0.
const uint64_t *maskOf(const uint32_t *ending, const uint64_t *r) {
  return ending[2] ? r + ending[2] : nullptr;
}

// `d` has the size's slot; `a` and `imm` the global address, `b` and the first of `list` the shared one, `c` and the
// second of `list` the barrier's.
template <bool isLoad> const Inst *copyBytes(const Inst *i, uint64_t *r, Thread &t) {
  Destination to;
  const uint64_t global = r[i->a] + i->imm, address = r[i->b] + extended(i->list[0]);
  if (isLoad ? !findDestination(t, i, address, r[i->c] + extended(i->list[1]), maskOf(i->list, r), to)
             : !findSource(t, i, address, to.data))
    return nullptr;
  const uint64_t shared = to.data;
  const auto bytes = uint32_t(r[i->d]);
  if ((global | shared | bytes) % 16)
    return t.fault(
        i, FaultCode::Misaligned,
        fmt::format("copies {} bytes between {:#x} and {:#x} of shared memory; all three must be multiples of 16",
                    bytes, global, shared));
  std::vector<Piece> pieces{{global, shared, bytes, true}};
  if (isLoad)
    return startLoad(t, i, to.blocks, std::move(pieces), to.barrier, bytes, 0);
  return startStore(t, i, std::move(pieces));
}

//===--- Tensors --------------------------------------------------------------------------------------------------===//

// The rows of a box in 16 bytes each, in which the swizzle keeps them together.
void splitBox(const TensorMap &map, std::span<const int32_t> origin, uint64_t shared, std::vector<Piece> &pieces) {
  const uint32_t rowElements = map.box[0];
  uint32_t rows = 1;
  for (uint32_t i = 1; i < map.rank; ++i)
    rows *= map.box[i];
  for (uint32_t row = 0; row < rows; ++row) {
    uint64_t global = map.address;
    bool isInside = true;
    for (uint32_t i = 1, rest = row; i < map.rank; rest /= map.box[i], ++i) {
      const int64_t index = int64_t(origin[i]) + rest % map.box[i];
      isInside &= index >= 0 && index < int64_t(map.extents[i]);
      global += uint64_t(index) * map.strides[i - 1];
    }
    const uint64_t rowStart = shared + uint64_t(row) * rowElements * map.elementBytes;
    const uint32_t perChunk = 16 / map.elementBytes;
    for (uint32_t first = 0; first < rowElements; first += perChunk) {
      const int64_t index = int64_t(origin[0]) + first;
      const uint64_t place = map.placeOf(rowStart + uint64_t(first) * map.elementBytes);
      if (isInside && index >= 0 && index + perChunk <= map.extents[0]) {
        pieces.push_back({global + uint64_t(index) * map.elementBytes, place, 16, true});
        continue;
      }
      for (uint32_t k = 0; k < perChunk; ++k)
        pieces.push_back({global + uint64_t(index + k) * map.elementBytes, place + k * map.elementBytes,
                          map.elementBytes, isInside && index + k >= 0 && index + k < int64_t(map.extents[0])});
    }
  }
}

// `a` has the map's address, `list` the coordinates' slots and then what copyBytes has there; `extra` the rank.
template <bool isLoad> const Inst *copyBox(const Inst *i, uint64_t *r, Thread &t) {
  const uint64_t address = r[i->a] + i->imm;
  uint8_t *bytes = t.generic(i, address, 64, Access::Read);
  if (!bytes || !t.generic(i, address + 64, 64, Access::Read))
    return nullptr;
  TensorMap map;
  std::memcpy(&map, bytes, sizeof(map));
  if (map.magic != TensorMap::kMagic || map.rank != i->extra)
    return t.fault(i, FaultCode::IllegalInstruction,
                   map.magic == TensorMap::kMagic
                       ? fmt::format("has {} coordinates for a tensor map of {} dimensions", i->extra, map.rank)
                       : "has no tensor map at its address");
  const uint32_t *offsets = i->list + i->extra;
  Destination to;
  if (isLoad ? !findDestination(t, i, r[i->b] + extended(offsets[0]), r[i->c] + extended(offsets[1]),
                                maskOf(offsets, r), to)
             : !findSource(t, i, r[i->b] + extended(offsets[0]), to.data))
    return nullptr;
  const uint64_t shared = to.data;
  if (shared % 128)
    return t.fault(i, FaultCode::Misaligned,
                   fmt::format("copies a box at {:#x} of shared memory, which is no multiple of 128", shared));
  std::array<int32_t, TensorMap::kMostRank> origin{};
  for (uint32_t k = 0; k < i->extra; ++k)
    origin[k] = int32_t(uint32_t(r[i->list[k]]));
  uint64_t boxBytes = map.elementBytes;
  for (uint32_t k = 0; k < map.rank; ++k)
    boxBytes = std::min<uint64_t>(boxBytes * map.box[k], UINT32_MAX);
  if (boxBytes > t.block->sharedMemory.size())
    return t.fault(i, FaultCode::IllegalAddress,
                   fmt::format("copies a box of {} bytes; the block has {} of shared memory", boxBytes,
                               t.block->sharedMemory.size()));
  std::vector<Piece> pieces;
  splitBox(map, origin, shared, pieces);
  if (isLoad)
    return startLoad(t, i, to.blocks, std::move(pieces), to.barrier, map.boxBytes(), map.fillsNan ? 0xff : 0);
  return startStore(t, i, std::move(pieces));
}

//===--- Groups ---------------------------------------------------------------------------------------------------===//

const Inst *commit(const Inst *i, uint64_t *, Thread &t) {
  t.bulkGroups.push_back(std::make_shared<Thread::BulkGroup>());
  return i + 1;
}
// All committed groups but the newest `imm`; `extra` says that only their reads are waited for.
const Inst *waitGroups(const Inst *i, uint64_t *, Thread &t) {
  const size_t committed = t.bulkGroups.empty() ? 0 : t.bulkGroups.size() - 1;
  for (size_t k = 0; k + i->imm < committed; ++k)
    if (i->extra ? t.bulkGroups[k]->reading : t.bulkGroups[k]->writing) {
      t.next = i;
      t.state = Thread::State::AtCopies;
      return nullptr;
    }
  return i + 1;
}

} // namespace

void decodeBulkCopy(Decoder &in) {
  if (in.take("commit_group")) {
    in.expectOperands(0);
    in.inst.run = &commit;
    return;
  }
  if (in.take("wait_group")) {
    in.inst.extra = in.take("read");
    in.expectOperands(1);
    in.inst.imm = in.immediate(0);
    in.inst.run = &waitGroups;
    return;
  }
  const bool isTensor = in.take("tensor");
  const std::string_view rank = isTensor ? in.takeOneOf({"1d", "2d", "3d", "4d", "5d"}) : "";
  const std::vector<std::string> &modifiers = in.instruction().modifiers;
  auto place = [&](std::string_view name) { return std::ranges::find(modifiers, name) - modifiers.begin(); };
  const bool isStore = in.take("bulk_group");
  const bool isLoad = !isStore && in.take("mbarrier::complete_tx::bytes");
  if ((isTensor && rank.empty()) || (!isLoad && !isStore))
    return in.fail("'.bulk_group' or '.mbarrier::complete_tx::bytes' is expected");
  const std::string_view space = in.takeOneOf({"shared::cta", "shared::cluster"});
  if (space.empty() || !in.take("global") || (place(space) < place("global")) != isLoad)
    return in.fail("it copies from global to shared memory with an mbarrier, and back with a group");
  const bool isMulticast = in.take("multicast::cluster");
  if (isMulticast && (!isLoad || space != "shared::cluster"))
    return in.fail("it copies from global memory to shared::cluster where it copies to several blocks");
  const bool hasHint = in.take("L2::cache_hint");
  in.take("tile");
  const Operand &first = in.operand(0), &second = in.operand(1);
  const Operand &global = isLoad ? second : first, &shared = isLoad ? first : second;
  const size_t sizes = isTensor ? 0 : 1;
  in.expectOperands(2 + sizes + isLoad + isMulticast + hasHint);
  if (in.failed())
    return;
  std::vector<uint32_t> slots;
  if (isTensor) {
    in.inst.extra = uint32_t(rank[0] - '0');
    if (global.parts.size() != 2 || global.parts[1].parts.size() != in.inst.extra)
      return in.fail("a tensor map and its coordinates are expected in brackets");
    for (const Operand &each : global.parts[1].parts)
      slots.push_back(in.source(each, Type::S32));
    if (global.parts[0].kind == Operand::Kind::Variable)
      return in.fail("a tensor map has a generic address, such as cvta.param gives");
    in.inst.a = in.address(global, in.inst.imm);
  } else {
    in.inst.a = in.address(global, in.inst.imm);
    in.inst.d = in.source(2, Type::U32);
  }
  uint64_t sharedAt = 0, barrierAt = 0;
  in.inst.b = in.address(shared, sharedAt);
  if (isLoad)
    in.inst.c = in.address(in.operand(2 + sizes), barrierAt);
  slots.push_back(uint32_t(sharedAt));
  slots.push_back(uint32_t(barrierAt));
  slots.push_back(isMulticast ? in.source(3 + sizes, Type::U16) : 0);
  in.inst.list = in.list(std::move(slots));
  in.inst.run = isTensor ? isLoad ? &copyBox<true> : &copyBox<false> : isLoad ? &copyBytes<true> : &copyBytes<false>;
}

} // namespace kiln::cudasim
