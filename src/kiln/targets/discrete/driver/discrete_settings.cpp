#include "kiln/targets/discrete/driver/discrete_settings.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace kiln::hal {

namespace {

struct Setting {
  std::string_view name;
  uint64_t DiscreteSettings::*value;
  uint64_t least, most;
  std::string_view meaning;
};

constexpr Setting kSettings[] = {
    {"memory-mib", &DiscreteSettings::memoryMib, 1, uint64_t(1) << 30, "size of its memory"},
    {"queues", &DiscreteSettings::queues, 1, 64, "queues, each with a thread"},
    {"seed", &DiscreteSettings::seed, 0, UINT64_MAX, "of delays and orders"},
    {"delay-us", &DiscreteSettings::delayMicros, 0, 60'000'000, "delays are up to so long"},
    {"binding-alignment", &DiscreteSettings::bindingAlignment, KILN_BINDING_ALIGNMENT, 4096,
     "bindings start at multiples of so many bytes"},
    {"fail-allocation", &DiscreteSettings::failAllocation, 0, UINT64_MAX, "the allocation that fails"},
    {"fail-submission", &DiscreteSettings::failSubmission, 0, UINT64_MAX, "the submission that fails"},
    {"hold", &DiscreteSettings::hold, 0, 1, "1: work starts only when the host waits for some of it"},
    {"most-in-flight", &DiscreteSettings::mostInFlight, 0, UINT64_MAX,
     "so many submissions that have not ended make the next one fail"},
    {"lose-at", &DiscreteSettings::loseAt, 0, UINT64_MAX, "the submission at which the device is lost"},
};

} // namespace

std::vector<std::pair<std::string, std::string>> DiscreteSettings::describe() {
  std::vector<std::pair<std::string, std::string>> described;
  for (const Setting &setting : kSettings)
    described.emplace_back(fmt::format("discrete://{}=N", setting.name), setting.meaning);
  return described;
}

// GPUs give out memory at multiples of 256.
DeviceLimits DiscreteSettings::limits() const {
  DeviceLimits limits;
  limits.bindingAlignment = bindingAlignment;
  limits.bufferAlignment = std::max<uint64_t>(256, bindingAlignment);
  limits.mostBufferBytes = memoryMib << 20;
  return limits;
}

static std::string settingNames() {
  std::string names;
  for (const Setting &setting : kSettings)
    fmt::format_to(std::back_inserter(names), "{}{}=N", names.empty() ? "" : ", ", setting.name);
  return names;
}

Result<DiscreteSettings> DiscreteSettings::parse(std::string_view text) {
  DiscreteSettings settings;
  while (!text.empty()) {
    std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    std::string_view name = entry.substr(0, entry.find('='));
    const Setting *setting = std::ranges::find(kSettings, name, &Setting::name);
    if (setting == std::end(kSettings) || name.size() == entry.size())
      return invalidArgument("'{}' is no setting of a discrete device; there are {}", entry, settingNames());
    std::string_view digits = entry.substr(name.size() + 1);
    uint64_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || value < setting->least ||
        value > setting->most)
      return invalidArgument("{} takes a number from {} to {}, not '{}'; commas are between settings", name,
                             setting->least, setting->most, digits);
    settings.*setting->value = value;
  }
  if (!std::has_single_bit(settings.bindingAlignment))
    return invalidArgument("binding-alignment takes a power of two, not {}", settings.bindingAlignment);
  return settings;
}

} // namespace kiln::hal
