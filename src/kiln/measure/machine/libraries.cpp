#include "kiln/measure/machine/libraries.h"

#include <dlfcn.h>
#include <span>

#include "fmt/core.h"

namespace kiln::measure {

namespace {

// The beginning of dnnl_version_t, which has been the same in all versions.
struct DnnlVersion {
  int major, minor, patch;
};

std::string dnnlVersion(void *library) {
  auto function = reinterpret_cast<const DnnlVersion *(*)()>(::dlsym(library, "dnnl_version"));
  const DnnlVersion *version = function ? function() : nullptr;
  return version ? fmt::format("{}.{}.{}", version->major, version->minor, version->patch) : "";
}

std::string openBlasVersion(void *library) {
  auto function = reinterpret_cast<const char *(*)()>(::dlsym(library, "openblas_get_config"));
  const char *config = function ? function() : nullptr;
  auto core = reinterpret_cast<const char *(*)()>(::dlsym(library, "openblas_get_corename"));
  std::string version = config ? config : ""; // "OpenBLAS 0.3.21 ..."
  while (version.ends_with(' '))
    version.pop_back();
  return core ? fmt::format("{}; code for {}", version, core()) : version;
}

Fact find(std::span<const char *const> files, std::string (*versionOf)(void *)) {
  std::string wanted;
  for (const char *file : files) {
    wanted += fmt::format("{}{}", wanted.empty() ? "" : " or ", file);
    void *library = ::dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
      continue;
    std::string version = versionOf(library);
    ::dlclose(library);
    while (version.ends_with(' '))
      version.pop_back();
    return Fact::of(fmt::format("{} ({})", version.empty() ? "of unknown version" : version, file));
  }
  return Fact::missing(fmt::format("{} is not installed", wanted));
}

} // namespace

std::vector<FoundLibrary> findLibraries() {
  static constexpr const char *dnnl[] = {"libdnnl.so.3", "libdnnl.so.2"};
  static constexpr const char *openBlas[] = {"libopenblas.so.0"};
  return {{"oneDNN", find(dnnl, dnnlVersion)}, {"OpenBLAS", find(openBlas, openBlasVersion)}};
}

} // namespace kiln::measure
