// Versions of what modules and runtimes agree on: a module names those that it was compiled against (module.fbs,
// Requirement), and a runtime takes it where it has the same major and no earlier minor version.
//
// Who adds an opcode, a function to a .def of imports, or a field whose absence would change what a module means,
// raises the minor version. Nothing is ever taken away or given another meaning within a major version.
#ifndef KILN_SCHEMA_VERSION_H
#define KILN_SCHEMA_VERSION_H

#include <compare>
#include <cstdint>

namespace kiln::schema {

struct Version {
  uint32_t major = 1;
  uint32_t minor = 0;

  // Whether what was compiled against `needed` runs with this.
  bool supports(Version needed) const { return major == needed.major && minor >= needed.minor; }
  // What runs with this where supports() says no, for messages.
  const char *runtimeFor(Version needed) const { return major > needed.major ? "an older runtime" : "a newer runtime"; }
  auto operator<=>(const Version &) const = default;
};

inline constexpr Version kVmVersion = {1, 0};    // module.fbs, vm_opcodes.def
inline constexpr Version kHalVersion = {1, 4};   // hal_imports.def
inline constexpr Version kCheckVersion = {1, 0}; // check_imports.def

} // namespace kiln::schema

#endif // KILN_SCHEMA_VERSION_H
