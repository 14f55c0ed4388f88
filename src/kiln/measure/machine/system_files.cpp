#include "kiln/measure/machine/system_files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "kiln/base/split.h"

namespace kiln::measure {

static constexpr size_t kLargestFile = 4 << 20; // /proc/cpuinfo of a thousand CPUs

Result<std::string> SystemFiles::read(const std::string &path) const {
  int file = ::open((root + path).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return errnoStatus(errno, fmt::format("cannot read {}", path));
  std::string text;
  char block[4096];
  ssize_t length = 0;
  while (text.size() < kLargestFile && (length = ::read(file, block, sizeof(block))) > 0)
    text.append(block, static_cast<size_t>(length));
  int error = errno;
  ::close(file);
  if (length < 0)
    return errnoStatus(error, fmt::format("cannot read {}", path));
  text.erase(std::find_if(text.rbegin(), text.rend(), [](char c) { return c != '\n' && c != ' ' && c != '\0'; }).base(),
             text.end());
  return text;
}

Fact SystemFiles::fact(const std::string &path) const {
  Result<std::string> text = read(path);
  if (!text.ok())
    return Fact::missing(text.status().code() == StatusCode::NotFound ? "there is no " + path
                                                                      : std::string(text.status().message()));
  return text->empty() ? Fact::missing(path + " is empty") : Fact::of(*text);
}

std::optional<uint64_t> SystemFiles::number(const std::string &path) const {
  Result<std::string> text = read(path);
  return text.ok() ? parseUnsigned(*text) : std::nullopt;
}

std::optional<double> SystemFiles::megahertz(unsigned cpu) const {
  std::optional<uint64_t> kilohertz =
      number(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu));
  return kilohertz ? std::optional(static_cast<double>(*kilohertz) * 1e-3) : std::nullopt;
}

Fact SystemFiles::governor(unsigned cpu) const {
  return fact(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu));
}

Fact SystemFiles::boost() const {
  Fact on = fact("/sys/devices/system/cpu/cpufreq/boost");
  Fact off = fact("/sys/devices/system/cpu/intel_pstate/no_turbo");
  return on.available() || !off.available() ? on : Fact::of(off.value == "1" ? "0" : "1");
}

Fact SystemFiles::groupLimit(const char *name) const {
  Result<std::string> groups = read("/proc/self/cgroup");
  if (!groups.ok())
    return Fact::missing("this system has no control groups");
  for (std::string_view line : split(*groups, '\n')) {
    if (!line.starts_with("0::"))
      continue;
    std::string path(line.substr(3));
    while (true) {
      if (path == "/")
        path.clear();
      Result<std::string> limit = read(fmt::format("/sys/fs/cgroup{}/{}", path, name));
      if (limit.ok() && !limit->starts_with("max"))
        return Fact::of(*limit);
      if (path.empty())
        return Fact::of("max");
      path.resize(std::min(path.rfind('/'), path.size()));
    }
  }
  return Fact::missing("this system has control groups of the first version only");
}

uint64_t SystemFiles::freeMemory() const {
  uint64_t free = UINT64_MAX;
  if (Result<std::string> memory = read("/proc/meminfo"); memory.ok())
    if (std::optional<std::string> available = findField(*memory, "MemAvailable"))
      if (std::optional<uint64_t> kilobytes = parseUnsigned(available->substr(0, available->find(' '))))
        free = *kilobytes * 1024;
  const std::optional<uint64_t> limit = parseUnsigned(groupLimit("memory.max").value);
  return std::min(free, limit.value_or(UINT64_MAX));
}

std::vector<std::string> SystemFiles::list(const std::string &path) const {
  std::vector<std::string> names;
  DIR *folder = ::opendir((root + path).c_str());
  if (!folder)
    return names;
  while (const dirent *entry = ::readdir(folder)) // NOLINT(concurrency-mt-unsafe)
    if (entry->d_name[0] != '.')
      names.emplace_back(entry->d_name);
  ::closedir(folder);
  std::ranges::sort(names);
  return names;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n'))
    text.remove_suffix(1);
  return text;
}

std::optional<uint64_t> parseUnsigned(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::vector<std::string_view> splitWords(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    if (end > 0)
      words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::optional<std::string> findField(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == name)
      return std::string(trimmed(line.substr(colon + 1)));
  }
  return std::nullopt;
}

} // namespace kiln::measure
