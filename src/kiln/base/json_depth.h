// Guards against JSON that nobody means: parsers and printers call themselves once for each level that it is nested.
#ifndef KILN_BASE_JSON_DEPTH_H
#define KILN_BASE_JSON_DEPTH_H

#include <cstddef>
#include <string_view>

namespace kiln {

// More than any JSON of Kiln has.
inline constexpr size_t kMostJsonDepth = 32;

// How many lists and objects are open at most at a time. Of text that is no JSON it may say anything that is at least
// as much as what a parser enters.
size_t jsonDepth(std::string_view text);

} // namespace kiln

#endif // KILN_BASE_JSON_DEPTH_H
