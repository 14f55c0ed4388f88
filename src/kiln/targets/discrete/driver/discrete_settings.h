// What may go wrong on a discrete device, and how large and slow it is: the part of its URI behind "//".
#ifndef KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_SETTINGS_H
#define KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_SETTINGS_H

#include "kiln/base/status.h"
#include "kiln/runtime/hal/device_limits.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::hal {

struct DiscreteSettings {
  uint64_t memoryMib = 4096;
  uint64_t queues = 3;       // submissions go to them in turn
  uint64_t seed = 0;         // of delays, and of the order in which commands run that have no order
  uint64_t delayMicros = 50; // before a submission starts, and before its end is told: up to so many
  uint64_t bindingAlignment = KILN_BINDING_ALIGNMENT;
  uint64_t failAllocation = 0; // this allocation, counted from 1, finds no memory; 0: none
  uint64_t failSubmission = 0; // this submission fails when it is to start; 0: none
  uint64_t hold = 0;           // 1: what was submitted starts only when the host waits for some of it
  uint64_t mostInFlight = 0;   // a submission fails while so many before it have not ended; 0: there may be any number
  uint64_t loseAt = 0;         // at this submission the device is lost, and with it all that follow; 0: never

  // "seed=1,delay-us=200"; empty: as above.
  static Result<DiscreteSettings> parse(std::string_view text);
  DeviceLimits limits() const;
  // What parse takes, and what it means.
  static std::vector<std::pair<std::string, std::string>> describe();
};

} // namespace kiln::hal

#endif // KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_SETTINGS_H
