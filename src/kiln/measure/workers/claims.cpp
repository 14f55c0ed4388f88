#include "kiln/measure/workers/claims.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "kiln/base/clock.h"
#include "kiln/measure/workers/middle.h"

namespace kiln::measure {

namespace {

// What a request costs beside its calls: parsing it, waking up, answering; and reading a clock for each sample.
constexpr uint64_t kRequestCost = 100'000, kSampleCost = 500;
// Until a worker wakes up, on a busy machine: 19 of 20 requests cost less. Samples are of the clock on the wall, so
// that what disturbs calls is in them, and only what comes before the first and after the last one is not.
constexpr uint64_t kWakingUp = 1'000'000;
// Others may copy slower than the lab by this factor, and need so long for each set.
constexpr double kSlowerCopy = 1.5;
constexpr uint64_t kCopyOfSet = 5'000;
// Requests in which a worker ran shorter, or says so, accuse nobody: on a busy machine they cost several times as much.
// Only where they are long by the lab's clock alone, others may have computed in the worker's place.
constexpr uint64_t kTellingRequest = 2'000'000, kLongRequest = 20'000'000;
// All samples of an honest worker are what its calls took, and so is the middle one, but for delays that hit some of
// its requests. Three quarters of the requests above the first ratio, or all above the others, are no delays; up to
// three requests are of one turn, which one delay may hit.
constexpr double kMostUntold = 1.25, kBlatantOfAll = 1.5, kBlatantOfMiddle = 2;
constexpr size_t kRequestsToTell = 24, kRequestsOfAll = 7, kRequestsOfMiddle = 9;
// The middle one is too short where so few of the samples hold more than half of the time. Where the host of a virtual
// machine takes memory away, one of ten samples may be thirty times as long as the rest; but that hits many.
constexpr size_t kFewSamples = 64;
// Launching real work may take longer than launching none, by so much of the call and so many nanoseconds.
constexpr double kMostOutside = 0.15;
constexpr double kOutsideSlack = 20'000; // waking a thread takes so long
constexpr double kEmptyCallsOutside = 3;
constexpr size_t kSharesToTell = 5;

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
    int64_t first = device.submitted.empty() ? device.started[i] : device.submitted[i];
    double took = (double(device.ended[i]) - double(first)) * nanoseconds;
    if (took > most)
      return invalidArgument(
          "the worker says that call {} of {} took its device {:.0f} ns; it had {} ns for all of them", i + 1,
          device.started.size(), took, timed.elapsed());
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

// What the longest samples are together, one of kFewSamples or a single one.
double heldByFew(std::vector<double> samples) {
  size_t few = std::max<size_t>(samples.size() / kFewSamples, 1);
  std::ranges::nth_element(samples, samples.begin() + ptrdiff_t(few) - 1, std::greater());
  return std::accumulate(samples.begin(), samples.begin() + ptrdiff_t(few), 0.0);
}

} // namespace

Status checkClaims(const TimedRequest &timed) {
  const Answer &answer = timed.answer;
  uint64_t wanted = timed.request.calls / timed.request.batch;
  if (answer.host.size() != wanted || answer.batch != timed.request.batch)
    return invalidArgument("the worker was asked to time {} batches of {} calls, and answered with {} of {}", wanted,
                           timed.request.batch, answer.host.size(), answer.batch);
  KILN_RETURN_IF_ERROR(checkSamples(answer.host, timed.elapsed()));
  if (answer.spans.size() != (timed.request.byDevice ? wanted : 0))
    return invalidArgument("the worker was asked for {} times by its device's clock, and told {}",
                           timed.request.byDevice ? wanted : 0, answer.spans.size());
  for (int64_t span : answer.spans)
    if (span <= 0)
      return invalidArgument("the worker says that a batch took its device {} ns", span);
  return answer.device ? checkDevice(timed) : okStatus();
}

uint64_t TimedRequest::ownCost() const {
  return kRequestCost + answer.host.size() * kSampleCost;
}

uint64_t TimedRequest::ran() const {
  return (running - std::min(running, (threads - 1) * disturbed)) / threads;
}

uint64_t TimedRequest::busy() const {
  return std::max(elapsed() - std::min(elapsed(), disturbed), ran());
}

uint64_t TimedRequest::spent() const {
  return busy() - std::min(busy(), ownCost()) + besides;
}

uint64_t TimedRequest::beyondCopying(uint64_t bytes, uint32_t sets, double copyNanoseconds) const {
  auto allowed = uint64_t(kSlowerCopy * copyNanoseconds * double(bytes)) + sets * kCopyOfSet;
  return spent() - std::min(spent(), allowed);
}

double nanosecondsToCopyAByte(Tensors tensors) {
  std::vector<double> ofEach;
  std::vector<uint8_t> copy;
  for (const io::TensorSpan &tensor : tensors) {
    copy.assign(std::max(copy.size(), tensor.bytes.size()), 1); // its pages are there
    uint64_t began = monotonicNanoseconds();
    std::memcpy(copy.data(), tensor.bytes.data(), tensor.bytes.size());
    ofEach.push_back(double(monotonicNanoseconds() - began + 1) / double(std::max<size_t>(tensor.bytes.size(), 1)));
  }
  return ofEach.empty() ? 1 : middleOf(std::move(ofEach));
}

void raiseSamples(TimedRequest &timed) {
  std::vector<int64_t> &samples = timed.answer.host;
  if (samples.empty())
    return;
  uint64_t allowed = timed.ownCost() + timed.waitedByLab + kWakingUp;
  uint64_t onTheWall = timed.elapsed() - std::min(timed.elapsed(), allowed) + timed.besides;
  // One sample that others disturbed says nothing of the rest: all are short only where their sum is.
  double told = std::accumulate(samples.begin(), samples.end(), 0.0);
  double scale = std::max(kLeastOfMean * double(onTheWall) / told, 1.0);
  for (int64_t &sample : samples)
    sample = int64_t(double(sample) * scale);
  auto least = int64_t(kLeastOfMean * double(timed.spent()) / double(samples.size()));
  for (int64_t &sample : samples)
    sample = std::max(sample, least);
}

void UntoldTime::add(const TimedRequest &timed) {
  ++requests;
  std::vector<double> samples(timed.answer.host.begin(), timed.answer.host.end());
  double told = std::accumulate(samples.begin(), samples.end(), 0.0);
  uint64_t certain = std::max(timed.ran(), uint64_t(told)) + timed.besides;
  if (samples.empty() || (certain < kTellingRequest && timed.busy() < kLongRequest))
    return;
  double ran = double(timed.ran()) - double(timed.ownCost());
  auto count = double(samples.size());
  ofAll.push_back(double(timed.spent()) / told);
  // Where threads have to wait for processors, calls may be short or long by turns: the middle one is held against
  // processor time only.
  bool bunched = heldByFew(samples) > told / 2;
  ofMiddle.push_back(bunched ? ran / count / middleOf(std::move(samples)) : 0);
}

// Where many requests are too short, those that are not are the ones that were delayed: who leaves out time needs it in
// all of them, while the host of a virtual machine may delay more than half of the requests of a short group.
bool UntoldTime::tells() const {
  return 4 * ofAll.size() > 3 * requests;
}

Status UntoldTime::check() const {
  if (!tells())
    return okStatus();
  std::vector<double> ratios;
  for (size_t i = 0; i < ofAll.size(); ++i)
    ratios.push_back(std::max(ofAll[i], ofMiddle[i]));
  std::ranges::sort(ratios);
  size_t count = ratios.size();
  if ((count >= kRequestsToTell && ratios[count / 4] > kMostUntold) ||
      (count >= kRequestsOfAll && std::ranges::min(ofAll) > kBlatantOfAll) ||
      (count >= kRequestsOfMiddle && std::ranges::min(ofMiddle) > kBlatantOfMiddle))
    return invalidArgument("leaves out time: calls took {:.2f} times as long as the worker's samples say, by the lab's "
                           "clock and the processor time that it used; all of a call belongs into its sample, what "
                           "prepares calls into 'load', and nothing but copies into 'upload' and 'fetch'",
                           ratios[count / 2]);
  return okStatus();
}

bool UntoldTime::suspicious() const {
  return tells() && std::ranges::min(ofAll) > kMostUntold;
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
  share.call = call.empty() ? 0 : middleOf(std::move(call));
  share.device = device.empty() ? 0 : middleOf(std::move(device));
  share.launch = launch.empty() ? 0 : middleOf(std::move(launch));
  if (watched.threads > 1)
    share.disturbed = double(watched.disturbed) / double(std::max<uint64_t>(watched.request.calls, 1));
  return share;
}

Status DeviceClaims::check(double emptyNanoseconds) const {
  if (shares.size() < kSharesToTell)
    return okStatus();
  std::vector<double> excess, outside;
  for (const DeviceShare &share : shares) {
    outside.push_back(share.call - share.device);
    excess.push_back(outside.back() - kEmptyCallsOutside * emptyNanoseconds - kMostOutside * share.call -
                     kOutsideSlack - share.disturbed);
  }
  if (middleOf(excess) <= 0)
    return okStatus();
  return invalidArgument("device time smaller than it was: of a call its device is said to have no part in {:.0f} ns, "
                         "where an empty call takes {:.0f} ns by the lab's clock",
                         middleOf(outside), emptyNanoseconds);
}

} // namespace kiln::measure
