#include "kiln/measure/workers/claims.h"

#include <algorithm>

namespace kiln::measure {

namespace {

// Devices have clocks of their own, which are coarser than the system's, and not quite as fast.
constexpr int64_t kPartSlack = 1'000;
constexpr int64_t kPartSlackShare = 50;

// Waking up and answering take some tenths of a millisecond, and shorter turns would show it.
constexpr uint64_t kTellingTurn = 5'000'000;
constexpr size_t kTurnsToTell = 3;
// Between two samples: compiled workers need half of it, those in Python all of it.
constexpr uint64_t kBetweenSamples = 1'000;
// On top of that. Workers of all providers, on a machine that is busy with other things, leave out 1 to 10 %.
constexpr double kMostUntold = 0.15;

// No sum can overflow: each sample is compared with the time first, and the sum with it after each.
Status checkCalls(const std::vector<int64_t> &call, uint64_t elapsed) {
  uint64_t sum = 0;
  for (size_t i = 0; i < call.size(); ++i) {
    if (call[i] <= 0)
      return invalidArgument("the worker says that sample {} of {} took {} ns", i + 1, call.size(), call[i]);
    if (uint64_t(call[i]) > elapsed)
      return invalidArgument("the worker says that sample {} of {} took {} ns; it had {} ns for all of them", i + 1,
                             call.size(), call[i], elapsed);
    sum += uint64_t(call[i]);
    if (sum > elapsed)
      return invalidArgument("the worker says that {} of its {} samples took {} ns; it had {} ns for all of them",
                             i + 1, call.size(), sum, elapsed);
  }
  return okStatus();
}

// Whoever tells one part of a call only is asked no more than that it is a part.
Status checkParts(const Answer &answer) {
  for (const auto &[name, part] : {std::pair("device", &answer.device), std::pair("launch", &answer.launch)})
    if (!part->empty() && part->size() != answer.call.size())
      return invalidArgument("the worker answers with {} samples of \"call\" and {} of \"{}\"", answer.call.size(),
                             part->size(), name);
  for (size_t i = 0; i < answer.call.size(); ++i) {
    int64_t call = answer.call[i], most = call + call / kPartSlackShare + kPartSlack;
    int64_t device = answer.device.empty() ? 0 : answer.device[i];
    int64_t launch = answer.launch.empty() ? 0 : answer.launch[i];
    if (device < 0 || launch < 0 || device > most || launch > most - device)
      return invalidArgument("the worker says that sample {} of {} took {} ns, of which its device had {} ns and the "
                             "launch {} ns: that is more than the whole, or less than nothing",
                             i + 1, answer.call.size(), call, device, launch);
  }
  return okStatus();
}

} // namespace

Status checkClaims(const Answer &answer, uint32_t batch, uint64_t elapsed) {
  if (answer.call.empty() || answer.batch != batch)
    return invalidArgument("the worker was asked to time batches of {} calls, and answered with {} of {}", batch,
                           answer.call.size(), answer.batch);
  KILN_RETURN_IF_ERROR(checkCalls(answer.call, elapsed));
  return checkParts(answer);
}

void UntoldTime::addTurn(const Answer &answer, uint64_t elapsed) {
  if (elapsed < kTellingTurn)
    return;
  uint64_t told = answer.call.size() * kBetweenSamples;
  for (int64_t sample : answer.call)
    told += uint64_t(sample);
  shares.push_back(told < elapsed ? double(elapsed - told) / double(elapsed) : 0);
}

Status UntoldTime::check() const {
  if (shares.size() < kTurnsToTell)
    return okStatus();
  std::vector<double> sorted = shares;
  auto middle = sorted.begin() + std::ptrdiff_t(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  if (*middle <= kMostUntold)
    return okStatus();
  return invalidArgument("the worker's samples leave out {:.0f} % of its turns: what it does in that time would count "
                         "for nothing; all of a call belongs into its sample, and what prepares calls into 'load'",
                         *middle * 100);
}

} // namespace kiln::measure
