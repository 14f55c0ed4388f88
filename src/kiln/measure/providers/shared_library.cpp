#include "kiln/measure/providers/shared_library.h"

#include <dlfcn.h>

namespace kiln::measure {

Result<SharedLibrary> SharedLibrary::open(const char *name, const char *package) {
  SharedLibrary library;
  library.name = name;
  library.handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library.handle)
    return unimplemented("cannot load {}: {}; Debian's package {} has it", name, ::dlerror(), package);
  return library;
}

Result<void *> SharedLibrary::findSymbol(const char *symbol) const {
  void *address = ::dlsym(handle, symbol);
  if (!address)
    return unimplemented("{} has no function {}: it is another version than this provider was written for", name,
                         symbol);
  return address;
}

} // namespace kiln::measure
