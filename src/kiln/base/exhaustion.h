// What is said when the system gives no more memory, threads, descriptors or room for files.
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

// What to do about an errno, to be put behind its text: "; raise the limit of open files (ulimit -n)". Empty where
// the text says it all. EAGAIN has many meanings, and no advice here.
const char *exhaustionAdvice(int error);
// Of a message in which another library has put the text of an errno.
const char *exhaustionAdvice(std::string_view message);

// Of a std::thread that could not be started: "cannot start <what>: <why>", and what to do.
Status noThread(std::string_view what, const std::system_error &error);
// Of a program that could not be started, with the errno of fork or the result of posix_spawn.
Status noProcess(std::string_view program, int error);

} // namespace kiln

#endif // KILN_BASE_EXHAUSTION_H
