// Parts of problems' names, for families that read them.
#ifndef KILN_MEASURE_NAMES_H
#define KILN_MEASURE_NAMES_H

#include <cstdint>
#include <string_view>

#include "kiln/base/status.h"

namespace kiln::measure {

// A number as names write it: no sign, no leading zero. Anything else would not come back as it was. `what` it is
// stands in the error.
Result<uint64_t> parseNumber(std::string_view text, std::string_view what = "number");

// A size as names write it: such a number from 1 to 2^31 - 1.
Result<uint64_t> parseExtent(std::string_view text);

} // namespace kiln::measure

#endif // KILN_MEASURE_NAMES_H
