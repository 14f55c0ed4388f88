// What threads of a warp do together: shuffles, votes, matches, reductions.
#include "kiln/targets/cuda/sim/operations.h"

#include <algorithm>
#include <array>

namespace kiln::cudasim {

namespace {

template <typename F> void forEachLane(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1)
    f(uint32_t(std::countr_zero(mask)));
}

//===--- Shuffles -------------------------------------------------------------------------------------------------===//

enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };

// Each lane's value goes to the lanes that ask for it; `list` has the slot of the predicate.
template <Shuffle mode> bool shuffleAll(Block &block, uint32_t warp, uint32_t mask) {
  std::array<uint64_t, 32> values;
  values.fill(0xdeadbeef); // of a lane that does not take part
  forEachLane(mask, [&](uint32_t lane) {
    const Thread &thread = block.lane(warp, lane);
    values[lane] = thread.registers[thread.next->a];
  });
  forEachLane(mask, [&](uint32_t lane) {
    Thread &thread = block.lane(warp, lane);
    const Inst *i = thread.next;
    uint64_t *r = thread.registers;
    const auto b = int32_t(r[i->b] & 31);
    const auto c = uint32_t(r[i->c]);
    const auto segment = c >> 8 & 31, clamp = c & 31;
    const auto last = int32_t((lane & segment) | (clamp & ~segment));
    const auto self = int32_t(lane);
    int32_t from = 0;
    bool inRange = false;
    switch (mode) {
    case Shuffle::Up: from = self - b, inRange = from >= last; break;
    case Shuffle::Down: from = self + b, inRange = from <= last; break;
    case Shuffle::Butterfly: from = self ^ b, inRange = from <= last; break;
    case Shuffle::Index: from = int32_t((lane & segment) | (uint32_t(b) & ~segment)), inRange = from <= last; break;
    }
    r[i->d] = values[size_t(inRange ? from : self)];
    r[i->list[1]] = inRange;
  });
  return true;
}
template <Shuffle mode> const Inst *shuffle(const Inst *i, uint64_t *r, Thread &t) {
  return t.block->meet(t, i, uint32_t(r[i->list[0]]), &shuffleAll<mode>, false);
}

void requireSync(Decoder &in) {
  if (!in.take("sync"))
    in.fail("'.sync' is expected");
}

void decodeShfl(Decoder &in) {
  requireSync(in);
  const std::string_view mode = in.takeOneOf({"up", "down", "bfly", "idx"});
  const Type type = in.takeTypeOf({Type::B32});
  in.expectOperands(5);
  if (in.failed())
    return;
  Operand result = in.operand(0);
  const Operand predicate = result.parts.empty() ? Operand() : result.parts[0];
  result.parts.clear();
  in.inst.d = in.target(result, type);
  in.inst.a = in.source(1, type);
  in.inst.b = in.source(2, type);
  in.inst.c = in.source(3, type);
  in.inst.list = in.list({in.source(4, type), in.target(predicate, Type::Pred)});
  in.inst.run = mode == "up"     ? &shuffle<Shuffle::Up>
                : mode == "down" ? &shuffle<Shuffle::Down>
                : mode == "bfly" ? &shuffle<Shuffle::Butterfly>
                : mode == "idx"  ? &shuffle<Shuffle::Index>
                                 : nullptr;
}

//===--- Votes and matches ----------------------------------------------------------------------------------------===//

enum class Vote : uint8_t { All, Any, Uniform, Ballot };

template <Vote mode> bool voteAll(Block &block, uint32_t warp, uint32_t mask) {
  uint32_t ballot = 0;
  forEachLane(mask, [&](uint32_t lane) {
    const Thread &thread = block.lane(warp, lane);
    const bool value = (thread.registers[thread.next->a] != 0) != (thread.next->imm != 0);
    ballot |= uint32_t(value) << lane;
  });
  forEachLane(mask, [&](uint32_t lane) {
    Thread &thread = block.lane(warp, lane);
    thread.registers[thread.next->d] = mode == Vote::All       ? ballot == mask
                                       : mode == Vote::Any     ? ballot != 0
                                       : mode == Vote::Uniform ? ballot == mask || ballot == 0
                                                               : ballot;
  });
  return true;
}
template <Vote mode> const Inst *vote(const Inst *i, uint64_t *r, Thread &t) {
  return t.block->meet(t, i, uint32_t(r[i->b]), &voteAll<mode>, false);
}
void decodeVote(Decoder &in) {
  requireSync(in);
  const std::string_view mode = in.takeOneOf({"all", "any", "uni", "ballot"});
  const Type type = in.takeTypeOf({mode == "ballot" ? Type::B32 : Type::Pred});
  in.expectOperands(3);
  if (in.failed())
    return;
  in.inst.d = in.target(0, type);
  bool negated = false;
  in.inst.a = in.predicate(in.operand(1), negated);
  in.inst.imm = negated;
  in.inst.b = in.source(2, Type::B32);
  in.inst.run = mode == "all"      ? &vote<Vote::All>
                : mode == "any"    ? &vote<Vote::Any>
                : mode == "uni"    ? &vote<Vote::Uniform>
                : mode == "ballot" ? &vote<Vote::Ballot>
                                   : nullptr;
}

