// What a worker claims of the time that its calls took, held against what the lab saw.
#ifndef KILN_MEASURE_WORKERS_CLAIMS_H
#define KILN_MEASURE_WORKERS_CLAIMS_H

#include <cstdint>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/protocol.h"

namespace kiln::measure {

// An answer to `time` with batches of `batch` calls, that came `elapsed` nanoseconds after it was asked for. An error
// says what is claimed and why that cannot be: no samples, or of other batches; a sample that took no time, or longer
// than there was; samples that are more together than there was; parts of a call that are more than the call.
Status checkClaims(const Answer &answer, uint32_t batch, uint64_t elapsed);

// How much of its turns a worker leaves out of its samples. Between two samples it reads a clock, and no more; whoever
// computes for longer than it says has time that is in none of them.
class UntoldTime {
public:
  // A turn that was answered with such an answer after `elapsed` nanoseconds.
  void addTurn(const Answer &answer, uint64_t elapsed);
  // An error where most turns leave out more than honest workers do; one turn alone may have been disturbed.
  Status check() const;

private:
  std::vector<double> shares; // of each turn that was long enough to tell
};

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_CLAIMS_H
