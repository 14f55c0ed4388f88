// Flags of the documents' tools that set up the driver of GPUs. They are accepted, so that commands in documents run as
// they stand, and a line says what happens instead. docs/compat.md lists them.
#ifndef KILN_TOOLS_DRIVER_FLAGS_H
#define KILN_TOOLS_DRIVER_FLAGS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/tools/cli.h"

namespace kiln {

class DriverFlags {
public:
  // Must live until the parser has parsed.
  void add(FlagParser &parser);
  // A line for each flag that was given and asks for something else than what happens.
  std::vector<std::string> notes() const;
  // The device that --device=`uri` means: the driver's name alone stands for the GPU that --cuda_default_index names.
  std::string deviceOf(const std::string &uri) const;

private:
  std::map<std::string, std::optional<std::string>> switches; // by name
  uint32_t defaultIndex = 0;
};

} // namespace kiln

#endif // KILN_TOOLS_DRIVER_FLAGS_H
