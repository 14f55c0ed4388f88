#include "kiln/measure/workers/claims.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kiln::measure {

namespace {

// Waking up and answering take some tenths of a millisecond, and shorter turns would show it.
constexpr uint64_t kTellingTurn = 1'000'000;
// Between two samples: compiled workers need half of it, those in Python all of it.
constexpr uint64_t kBetweenSamples = 1'000;
// On top of that, in three quarters of the turns that have one request only. Workers of all providers leave out 1 to 10
// % on a machine that is busy with other things.
constexpr size_t kTurnsToTell = 3;
constexpr double kMostUntold = 0.15;
// What further calls take beyond what is told of them. Delays of answers hit requests of both counts alike, so that of
// honest turns no more than half exceed this; of `n` turns so many do by chance in less than one of 10,000 groups.
constexpr double kMostGrowth = 0.06, kBlatantGrowth = 0.5;
constexpr size_t kGrowthsToTell = 14;
// Launching real work may take longer than launching none, by so much of the call and so many nanoseconds.
constexpr double kMostOutside = 0.15;
constexpr double kOutsideSlack = 20'000; // waking a thread takes so long
constexpr double kEmptyCallsOutside = 3;
constexpr size_t kSharesToTell = 5;

double medianOf(std::vector<double> values) {
  auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// No sum can overflow: each sample is compared with the time first, and the sum with it after each.
Status checkSamples(const std::vector<int64_t> &host, uint64_t elapsed) {
  uint64_t sum = 0;
  for (size_t i = 0; i < host.size(); ++i) {
    if (host[i] <= 0)
      return invalidArgument("the worker says that sample {} of {} took {} ns", i + 1, host.size(), host[i]);
    if (uint64_t(host[i]) > elapsed)
      return invalidArgument("the worker says that sample {} of {} took {} ns; it had {} ns for all of them", i + 1,
                             host.size(), host[i], elapsed);
    sum += uint64_t(host[i]);
    if (sum > elapsed)
      return invalidArgument("the worker says that {} of its {} samples took {} ns; it had {} ns for all of them",
                             i + 1, host.size(), sum, elapsed);
  }
  return okStatus();
}

Status checkDevice(const TimedRequest &timed) {
  const DeviceTimes &device = *timed.answer.device;
  // Ticks of the monotonic clock are nanoseconds that the lab has counted, too.
  bool sameClock = device.clock == "monotonic";
  if (device.started.size() > timed.request.calls)
    return invalidArgument("the worker tells device times of {} calls, and made {}", device.started.size(),
                           timed.request.calls);
  double nanoseconds = 1e9 / double(device.ticksPerSecond), most = 1.02 * double(timed.elapsed());
  for (size_t i = 0; i < device.started.size(); ++i) {
    if (double(device.ended[i] - device.started[i]) * nanoseconds > most)
      return invalidArgument("the worker says that its device was at work on call {} of {} for {:.0f} ns; it had {} ns "
                             "for all of them",
                             i + 1, device.started.size(), double(device.ended[i] - device.started[i]) * nanoseconds,
                             timed.elapsed());
    int64_t first = device.submitted.empty() ? device.started[i] : device.submitted[i];
    if (first > device.started[i] || device.started[i] > device.ended[i])
      return invalidArgument("the worker says that call {} of {} was submitted at {}, started at {} and ended at {}",
                             i + 1, device.started.size(), first, device.started[i], device.ended[i]);
    if (sameClock && (uint64_t(first) < timed.sent || uint64_t(device.ended[i]) > timed.answered))
      return invalidArgument(
          "the worker says that its device was at work on call {} of {} before it was asked, or after "
          "it had answered",
          i + 1, device.started.size());
  }
  return okStatus();
}

} // namespace

uint64_t TimedRequest::told() const {
  return std::accumulate(answer.host.begin(), answer.host.end(), uint64_t(0));
}

Status checkClaims(const TimedRequest &timed) {
  const Answer &answer = timed.answer;
  uint64_t wanted = timed.request.calls / timed.request.batch;
  if (answer.host.size() != wanted || answer.batch != timed.request.batch)
    return invalidArgument("the worker was asked to time {} batches of {} calls, and answered with {} of {}", wanted,
                           timed.request.batch, answer.host.size(), answer.batch);
  KILN_RETURN_IF_ERROR(checkSamples(answer.host, timed.elapsed()));
  return answer.device ? checkDevice(timed) : okStatus();
}

void UntoldTime::addTurn(const std::vector<TimedRequest> &requests) {
  auto untold = [](const TimedRequest &timed) {
    return double(timed.elapsed()) - double(timed.told()) - double(timed.answer.host.size() * kBetweenSamples);
  };
  uint64_t elapsed = 0;
  for (const TimedRequest &timed : requests)
    elapsed += timed.elapsed();
  if (elapsed < kTellingTurn)
    return;
  if (requests.size() == 1)
    shares.push_back(std::max(untold(requests[0]), 0.0) / double(elapsed));
  if (requests.size() != 2)
    return;
  const TimedRequest &a = requests[0], &b = requests[1];
  double more = double(b.request.calls) - double(a.request.calls);
  double call = double(a.told() + b.told()) / double(a.request.calls + b.request.calls);
  if (more != 0 && call > 0)
    growths.push_back((untold(b) - untold(a)) / more / call);
}

Status UntoldTime::check() const {
  if (shares.size() >= kTurnsToTell) {
    std::vector<double> sorted = shares;
    std::ranges::sort(sorted);
    double share = sorted[sorted.size() / 4];
    if (share > kMostUntold)
      return invalidArgument("leaves out time: the worker's samples leave out {:.0f} % of its turns: what it does in "
                             "that time would count for nothing; all of a call belongs into its sample, and what "
                             "prepares calls into 'load'",
                             share * 100);
  }
  // Of a worker that leaves before that, as one that is far slower than others does: a lie that no delay explains.
  if (growths.size() >= kTurnsToTell && std::ranges::min(growths) > kBlatantGrowth)
    return invalidArgument(
        "leaves out time: by the lab's clock each further call takes {:.0f} % longer than the worker "
        "says",
        medianOf(growths) * 100);
  auto count = double(growths.size());
  auto beyond = double(std::ranges::count_if(growths, [](double growth) { return growth > kMostGrowth; }));
  // Four standard deviations beyond one half.
  if (growths.size() >= kGrowthsToTell && beyond - count / 2 >= 2 * std::sqrt(count) - 1)
    return invalidArgument(
        "leaves out time: by the lab's clock each further call takes {:.0f} % longer than the worker "
        "says",
        medianOf(growths) * 100);
  return okStatus();
}

DeviceShare deviceShareOf(const TimedRequest &watched) {
  DeviceShare share;
  const DeviceTimes &times = *watched.answer.device;
  std::vector<double> call, device, launch;
  for (int64_t sample : watched.answer.host)
    call.push_back(double(sample) / watched.request.batch);
  double nanoseconds = 1e9 / double(times.ticksPerSecond);
  for (size_t i = 0; i < times.started.size(); ++i) {
    device.push_back(double(times.ended[i] - times.started[i]) * nanoseconds);
    if (!times.submitted.empty())
      launch.push_back(double(times.started[i] - times.submitted[i]) * nanoseconds);
  }
  share.call = call.empty() ? 0 : medianOf(std::move(call));
  share.device = device.empty() ? 0 : medianOf(std::move(device));
  share.launch = launch.empty() ? 0 : medianOf(std::move(launch));
  return share;
}

Status DeviceClaims::check(double emptyNanoseconds) const {
  if (shares.size() < kSharesToTell)
    return okStatus();
  std::vector<double> excess, outside;
  for (const DeviceShare &share : shares) {
    outside.push_back(share.call - share.device);
    excess.push_back(outside.back() - kEmptyCallsOutside * emptyNanoseconds - kMostOutside * share.call -
                     kOutsideSlack);
  }
  if (medianOf(excess) <= 0)
    return okStatus();
  return invalidArgument("device time smaller than it was: of a call its device is said to have no part in {:.0f} ns, "
                         "where an empty call takes {:.0f} ns by the lab's clock",
                         medianOf(outside), emptyNanoseconds);
}

} // namespace kiln::measure
