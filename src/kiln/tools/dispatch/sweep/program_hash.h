// Which program a command of the user's runs, as far as its files tell.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_PROGRAM_HASH_H
#define KILN_TOOLS_DISPATCH_SWEEP_PROGRAM_HASH_H

#include <string>

namespace kiln {

// A content key of a shell command and of the files that it names: the program, which is the first word and may be
// found on the PATH, and every later word that is a file, such as a script. Files above 256 MiB count by their size and
// the time of their last change. What a program loads besides is not seen.
std::string programHash(const std::string &command);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_PROGRAM_HASH_H
