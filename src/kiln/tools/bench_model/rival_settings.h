// With which threads and binding other runtimes are tried, so that each is compared at its best.
#ifndef KILN_TOOLS_BENCH_MODEL_RIVAL_SETTINGS_H
#define KILN_TOOLS_BENCH_MODEL_RIVAL_SETTINGS_H

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

struct RivalSetting {
  std::string name; // "spinning"; as the worker knows it. Empty where there is nothing to choose
  uint32_t threads = 1;
  std::vector<std::string> environment = {}; // NAME=value
};

// The runtimes that there are rivals for.
std::vector<std::string> knownRivals();

// The settings of one of them, the usual one first. `threads` are those that it may have; `cores` is
// how many of the machine's cores they are on, which differs where the user has not said how many, and is tried as
// well.
std::vector<RivalSetting> settingsOf(const std::string &rival, uint32_t threads, uint32_t cores);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_RIVAL_SETTINGS_H
