// The small text files of /proc and /sys. Tests give another root.
#ifndef KILN_MEASURE_MACHINE_SYSTEM_FILES_H
#define KILN_MEASURE_MACHINE_SYSTEM_FILES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/fact.h"

namespace kiln::measure {

class SystemFiles {
public:
  explicit SystemFiles(std::string root = "") : root(std::move(root)) {}

  // The contents without white space at the end. `path` starts with a slash.
  Result<std::string> read(const std::string &path) const;
  // The same as a fact: "there is no /sys/..." where it cannot be read.
  Fact fact(const std::string &path) const;
  std::optional<uint64_t> number(const std::string &path) const;
  // Names in a folder, sorted; none where it cannot be read.
  std::vector<std::string> list(const std::string &path) const;

  // What a processor runs at now, where the system tells.
  std::optional<double> megahertz(unsigned cpu) const;
  Fact governor(unsigned cpu) const;
  // "1" where clocks may rise for a while above what the processor promises, "0" where not.
  Fact boost() const;
  // What the control group of this process, or one above it, sets as a limit: "max" where none does. Names of groups
  // are left out: each job of a cluster has its own.
  Fact groupLimit(const char *name) const;
  // Bytes that programs may still get, of the machine and of the control group; what is not known does not bound.
  uint64_t freeMemory() const;

private:
  std::string root;
};

// The value behind "name : value" or "name: value" in lines of text, of the first such line.
std::optional<std::string> findField(std::string_view text, std::string_view name);
// Unsigned decimal, all of the text.
std::optional<uint64_t> parseUnsigned(std::string_view text);
std::vector<std::string_view> splitWords(std::string_view text);
std::string_view trimmed(std::string_view text);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_SYSTEM_FILES_H
