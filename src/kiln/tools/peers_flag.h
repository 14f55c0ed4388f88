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

} // namespace kiln

#endif // KILN_TOOLS_PEERS_FLAG_H
