#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "kiln/base/file.h"
#include "kiln/base/wrap_text.h"
#include "kiln/report/formats/text.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/printing.h"
#include "kiln/tools/profile/profile_verbs.h"
#include "kiln/trace/capture_reader.h"
#include "kiln/trace/capture_summary.h"
#include "kiln/trace/chrome_writer.h"

namespace kiln {

namespace {

struct ReadFlags {
  std::vector<std::string> files;
  std::string format = "text", output;

  void add(FlagParser &parser, const char *formats) {
    parser.group("What to read, and how to show it");
    parser.addPositional({"file", "FILE", "What --trace=FILE or KILN_TRACE=FILE has recorded."}, files);
    parser.addChoice({"format", formats, "How to show it."}, format);
    parser.add({"output", "FILE", "Where to write it; standard output without this."}, output);
  }

  Result<trace::Capture> open() const {
    if (files.size() != 1)
      return invalidArgument("{} files are named; one is needed", files.size());
    return trace::Capture::open(files.front());
  }

  Status show(std::string_view text) const {
    if (!output.empty())
      return writeFile(output, text);
    print(text);
    return okStatus();
  }
};

// As much of the end as has room: names differ there.
std::string fitted(std::string_view name, size_t width) {
  const std::string text = plainLine(name);
  return text.size() <= width ? text : "..." + text.substr(text.size() - (width - 3));
}

std::string milliseconds(double nanoseconds) {
  return fmt::format("{:.3f}", nanoseconds * 1e-6);
}

// One table for zones of threads, by their own time, and dispatches of devices, by all of it.
struct TimeTable {
  const char *kind;
  const std::vector<trace::NameSummary> &rows;
  double trace::NameSummary::*by;
  double whole; // what shares are of
};

void appendText(std::string &text, const TimeTable &table, const char *title, const char *what, size_t most) {
  if (table.rows.empty())
    return;
  text += fmt::format("\n{}\n{:>10} {:>6} {:>8} {:>9} {:>9}  {}\n", title, "ms", "share", "times", "mean us", "most us",
                      what);
  for (const trace::NameSummary &row : std::span(table.rows).first(std::min(most, table.rows.size())))
    text += fmt::format("{:>10} {:>5.1f}% {:>8} {:>9.2f} {:>9.2f}  {}\n", milliseconds(row.*table.by),
                        table.whole > 0 ? 100 * row.*table.by / table.whole : 0.0, row.count,
                        row.*table.by / double(row.count) * 1e-3, row.most * 1e-3,
                        fitted(row.name, std::max<size_t>(24, terminalWidth(STDOUT_FILENO) - 49)));
  if (table.rows.size() > most)
    text += fmt::format("{} more; --format=csv shows all\n", table.rows.size() - most);
}

void appendCsv(std::string &text, const TimeTable &table) {
  for (const trace::NameSummary &row : table.rows)
    text += fmt::format("{},{},{},{:.0f},{:.0f},{:.0f},{:.0f},{:.0f}\n", table.kind, report::quotedCsv(row.name),
                        row.count, row.total, row.own, row.total / double(row.count), row.least, row.most);
}

void appendJson(std::string &text, const TimeTable &table) {
  for (const trace::NameSummary &row : table.rows) {
    nlohmann::ordered_json line;
    line["kind"] = table.kind;
    line["name"] = row.name;
    line["count"] = row.count;
    line["total_ns"] = std::llround(row.total);
    line["own_ns"] = std::llround(row.own);
    line["mean_ns"] = std::llround(row.total / double(row.count));
    line["least_ns"] = std::llround(row.least);
    line["most_ns"] = std::llround(row.most);
    text += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
}

double sumOf(const std::vector<trace::NameSummary> &rows, double trace::NameSummary::*by) {
  double sum = 0;
  for (const trace::NameSummary &row : rows)
    sum += row.*by;
  return sum;
}

std::string headOf(const trace::Capture &capture, const trace::CaptureSummary &summary) {
  const double whole = summary.last - summary.first;
  std::string text = fmt::format("{}: {} ms of process {}, {} events\n\n{:<30} {:>10} {:>10} {:>6} {:>10} {:>8}\n",
                                 capture.path(), milliseconds(whole), capture.header().process, capture.eventCount(),
                                 "lane", "events", "busy ms", "busy", "waits ms", "lost");
  for (const trace::LaneSummary &lane : summary.lanes)
    text += fmt::format("{:<30} {:>10} {:>10} {:>5.1f}% {:>10} {:>8}\n", fitted(lane.name, 30), lane.events,
                        milliseconds(lane.busy), whole > 0 ? 100 * lane.busy / whole : 0.0, milliseconds(lane.waiting),
                        lane.lost);
  return text;
}

// Tells what is missing beside the table, wherever that goes.
void tellFaults(const trace::Capture &capture, const trace::CaptureSummary &summary) {
  for (const std::string &fault : trace::faultsOf(capture, summary))
    reportWarning(kProfileTool, fault);
}

int runReport(FlagParser &parser, ReadFlags &flags, bool withHost, size_t most) {
  Result<trace::Capture> capture = flags.open();
  if (!capture.ok())
    return reportFailure(parser.tool(), capture.status());
  Result<trace::CaptureSummary> summary = trace::CaptureSummary::of(*capture);
  if (!summary.ok())
    return reportFailure(parser.tool(), summary.status());
  const TimeTable dispatches{"dispatch", summary->dispatches, &trace::NameSummary::total,
                             sumOf(summary->dispatches, &trace::NameSummary::total)};
  const TimeTable zones{"zone", summary->zones, &trace::NameSummary::own,
                        sumOf(summary->zones, &trace::NameSummary::own)};
  std::string text;
  if (flags.format == "text") {
    if (withHost)
      text = headOf(*capture, *summary);
    appendText(text, dispatches, "Devices, by dispatch", "dispatch", most);
    if (withHost)
      appendText(text, zones, "Threads, by time in a zone and in none within it", "zone", most);
    if (text.empty())
      text = "No dispatch was recorded.\n";
  } else {
    if (flags.format == "csv")
      text = "kind,name,count,total_ns,own_ns,mean_ns,least_ns,most_ns\n";
    for (const TimeTable *table : {&dispatches, &zones})
      if (table == &dispatches || withHost)
        flags.format == "csv" ? appendCsv(text, *table) : appendJson(text, *table);
  }
  if (Status shown = flags.show(text); !shown.ok())
    return reportFailure(parser.tool(), shown);
  tellFaults(*capture, *summary);
  return finishOutput(parser.tool(), 0);
}

} // namespace

int profileSummary(int argc, const char *const *argv) {
  FlagParser parser("kiln-profile summary", "Who was busy in a recording, and with what.");
  ReadFlags flags;
  flags.add(parser, "text|csv|json");
  parser.example("kiln-run-module --module=m.vmfb --function=main --trace=m.trace && kiln-profile summary m.trace");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  return runReport(parser, flags, /*withHost=*/true, 15);
}

int profileDispatch(int argc, const char *const *argv) {
  FlagParser parser("kiln-profile dispatch", "What devices were busy with, by dispatch.");
  ReadFlags flags;
  flags.add(parser, "text|csv|json");
  parser.example("kiln-profile dispatch m.trace --format=csv");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  return runReport(parser, flags, /*withHost=*/false, SIZE_MAX);
}

int profileExport(int argc, const char *const *argv) {
  FlagParser parser("kiln-profile export", "Writes a recording for other viewers: Chrome's JSON, which "
                                           "ui.perfetto.dev and chrome://tracing open.");
  ReadFlags flags;
  flags.format = "chrome";
  flags.add(parser, "chrome");
  parser.example("kiln-profile export m.trace --format=chrome --output=m.json");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  Result<trace::Capture> capture = flags.open();
  if (!capture.ok())
    return reportFailure(parser.tool(), capture.status());
  Result<trace::CaptureSummary> summary = trace::CaptureSummary::of(*capture);
  if (!summary.ok())
    return reportFailure(parser.tool(), summary.status());
  std::optional<OutputFile> file;
  if (!flags.output.empty()) {
    Result<OutputFile> opened = OutputFile::open(flags.output);
    if (!opened.ok())
      return reportFailure(parser.tool(), opened.status());
    file.emplace(*std::move(opened));
  }
  Status written = trace::writeChromeTrace(*capture, [&](std::string_view text) {
    if (file)
      return file->write(text);
    print(text);
    return okStatus();
  });
  if (written.ok() && file)
    written = file->commit();
  if (!written.ok())
    return reportFailure(parser.tool(), written);
  tellFaults(*capture, *summary);
  return finishOutput(parser.tool(), 0);
}

} // namespace kiln
