// What the tools for files of parameters share.
#ifndef KILN_TOOLS_PARAMETERS_PARAMETER_OPTIONS_H
#define KILN_TOOLS_PARAMETERS_PARAMETER_OPTIONS_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kiln/runtime/io/input.h"
#include "kiln/schema/parameters/irpa_writer.h"
#include "kiln/schema/parameters/parameter_file.h"
#include "kiln/tools/cli.h"

namespace kiln {

// Files by scope, each in the order in which they were given.
using ScopedFiles = std::vector<std::pair<std::string, std::vector<std::shared_ptr<const ParameterFile>>>>;

void addParametersFlag(FlagParser &parser, std::vector<std::string> &values);
Result<ScopedFiles> openParameters(const std::vector<std::string> &values);

// Where an archive is written, and how.
struct ArchiveFlags {
  std::string output;
  uint64_t alignment = 64;
  bool quiet = false;

  void add(FlagParser &parser);
  // With a line of progress on a terminal, and at the end one that says what there is. `check` is asked after each
  // piece whether what was read was there; what fails it leaves no archive.
  Status write(std::string_view tool, const std::vector<ParameterContents> &parameters,
               const std::function<Status()> &check = okStatus) const;
};

// "name=rest" as the two; the name ends at the first '='.
Result<std::pair<std::string, std::string>> splitName(std::string_view flag, const std::string &text);

// "4096x4096xf32" or "4096x4096xf32=2.5" as a parameter of one element repeated. Nothing where the text is of other
// elements.
Result<std::optional<ParameterContents>> readRepeated(std::string_view text);

} // namespace kiln

#endif // KILN_TOOLS_PARAMETERS_PARAMETER_OPTIONS_H
