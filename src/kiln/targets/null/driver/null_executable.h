// An executable without code: it has the exports that the module says it has.
#ifndef KILN_TARGETS_NULL_DRIVER_NULL_EXECUTABLE_H
#define KILN_TARGETS_NULL_DRIVER_NULL_EXECUTABLE_H

#include "kiln/runtime/hal/executable.h"

#include <string>
#include <vector>

namespace kiln::hal {

class NullExecutable final : public Executable {
public:
  // The source is borrowed: what is needed later is copied. A real driver loads `source.bytes`, and compares the
  // exports that it finds there with `source.exports`, which is what the host program was compiled against.
  explicit NullExecutable(const ExecutableSource &source);

private:
  std::vector<std::string> names;
  std::vector<ExecutableExport> entries; // refers to `names`
};

} // namespace kiln::hal

#endif // KILN_TARGETS_NULL_DRIVER_NULL_EXECUTABLE_H
