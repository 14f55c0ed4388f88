#include "kiln/targets/null/driver/null_executable.h"

namespace kiln::hal {

NullExecutable::NullExecutable(const ExecutableSource &source) {
  for (const ExpectedExport &expected : source.exports)
    names.emplace_back(expected.name);
  for (size_t i = 0; i < names.size(); ++i)
    entries.push_back(
        {names[i], source.exports[i].bindingCount, source.exports[i].constantCount, 0, source.accessOf(i)});
  exportTable = entries;
}

} // namespace kiln::hal