// `c`: the slot of the predicate of match.all.
template <bool isAll> bool matchAll(Block &block, uint32_t warp, uint32_t mask) {
  auto valueOf = [&](uint32_t lane) {
    const Thread &thread = block.lane(warp, lane);
    return thread.registers[thread.next->a];
  };
  std::array<uint32_t, 32> equal{};
  forEachLane(mask, [&](uint32_t lane) {
    forEachLane(mask, [&](uint32_t other) { equal[lane] |= uint32_t(valueOf(other) == valueOf(lane)) << other; });
  });
  forEachLane(mask, [&](uint32_t lane) {
    Thread &thread = block.lane(warp, lane);
    const Inst *i = thread.next;
    thread.registers[i->d] = isAll ? equal[lane] == mask ? mask : 0 : equal[lane];
    thread.registers[i->c] = equal[lane] == mask;
  });
  return true;
}
template <bool isAll> const Inst *match(const Inst *i, uint64_t *r, Thread &t) {
  return t.block->meet(t, i, uint32_t(r[i->b]), &matchAll<isAll>, false);
}
void decodeMatch(Decoder &in) {
  const bool isAll = in.take("all");
  if (!isAll && !in.take("any"))
    in.fail("'.any' or '.all' is expected");
  requireSync(in);
  const Type type = in.takeTypeOf({Type::B32, Type::B64});
  in.expectOperands(3);
  if (in.failed())
    return;
  Operand result = in.operand(0);
  const Operand predicate = result.parts.empty() || !isAll ? Operand() : result.parts[0];
  if (isAll)
    result.parts.clear();
  in.inst.d = in.target(result, Type::B32);
  in.inst.c = in.target(predicate, Type::Pred);
  in.inst.a = in.source(1, type);
  in.inst.b = in.source(2, Type::B32);
  in.inst.run = isAll ? &match<true> : &match<false>;
}

// One of the threads, the same for all of them: the lowest.
bool electOne(Block &block, uint32_t warp, uint32_t mask) {
  const auto leader = uint32_t(std::countr_zero(mask));
  forEachLane(mask, [&](uint32_t lane) {
    Thread &thread = block.lane(warp, lane);
    thread.registers[thread.next->d] = leader;
    thread.registers[thread.next->c] = lane == leader;
  });
  return true;
}
const Inst *elect(const Inst *i, uint64_t *r, Thread &t) {
  return t.block->meet(t, i, uint32_t(r[i->b]), &electOne, false);
}
void decodeElect(Decoder &in) {
  requireSync(in);
  in.expectOperands(2);
  if (in.failed())
    return;
  Operand result = in.operand(0);
  // The leader's lane may be '_', and then the predicate has been read as a second operand of that.
  const Operand predicate = result.parts.empty() ? Operand() : result.parts[0];
  result.parts.clear();
  in.inst.d = in.target(result, Type::B32);
  in.inst.c = in.target(predicate, Type::Pred);
  in.inst.b = in.source(1, Type::B32);
  in.inst.run = &elect;
}

//===--- Reductions -----------------------------------------------------------------------------------------------===//

enum class Reduce : uint8_t { Add, Min, Max, And, Or, Xor };

template <Reduce op, typename T> bool reduceAll(Block &block, uint32_t warp, uint32_t mask) {
  bool isFirst = true;
  T result = 0;
  forEachLane(mask, [&](uint32_t lane) {
    const Thread &thread = block.lane(warp, lane);
    const T value = get<T>(thread.registers[thread.next->a]);
    if (isFirst)
      result = value;
    else
      switch (op) {
      case Reduce::Add: result = T(uint32_t(result) + uint32_t(value)); break;
      case Reduce::Min: result = std::min(result, value); break;
      case Reduce::Max: result = std::max(result, value); break;
      case Reduce::And: result &= value; break;
      case Reduce::Or: result |= value; break;
      case Reduce::Xor: result ^= value; break;
      }
    isFirst = false;
  });
  forEachLane(mask, [&](uint32_t lane) {
    Thread &thread = block.lane(warp, lane);
    thread.registers[thread.next->d] = put<T>(result);
  });
  return true;
}
template <Reduce op, typename T> const Inst *reduce(const Inst *i, uint64_t *r, Thread &t) {
  return t.block->meet(t, i, uint32_t(r[i->b]), &reduceAll<op, T>, false);
}
template <typename T> Handler pickReduce(std::string_view op) {
  return op == "add"   ? &reduce<Reduce::Add, T>
         : op == "min" ? &reduce<Reduce::Min, T>
         : op == "max" ? &reduce<Reduce::Max, T>
         : op == "and" ? &reduce<Reduce::And, T>
         : op == "or"  ? &reduce<Reduce::Or, T>
         : op == "xor" ? &reduce<Reduce::Xor, T>
                       : nullptr;
}
void decodeRedux(Decoder &in) {
  requireSync(in);
  const std::string_view op = in.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  const Type type = in.takeTypeOf({Type::U32, Type::S32, Type::B32});
  sameTypeOperands(in, type, 3);
  in.inst.run = isSigned(type) ? pickReduce<int32_t>(op) : pickReduce<uint32_t>(op);
}

// Any set of threads that has the thread itself would be right: threads of a warp need not run together.
const Inst *activeMask(const Inst *i, uint64_t *r, Thread &t) {
  r[i->d] = uint64_t(1) << t.lane();
  return i + 1;
}
void decodeActivemask(Decoder &in) {
  sameTypeOperands(in, in.takeTypeOf({Type::B32}), 1);
  in.inst.run = &activeMask;
}

constexpr Opcode kOpcodes[] = {
    {"shfl", decodeShfl},   {"vote", decodeVote},   {"match", decodeMatch},
    {"elect", decodeElect}, {"redux", decodeRedux}, {"activemask", decodeActivemask},
};

} // namespace

std::span<const Opcode> warpOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
