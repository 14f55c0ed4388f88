// Text for people: numbers with as many digits as their errors justify, and cells of a table.
#ifndef KILN_REPORT_FORMATS_TEXT_H
#define KILN_REPORT_FORMATS_TEXT_H

#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/time_text.h"
#include "kiln/base/wrap_text.h"
#include "kiln/report/columns/columns.h"

namespace kiln::report {

// A value as a reader wants it, with the unit's multiple where it is not in the header: "62.1 µs", "1=", "1250".
std::string displayText(const Value &value, Unit unit);
// All digits, as CSV and JSON have it: numbers come back as they were.
std::string rawText(const Value &value);
// Whether cells of the unit stand at the right of their column.
bool alignsRight(Unit unit);

// No more digits than half an interval of `error` justifies; see Number.
std::string roundedText(double value, double error);
// "950 ns", "62.1 µs", "1.2 ms", "3 s"
std::string durationText(double nanoseconds, double error);
// "33.6 M" and the like, in steps of a thousand.
std::string scaledText(double value);

// At most `width` characters: what is too long loses its middle, because names differ at both ends.
std::string fitText(std::string_view text, size_t width);
// Of the first line what fits, up to the end of a part of the sentence where there is one; "…" stands for the rest.
std::string firstPart(std::string_view text, size_t width);
std::string padText(std::string_view text, size_t width, bool right);
// In one line, without what would end a cell of a Markdown table or be taken for markup.
std::string escapedMarkdown(std::string_view text);

// As plainText, since XML has no way to write most control characters, not even escaped.
std::string escapedXml(std::string_view text);
// A cell of CSV, as plainText and in quotes where it needs them; what a spreadsheet would take for a formula has a '
// before it, as its text.
std::string quotedCsv(std::string_view cell);

} // namespace kiln::report

#endif // KILN_REPORT_FORMATS_TEXT_H
