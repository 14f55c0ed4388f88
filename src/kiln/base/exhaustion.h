// What is said when the system gives no more threads or memory.
#ifndef KILN_BASE_EXHAUSTION_H
#define KILN_BASE_EXHAUSTION_H

#include <string_view>
#include <system_error>

#include "kiln/base/status.h"

namespace kiln {

// What to do about it.
inline constexpr const char *kMoreMemory =
    "; raise the limit of memory (ulimit -v, the container's), or give the program less to do";
inline constexpr const char *kMoreThreads =
    "; raise the limit of threads (ulimit -u, the container's pids) or of memory (ulimit -v), or ask for fewer threads";

// Of a std::thread that could not be started: "cannot start <what>: <why>", and what to do.
Status noThread(std::string_view what, const std::system_error &error);

} // namespace kiln

#endif // KILN_BASE_EXHAUSTION_H
