#include "kiln/tools/driver_cache.h"

#include <cstdlib>

#include "kiln/base/own_folder.h"

namespace kiln {

void placeDriverCache(const std::string &executableFolder) {
  if (std::getenv("CUDA_CACHE_PATH") || std::getenv("CUDA_CACHE_DISABLE"))
    return;
  if (executableFolder.empty())
    setenv("CUDA_CACHE_DISABLE", "1", 0);
  else if (openOwnFolder(executableFolder).ok())
    setenv("CUDA_CACHE_PATH", (executableFolder + "/cuda").c_str(), 0);
}

} // namespace kiln
