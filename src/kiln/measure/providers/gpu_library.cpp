#include "kiln/measure/providers/gpu_library.h"

#include <algorithm>

namespace kiln::measure {

Result<SharedLibrary> openGpuLibrary(std::string_view library, std::span<const GpuLibraryFile> files,
                                     std::string_view package, const std::string &peersFolder,
                                     const hal::CudaLibrary &cuda) {
  if (cuda.isSimulated())
    return unimplemented("{} computes on NVIDIA's GPUs, and not on simulated ones", library);
  std::string tried;
  for (size_t i = 0; i < files.size(); ++i) {
    const GpuLibraryFile &file = files[i];
    if (cuda.version() / 1000 < file.cuda)
      continue;
    const std::string path = fmt::format("python/{}/{}", file.folder, file.name);
    const std::string needed = file.needs ? fmt::format("python/{}", file.needs) : "";
    const char *needs[] = {needed.c_str()};
    if (SharedLibrary::isThere(peersFolder, {path.c_str()}) &&
        (!file.needs || SharedLibrary::isThere(peersFolder, {needed.c_str()})))
      return SharedLibrary::open(peersFolder, {path.c_str(), std::span(needs).first(file.needs ? 1 : 0)});
    // Of files of one name, those of the folder of peers come first.
    if (std::ranges::any_of(files.subspan(i + 1),
                            [&](const GpuLibraryFile &later) { return std::string_view(later.name) == file.name; }))
      continue;
    if (Result<SharedLibrary> opened = SharedLibrary::openSystems(file.name); opened.ok())
      return opened;
    tried += (tried.empty() ? "" : " or ") + std::string(file.name);
  }
  return unimplemented("cannot load {}: not among the system's libraries, and not in {}; `pip install {}` into an "
                       "environment that --peers-dir names provides it",
                       tried.empty() ? fmt::format("{}: NVIDIA's driver is too old", library) : tried, peersFolder,
                       package);
}

std::string gpuLibraryVersion(size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

} // namespace kiln::measure
