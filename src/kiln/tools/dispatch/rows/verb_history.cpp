// `kiln-dispatch history`: one dispatch in all runs.
#include "kiln/base/file.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/history.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/rows/stored_row.h"
#include "kiln/tools/printing.h"

namespace kiln {

// A dispatch as it is; of a row's key, the row's dispatch.
static Result<std::string> dispatchOf(store::Reader &reader, const std::string &name) {
  constexpr size_t longestKey = 16;
  if (name.size() > longestKey || name.find_first_not_of("0123456789abcdef") != std::string::npos)
    return name;
  KILN_ASSIGN_OR_RETURN(StoredRow found, findStoredRow(reader, {}, name));
  return found.row->dispatch();
}

Result<int> verbs::history(const Lab &lab, const ReportFlags &flags) {
  if (flags.arguments.size() != 1)
    return invalidArgument("say which dispatch: `kiln-dispatch history <dispatch>`");
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, openStore(lab, flags));
  KILN_ASSIGN_OR_RETURN(std::string dispatch, dispatchOf(*reader, flags.arguments.front()));
  Result<report::History> loaded = report::loadHistory(*reader, dispatch);
  if (!loaded.ok() && loaded.status().code() == StatusCode::NotFound) {
    report::Filter all;
    all.allRuns = true;
    Result<report::Table> table = report::loadTable(*reader, all);
    return table.ok() ? notFound("{}{}", loaded.status().message(), nearestRows(dispatch, namesOf(*table)))
                      : std::move(loaded).status();
  }
  KILN_ASSIGN_OR_RETURN(report::History history, std::move(loaded));
  for (const std::string &path : flags.outputs) {
    KILN_ASSIGN_OR_RETURN(const report::Format *format, report::formatFor(path, flags.format));
    KILN_ASSIGN_OR_RETURN(std::string text, report::formatHistory(history, format->name, consoleWidth()));
    KILN_RETURN_IF_ERROR(writeFile(path, text));
    print(fmt::format("Writing history to {}\n", path));
  }
  if (flags.outputs.empty()) {
    KILN_ASSIGN_OR_RETURN(std::string text, report::formatHistory(history, flags.shownFormat(), consoleWidth()));
    print(text);
  }
  return 0;
}

} // namespace kiln
