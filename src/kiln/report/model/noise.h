// Whether what was measured can carry the ranking that was asked for.
#ifndef KILN_REPORT_MODEL_NOISE_H
#define KILN_REPORT_MODEL_NOISE_H

#include <optional>
#include <span>
#include <string>

#include "kiln/report/model/table.h"

namespace kiln::report {

// What noise hides, in parts of the time of a call.
struct NoiseWarning {
  uint32_t candidates = 0; // the best few
  double noise = 0;        // how far their medians are known, half of the interval
  double difference = 0;   // how far they lie apart

  // One line of at most 80 characters, with what to do.
  std::string text() const;
};

// Looks at the best of a group: those up to the third that ran to the end. A warning where what is not known of their
// times exceeds both what they differ by and `target`, the precision that the sweep was asked for: candidates that are
// known well and differ by less are equal, which is a result. None where no two of the best share a rank or a tie: the
// rounds that they had in common tell them apart.
std::optional<NoiseWarning> noiseWarning(std::span<const store::CandidateEstimate *const> group, double target = 0.01);

// The same of a table's rows of one problem.
std::optional<NoiseWarning> noiseWarning(const ProblemRows &problem);

// What a look at the machine before a sweep found, which is kept in Run::flags; empty where there was nothing to warn
// of, or no look was taken.
std::string machineWarning(const store::Run &run);

// The checksum of the program that ran Kiln's modules, which is kept there, too; empty where a run does not tell.
std::string kilnWorker(const store::Run &run);

} // namespace kiln::report

#endif // KILN_REPORT_MODEL_NOISE_H
