// What this machine can do at most, as `kiln calibrate` has measured it, in the form that the store and reports use.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_CEILINGS_H
#define KILN_TOOLS_DISPATCH_SWEEP_CEILINGS_H

#include <optional>
#include <set>
#include <string>

#include "kiln/base/status.h"
#include "kiln/measure/machine/provenance.h"

namespace kiln {

// {"by_threads":[{"threads":1,"gflops":{"f32":170.1},"gb_per_s":21.5}, ...]} for each of these numbers of threads.
// Nothing where the machine was never calibrated, or where the file is another machine's; an error where it cannot be
// read.
Result<std::optional<std::string>> ceilingsOf(const measure::Provenance &machine, const std::set<uint64_t> &threads);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_CEILINGS_H
