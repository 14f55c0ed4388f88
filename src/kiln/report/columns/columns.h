// The columns of every report, each declared once: formats go through this list, and switch on units, never on a
// column. To add one, add an entry to the list of the file that it belongs to.
#ifndef KILN_REPORT_COLUMNS_COLUMNS_H
#define KILN_REPORT_COLUMNS_COLUMNS_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kiln/report/model/table.h"

namespace kiln::report {

enum class Unit {
  Text,
  Count, // a number of things, or a size in elements
  Flops,
  Bytes,
  Nanoseconds,
  Milliseconds,
  Gigaflops, // GFLOP/s
  Gigabytes, // GB/s
  Percent,
  Ratio,
  Rank,
  Time, // of day, in nanoseconds since 1970
};

// A measured number, and half the width of its interval: what is shown has no more digits than that justifies. 0:
// exact. Negative: not known, which justifies three digits.
struct Number {
  double value;
  double error;
};

struct Ranking {
  uint64_t rank;
  bool tied;
  bool noisy = false; // its time is so uncertain that the rank says little
};

// Nothing: the row has no such value, and the cell stays empty.
using Value = std::variant<std::monostate, std::string, int64_t, uint64_t, Number, Ranking>;

// Whether the HTML page has it: not at all, when asked for, or from the start.
enum class Page { No, More, Shown };

struct Column {
  std::string_view name;   // in CSV and JSON
  std::string_view header; // for readers; short
  Unit unit;
  Value (*value)(const Row &);
  int width;   // that the console gives it at least, where there is room, so that tables line up
  int console; // 1 is left out last where the table is too wide; 0: not in the console's table
  Page page;
  std::string_view docs;
};

// The documents' columns first, in their order, then Kiln's.
std::span<const Column> columns();
// How many of these are the documents'.
size_t documentColumnCount();
// By its name, or else by its header. NotFound, with the nearest name.
Result<const Column *> findColumn(std::string_view name);

// The parts of the list, a file each.
std::span<const Column> documentColumns();
std::span<const Column> measuredColumns();
std::span<const Column> counterColumns();
std::span<const Column> deviceColumns();
std::span<const Column> configurationColumns();
std::span<const Column> provenanceColumns();

// Helpers of several of them.
Value textOrNothing(std::string_view text);
// "kiln" is "Kiln Codegen" in the documents' columns and blocks.
std::string documentProvider(const Row &row);
// "OperationKind.BatchMatmul"
std::string operationKind(const Row &row);
// "SUCCESS", "FAILED", "Not verified", "self-consistent", "f64 golden"
std::string_view documentVerification(const Row &row);
// Half of the interval of the median, relative to it.
double relativeError(const Estimate &estimate);
// Whether the interval's larger side is so wide that the time, and its rank, say next to nothing.
bool isNoisy(const Estimate &estimate);
// Place among the candidates of its group; nothing without one.
Value rankOf(const Row &row);
// GFLOP/s; nothing without times.
Value gigaflops(const Row &row);

} // namespace kiln::report

#endif // KILN_REPORT_COLUMNS_COLUMNS_H
