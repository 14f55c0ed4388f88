// The parts of the HTML page, from the files in page/.
#ifndef KILN_REPORT_FORMATS_PAGE_H
#define KILN_REPORT_FORMATS_PAGE_H

#include <string_view>

namespace kiln::report {

// Holds {{title}}, {{css}}, {{data}} and {{js}}.
extern const std::string_view kPageHtml;
extern const std::string_view kPageCss;
extern const std::string_view kPageJs;
extern const std::string_view kChartsJs;

} // namespace kiln::report

#endif // KILN_REPORT_FORMATS_PAGE_H
