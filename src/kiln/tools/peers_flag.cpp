#include "kiln/tools/peers_flag.h"

#include <filesystem>

#include "kiln/tools/sibling.h"

namespace kiln {

void addPeersFlag(FlagParser &parser, std::string &folder) {
  parser.add({"peers-dir", "DIR",
              "Where oneDNN, OpenBLAS and MKL are. Without it, where `make peers` installs them: in the folder peers "
              "beside the one of this tool."},
             folder);
}

std::string peersFolder(const std::string &flag) {
  return flag.empty() ? std::filesystem::path(ownFolder() + "../peers").lexically_normal().string() : flag;
}

} // namespace kiln
