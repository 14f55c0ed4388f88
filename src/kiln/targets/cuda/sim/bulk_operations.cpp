// Copies by the async proxy, cp.async.bulk: of bytes, and of boxes of tensors.
#include "kiln/targets/cuda/sim/bulk_operations.h"

#include "kiln/targets/cuda/sim/memory_access.h"
#include "kiln/targets/cuda/sim/tensor_map.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kiln::cudasim {

namespace {

uint64_t sharedOffset(uint64_t address) {
  return address >> kRegionBits == kSharedWindow >> kRegionBits ? address - kSharedWindow : address;
}

// One run of bytes that a copy moves: null in global memory where it is outside of the tensor.
struct Piece {
  uint64_t global, shared;
  uint32_t bytes;
  bool isInside;
};

// Starts a copy into shared memory, which brings `total` bytes to a barrier.
const Inst *startLoad(Thread &t, const Inst *i, std::vector<Piece> pieces, uint64_t barrier, uint32_t total,
                      uint8_t outside) {
  Block &block = *t.block;
  if (!t.mayUseGlobal(i))
    return nullptr;
  if (!block.mbarriers.contains(uint32_t(barrier)))
    return t.fault(i, FaultCode::IllegalInstruction,
                   fmt::format("uses {:#x} of shared memory, where no mbarrier was initialized", barrier));
  for (const Piece &piece : pieces) {
    if (piece.isInside && !block.launch->memory->find(piece.global, piece.bytes))
      return t.fault(i, FaultCode::IllegalAddress,
                     fmt::format("copies {} bytes from {:#x} of global memory, {}", piece.bytes, piece.global,
                                 block.launch->memory->explain(piece.global, piece.bytes)));
    if (!t.sharedUnaligned(i, piece.shared, piece.bytes, Access::Write))
      return nullptr;
  }
  for (const Piece &piece : pieces)
    block.shadow.setInFlight(uint32_t(piece.shared), piece.bytes, true);
  block.inFlight.push_back({t.index, i, [=, &block, thread = t.index, pieces = std::move(pieces)] {
                              for (const Piece &piece : pieces) {
                                uint8_t *to = block.sharedMemory.data() + piece.shared;
                                const uint8_t *from =
                                    piece.isInside ? block.launch->memory->find(piece.global, piece.bytes) : nullptr;
                                if (from)
                                  std::memcpy(to, from, piece.bytes);
                                else
                                  std::memset(to, outside, piece.bytes);
                                block.shadow.setWrittenAsync(thread, i->line, uint32_t(piece.shared), piece.bytes);
                              }
                              if (!block.completeBytes(uint32_t(barrier), total, thread))
                                block.setFault(block.threads[thread], i, FaultCode::IllegalInstruction,
                                               "has an mbarrier that is gone when the copy ends");
                            }});
  return i + 1;
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
    t.bulkGroups.push_back(std::make_shared<uint32_t>(0));
  std::shared_ptr<uint32_t> group = t.bulkGroups.back();
  ++*group;
  block.inFlight.push_back({t.index, i, [&block, group, pieces = std::move(pieces)] {
                              for (const Piece &piece : pieces)
                                if (uint8_t *to = piece.isInside ? block.launch->memory->find(piece.global, piece.bytes)
                                                                 : nullptr)
                                  std::memcpy(to, block.sharedMemory.data() + piece.shared, piece.bytes);
                              --*group;
                              for (Thread &thread : block.threads)
                                if (thread.state == Thread::State::AtCopies)
                                  block.wake(thread);
                            }});
  return i + 1;
}

//===--- Bytes ----------------------------------------------------------------------------------------------------===//

// `d` has the size's slot; `a` and `imm` the global address, `b` and the first of `list` the shared one, `c` and the
// second of `list` the barrier's.
template <bool isLoad> const Inst *copyBytes(const Inst *i, uint64_t *r, Thread &t) {
  const uint64_t global = r[i->a] + i->imm, shared = sharedOffset(r[i->b] + i->list[0]);
  const auto bytes = uint32_t(r[i->d]);
  if ((global | shared | bytes) % 16)
    return t.fault(
        i, FaultCode::Misaligned,
        fmt::format("copies {} bytes between {:#x} and {:#x} of shared memory; all three must be multiples of 16",
                    bytes, global, shared));
  std::vector<Piece> pieces{{global, shared, bytes, true}};
  if (isLoad)
    return startLoad(t, i, std::move(pieces), sharedOffset(r[i->c] + i->list[1]), bytes, 0);
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

// `a` has the map's address, `list` the coordinates' slots and then the two offsets; `extra` the rank.
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
  const uint64_t shared = sharedOffset(r[i->b] + offsets[0]);
  if (shared % 128)
    return t.fault(i, FaultCode::Misaligned,
                   fmt::format("copies a box at {:#x} of shared memory, which is no multiple of 128", shared));
  std::array<int32_t, TensorMap::kMostRank> origin{};
  for (uint32_t k = 0; k < i->extra; ++k)
    origin[k] = int32_t(uint32_t(r[i->list[k]]));
  std::vector<Piece> pieces;
  splitBox(map, origin, shared, pieces);
  if (isLoad)
    return startLoad(t, i, std::move(pieces), sharedOffset(r[i->c] + offsets[1]), map.boxBytes(),
                     map.fillsNan ? 0xff : 0);
  return startStore(t, i, std::move(pieces));
}

//===--- Groups ---------------------------------------------------------------------------------------------------===//

const Inst *commit(const Inst *i, uint64_t *, Thread &t) {
  t.bulkGroups.push_back(std::make_shared<uint32_t>(0));
  return i + 1;
}
// All committed groups but the newest `imm`.
const Inst *waitGroups(const Inst *i, uint64_t *, Thread &t) {
  const size_t committed = t.bulkGroups.empty() ? 0 : t.bulkGroups.size() - 1;
  for (size_t k = 0; k + i->imm < committed; ++k)
    if (*t.bulkGroups[k]) {
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
    in.take("read");
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
  in.skipModifiers({"tile", "L2::cache_hint"});
  const Operand &first = in.operand(0), &second = in.operand(1);
  const Operand &global = isLoad ? second : first, &shared = isLoad ? first : second;
  const size_t sizes = isTensor ? 0 : 1;
  in.expectOperands(2 + sizes + isLoad, 3 + sizes + isLoad);
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
  in.inst.list = in.list(std::move(slots));
  in.inst.run = isTensor ? isLoad ? &copyBox<true> : &copyBox<false> : isLoad ? &copyBytes<true> : &copyBytes<false>;
}

} // namespace kiln::cudasim
