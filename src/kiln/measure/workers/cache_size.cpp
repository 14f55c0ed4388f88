#include "kiln/measure/workers/cache_size.h"

#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <sched.h>

namespace kiln::measure {

namespace {

// Read as a stream: sysfs cannot map its files, and does not tell their true sizes.
std::optional<std::string> readLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line))
    return std::nullopt;
  return line;
}

// "32768K", "1M", "512"
std::optional<uint64_t> parseSize(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value == 0 || value > (uint64_t(1) << 40))
    return std::nullopt;
  std::string_view unit(end, size_t(text.data() + text.size() - end));
  if (unit.empty())
    return value;
  if (unit == "K")
    return value << 10;
  if (unit == "M")
    return value << 20;
  return std::nullopt;
}

} // namespace

std::vector<uint32_t> usableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<uint32_t> cpus;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0)
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        cpus.push_back(cpu);
  return cpus;
}

Result<uint64_t> lastLevelCacheBytes(std::span<const uint32_t> cpus, const std::string &root) {
  // By level, and then by the processors that share a cache, which name it.
  std::map<unsigned, std::map<std::string, uint64_t>> caches;
  for (uint32_t cpu : cpus) {
    for (unsigned index = 0;; ++index) {
      std::string folder = fmt::format("{}/cpu{}/cache/index{}/", root, cpu, index);
      std::optional<std::string> level = readLine(folder + "level");
      if (!level)
        break;
      std::optional<std::string> type = readLine(folder + "type");
      std::optional<std::string> size = readLine(folder + "size");
      std::optional<std::string> shared = readLine(folder + "shared_cpu_list");
      std::optional<uint64_t> number = parseSize(*level);
      std::optional<uint64_t> bytes = size ? parseSize(*size) : std::nullopt;
      if (number && bytes && type != "Instruction")
        caches[unsigned(*number)][shared.value_or(std::to_string(cpu))] = *bytes;
    }
  }
  if (caches.empty())
    return notFound("the system does not tell the size of caches below {}", root);
  uint64_t total = 0;
  for (const auto &[shared, bytes] : caches.rbegin()->second)
    total += bytes;
  return total;
}

} // namespace kiln::measure
