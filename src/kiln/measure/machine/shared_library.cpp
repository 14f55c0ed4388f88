#include "kiln/measure/machine/shared_library.h"

#include <dlfcn.h>
#include <filesystem>
#include <string_view>

#include "kiln/base/exhaustion.h"

namespace kiln::measure {

namespace {

constexpr std::string_view kPackages = "python/";

// "build/peers/lib/python3.11/site-packages/": the version is that of whatever Python made the folder.
std::string packageFolder(const std::string &folder) {
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder + "/lib", error))
    if (entry.path().filename().string().starts_with("python3"))
      return entry.path().string() + "/site-packages/";
  return folder + "/lib/python3/site-packages/";
}

std::string pathIn(const std::string &folder, std::string_view path) {
  if (path.starts_with(kPackages))
    return packageFolder(folder) + std::string(path.substr(kPackages.size()));
  return fmt::format("{}/{}", folder, path);
}

Result<void *> load(const std::string &path) {
  if (void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
    return handle;
  const char *said = ::dlerror();
  std::string why = said ? said : path;
  if (const char *advice = exhaustionAdvice(why); *advice)
    return resourceExhausted("cannot load {}{}", why, advice);
  return unimplemented("cannot load {}; `make peers` installs it into build/peers, and --peers-dir=DIR names another",
                       why);
}

} // namespace

bool SharedLibrary::isThere(const std::string &folder, const LibraryFile &file) {
  std::error_code error;
  return std::filesystem::exists(pathIn(folder, file.path), error);
}

Result<SharedLibrary> SharedLibrary::open(const std::string &folder, const LibraryFile &file) {
  for (const char *needed : file.needs)
    KILN_RETURN_IF_ERROR(load(pathIn(folder, needed)).status());
  SharedLibrary library;
  library.path = pathIn(folder, file.path);
  KILN_ASSIGN_OR_RETURN(library.handle, load(library.path));
  return library;
}

Result<SharedLibrary> SharedLibrary::openSystems(const std::string &name) {
  SharedLibrary library;
  library.path = name;
  library.handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (const char *why = library.handle ? nullptr : ::dlerror())
    return unimplemented("cannot load {}{}", why, exhaustionAdvice(why));
  return library;
}

Result<void *> SharedLibrary::findSymbol(const char *symbol) const {
  if (void *address = ::dlsym(handle, symbol))
    return address;
  return unimplemented("{} has no function {}: it is another version than this provider was written for", path, symbol);
}

} // namespace kiln::measure
