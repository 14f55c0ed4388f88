// Where NVIDIA's driver keeps what it compiles of PTX.
#ifndef KILN_TOOLS_DRIVER_CACHE_H
#define KILN_TOOLS_DRIVER_CACHE_H

#include <string>

namespace kiln {

// In a folder of the folder of executables, where the driver finds it again by content, its own version and the GPU; an
// empty folder keeps nothing. What the user's environment says of CUDA's cache stays, and so does the driver's own
// choice where others may write to the folder. It is this process's environment that the driver reads, once: comes
// before devices are opened and threads started.
void placeDriverCache(const std::string &executableFolder);

} // namespace kiln

#endif // KILN_TOOLS_DRIVER_CACHE_H
