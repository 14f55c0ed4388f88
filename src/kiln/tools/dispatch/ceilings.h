// What this machine can do at most, as `kiln calibrate` has measured it, in the form that the store and reports use.
#ifndef KILN_TOOLS_DISPATCH_CEILINGS_H
#define KILN_TOOLS_DISPATCH_CEILINGS_H

#include <optional>
#include <string>

#include "kiln/measure/machine/provenance.h"
#include "kiln/report/model/table.h"
#include "kiln/store/reader.h"

namespace kiln {

// {"gflops":{"f32":170.1},"gb_per_s":21.5} with so many threads. Nothing where the machine was never calibrated, or
// where the file is another machine's; an error where it cannot be read.
Result<std::optional<std::string>> ceilingsOf(const measure::Provenance &machine, uint32_t threads);

// Of the machine that a run was made on; empty where it was not calibrated by then.
Result<report::Peaks> storedPeaks(store::Reader &reader, const std::string &run);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_CEILINGS_H
