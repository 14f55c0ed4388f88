// A dispatch's history in the forms that reports have.
#ifndef KILN_REPORT_FORMATS_HISTORY_H
#define KILN_REPORT_FORMATS_HISTORY_H

#include <string>
#include <string_view>

#include "kiln/report/model/history.h"

namespace kiln::report {

// "console", "csv", "json" or "markdown"; the error lists them. `width` is the console's.
Result<std::string> formatHistory(const History &history, std::string_view format, size_t width);

} // namespace kiln::report

#endif // KILN_REPORT_FORMATS_HISTORY_H
