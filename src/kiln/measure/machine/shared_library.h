// A library of another project that is loaded when it is needed, from the folder into which `make peers` installs it.
#ifndef KILN_MEASURE_MACHINE_SHARED_LIBRARY_H
#define KILN_MEASURE_MACHINE_SHARED_LIBRARY_H

#include <span>
#include <string>

#include "kiln/base/status.h"

namespace kiln::measure {

// Where a library lies below that folder.
struct LibraryFile {
  const char *path; // "lib/libdnnl.so.3"; in "python/package/x.so", python stands for the folder of Python's packages
  // Libraries that it is linked with and does not find by itself, each behind those that it needs.
  std::span<const char *const> needs = {};
};

class SharedLibrary {
public:
  // Whether the folder has the file.
  static bool isThere(const std::string &folder, const LibraryFile &file);
  // Unimplemented, with the command that installs it, where the folder lacks it or it cannot be loaded.
  static Result<SharedLibrary> open(const std::string &folder, const LibraryFile &file);
  // One that the system's loader finds by its name.
  static Result<SharedLibrary> openSystems(const std::string &name);

  // Finds a function, here or in what the library itself was linked with.
  template <typename Function> Status find(const char *name, Function *&function) const {
    KILN_ASSIGN_OR_RETURN(void *address, findSymbol(name));
    function = reinterpret_cast<Function *>(address);
    return okStatus();
  }

private:
  Result<void *> findSymbol(const char *name) const;
  void *handle = nullptr; // stays open: thread pools of such libraries do not survive being unloaded
  std::string path;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_SHARED_LIBRARY_H
