#include "kiln/report/formats/formats.h"

namespace kiln::report {

static constexpr Format kFormats[] = {
    {"console", ".txt", "Tables that fit the terminal, a problem each, best first.", formatConsole},
    {"blocks", ".blocks", "The documents' form: a block of lines for each dispatch.", formatBlocks},
    {"csv", ".csv", "All columns, the documents' first; raw numbers.", formatCsv},
    {"json", ".json", "All columns and the runs' provenance; raw numbers.", formatJson},
    {"markdown", ".md", "Tables for a text that is rendered.", formatMarkdown},
    {"junit", ".xml", "Each candidate as a test case, for continuous integration.", formatJunit},
    {"html", ".html", "One page with tables and charts, which needs nothing else.", formatHtml},
};

std::span<const Format> formats() {
  return kFormats;
}

Result<const Format *> findFormat(std::string_view name) {
  std::string names;
  for (const Format &format : kFormats) {
    if (format.name == name)
      return &format;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  return notFound("there is no report format '{}'; there are: {}", name, names);
}

Result<const Format *> formatOfFile(std::string_view path) {
  std::string extensions;
  for (const Format &format : kFormats) {
    if (path.ends_with(format.extension))
      return &format;
    extensions += fmt::format("{}{}", extensions.empty() ? "" : ", ", format.extension);
  }
  return notFound("'{}' does not say its format; it should end with one of {}", path, extensions);
}

} // namespace kiln::report
