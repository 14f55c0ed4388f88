// The GPUs of this machine, as far as the system's own files tell of them. A target's driver knows more.
#ifndef KILN_MEASURE_MACHINE_GPUS_H
#define KILN_MEASURE_MACHINE_GPUS_H

#include <string>
#include <vector>

#include "kiln/measure/machine/system_files.h"

namespace kiln::measure {

struct Gpu {
  Fact name;   // a model's name, or the numbers that its maker gave it: "1002:744C"
  Fact driver; // "nvidia 550.54.15", "amdgpu", as the system writes it
  Fact maximumMegahertz;

  bool operator==(const Gpu &) const = default;
};

// From /proc/driver/*/gpus and /sys/class/drm, sorted by what they are: equal machines have equal lists.
std::vector<Gpu> listGpus(const SystemFiles &files);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_GPUS_H
