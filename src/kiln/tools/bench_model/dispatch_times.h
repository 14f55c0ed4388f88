// Where Kiln's own time goes: what each of a model's dispatches takes of a call.
#ifndef KILN_TOOLS_BENCH_MODEL_DISPATCH_TIMES_H
#define KILN_TOOLS_BENCH_MODEL_DISPATCH_TIMES_H

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/calibration.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/module/module.h"

namespace kiln {

// All launches of one kernel in a call.
struct DispatchTime {
  std::string name; // without the function's and the number's: "matmul_128x768x768_f32"
  std::string element;
  uint64_t launches = 0;
  double milliseconds = 0;                   // of all of them, the median over calls
  std::optional<uint64_t> operations, bytes; // of all of them
  std::vector<std::string> nodes;            // of the model
  std::optional<double> ofRoof;              // of the time, what the machine needs at least; as far as it is known
};

struct DispatchTimes {
  std::vector<DispatchTime> rows; // the longest first
  uint64_t calls = 0;
  double callMilliseconds = 0; // the median, while dispatches were timed
  std::string roof; // what `ofRoof` is a share of; empty where nothing was calibrated  // What is told of each row
                    // beside its name and its nodes, and of this one: "32.636", "32.3%", "36", ...
  static constexpr const char *kHeaders[] = {"ms", "share", "times", "Gop/s", "GB/s", "roof"};
  static constexpr size_t kCells = std::size(kHeaders);
  std::array<std::string, kCells> cellsOf(const DispatchTime &row) const;

  double sum() const;
  std::string table() const;
  std::string json(const std::string &model) const; // a line for each row
};

// Calls until the seconds are over, at least three times, while the device tells of each dispatch when it ran: those
// that could run at the same time do not where it has to.
Result<DispatchTimes> timeDispatches(hal::Device &device, const vm::Module &module, double seconds,
                                     const std::function<Status()> &call);

// Holds the rows against what a machine was measured to reach with so many threads.
void addRoof(DispatchTimes &times, const measure::Calibration &machine, unsigned threads);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_DISPATCH_TIMES_H
