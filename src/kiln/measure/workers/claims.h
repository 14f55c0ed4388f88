// What a worker claims of the time that its calls took, held against what the lab's clock and the system saw. A
// worker's clock is not believed.
#ifndef KILN_MEASURE_WORKERS_CLAIMS_H
#define KILN_MEASURE_WORKERS_CLAIMS_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/protocol.h"
#include "kiln/runtime/io/host_tensor.h"

namespace kiln::measure {

// A request as the lab saw it: one to time calls, or one to copy tensors.
struct TimedRequest {
  TimeRequest request;             // empty of one to copy
  uint64_t sent = 0, answered = 0; // monotonicNanoseconds()
  uint64_t running = 0;            // processor time of all of the worker's threads
  uint64_t disturbed = 0;          // for how long others kept the worker from running
  uint64_t waitedByLab = 0;        // for a processor, of `disturbed`
  uint64_t besides = 0;            // that requests to copy, which belong to it, took beyond copying
  uint32_t threads = 1;            // that it may run with
  Answer answer;

  uint64_t elapsed() const { return answered - sent; }
  // What each thread ran at least if they shared the work evenly. While others keep one of them from running, the rest
  // may await it without sleeping: that is no work.
  uint64_t ran() const;
  // The time until the answer in which nobody disturbed the worker, or ran(), whichever is more.
  uint64_t busy() const;
  uint64_t ownCost() const; // what taking the request, answering it and reading clocks may cost
  // What its calls took at least.
  uint64_t spent() const;
  // What a request to copy these took beyond that, where the lab copies a byte in so many nanoseconds.
  uint64_t beyondCopying(uint64_t bytes, uint32_t sets, double copyNanoseconds) const;
};

// What the lab needs to copy a byte of these to memory of its own, as who copies tensors one by one: the middle one of
// them. It is not 0.
double nanosecondsToCopyAByte(Tensors tensors);

// An error says what is claimed and why that cannot be: other samples than were asked for; a sample that took no time,
// or longer than there was; samples that are more together than there was; a device that was at work before it was
// asked or after it answered, by the lab's own clock.
Status checkClaims(const TimedRequest &timed);

// No sample counts for less than this part of what a call of its request took on average, and all together for no less
// than this part of what the request took by the lab's clock. A worker that leaves out time, as one does that reads the
// time of its processor, or does the work of many calls in few samples, gains no more than the rest by it.
inline constexpr double kLeastOfMean = 0.95;
void raiseSamples(TimedRequest &timed);

// How much longer calls take than a worker's samples say. Between two samples it reads a clock, and no more; one that
// computes for longer than it says, or in few of its samples, has a middle sample that is too short.
class UntoldTime {
public:
  // Before its samples are raised.
  void add(const TimedRequest &timed);
  // An error where that is more than honest workers show. It begins with "leaves out time".
  Status check() const;
  // Whether all requests so far show it, and further ones could make it certain.
  bool suspicious() const;

private:
  // Whether requests are long enough to tell, and not only those that something delayed.
  bool tells() const;

  size_t requests = 0;
  // What was spent, of what all samples say, and of what the middle one says, or 0 where not a few of them hold most of
  // it; of each request that was long enough to tell.
  std::vector<double> ofAll, ofMiddle;
};

// Where a watched call spent its time. `outside` is what the device had no part in: launching and awaiting.
struct DeviceShare {
  double call = 0, device = 0, launch = 0; // medians over the calls, nanoseconds; launch is 0 where it is not told
  double disturbed = 0; // of several threads, which wake each other: what others kept them from, for each call
};
DeviceShare deviceShareOf(const TimedRequest &watched);

// What a device had no part in can be no more than an empty call, which takes the same way, and `emptyNanoseconds` by
// the lab's clock, and waiting for others: an error, beginning with "device time smaller than it was", where most of
// the requests exceed that.
class DeviceClaims {
public:
  void add(const DeviceShare &share) { shares.push_back(share); }
  Status check(double emptyNanoseconds) const;

private:
  std::vector<DeviceShare> shares;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_CLAIMS_H
