// Text for people: numbers with as many digits as they deserve, and cells of a table.
#ifndef KILN_REPORT_FORMATS_TEXT_H
#define KILN_REPORT_FORMATS_TEXT_H

#include <string>
#include <string_view>
#include <vector>

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
// "2026-11-21 12:20:00"
std::string timeText(int64_t nanoseconds);

// Characters on a terminal, of UTF-8 without wide ones.
size_t displayWidth(std::string_view text);
// At most `width` characters: what is too long loses its middle, because names differ at both ends.
std::string fitText(std::string_view text, size_t width);
// The same as one text: the label, the first line, and further ones that start with `indent` spaces.
std::string hangingText(std::string_view label, std::string_view text, size_t width, size_t indent);
// Of the first line what fits, up to the end of a part of the sentence where there is one; "…" stands for the rest.
std::string firstPart(std::string_view text, size_t width);
std::string padText(std::string_view text, size_t width, bool right);
// What programs wrote, as a terminal may show it: lines stay lines, a tab is a space, and control characters and bytes
// that are no UTF-8 are written out, as in \x1b.
std::string plainText(std::string_view text);
// The same in one line.
std::string plainLine(std::string_view text);

// In one line, without what would end a cell of a Markdown table or be taken for markup.
std::string escapedMarkdown(std::string_view text);

// XML has no way to write most control characters, not even escaped: they are left out.
std::string escapedXml(std::string_view text);
// A cell of CSV, in quotes where it needs them.
std::string quotedCsv(std::string_view cell);

enum class LongWords {
  Stay,  // names and paths, to be copied
  Break, // what programs wrote
};
// Plain lines of at most `width` characters, broken at spaces and where the text has lines.
std::vector<std::string> wrapText(std::string_view text, size_t width, LongWords longWords = LongWords::Stay);

} // namespace kiln::report

#endif // KILN_REPORT_FORMATS_TEXT_H
