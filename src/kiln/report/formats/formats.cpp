#include "kiln/report/formats/formats.h"

#include <algorithm>

#include "kiln/report/model/suggestion.h"

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
  std::string list;
  std::vector<std::string> names;
  for (const Format &format : kFormats) {
    if (format.name == name)
      return &format;
    names.emplace_back(format.name);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", format.name);
  }
  return notFound("there is no report format '{}'; there are: {}{}", name, list, suggestion(name, names));
}

Result<const Format *> formatOfFile(std::string_view path) {
  std::string list;
  std::vector<std::string> extensions;
  for (const Format &format : kFormats) {
    if (path.ends_with(format.extension))
      return &format;
    extensions.emplace_back(format.extension);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", format.extension);
  }
  std::string_view name = path.substr(path.rfind('/') + 1);
  std::string_view extension = name.substr(std::min(name.rfind('.'), name.size()));
  return notFound("'{}' does not say its format; it should end with one of {}{}", path, list,
                  extension.empty() ? "" : suggestion(extension, extensions));
}

Result<const Format *> formatFor(std::string_view path, std::string_view asked) {
  return asked.empty() ? formatOfFile(path) : findFormat(asked);
}

} // namespace kiln::report
