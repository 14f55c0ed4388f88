// --peers-dir, the flag of all tools that load the libraries that Kiln is compared with.
#ifndef KILN_TOOLS_PEERS_FLAG_H
#define KILN_TOOLS_PEERS_FLAG_H

#include <string>

#include "kiln/tools/cli.h"

namespace kiln {

void addPeersFlag(FlagParser &parser, std::string &folder);
// The folder that the flag names; without it, the folder peers beside the one of this process's executable, into which
// `make peers` installs.
std::string peersFolder(const std::string &flag);
// Tells SYCL, on which PyPI's oneDNN runs, through variables of this process that its device is the CPU, and where
// Intel's OpenCL is, which has that device. Comes before oneDNN is loaded.
void findCpuDevice(const std::string &peersFolder);

} // namespace kiln

#endif // KILN_TOOLS_PEERS_FLAG_H
