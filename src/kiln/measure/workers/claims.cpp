#include "kiln/measure/workers/claims.h"

namespace kiln::measure {

namespace {

// Devices have clocks of their own, which are coarser than the system's, and not quite as fast.
constexpr int64_t kPartSlack = 1'000;
constexpr int64_t kPartSlackShare = 50;

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

} // namespace kiln::measure
