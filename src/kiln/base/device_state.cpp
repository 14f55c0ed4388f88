#include "kiln/base/device_state.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace kiln {

static void extend(std::optional<double> &end, const std::optional<double> &other, bool isLow) {
  if (other)
    end = !end ? *other : isLow ? std::min(*end, *other) : std::max(*end, *other);
}

void DeviceState::add(const DeviceState &other) {
  extend(lowMegahertz, other.lowMegahertz, true);
  extend(highMegahertz, other.highMegahertz, false);
  extend(watts, other.watts, false);
  extend(celsius, other.celsius, false);
  throttling = joined(throttling, other.throttling);
}

std::string DeviceState::joined(const std::string &reasons, const std::string &others) {
  if (reasons == others)
    return reasons;
  std::set<std::string_view> all;
  for (std::string_view list : {std::string_view(reasons), std::string_view(others)})
    while (!list.empty()) {
      const size_t comma = std::min(list.find(','), list.size());
      all.insert(list.substr(0, comma));
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  std::string text;
  for (std::string_view reason : all)
    text += (text.empty() ? "" : ",") + std::string(reason);
  return text;
}

} // namespace kiln
