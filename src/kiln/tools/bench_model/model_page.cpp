#include "kiln/tools/bench_model/model_page.h"

#include <algorithm>
#include <vector>

#include "fmt/format.h"
#include "kiln/base/time_text.h"
#include "kiln/report/formats/json_value.h"
#include "kiln/report/formats/page.h"
#include "kiln/report/formats/text.h"
#include "kiln/tools/bench_model/model_columns.h"

namespace kiln {

namespace {

using report::escapedXml;

// Beside the style of the lab's pages. Each runtime has its colour, and a bar's line is its interval.
constexpr const char *kStyle = R"css(
.bars { display: grid; gap: 6px; margin: 8px 0 16px; max-width: 1000px; }
.bar { display: grid; grid-template-columns: 24ch 1fr 22ch; gap: 12px; align-items: center; }
.track { position: relative; height: 18px; background: var(--panel); border-radius: 4px; }
.fill { position: absolute; left: 0; top: 0; height: 18px; border-radius: 4px; }
.reach { position: absolute; top: 5px; height: 8px; border-left: 1px solid var(--text); border-right: 1px solid var(--text);
  box-shadow: -1px 0 var(--ground), 1px 0 var(--ground); }
.reach::before { content: ""; position: absolute; left: 0; right: 0; top: 3px; height: 1px; background: var(--text);
  box-shadow: 0 1px var(--ground), 0 -1px var(--ground); }
.much { font-variant-numeric: tabular-nums; }
main thead th { padding: 6px 10px; }
main table { width: auto; }
.scroll { max-height: none; width: fit-content; max-width: 100%; }
td.why { white-space: normal; min-width: 40ch; color: var(--bad); }
td.nodes { white-space: normal; min-width: 30ch; color: var(--quiet); overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 8px 0 24px; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
ul { margin: 8px 0; padding-left: 20px; }
@media (max-width: 640px) { .bar { grid-template-columns: 1fr; gap: 2px; } }
)css";

constexpr size_t kColours = 6; // of the style

std::string element(std::string_view tag, std::string_view text, std::string_view name = {}) {
  return fmt::format("<{}{}>{}</{}>", tag, name.empty() ? "" : fmt::format(" class=\"{}\"", name), escapedXml(text),
                     tag);
}

double largestOf(const ModelReport &report) {
  double most = 0;
  for (const ModelRow &row : report.rows)
    if (row.isMeasured)
      most = std::max(most, std::max(row.milliseconds.value, row.milliseconds.high()));
  return most;
}

// A bar for each runtime's time, with its interval over it. An interval that ends beyond the bars is cut there.
std::string barsOf(const ModelReport &report) {
  const double most = largestOf(report);
  std::string text = "<div class=\"bars\">\n";
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const ModelRow &row = report.rows[i];
    if (!row.isMeasured || !(most > 0))
      continue;
    const double low = std::clamp(100 * row.milliseconds.low() / most, 0.0, 100.0);
    const double high = std::clamp(100 * row.milliseconds.high() / most, low, 100.0);
    const report::Number time{row.milliseconds.value * 1e6, row.milliseconds.reach * 1e6};
    text +=
        fmt::format("<div class=\"bar\">{}<span class=\"track\"><span class=\"fill\" style=\"width:{:.2f}%;"
                    "background:var(--c{})\"></span><span class=\"reach\" style=\"left:{:.2f}%;width:{:.2f}%\">"
                    "</span></span>{}</div>\n",
                    element("span", row.title()), 100 * row.milliseconds.value / most, i % kColours, low, high - low,
                    element("span",
                            report::displayText(time, report::Unit::Nanoseconds) +
                                (i == 0 ? "" : fmt::format(", {:.2f} of Kiln's", row.ratio.value)),
                            "much"));
  }
  return text + "</div>\n";
}

std::string tableOf(std::span<const ModelReport> reports) {
  const ModelReport &first = reports.front();
  const std::vector<const ModelColumn *> columns = columnsForReaders(reports, Medium::Page);
  const bool hasLengths = first.measured.length != 0;
  std::string text = "<div class=\"scroll\"><table>\n<thead><tr>";
  if (hasLengths)
    text += element("th", "length", "right");
  text += element("th", "runtime");
  for (const ModelColumn *column : columns)
    text += element("th", headerOf(*column, first), report::alignsRight(column->unit) ? "right" : "");
  text += "</tr></thead>\n<tbody>\n";
  for (const ModelReport &report : reports)
    for (const ModelRow &row : report.rows) {
      text += "<tr>";
      if (hasLengths)
        text += element("td", std::to_string(report.measured.length), "right");
      text += element("td", row.title());
      if (!row.isMeasured)
        text +=
            fmt::format("<td class=\"why\" colspan=\"{}\">{}</td>", columns.size(), escapedXml(row.engine->failure));
      else
        for (const ModelColumn *column : columns)
          text += element("td", report::displayText(valueOf(*column, report, row), column->unit),
                          report::alignsRight(column->unit) ? "right" : "");
      text += "</tr>\n";
    }
  return text + "</tbody></table></div>\n";
}

std::string notesList(std::span<const ModelReport> reports) {
  std::string text = "<ul>\n";
  for (const std::string &note : notesOf(reports))
    text += element("li", note, note.ends_with("WRONG") ? "bad" : "") + "\n";
  return text + "</ul>\n";
}

std::string dispatchesOf(const ModelMeasurement &measured) {
  const DispatchTimes &times = *measured.dispatches;
  std::string text = element("h3", measured.length ? fmt::format("Kiln by dispatch, length {}", measured.length)
                                                   : std::string("Kiln by dispatch"));
  std::string how = fmt::format("{} calls, {:.3f} ms each while dispatches were timed, {:.3f} ms of it in them.",
                                times.calls, times.callMilliseconds, times.sum());
  if (!times.roof.empty())
    how += fmt::format(" Roof: how much of the time the machine needs at least, by {}.", times.roof);
  text += element("p", how, "quiet") + "\n";
  text += "<div class=\"scroll\"><table>\n<thead><tr>" + element("th", "dispatch");
  for (const char *header : DispatchTimes::kHeaders)
    text += element("th", header, "right");
  text += element("th", "what it computes") + "</tr></thead>\n<tbody>\n";
  for (const DispatchTime &row : times.rows) {
    text += "<tr>" + element("td", row.name, "name");
    for (const std::string &cell : times.cellsOf(row))
      text += element("td", cell, "right");
    text += element("td", fmt::format("{}", fmt::join(row.nodes, ", ")), "nodes") + "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

// All reports of one model.
std::string sectionOf(std::span<const ModelReport> reports) {
  const ModelReport &first = reports.front();
  std::string text = "<section>\n" + element("h2", first.measured.model);
  for (const ModelReport &report : reports) {
    const std::string length = report.measured.length ? fmt::format("Length {}: ", report.measured.length) : "";
    text += element("p", fmt::format("{}{}; {}", length, report.measured.inputs, report.conditions()), "quiet") + "\n" +
            barsOf(report);
  }
  text += tableOf(reports) + notesList(reports);
  for (const ModelReport &report : reports)
    if (report.measured.dispatches)
      text += dispatchesOf(report.measured);
  return text + "</section>\n";
}

// A fact of a store is text, a number, or an object that says why it is not known.
std::string factText(const report::Json &value) {
  if (value.is_string())
    return value.get<std::string>();
  if (value.is_object() && value.contains("unavailable"))
    return {};
  if (value.is_array() && !value.empty() && value.front().is_object() && value.front().contains("name")) {
    std::vector<std::string> names;
    for (const report::Json &one : value)
      if (one.is_object() && one.contains("name"))
        names.push_back(factText(one["name"]));
    return fmt::format("{}", fmt::join(names, ", "));
  }
  return value.is_null() || (value.is_array() && value.empty()) ? std::string() : report::dumpJson(value);
}

// "rounds 9, seconds 0.5": what is known of an object.
std::string listText(const report::Json &facts) {
  std::vector<std::string> parts;
  for (const auto &[name, value] : facts.items())
    if (const std::string fact = factText(value); facts.is_object() && !fact.empty())
      parts.push_back(fmt::format("{} {}", name, fact));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string provenanceOf(const ModelRun &run, std::span<const ModelReport> reports) {
  std::string text = "<section>\n<h2>Where and how</h2>\n<dl>\n";
  const auto add = [&](std::string_view name, const std::string &value) {
    if (!value.empty())
      text += element("dt", name) + element("dd", value) + "\n";
  };
  add("measured", timeText(reports.empty() ? run.run.started : reports.front().measured.started) + " UTC");
  add("command", run.run.commandLine);
  add("Kiln", run.run.kilnVersion);
  add("seed of inputs", std::to_string(run.run.seed));
  add("inputs", run.run.dataDistribution);
  add("node", listText(report::parsedJson(run.machine.node)));
  const report::Json hardware = report::parsedJson(run.machine.hardware);
  for (const auto &[name, title] :
       {std::pair("cpu", "processor"), std::pair("cores", "cores"), std::pair("logical_cpus", "hardware threads"),
        std::pair("memory_gib", "GiB of memory"), std::pair("gpus", "GPUs"), std::pair("governor", "governor"),
        std::pair("hypervisor", "hypervisor"), std::pair("kernel", "kernel"), std::pair("libc", "C library")})
    if (hardware.is_object() && hardware.contains(name))
      add(title, factText(hardware[name]));
  add("may use", listText(report::parsedJson(run.machine.allocation)));
  for (const ModelReport &report : reports)
    if (&report == &reports.front() || report.measured.model != (&report - 1)->measured.model)
      add(fmt::format("hash of {}", report.measured.model), report.measured.hash);
  add("flags", listText(report::parsedJson(run.run.flags)));
  return text + "</dl>\n</section>\n";
}

void replace(std::string &text, std::string_view from, std::string_view to, std::string_view value) {
  const size_t begin = text.find(from), end = text.find(to, begin);
  if (begin != std::string::npos && end != std::string::npos)
    text.replace(begin, end + to.size() - begin, value);
}

} // namespace

std::string modelPage(const ModelRun &run, std::span<const ModelReport> reports) {
  std::string body;
  for (size_t begin = 0; begin < reports.size();) {
    size_t end = begin + 1;
    while (end < reports.size() && reports[end].measured.isSameModel(reports[begin].measured))
      ++end;
    body += sectionOf(reports.subspan(begin, end - begin));
    begin = end;
  }
  body += provenanceOf(run, reports);
  const std::string title = reports.empty() ? "Models" : reports.front().measured.model;
  // The frame of the lab's pages, without what their JavaScript draws. The body last: it may hold what looks like a
  // placeholder.
  std::string page(report::kPageHtml);
  replace(page, "{{css}}", "</style>", std::string(report::kPageCss) + kStyle + "</style>");
  replace(page, "{{title}}", "</title>", escapedXml(title + ": Kiln beside other runtimes") + "</title>");
  replace(page, "{{heading}}", "</h1>", "Kiln beside other runtimes</h1>");
  replace(page, "<div id=\"runs\">", "</div>", "");
  replace(page, "<script type=\"application/json\"", "</script>", "");
  replace(page, "<script>", "</script>", "");
  replace(page, "<main>", "</main>", "<main>\n" + body + "</main>");
  return page;
}

} // namespace kiln
