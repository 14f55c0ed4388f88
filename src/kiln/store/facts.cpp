#include "kiln/store/facts.h"

#include <ctime>

#include "fmt/format.h"
#include "kiln/store/json.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln::store {

std::string contentKey(std::initializer_list<std::string_view> parts) {
  // Lengths keep ("ab", "c") and ("a", "bc") apart.
  std::string all;
  for (std::string_view part : parts) {
    all += fmt::format("{}:", part.size());
    all += part;
  }
  XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

int64_t unixNanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

MachineKeys Machine::keys() const {
  return {contentKey({"node", node}), contentKey({"hardware", hardware}), contentKey({"allocation", allocation})};
}

std::string Run::key() const {
  return contentKey({"run", sweep, std::to_string(started), machine.node, machine.hardware, machine.allocation,
                     commandLine, flags, std::to_string(seed), cacheMode, dataDistribution, pairsToJson(tags),
                     kilnVersion});
}

std::string Problem::key() const {
  return contentKey(
      {"problem", name, family, pairsToJson(fields), fmt::format("{:.17g}", flops), fmt::format("{:.17g}", bytes)});
}

std::string_view Problem::field(std::string_view name) const {
  for (const auto &[key, value] : fields)
    if (key == name)
      return value;
  return {};
}

std::string Problem::title() const {
  const std::string_view arithmetic = field("arithmetic");
  return arithmetic.empty() ? name : fmt::format("{} in {}", name, arithmetic);
}

std::string Candidate::key() const {
  return contentKey({"candidate", problem, provider, providerVersion, configuration, variant, compilerFlags, moduleHash,
                     std::to_string(threads)});
}

std::string Group::key() const {
  const MachineKeys where = machine.value_or(MachineKeys());
  return contentKey({"group", run, problem, std::to_string(started), where.node, where.hardware, where.allocation});
}

const char *groupStatusName(GroupStatus status) {
  switch (status) {
  case GroupStatus::Running: return "running";
  case GroupStatus::Finished: return "finished";
  case GroupStatus::Interrupted: return "interrupted";
  }
  return "unknown";
}

} // namespace kiln::store
