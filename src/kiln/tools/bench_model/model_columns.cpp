#include "kiln/tools/bench_model/model_columns.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "kiln/base/time_text.h"
#include "kiln/report/formats/text.h"

namespace kiln {

namespace {

using report::Number;
using report::Unit;
using report::Value;

constexpr double kUnknownError = -1;

Value text(std::string value) {
  return value.empty() ? Value() : Value(std::move(value));
}

Value megabytes(uint64_t bytes) {
  return bytes == 0 ? Value() : Value(Number{double(bytes) / 1e6, kUnknownError});
}

Value seconds(int64_t nanoseconds) {
  constexpr double kError = 0.005; // it is measured once
  return Number{double(nanoseconds) / 1e9, kError};
}

// Of something of which there are `count` in a call.
Value perSecond(const ModelRow &row, double count) {
  const Estimated &time = row.milliseconds;
  const double rate = count * 1e3 / time.value;
  return Number{rate, rate * time.reach / time.value};
}

// "1.22 to 1.25"
Value range(const Estimated &estimated) {
  const auto textOf = [&](double value) { return report::roundedText(value, estimated.reach); };
  return fmt::format("{} to {}", textOf(estimated.low()), textOf(estimated.high()));
}

std::string dialectOf(const std::string &model) {
  const size_t dot = model.rfind('.');
  return dot == std::string::npos ? "" : model.substr(dot + 1);
}

Value overTorch(const ModelReport &report, const ModelRow &row) {
  for (const ModelRow &torch : report.rows)
    if (torch.engine->engine == "torch" && torch.isMeasured)
      return Number{torch.milliseconds.value / row.milliseconds.value, kUnknownError};
  return std::string("N/A");
}

// JSON has no number for what cannot be compared.
Value differenceOf(const ModelRow &row) {
  if (!row.engine->difference)
    return {};
  if (!std::isfinite(*row.engine->difference))
    return std::string(std::isnan(*row.engine->difference) ? "nan" : "inf");
  return Number{*row.engine->difference, kUnknownError};
}

#define KILN_OF(expression)                                                                                            \
  [](const ModelReport &report, const ModelRow &row) -> Value {                                                        \
    (void)report, (void)row;                                                                                           \
    return expression;                                                                                                 \
  }

constexpr ModelColumn kColumns[] = {
    {"model", "model", "", Unit::Text, KILN_OF(report.measured.model), Shown::InFiles, 0, 0, true},
    {"batch_size", "batch", "", Unit::Count, KILN_OF(report.measured.batch), Shown::InFiles, 0, 0, true},
    {"engine", "runtime", "", Unit::Text, KILN_OF(row.engine->engine), Shown::InFiles, 0, 0, true},
    {"dialect", "", "", Unit::Text, KILN_OF(text(dialectOf(report.measured.model))), Shown::InFiles, 0, 0, true},
    {"device", "device", "", Unit::Text, KILN_OF(report.measured.device), Shown::InFiles, 0, 0, true},
    {"shape_type", "", "", Unit::Text, KILN_OF(std::string(report.measured.isDynamic ? "dynamic" : "static")),
     Shown::InFiles, 0, 0, true},
    {"data_type", "", "", Unit::Text, KILN_OF(text(report.measured.types)), Shown::InFiles, 0, 0, true},
    {"iter/sec", "calls_per_second", "calls/s", Unit::Count, KILN_OF(perSecond(row, 1)), Shown::WithoutItems, 6, 9},
    {"ms/iter", "ms", "ms", Unit::Milliseconds, KILN_OF((Number{row.milliseconds.value, row.milliseconds.reach})),
     Shown::Always, 1, 9},
    {"vs. PyTorch", "", "", Unit::Ratio, overTorch},
    {"iterations", "calls", "calls", Unit::Count, KILN_OF(row.calls), Shown::OnPage, 13},
    {"param_count", "", "", Unit::Text, KILN_OF(Value())},
    {"tags", "", "", Unit::Text, KILN_OF(Value())},
    {"notes", "failure", "", Unit::Text, KILN_OF(text(row.engine->failure)), Shown::InFiles, 0, 0, true},
    {"datetime", "time", "", Unit::Text, KILN_OF(timeText(report.measured.started, "%Y-%m-%dT%H:%M:%SZ")),
     Shown::InFiles, 0, 0, true},
    {"host_memory_mb", "", "", Unit::Text, KILN_OF(Value())},
    {"device_memory_mb", "", "", Unit::Text, KILN_OF(Value())},
    {"measured_host_memory_mb", "host_mb", "MB", Unit::Count, KILN_OF(megabytes(row.engine->peakBytes)), Shown::Always,
     11, 7},
    {"measured_device_memory_mb", "device_mb", "dev. MB", Unit::Count, KILN_OF(megabytes(row.engine->devicePeakBytes)),
     Shown::OnDevices, 12, 9},
    {"vs. Kiln", "ratio", "ratio", Unit::Ratio, KILN_OF((Number{row.ratio.value, row.ratio.reach})), Shown::Always, 7,
     7},
    {"load_s", "load_s", "load s", Unit::Count, KILN_OF(seconds(row.engine->loadNanoseconds)), Shown::Always, 9, 8},
    {"compile_s", "compile_s", "comp. s", Unit::Count, KILN_OF(seconds(row.engine->compileNanoseconds)), Shown::Always,
     10, 9},
    {"p5_ms", "ms_p5", "p5 ms", Unit::Milliseconds, KILN_OF((Number{row.fastest, kUnknownError})), Shown::OnPage, 4},
    {"p95_ms", "ms_p95", "p95 ms", Unit::Milliseconds, KILN_OF((Number{row.slowest, kUnknownError})), Shown::OnPage, 5},
    {"differs_by", "differs_by", "", Unit::Ratio, KILN_OF(differenceOf(row))},
    {"version", "version", "", Unit::Text, KILN_OF(text(row.engine->version)), Shown::InFiles, 0, 0, true},
    {"threads", "threads", "threads", Unit::Count, KILN_OF(uint64_t(row.engine->threads)), Shown::OnPage, 14, 0, true},
    {"setting", "setting", "setting", Unit::Text, KILN_OF(text(row.engine->setting)), Shown::OnPage, 15, 0, true},
    {"inputs", "inputs", "", Unit::Text, KILN_OF(text(report.measured.inputs)), Shown::InFiles, 0, 0, true},
    {"length", "length", "", Unit::Count, KILN_OF(report.measured.length ? Value(report.measured.length) : Value()),
     Shown::InFiles, 0, 0, true},
    {"ms_low", "ms_low", "", Unit::Milliseconds, KILN_OF((Number{row.milliseconds.low(), kUnknownError}))},
    {"ms_high", "ms_high", "", Unit::Milliseconds, KILN_OF((Number{row.milliseconds.high(), kUnknownError}))},
    {"", "", "ms, 95 %", Unit::Text, KILN_OF(range(row.milliseconds)), Shown::OnPage, 3},
    {"", "", "ratio, 95 %", Unit::Text, KILN_OF(row.engine->engine == "kiln" ? Value() : range(row.ratio)),
     Shown::OnPage, 8},
    {"", "", "+-%", Unit::Percent,
     KILN_OF((Number{100 * row.milliseconds.reach / row.milliseconds.value, kUnknownError})), Shown::Always, 2, 7},
    {"vs. Kiln low", "ratio_low", "", Unit::Ratio, KILN_OF((Number{row.ratio.low(), kUnknownError}))},
    {"vs. Kiln high", "ratio_high", "", Unit::Ratio, KILN_OF((Number{row.ratio.high(), kUnknownError}))},
    {"item", "item", "", Unit::Text, KILN_OF(text(report.measured.itemName)), Shown::InFiles, 0, 0, true},
    {"items", "items", "", Unit::Count, KILN_OF(report.measured.items > 0 ? Value(report.measured.items) : Value()),
     Shown::InFiles, 0, 0, true},
    {"items/sec", "items_per_second", "/s", Unit::Count,
     KILN_OF(report.measured.items > 0 ? perSecond(row, double(report.measured.items)) : Value()), Shown::WithItems, 6,
     11},
    {"differs_from", "differs_from", "", Unit::Text,
     KILN_OF(row.engine->difference ? Value(report.measured.reference) : Value())},
    {"agrees", "agrees", "", Unit::Text,
     KILN_OF(row.engine->difference ? Value(std::string(row.isWrong ? "no" : "yes")) : Value())},
};

#undef KILN_OF

bool isShown(const ModelColumn &column, std::span<const ModelReport> reports, Medium medium) {
  const auto some = [&](auto test) { return std::ranges::any_of(reports, test); };
  const auto hasItems = [](const ModelReport &report) { return report.measured.items > 0; };
  switch (column.shown) {
  case Shown::Always: return true;
  case Shown::WithItems: return some(hasItems);
  case Shown::WithoutItems: return !some(hasItems);
  case Shown::OnDevices:
    return some([](const ModelReport &report) {
      return std::ranges::any_of(report.measured.engines,
                                 [](const EngineMeasurement &engine) { return engine.devicePeakBytes > 0; });
    });
  case Shown::OnPage: return medium == Medium::Page;
  case Shown::InFiles: return false;
  }
  return false;
}

} // namespace

std::span<const ModelColumn> modelColumns() {
  return kColumns;
}

std::vector<const ModelColumn *> columnsForReaders(std::span<const ModelReport> reports, Medium medium) {
  std::vector<const ModelColumn *> shown;
  for (const ModelColumn &column : kColumns)
    if (isShown(column, reports, medium))
      shown.push_back(&column);
  std::ranges::sort(shown, {}, &ModelColumn::place);
  return shown;
}

std::string headerOf(const ModelColumn &column, const ModelReport &report) {
  return column.shown == Shown::WithItems ? report.measured.itemName + column.header : column.header;
}

Value valueOf(const ModelColumn &column, const ModelReport &report, const ModelRow &row) {
  return row.isMeasured || column.ofFailures ? column.value(report, row) : Value();
}

} // namespace kiln
