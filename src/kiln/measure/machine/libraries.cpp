#include "kiln/measure/machine/libraries.h"

#include <string_view>

namespace kiln::measure {

namespace {

// Intel's build of oneDNN runs on SYCL, and its libraries do not look for each other beside themselves.
constexpr const char *kOneDnnNeeds[] = {"lib/libtbb.so.12", "lib/libintlc.so.5", "lib/libimf.so",
                                        "lib/libsvml.so",   "lib/libirng.so",    "lib/libsycl.so.9"};

// The beginning of dnnl_version_t, which has been the same in all versions.
struct DnnlVersion {
  int major, minor, patch;
};

Result<std::string> dnnlVersion(const SharedLibrary &library) {
  const DnnlVersion *(*version)();
  KILN_RETURN_IF_ERROR(library.find("dnnl_version", version));
  return fmt::format("{}.{}.{}", version()->major, version()->minor, version()->patch);
}

Result<std::string> openBlasVersion(const SharedLibrary &library) {
  const char *(*config)(), *(*core)();
  KILN_RETURN_IF_ERROR(library.find("scipy_openblas_get_config", config));
  KILN_RETURN_IF_ERROR(library.find("scipy_openblas_get_corename", core));
  std::string version = config(); // "OpenBLAS 0.3.34 ... "
  while (version.ends_with(' '))
    version.pop_back();
  return fmt::format("{}; code for {}", version, core());
}

Fact find(const std::string &folder, const LibraryFile &file, Result<std::string> (*versionOf)(const SharedLibrary &)) {
  Result<SharedLibrary> library = SharedLibrary::open(folder, file);
  if (!library.ok())
    return Fact::missing(std::string(library.status().message()));
  Result<std::string> version = versionOf(*library);
  return version.ok() ? Fact::of(*version) : Fact::missing(std::string(version.status().message()));
}

} // namespace

const LibraryFile kOneDnnFile = {"lib/libdnnl.so.3", kOneDnnNeeds};
const LibraryFile kOpenBlasFile = {"python/scipy_openblas32/lib/libscipy_openblas.so"};
const LibraryFile kMklFile = {"lib/libmkl_rt.so.3"};

Result<std::string> mklVersion(const SharedLibrary &library) {
  void (*describe)(char *text, int size);
  KILN_RETURN_IF_ERROR(library.find("MKL_Get_Version_String", describe));
  // "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product Build 20260915 for Intel(R) 64 architecture ..."
  char text[512] = {};
  describe(text, sizeof(text) - 1);
  std::string_view version = text;
  constexpr std::string_view kBefore = "Version ";
  size_t start = version.find(kBefore);
  version.remove_prefix(start == version.npos ? 0 : start + kBefore.size());
  return std::string(version.substr(0, version.find('-')));
}

std::vector<FoundLibrary> findLibraries(const std::string &peersFolder) {
  return {{"oneDNN", find(peersFolder, kOneDnnFile, dnnlVersion)},
          {"OpenBLAS", find(peersFolder, kOpenBlasFile, openBlasVersion)},
          {"MKL", find(peersFolder, kMklFile, mklVersion)}};
}

} // namespace kiln::measure
