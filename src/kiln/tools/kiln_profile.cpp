// kiln-profile: records programs, and says where the time of a recording went.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "kiln/base/file.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/printing.h"
#include "kiln/tools/version.h"
#include "kiln/trace/capture_reader.h"
#include "kiln/trace/capture_summary.h"
#include "kiln/trace/chrome_writer.h"

using namespace kiln;

namespace {

constexpr const char *kTool = "kiln-profile";

struct Verb {
  const char *name, *summary;
  int (*run)(int argc, const char *const *argv);
};

//===--- Reading --------------------------------------------------------------------------------------------------===//

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

std::string quotedForCsv(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos)
    return std::string(text);
  std::string result = "\"";
  for (char c : text)
    result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string quotedForJson(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + "\"";
}

// As much of the end as has room: names differ there.
std::string fitted(std::string_view text, size_t width) {
  if (text.size() <= width)
    return std::string(text);
  return "..." + std::string(text.substr(text.size() - (width - 3)));
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
    text += fmt::format("{},{},{},{:.0f},{:.0f},{:.0f},{:.0f},{:.0f}\n", table.kind, quotedForCsv(row.name), row.count,
                        row.total, row.own, row.total / double(row.count), row.least, row.most);
}

void appendJson(std::string &text, const TimeTable &table) {
  for (const trace::NameSummary &row : table.rows)
    text += fmt::format(R"({{"kind":"{}","name":{},"count":{},"total_ns":{:.0f},"own_ns":{:.0f},"mean_ns":{:.0f},)"
                        R"("least_ns":{:.0f},"most_ns":{:.0f}}})"
                        "\n",
                        table.kind, quotedForJson(row.name), row.count, row.total, row.own,
                        row.total / double(row.count), row.least, row.most);
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
    reportWarning(kTool, fault);
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

int runSummary(int argc, const char *const *argv) {
  FlagParser parser("kiln-profile summary", "Who was busy in a recording, and with what.");
  ReadFlags flags;
  flags.add(parser, "text|csv|json");
  parser.example("kiln-run-module --module=m.vmfb --function=main --trace=m.trace && kiln-profile summary m.trace");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  return runReport(parser, flags, /*withHost=*/true, 15);
}

int runDispatch(int argc, const char *const *argv) {
  FlagParser parser("kiln-profile dispatch", "What devices were busy with, by dispatch.");
  ReadFlags flags;
  flags.add(parser, "text|csv|json");
  parser.example("kiln-profile dispatch m.trace --format=csv");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  return runReport(parser, flags, /*withHost=*/false, SIZE_MAX);
}

int runExport(int argc, const char *const *argv) {
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

//===--- Recording ------------------------------------------------------------------------------------------------===//

// Whatever of Kiln runs below the command records itself, each process to a file of its own.
int runRecord(int argc, const char *const *argv) {
  FlagParser parser("kiln-profile record", "Runs a command, and records each process of Kiln below it to a file of its "
                                           "own: kiln-profile record -- COMMAND, or kiln-profile -- COMMAND.");
  std::string folder = "kiln-traces";
  std::vector<std::string> command;
  parser.group("Flags");
  parser.add({"output", "FOLDER", "Where the files go; made where it is missing."}, folder);
  parser.addPositional({"command", "COMMAND", "After --: what to run, with its arguments."}, command);
  parser.example("kiln-profile -- kiln-run-module --module=m.vmfb --function=main");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  if (command.empty())
    return reportFailure(kTool, invalidArgument("no command is named; it stands after --"));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return reportFailure(kTool, errnoStatus(error.value(), fmt::format("cannot make folder '{}'", folder)));
  const std::string root = std::filesystem::absolute(folder).string();
  const auto tracesIn = [&] {
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(root, error))
      if (entry.path().extension() == ".trace")
        found.push_back(entry.path().string());
    std::ranges::sort(found);
    return found;
  };
  const std::vector<std::string> before = tracesIn();
  const pid_t child = ::fork();
  if (child < 0)
    return reportFailure(kTool, errnoStatus(errno, "cannot start a process"));
  if (child == 0) {
    ::setenv("KILN_TRACE", (root + "/%p.trace").c_str(), 1);
    std::vector<char *> arguments;
    for (std::string &word : command)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    std::fprintf(stderr, "%s: error: cannot run '%s': %s\n", kTool, arguments[0], std::strerror(errno));
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  size_t recorded = 0;
  for (const std::string &path : tracesIn())
    if (!std::ranges::binary_search(before, path)) {
      ++recorded;
      fmt::print(stderr, "{}: {}\n", kTool, path);
    }
  if (recorded == 0)
    reportWarning(kTool, "nothing below the command was a tool of Kiln that runs programs: nothing was recorded");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

constexpr Verb kVerbs[] = {
    {"record", "run a command, and record what of Kiln runs below it", runRecord},
    {"summary", "who was busy, and with what", runSummary},
    {"dispatch", "what devices were busy with", runDispatch},
    {"export", "write a recording for other viewers", runExport},
};

std::string helpText() {
  std::string text = "Usage: kiln-profile VERB [flags]\n       kiln-profile -- COMMAND\n\n"
                     "Records what programs do, and says where the time went. Every tool that runs\n"
                     "modules records itself with --trace=FILE, or where KILN_TRACE=FILE is set.\n\nVerbs:\n";
  for (const Verb &verb : kVerbs)
    text += fmt::format("  {:<12}{}\n", verb.name, verb.summary);
  return text + "\nkiln-profile VERB --help shows the flags of a verb.\n";
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted(kTool);
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--help" || first == "-h" || first == "help") {
    print(helpText());
    return finishOutput(kTool, 0);
  }
  if (first == "--version") {
    print(fmt::format("{} {}\n", kTool, kVersion));
    return finishOutput(kTool, 0);
  }
  if (first == "--")
    return runRecord(argc, argv);
  for (const Verb &verb : kVerbs)
    if (first == verb.name)
      return verb.run(argc - 1, argv + 1);
  return reportFailure(kTool, invalidArgument("{}; --help lists what there is",
                                              first.empty() ? std::string("no verb is given")
                                                            : fmt::format("unknown verb '{}'", first)));
}
