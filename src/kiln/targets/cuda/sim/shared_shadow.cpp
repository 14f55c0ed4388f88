#include "kiln/targets/cuda/sim/shared_shadow.h"

#include <algorithm>

#include "kiln/base/random_bits.h"

namespace kiln::cudasim {

void SharedShadow::reset(uint32_t byteCount, uint32_t threads) {
  bytes.assign(byteCount, Byte());
  clocks.assign(threads, 1);
  known.resize(threads);
  knownAsyncReads.resize(threads);
  for (auto *clocksOfAll : {&known, &knownAsyncReads})
    for (Clocks &each : *clocksOfAll)
      each.clear();
  proxyFences.assign(threads, ProxyFence());
  fences.assign(threads, ProxyFence());
  seen.assign(threads, Clocks());
  floor = 0;
  hasVectors = false;
  strongAddresses.clear();
}

SharedShadow::Problem SharedShadow::note(uint32_t thread, uint32_t line, uint32_t offset, uint32_t count,
                                         Access access) {
  const uint32_t clock = clocks[thread];
  const bool strong = isStrong(access);
  for (uint32_t i = offset; i < offset + count; ++i) {
    Byte &byte = bytes[i];
    if (byte.isBarrier) [[unlikely]]
      return {Problem::Kind::Barrier, i};
    if (byte.isInFlight) [[unlikely]]
      return {Problem::Kind::InFlight, i, byte.writer, byte.writeLine, true};
    if (reads(access) && !byte.writeClock) [[unlikely]]
      return {Problem::Kind::Uninitialized, i};
    if (byte.writeClock > floor && !(strong && byte.strongWrite) && !isOrdered(thread, byte.writer, byte.writeClock))
        [[unlikely]]
      return {Problem::Kind::Race, i, byte.writer, byte.writeLine, true};
    if (access == Access::AsyncRead && !byte.asyncWrite) {
      const ProxyFence &own = proxyFences[thread];
      if (byte.writeClock > proxyFences[byte.writer].clock && byte.writeClock > own.floor &&
          (own.known.empty() || byte.writeClock > own.known[byte.writer]))
        return {Problem::Kind::Unfenced, i, byte.writer, byte.writeLine, true};
    }
    if (writes(access)) {
      if (byte.readClock > floor && !(strong && byte.strongRead)) {
        if (!isReadOver(thread, byte, byte.reader, byte.readClock)) [[unlikely]]
          return {Problem::Kind::Race, i, byte.reader, byte.readLine, false};
        for (uint32_t k = 0; k < byte.others; ++k)
          if (byte.otherClocks[k] > floor && !isReadOver(thread, byte, byte.otherReaders[k], byte.otherClocks[k]))
              [[unlikely]]
            return {Problem::Kind::Race, i, byte.otherReaders[k], byte.readLine, false};
      }
      byte.others = 0;
      byte.writeClock = clock;
      byte.writer = uint16_t(thread);
      byte.writeLine = line;
      byte.strongWrite = strong;
      byte.asyncWrite = false;
    }
    if (reads(access)) {
      if (byte.reader != thread && byte.readClock > floor)
        noteReader(thread, byte);
      byte.strongRead = strong && (byte.readClock <= floor || byte.strongRead);
      byte.asyncRead = access == Access::AsyncRead && (byte.readClock <= floor || byte.asyncRead);
      byte.readClock = clock;
      byte.reader = uint16_t(thread);
      byte.readLine = line;
    }
  }
  return {};
}

// The last reader makes room for this one.
void SharedShadow::noteReader(uint32_t thread, Byte &byte) {
  // Who comes after this read comes after what is ordered before it.
  if (isOrdered(thread, byte.reader, byte.readClock))
    return;
  uint32_t place = 0;
  while (place < byte.others && byte.otherReaders[place] != byte.reader && byte.otherClocks[place] > floor)
    ++place;
  if (place == Byte::kOthers)
    place = uint32_t(scramble(++draws) % Byte::kOthers);
  else if (place == byte.others)
    ++byte.others;
  byte.otherReaders[place] = byte.reader;
  byte.otherClocks[place] = byte.readClock;
}

void SharedShadow::setBarrier(uint32_t offset, bool isThere) {
  constexpr uint32_t kBarrierBytes = 8;
  for (uint32_t i = offset; i < offset + kBarrierBytes; ++i)
    bytes[i].isBarrier = isThere;
}

void SharedShadow::setInFlight(uint32_t offset, uint32_t count, bool isInFlight) {
  for (uint32_t i = offset; i < offset + count; ++i)
    bytes[i].isInFlight = isInFlight;
}

void SharedShadow::setWrittenAsync(uint32_t thread, uint32_t line, uint32_t offset, uint32_t count) {
  for (uint32_t i = offset; i < offset + count; ++i) {
    Byte &byte = bytes[i];
    byte.isInFlight = byte.strongWrite = false;
    byte.asyncWrite = true;
    byte.writeClock = clocks[thread];
    byte.writer = uint16_t(thread);
    byte.writeLine = line;
  }
}

void SharedShadow::fenceProxy(uint32_t thread) {
  proxyFences[thread] = {clocks[thread]++, floor, known[thread]};
}

void SharedShadow::meetAll() {
  floor = *std::ranges::max_element(clocks);
  std::ranges::fill(clocks, floor + 1);
  if (!hasVectors && strongAddresses.empty())
    return;
  for (auto *clocksOfAll : {&known, &knownAsyncReads, &seen})
    for (Clocks &each : *clocksOfAll)
      each.clear();
  for (ProxyFence &each : fences)
    each.known.clear();
  strongAddresses.clear();
  hasVectors = false;
}

void SharedShadow::meet(std::span<const uint32_t> members) {
  Clocks joint;
  for (uint32_t member : members) {
    takeSeen(member);
    release(member, joint);
  }
  for (uint32_t member : members)
    acquire(member, joint);
}

static void raise(Clocks &clocks, const Clocks &by) {
  if (clocks.empty()) {
    clocks = by;
    return;
  }
  for (size_t i = 0; i < by.size(); ++i)
    clocks[i] = std::max(clocks[i], by[i]);
}

void SharedShadow::release(uint32_t thread, Clocks &into) {
  raise(into, known[thread]);
  into.resize(clocks.size());
  into[thread] = std::max(into[thread], clocks[thread]++);
}

void SharedShadow::acquire(uint32_t thread, const Clocks &from) {
  hasVectors = true;
  raise(known[thread], from);
}

void SharedShadow::acquireAsyncReads(uint32_t thread, const Clocks &from) {
  hasVectors = true;
  raise(knownAsyncReads[thread], from);
}

void SharedShadow::tell(uint32_t thread, std::span<const uint32_t> others) {
  hasVectors = true;
  for (uint32_t other : others) {
    known[other].resize(clocks.size());
    known[other][thread] = std::max(known[other][thread], clocks[thread]);
  }
  ++clocks[thread];
}

void SharedShadow::takeSeen(uint32_t thread) {
  if (seen[thread].empty())
    return;
  acquire(thread, seen[thread]);
  seen[thread].clear();
}

void SharedShadow::fence(uint32_t thread) {
  takeSeen(thread);
  fences[thread] = {clocks[thread]++, 0, known[thread]};
}

void SharedShadow::releaseFenced(uint32_t thread, Clocks &into) {
  const ProxyFence &fence = fences[thread];
  if (!fence.clock)
    return;
  raise(into, fence.known);
  into.resize(clocks.size());
  into[thread] = std::max(into[thread], fence.clock);
}

void SharedShadow::strongAccess(uint32_t thread, uint64_t address, Access access, bool orders) {
  if (reads(access) && !strongAddresses.empty())
    if (auto there = strongAddresses.find(address); there != strongAddresses.end()) {
      if (orders)
        acquire(thread, there->second);
      else
        raise(seen[thread], there->second);
    }
  if (writes(access) && orders)
    release(thread, strongAddresses[address]);
  else if (writes(access) && fences[thread].clock)
    releaseFenced(thread, strongAddresses[address]);
}

} // namespace kiln::cudasim
