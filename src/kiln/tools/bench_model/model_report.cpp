#include "kiln/tools/bench_model/model_report.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "kiln/base/wrap_text.h"
#include "nlohmann/json.hpp"

namespace kiln {

namespace {

std::string megabytes(uint64_t bytes) {
  return bytes == 0 ? "-" : fmt::format("{:.0f}", double(bytes) / 1e6);
}

// So many digits that three of them count.
std::string milliseconds(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 3 : value < 100 ? 2 : 1);
}

// A field of a CSV file.
std::string quoted(const std::string &text) {
  if (text.find_first_of(",\"\n") == std::string::npos)
    return text;
  std::string result = "\"";
  for (char c : text)
    result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string dialectOf(const std::string &model) {
  const size_t dot = model.rfind('.');
  return dot == std::string::npos ? "" : model.substr(dot + 1);
}

} // namespace

std::string ModelReport::table() const {
  std::string text = fmt::format("{}: {}\n{}, {} {}, {} rounds by turns\n\n", model, inputs, device, threads,
                                 threads == 1 ? "thread" : "threads", rounds);
  text += fmt::format("{:<22}{:>9}{:>8}{:>9}{:>7}{:>8}{:>9}{:>7}\n", "runtime", "ms", "+-", "calls/s", "ratio",
                      "load s", "comp. s", "MB");
  for (const ModelRow &row : rows) {
    const std::string name = row.version.empty() ? row.engine : fmt::format("{} {}", row.engine, row.version);
    if (!row.failure.empty()) {
      constexpr size_t kIndent = 22, kWidth = 80;
      text += hangingText(fmt::format("{:<22}", name), row.failure, kWidth, kIndent) + "\n";
      continue;
    }
    text +=
        fmt::format("{:<22}{:>9}{:>7.1f}%{:>9.1f}{:>7.2f}{:>8.2f}{:>9.1f}{:>7}\n", name, milliseconds(row.milliseconds),
                    50 * (row.high - row.low) / row.milliseconds, 1e3 / row.milliseconds, row.ratio, row.loadSeconds,
                    row.compileSeconds, megabytes(row.peakBytes));
  }
  text += "\nratio: a runtime's time over Kiln's; above 1 Kiln is faster.\n";
  for (const ModelRow &row : rows)
    if (row.failure.empty() && row.engine != "kiln")
      text += fmt::format("  {}: {:.2f} to {:.2f}\n", row.engine, row.ratioLow, row.ratioHigh);
  if (tokens > 0)
    for (const ModelRow &row : rows)
      if (row.failure.empty())
        text += fmt::format("  {}: {:.1f} tokens/s\n", row.engine, tokens * 1e3 / row.milliseconds);
  if (reference.empty())
    text += "Nobody else's outputs were there to compare with.\n";
  for (const ModelRow &row : rows)
    if (row.difference)
      text += fmt::format("{}'s outputs differ from {}'s by {:.2g} of the largest{}\n", row.engine, reference,
                          *row.difference,
                          differs(row) ? fmt::format(", and may by {:.2g}: WRONG", tolerance) : std::string());
  if (dispatches)
    text += "\n" + dispatches->table();
  return text;
}

std::string ModelReport::csv(bool withHeader) const {
  std::string text;
  if (withHeader)
    text = "model,batch_size,engine,dialect,device,shape_type,data_type,iter/sec,ms/iter,vs. PyTorch,iterations,"
           "param_count,tags,notes,datetime,host_memory_mb,device_memory_mb,measured_host_memory_mb,"
           "measured_device_memory_mb,vs. Kiln,load_s,compile_s,p5_ms,p95_ms,differs_by,version,threads\n";
  const auto torch = std::ranges::find(rows, "torch", &ModelRow::engine);
  for (const ModelRow &row : rows) {
    const bool isMeasured = row.failure.empty();
    const auto number = [&](double value) { return isMeasured ? fmt::format("{:.6g}", value) : std::string(); };
    const bool hasTorch = isMeasured && torch != rows.end() && torch->failure.empty();
    const std::vector<std::string> fields = {model,
                                             std::to_string(batch),
                                             row.engine,
                                             dialectOf(model),
                                             device,
                                             isDynamic ? "dynamic" : "static",
                                             types,
                                             number(1e3 / row.milliseconds),
                                             number(row.milliseconds),
                                             hasTorch ? number(torch->milliseconds / row.milliseconds) : "N/A",
                                             std::to_string(row.calls),
                                             "",
                                             "",
                                             row.failure,
                                             time,
                                             "",
                                             "",
                                             isMeasured ? megabytes(row.peakBytes) : "",
                                             "",
                                             number(row.ratio),
                                             number(row.loadSeconds),
                                             number(row.compileSeconds),
                                             number(row.fastest),
                                             number(row.slowest),
                                             row.difference ? fmt::format("{:.3g}", *row.difference) : "",
                                             row.version,
                                             std::to_string(threads)};
    for (size_t i = 0; i < fields.size(); ++i)
      text += (i ? "," : "") + quoted(fields[i]);
    text += "\n";
  }
  return text;
}

std::string ModelReport::json() const {
  std::string text;
  for (const ModelRow &row : rows) {
    nlohmann::ordered_json line = {{"model", model},     {"inputs", inputs},      {"device", device},
                                   {"threads", threads}, {"runtime", row.engine}, {"version", row.version}};
    if (!row.failure.empty()) {
      line["failure"] = row.failure;
    } else {
      line["ms"] = row.milliseconds;
      line["ms_interval"] = {row.low, row.high};
      line["ms_p5"] = row.fastest;
      line["ms_p95"] = row.slowest;
      line["calls"] = row.calls;
      line["ratio"] = row.ratio;
      line["ratio_interval"] = {row.ratioLow, row.ratioHigh};
      line["load_s"] = row.loadSeconds;
      line["compile_s"] = row.compileSeconds;
      line["peak_bytes"] = row.peakBytes;
      if (tokens > 0)
        line["tokens_per_second"] = tokens * 1e3 / row.milliseconds;
      if (row.difference) {
        if (std::isfinite(*row.difference))
          line["differs_by"] = *row.difference;
        else // which JSON has no number for
          line["differs_by"] = std::isnan(*row.difference) ? "nan" : "inf";
        line["differs_from"] = reference;
        line["agrees"] = !differs(row);
      }
    }
    line["time"] = time;
    text += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  if (dispatches)
    text += dispatches->json(model);
  return text;
}

} // namespace kiln
