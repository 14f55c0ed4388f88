// Parts of problems' names, for families that read them.
#ifndef KILN_MEASURE_NAMES_H
#define KILN_MEASURE_NAMES_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/hal/element_type.h"

namespace kiln::measure {

// A number as names write it: no sign, no leading zero. Anything else would not come back as it was. `what` it is
// stands in the error.
Result<uint64_t> parseNumber(std::string_view text, std::string_view what = "number");

// A size as names write it: such a number from 1 to 2^31 - 1.
Result<uint64_t> parseExtent(std::string_view text);

// "1000x1001", and back.
Result<std::vector<uint64_t>> parseShape(std::string_view text);
std::string shapeText(std::span<const uint64_t> shape);

// "f32"
Result<hal::ElementType> parseType(std::string_view text);

// Whether extents are sizes that names have, and a tensor has at most 1 TiB.
Status checkShape(std::span<const uint64_t> shape, hal::ElementType type);

} // namespace kiln::measure

#endif // KILN_MEASURE_NAMES_H
