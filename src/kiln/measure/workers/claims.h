// What a worker claims of the time that its calls took, held against the lab's clock. A worker's clock is not believed:
// each request has to fit into the time that passed here, and requests of two counts of calls show what one call adds.
#ifndef KILN_MEASURE_WORKERS_CLAIMS_H
#define KILN_MEASURE_WORKERS_CLAIMS_H

#include <cstdint>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/protocol.h"

namespace kiln::measure {

// A `time` request as the lab saw it.
struct TimedRequest {
  TimeRequest request;
  uint64_t sent = 0, answered = 0; // monotonicNanoseconds()
  Answer answer;

  uint64_t elapsed() const { return answered - sent; }
  uint64_t told() const; // all of its samples
};

// An error says what is claimed and why that cannot be: other samples than were asked for; a sample that took no time,
// or longer than there was; samples that are more together than there was; a device that was at work before it was
// asked or after it answered, by the lab's own clock.
Status checkClaims(const TimedRequest &timed);

// How much of its turns a worker leaves out of its samples. Between two samples it reads a clock, and no more; whoever
// computes for longer than it says has time that is in none of them.
class UntoldTime {
public:
  // The requests of a turn.
  void addTurn(const std::vector<TimedRequest> &requests);
  // An error where turns leave out more than honest workers do; one turn alone may have been disturbed. It begins with
  // "leaves out time".
  Status check() const;

private:
  std::vector<double> shares; // of each turn with one request that was long enough to tell
  // Of each turn with requests of two counts: by how much what is left out grows with a call, of what a call is said to
  // take. What a request costs by itself cancels.
  std::vector<double> growths;
};

// Where a watched call spent its time. `outside` is what the device had no part in: launching and awaiting.
struct DeviceShare {
  double call = 0, device = 0, launch = 0; // medians over the calls, nanoseconds; launch is 0 where it is not told
};
DeviceShare deviceShareOf(const TimedRequest &watched);

// What a device had no part in can be no more than an empty call, which takes the same way, and `emptyNanoseconds` by
// the lab's clock: an error, beginning with "device time smaller than it was", where most of the requests exceed that.
class DeviceClaims {
public:
  void add(const DeviceShare &share) { shares.push_back(share); }
  Status check(double emptyNanoseconds) const;

private:
  std::vector<DeviceShare> shares;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_CLAIMS_H
