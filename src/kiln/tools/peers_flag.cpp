#include "kiln/tools/peers_flag.h"

#include <cstdlib>
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

void findCpuDevice(const std::string &peersFolder) {
  ::setenv("OCL_ICD_FILENAMES", (peersFolder + "/lib/libintelocl.so").c_str(), /*overwrite=*/1);
  ::setenv("ONEAPI_DEVICE_SELECTOR", "opencl:cpu", /*overwrite=*/1);
}

} // namespace kiln
