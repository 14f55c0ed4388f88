#include "kiln/report/formats/columns_of.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/json_value.h"
#include "kiln/report/formats/text.h"

namespace kiln::report {

static Json runJson(const store::StoredRun &run) {
  Json tags = Json::object();
  for (const auto &[name, value] : run.tags)
    tags[name] = value;
  Json json = {{"run", run.key()},
               {"sweep", run.sweep},
               {"started_ns", run.started},
               {"started", timeText(run.started)},
               {"node", run.machine.node},
               {"hardware", run.machine.hardware},
               {"allocation", run.machine.allocation},
               {"command_line", run.commandLine},
               {"flags", parsedJson(run.flags)},
               {"seed", run.seed},
               {"cache_mode", run.cacheMode},
               {"data", run.dataDistribution},
               {"tags", std::move(tags)},
               {"kiln_version", run.kilnVersion}};
  json["ended_ns"] = run.ended ? Json(*run.ended) : Json();
  return json;
}

static Json rowJson(const Row &row, std::span<const Column *const> columns) {
  Json json = Json::object();
  for (const Column *column : columns)
    if (Json value = jsonOf(column->value(row)); !value.is_null())
      json[std::string(column->name)] = std::move(value);
  if (!row.result->verification.method.empty() || row.failed())
    json["verification_details"] = parsedJson(row.result->verification.details);
  return json;
}

Result<std::string> formatJson(const Table &table, const FormatOptions &options) {
  KILN_ASSIGN_OR_RETURN(std::vector<const Column *> columns, columnsOf(options));
  Json json = {{"runs", Json::array()},
               {"rows", Json::array()},
               {"unfinished", table.unfinished},
               {"not_begun", table.notBegun}};
  for (const store::StoredRun &run : table.runs)
    json["runs"].push_back(runJson(run));
  Json &rows = json["rows"];
  for (const Row &row : table.rows)
    rows.push_back(rowJson(row, columns));
  return dumpJson(json, 1) + "\n";
}

} // namespace kiln::report
