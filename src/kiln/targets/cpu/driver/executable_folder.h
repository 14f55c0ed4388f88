// Loaded code as files on disk, for tools that look at it when the process has ended.
#ifndef KILN_TARGETS_CPU_DRIVER_EXECUTABLE_FOLDER_H
#define KILN_TARGETS_CPU_DRIVER_EXECUTABLE_FOLDER_H

#include "kiln/base/status.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kiln::hal {

// More files than this are not kept: the oldest go when a new one comes.
inline constexpr size_t kMaxKeptExecutables = 256;

// The path of a file in `folder` that holds just these bytes, "<name>-<hash>.so"; written unless it is there. The
// folder is created for its owner alone. Any number of processes may do so at the same time.
Result<std::string> keepExecutable(const std::string &folder, std::string_view name, std::span<const std::byte> bytes);

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_EXECUTABLE_FOLDER_H
