// How a device was while it worked, as its vendor's library tells.
#ifndef KILN_BASE_DEVICE_STATE_H
#define KILN_BASE_DEVICE_STATE_H

#include <optional>
#include <string>

namespace kiln {

// Of a moment, or of a stretch of time. What is absent was not told.
struct DeviceState {
  std::optional<double> lowMegahertz = {}, highMegahertz = {}; // the clock of its multiprocessors
  std::optional<double> watts = {}, celsius = {};              // the most
  // What held the clock down: "heat,power limit", sorted, each once; empty: nothing.
  std::string throttling = {};

  bool any() const { return lowMegahertz || watts || celsius || !throttling.empty(); }
  // By more than clocks that are counted in steps of 15 MHz tell of a steady one.
  bool moved() const { return lowMegahertz && highMegahertz && *highMegahertz - *lowMegahertz > kSteady; }
  static constexpr double kSteady = 15;

  void add(const DeviceState &other);
  // What one list has and the other, as one.
  static std::string joined(const std::string &reasons, const std::string &others);

  bool operator==(const DeviceState &) const = default;
};

} // namespace kiln

#endif // KILN_BASE_DEVICE_STATE_H
