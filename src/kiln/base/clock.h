// Monotonic time in integer nanoseconds, and deadlines on that clock.
#ifndef KILN_BASE_CLOCK_H
#define KILN_BASE_CLOCK_H

#include <cstdint>

namespace kiln {

// Nanoseconds of CLOCK_MONOTONIC; its zero means nothing.
uint64_t monotonicNanoseconds();

// When a wait gives up.
class Deadline {
public:
  static constexpr Deadline infinite() { return Deadline(UINT64_MAX); }
  // Already over: a wait with it only polls.
  static constexpr Deadline immediate() { return Deadline(0); }
  static Deadline after(uint64_t nanoseconds);

  bool isInfinite() const { return at == UINT64_MAX; }
  bool isImmediate() const { return at == 0; }
  // Nanoseconds left, 0 where it is over.
  uint64_t remaining() const;
  // The point itself, on the clock of monotonicNanoseconds().
  uint64_t nanoseconds() const { return at; }

private:
  constexpr explicit Deadline(uint64_t at) : at(at) {}
  uint64_t at;
};

} // namespace kiln

#endif // KILN_BASE_CLOCK_H
