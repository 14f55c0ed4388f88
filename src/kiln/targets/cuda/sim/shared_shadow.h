// What is known of each byte of the shared memory of a block, or of all blocks of a cluster: whether it was written,
// and which threads have used it since they last met. Two threads race where both use a byte, one writes it, and
// nothing orders the two.
//
// Order is kept by clocks: a thread's own rises whenever it lets others know of what it did; `known` has the clocks of
// others up to which it knows. A barrier of all threads raises the floor under all, so that what came before it is
// known to everybody and no vectors are needed.
#ifndef KILN_TARGETS_CUDA_SIM_SHARED_SHADOW_H
#define KILN_TARGETS_CUDA_SIM_SHARED_SHADOW_H

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace kiln::cudasim {

// Strong accesses are atomic, volatile, relaxed and so on: they do not race with each other, and order threads.
// AsyncRead is one by the async proxy, for a thread that has started it.
enum class Access : uint8_t { Read, Write, AsyncRead, StrongRead, StrongWrite, StrongUpdate };
inline bool reads(Access access) {
  return access != Access::Write && access != Access::StrongWrite;
}
inline bool writes(Access access) {
  return access != Access::Read && access != Access::AsyncRead && access != Access::StrongRead;
}
inline bool isStrong(Access access) {
  return access >= Access::StrongRead;
}

// By thread: clocks up to which somebody knows of it. Empty: of nothing beyond the floor.
using Clocks = std::vector<uint32_t>;

class SharedShadow {
public:
  void reset(uint32_t bytes, uint32_t threads);

  struct Problem {
    enum class Kind : uint8_t { None, Uninitialized, Race, InFlight, Unfenced, Barrier } kind = Kind::None;
    uint32_t byte = 0;        // offset in shared memory
    uint32_t otherThread = 0; // Race: and what it did, where
    uint32_t otherLine = 0;
    bool otherWrote = false;
  };
  // Notes an access by a thread, at a line of PTX.
  Problem note(uint32_t thread, uint32_t line, uint32_t offset, uint32_t bytes, Access access);

  // An mbarrier lies there, or does no more: nothing but its own instructions may touch it.
  void setBarrier(uint32_t offset, bool isThere);
  // An asynchronous copy into these bytes has started, or has ended: nothing may touch them between the two.
  void setInFlight(uint32_t offset, uint32_t bytes, bool isInFlight);

  // The asynchronous copy that a thread has started has written these bytes.
  void setWrittenAsync(uint32_t thread, uint32_t line, uint32_t offset, uint32_t bytes);
  // fence.proxy.async: what the thread has written, or knows of, may be read asynchronously.
  void fenceProxy(uint32_t thread);

  // All threads have met.
  void meetAll();
  // These threads have met.
  void meet(std::span<const uint32_t> members);
  // A thread lets those know that look into `clocks` later, and another learns what is there.
  void release(uint32_t thread, Clocks &clocks);
  void acquire(uint32_t thread, const Clocks &clocks);
  // As acquire, from those who told without releasing: only their reads by the async proxy, which they have waited for,
  // are over for the thread.
  void acquireAsyncReads(uint32_t thread, const Clocks &clocks);
  // The others know of what the thread itself has done, and of nothing that it knows of others.
  void tell(uint32_t thread, std::span<const uint32_t> others);
  // Where the thread's clock is, and whether a thread knows of what another did up to a clock.
  uint32_t clockOf(uint32_t thread) const { return clocks[thread]; }
  bool knows(uint32_t thread, uint32_t other, uint32_t clock) const { return isOrdered(thread, other, clock); }
  // A fence: what strong reads before it have seen is known to the thread, and what came before it is told by strong
  // writes behind it.
  void fence(uint32_t thread);
  // A strong access to an address of any space. With `orders`, as of ld.acquire and st.release, it learns from those
  // before and tells those after; without, fences do so.
  void strongAccess(uint32_t thread, uint64_t address, Access access, bool orders);
  // A thread's strong reads are known to it from now on.
  void takeSeen(uint32_t thread);
  // As release, of what came before the thread's last fence alone.
  void releaseFenced(uint32_t thread, Clocks &clocks);

private:
  struct Byte {
    uint32_t writeClock = 0, readClock = 0; // 0: never
    uint32_t writeLine = 0, readLine = 0;
    uint16_t writer = 0, reader = 0;
    bool strongWrite = false, strongRead = false, isInFlight = false, asyncWrite = false, asyncRead = false;
    bool isBarrier = false;
    // Readers before the last one that nothing orders before it. Of more than there is room for, some.
    static constexpr uint32_t kOthers = 4;
    uint8_t others = 0;
    uint16_t otherReaders[kOthers] = {};
    uint32_t otherClocks[kOthers] = {};
  };
  void noteReader(uint32_t thread, Byte &byte);
  bool isOrdered(uint32_t thread, uint32_t other, uint32_t clock) const {
    return clock <= floor || other == thread || (!known[thread].empty() && clock <= known[thread][other]);
  }
  bool isReadOver(uint32_t thread, const Byte &byte, uint32_t reader, uint32_t clock) const {
    return isOrdered(thread, reader, clock) ||
           (byte.asyncRead && !knownAsyncReads[thread].empty() && clock <= knownAsyncReads[thread][reader]);
  }

  std::vector<Byte> bytes;
  std::vector<uint32_t> clocks;        // by thread
  std::vector<Clocks> known;           // by thread
  std::vector<Clocks> knownAsyncReads; // by thread, beyond `known`
  // By thread, at its last fence of the async proxy: its own clock, the floor, and what it knew of others.
  struct ProxyFence {
    uint32_t clock = 0, floor = 0;
    Clocks known;
  };
  std::vector<ProxyFence> proxyFences;
  std::vector<ProxyFence> fences; // likewise, at its last fence; without the floor
  std::vector<Clocks> seen;       // by thread: what its strong reads have seen since its last fence
  uint64_t draws = 0;
  uint32_t floor = 0;
  bool hasVectors = false; // some thread's `known` is not empty
  std::unordered_map<uint64_t, Clocks> strongAddresses;
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_SHARED_SHADOW_H
