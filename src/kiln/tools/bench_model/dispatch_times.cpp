#include "kiln/tools/bench_model/dispatch_times.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "fmt/format.h"
#include "kiln/base/clock.h"
#include "kiln/base/wrap_text.h"
#include "kiln/measure/statistics/robust.h"
#include "kiln/schema/name.h"
#include "nlohmann/json.hpp"

namespace kiln {

namespace {

constexpr size_t kLeastCalls = 3;

// Nanoseconds of a tick of the device's clock.
Result<double> tickOf(hal::Device &device) {
  constexpr int kSamples = 16;
  constexpr uint64_t kApart = 2'000'000;
  std::vector<ClockSample> samples;
  for (int i = 0; i < kSamples; ++i) {
    KILN_ASSIGN_OR_RETURN(ClockSample sample, device.sampleClock());
    samples.push_back(sample);
    while (monotonicNanoseconds() < sample.after + kApart) {
    }
  }
  KILN_ASSIGN_OR_RETURN(ClockFit fit, ClockFit::of(samples));
  return fit.nanosecondsPerTick;
}

// "forward_dispatch_3_matmul_16x16" is matmul_16x16 of its third dispatch: kernels that differ in nothing that the name
// tells stay apart.
std::string shortName(std::string_view name) {
  constexpr std::string_view kMark = "_dispatch_";
  const size_t mark = name.find(kMark);
  if (mark == std::string_view::npos)
    return std::string(name);
  const size_t digits = mark + kMark.size(), end = name.find_first_not_of("0123456789", digits);
  return end == std::string_view::npos || end == digits || name[end] != '_' ? std::string(name)
                                                                            : std::string(name.substr(end + 1));
}

std::map<std::string_view, const vm::ExecutableExportInfo *> exportsOf(const vm::Module &module) {
  std::map<std::string_view, const vm::ExecutableExportInfo *> all;
  for (const vm::ExecutableInfo &executable : module.executables())
    for (const vm::VariantInfo &variant : executable.variants)
      for (const vm::ExecutableExportInfo &entry : variant.exports)
        all.emplace(entry.name, &entry);
  return all;
}

// A model's file may say anything.
std::string printable(std::string_view text) {
  std::string result(text);
  if (!schema::isName(text))
    std::ranges::replace_if(result, [](char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return result;
}

std::string listed(const std::vector<std::string> &nodes, size_t width) {
  std::string text;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string more = i + 1 < nodes.size() ? fmt::format(", and {} more", nodes.size() - i - 1) : "";
    if (i > 0 && text.size() + 2 + nodes[i].size() + more.size() > width)
      return text + fmt::format(", and {} more", nodes.size() - i);
    text += (i ? ", " : "") + printable(nodes[i]);
  }
  return text;
}

std::string rate(std::optional<uint64_t> amount, double milliseconds) {
  return amount && milliseconds > 0 ? fmt::format("{:.1f}", double(*amount) / milliseconds / 1e6) : "-";
}

} // namespace

Result<DispatchTimes> timeDispatches(hal::Device &device, const vm::Module &module, double seconds,
                                     const std::function<Status()> &call) {
  KILN_ASSIGN_OR_RETURN(const double nanosecondsPerTick, tickOf(device));
  auto watch = std::make_shared<hal::ExecutionWatch>(hal::TimesDetail::Dispatches);
  device.watch(watch);
  watch->turn(true);
  struct Kernel {
    std::vector<double> ofCall; // nanoseconds of each call
    uint64_t launches = 0;      // of all calls
  };
  std::map<std::string_view, Kernel> kernels; // names live as long as the module's executables
  std::vector<double> calls;
  Status status;
  const uint64_t began = monotonicNanoseconds();
  for (uint64_t now = began; status.ok() && (calls.size() < kLeastCalls || double(now - began) < seconds * 1e9);) {
    const uint64_t start = monotonicNanoseconds();
    status = call();
    now = monotonicNanoseconds();
    calls.push_back(double(now - start) / 1e6);
    for (const Ref<hal::ExecutionTimes> &times : watch->take())
      for (size_t i = 0; i < times->dispatches.size() && i < times->names.size(); ++i) {
        Kernel &kernel = kernels[times->names[i]];
        kernel.ofCall.resize(calls.size());
        kernel.ofCall.back() += double(times->dispatches[i].end - times->dispatches[i].begin) * nanosecondsPerTick;
        ++kernel.launches;
      }
  }
  device.watch(nullptr);
  KILN_RETURN_IF_ERROR(std::move(status));

  DispatchTimes result;
  result.calls = calls.size();
  result.callMilliseconds = measure::percentile(calls, 0.5);
  const std::map<std::string_view, const vm::ExecutableExportInfo *> known = exportsOf(module);
  for (auto &[name, kernel] : kernels) {
    kernel.ofCall.resize(calls.size());
    DispatchTime row;
    row.name = shortName(name);
    row.launches = (kernel.launches + calls.size() / 2) / calls.size();
    row.milliseconds = measure::percentile(kernel.ofCall, 0.5) / 1e6;
    if (auto found = known.find(name); found != known.end()) {
      const vm::ExecutableExportInfo &entry = *found->second;
      if (entry.bytes != 0) {
        row.operations = entry.operations * row.launches;
        row.bytes = entry.bytes * row.launches;
      }
      row.element = entry.elementType;
      row.nodes.assign(entry.nodes.begin(), entry.nodes.end());
    }
    result.rows.push_back(std::move(row));
  }
  std::ranges::sort(result.rows, [](const DispatchTime &a, const DispatchTime &b) {
    return std::tie(b.milliseconds, a.name) < std::tie(a.milliseconds, b.name);
  });
  return result;
}

void addRoof(DispatchTimes &times, const measure::Calibration &machine, unsigned threads) {
  const std::optional<double> bandwidth = machine.peakBytes("memory", threads);
  if (!bandwidth)
    return;
  times.roof = fmt::format("what {} reached by kiln calibrate: {:.0f} GB/s of memory, and its arithmetic in each type",
                           machine.device ? machine.device->name : "this machine", *bandwidth / 1e9);
  for (DispatchTime &row : times.rows) {
    const std::optional<double> peak = machine.peakOperations(row.element, threads);
    if (!row.operations || !row.bytes || row.milliseconds <= 0)
      continue;
    const double least = std::max(double(*row.bytes) / *bandwidth, peak ? double(*row.operations) / *peak : 0.0) * 1e3;
    row.ofRoof = least / row.milliseconds;
  }
}

double DispatchTimes::sum() const {
  double total = 0;
  for (const DispatchTime &row : rows)
    total += row.milliseconds;
  return total;
}

std::array<std::string, DispatchTimes::kCells> DispatchTimes::cellsOf(const DispatchTime &row) const {
  const double total = sum();
  return {fmt::format("{:.3f}", row.milliseconds),
          fmt::format("{:.1f}%", total > 0 ? 100 * row.milliseconds / total : 0),
          std::to_string(row.launches),
          rate(row.operations, row.milliseconds),
          rate(row.bytes, row.milliseconds),
          row.ofRoof ? fmt::format("{:.0f}%", 100 * *row.ofRoof) : "-"};
}

std::string DispatchTimes::table() const {
  constexpr size_t kWidth = 80, kNodesIndent = 18;
  constexpr size_t kWidths[kCells] = {9, 8, 7, 9, 8, 6};
  const double total = sum();
  std::string text = fmt::format("kiln by dispatch, {} calls, {:.3f} ms each while dispatches were timed\n\n", calls,
                                 callMilliseconds);
  for (size_t i = 0; i < kCells; ++i)
    text += fmt::format("{:>{}}", kHeaders[i], kWidths[i]);
  text += "  dispatch, and what it computes\n";
  for (const DispatchTime &row : rows) {
    const std::array<std::string, kCells> cells = cellsOf(row);
    for (size_t i = 0; i < kCells; ++i)
      text += fmt::format("{:>{}}", cells[i], kWidths[i]);
    text += "  " + row.name + "\n";
    if (!row.nodes.empty())
      text += std::string(kNodesIndent, ' ') + listed(row.nodes, kWidth - kNodesIndent) + "\n";
  }
  text +=
      fmt::format("{:>9.3f}  in dispatches, and {:.3f} beside them\n", total, std::max(0.0, callMilliseconds - total));
  if (roof.empty())
    text += "roof: `kiln calibrate` measures what the machine can reach.\n";
  else
    text += hangingText("roof: ",
                        "how much of the time the machine needs at least, by " + roof +
                            ". Caches may be "
                            "faster than memory.",
                        kWidth, 6) +
            "\n";
  return text;
}

std::string DispatchTimes::json(const std::string &model) const {
  std::string text;
  const double total = sum();
  for (const DispatchTime &row : rows) {
    nlohmann::ordered_json line = {{"model", model},
                                   {"dispatch", row.name},
                                   {"ms", row.milliseconds},
                                   {"share", total > 0 ? row.milliseconds / total : 0},
                                   {"launches", row.launches}};
    if (row.operations)
      line["operations"] = *row.operations;
    if (row.bytes)
      line["bytes"] = *row.bytes;
    if (!row.element.empty())
      line["element"] = row.element;
    if (row.ofRoof)
      line["of_roof"] = *row.ofRoof;
    line["nodes"] = row.nodes;
    text += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return text;
}

} // namespace kiln
