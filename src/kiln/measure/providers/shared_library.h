// A library that is loaded when it is needed, where the machine has it.
#ifndef KILN_MEASURE_PROVIDERS_SHARED_LIBRARY_H
#define KILN_MEASURE_PROVIDERS_SHARED_LIBRARY_H

#include <memory>

#include "kiln/base/status.h"

namespace kiln::measure {

class SharedLibrary {
public:
  // Unimplemented, with what to do, where the machine lacks it. `package` is what brings it.
  static Result<SharedLibrary> open(const char *name, const char *package);

  // Finds a function, here or in what the library itself was linked with.
  template <typename Function> Status find(const char *name, Function *&function) const {
    KILN_ASSIGN_OR_RETURN(void *address, findSymbol(name));
    function = reinterpret_cast<Function *>(address);
    return okStatus();
  }

private:
  Result<void *> findSymbol(const char *name) const;
  void *handle = nullptr; // stays open: thread pools of such libraries do not survive being unloaded
  const char *name = nullptr;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_SHARED_LIBRARY_H
