// The version of this build, from the project's CMakeLists.txt.
#ifndef KILN_TOOLS_VERSION_H
#define KILN_TOOLS_VERSION_H

namespace kiln {

inline constexpr char kVersion[] = KILN_VERSION;

} // namespace kiln

#endif // KILN_TOOLS_VERSION_H
