#include "kiln/report/formats/runs.h"

#include <algorithm>

#include "kiln/report/formats/text.h"
#include "kiln/report/model/noise.h"
#include "kiln/report/model/notes.h"

namespace kiln::report {

bool severalRuns(const Table &table) {
  return table.runs.size() > 1;
}

std::vector<const store::StoredRun *> runsWithRows(const Table &table) {
  std::vector<const store::StoredRun *> runs;
  for (const store::StoredRun &run : table.runs)
    if (table.rows.empty() || std::ranges::find(table.rows, &run, &Row::run) != table.rows.end())
      runs.push_back(&run);
  return runs;
}

std::string tagsText(const store::StoredRun &run) {
  std::string text;
  for (const auto &[name, value] : run.tags)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string runText(const store::StoredRun &run) {
  std::string tags = tagsText(run);
  return fmt::format("run {} of {} UTC{}{}", shortKey(run), timeText(run.started), tags.empty() ? "" : ", tags ", tags);
}

std::string beginText(const store::StoredRun &run, bool several) {
  std::string warning = machineWarning(run);
  if (warning.empty())
    return {};
  return fmt::format("When {} began: {}", several ? runText(run) : "it", warning);
}

} // namespace kiln::report
