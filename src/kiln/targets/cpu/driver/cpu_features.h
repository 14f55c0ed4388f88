// Whether this machine can run code that was compiled for another.
#ifndef KILN_TARGETS_CPU_DRIVER_CPU_FEATURES_H
#define KILN_TARGETS_CPU_DRIVER_CPU_FEATURES_H

#include "kiln/base/status.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::hal {

// Whether this machine and its operating system offer the feature, by LLVM's name. Features that no compiled kernel can
// notice count as there. Nothing for a name that is not known.
std::optional<bool> hasCpuFeature(std::string_view name);

// The names that are known, that the processor reports and that the operating system has enabled, in the order of the
// table. What only counts as there is left out: whether the machine really has it is not looked up.
std::vector<std::string_view> cpuFeaturesOfThisMachine();

// `features` is a list as LLVM writes it, "+avx512f,+fma,-x"; what is wanted absent does not matter here.
// FailedPrecondition with what to do where something is missing or not known; `cpu` is for that message.
Status checkCpuFeatures(std::string_view cpu, std::string_view features);

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_CPU_FEATURES_H
