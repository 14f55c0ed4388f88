// What reports see of a store: one row for each result, with all that columns derive from at hand. Formats and columns
// read nothing else.
#ifndef KILN_REPORT_MODEL_TABLE_H
#define KILN_REPORT_MODEL_TABLE_H

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/base/tile_config.h"
#include "kiln/store/reader.h"

namespace kiln::report {

// What the machine can do at most with some number of threads, as measured. Where it is not known, columns that need it
// are blank.
struct Peaks {
  std::map<std::string, double> gigaflops; // GFLOP/s by element type, "f32"
  std::optional<double> gigabytes;         // GB/s of memory
};

// The device that a calibration is of, as a run calls it; empty: the CPU.
std::string deviceOfCeilings(std::string_view json);

// By the number of threads, from a calibration's JSON:
// {"by_threads":[{"threads":1,"gflops":{"f32":170.1},"gb_per_s":21.5}, ...]}, or an element of that list alone. Other
// members are ignored.
Result<std::map<uint64_t, Peaks>> parsePeaks(std::string_view json);

// The device that a run's candidates ran on, "NVIDIA H200 (cuda://0)"; empty: the CPU.
std::string deviceOf(const store::Run &run);

struct Row {
  const store::StoredRun *run = nullptr;
  const store::Problem *problem = nullptr;
  const store::Candidate *candidate = nullptr;
  const store::StoredGroup *group = nullptr;
  const store::CandidateResult *result = nullptr;
  // Null where nothing was concluded, and where the row was rejected: its times are those of something else.
  const store::CandidateEstimate *estimate = nullptr;
  const store::Counters *counters = nullptr;         // null where nothing was counted, and where the row was rejected
  const store::DeviceStates *deviceStates = nullptr; // null where the device told nothing, and likewise
  std::optional<TileConfig> configuration;           // where its name is one
  // Of the same group: the fastest right result of a library, and how wide its interval is (half of it, of its median).
  const store::CandidateEstimate *bestVendor = nullptr;
  // Of the same group: the fastest right result of Kiln with a configuration, or with its own choice.
  const store::CandidateEstimate *bestKiln = nullptr;
  std::optional<double> peakGigaflops, peakGigabytes;
  std::string groupKey, candidateKey;
  std::string device; // see deviceOf

  // The problem with its configuration: "matmul_..._tile_config_...". Others have provider and variant in its place.
  std::string dispatch() const;
  // 16 hexadecimal digits that name it on command lines: half of its group's key, half of its candidate's.
  std::string name() const;
  // "onednn (preferred layout)"
  std::string provider() const;
  // "kiln 96x128_256x1_fma_12x32", "onednn (preferred layout)": who and how, in short.
  std::string shortName() const;
  // "f32": of the problem's left operand; empty where it has none.
  std::string elementType() const;
  // "tf32" where products in that are promised; else as elementType.
  std::string arithmetic() const;
  // "cold" or "warm", as its group was measured.
  const std::string &cacheMode() const { return group->cacheMode.empty() ? run->cacheMode : group->cacheMode; }
  // Kiln with the configuration that its compiler chooses.
  bool isKilnsDefault() const;
  // Where it was measured: where its run was begun, or where it was resumed.
  const store::MachineKeys &machine() const { return group->machine ? *group->machine : run->machine; }
  bool ranked() const { return estimate && estimate->rank > 0; }
  bool failed() const { return !isSuccess(result->outcome) && result->outcome != Outcome::Unsupported; }
  // Why it has no result, or a wrong one, each part of it once: verification and the worker tell much the same.
  std::string reason() const;
  // Of a problem's field; empty where it has none of that name.
  std::string_view field(std::string_view name) const;
};

// Rows in the order of reports: runs as asked for, problems as they were measured, then ranks, then what has none.
struct Table {
  Table() = default;
  Table(Table &&) = default; // NOLINT(performance-noexcept-move-constructor): a deque's may throw
  Table &operator=(Table &&) = default;
  // Rows point into the facts.
  Table(const Table &) = delete;
  Table &operator=(const Table &) = delete;

  std::vector<Row> rows;
  // Problems that were begun and not finished: they have no rows of estimates, and a resumed sweep measures them again.
  std::vector<std::string> unfinished;
  // Problems of the sweep that were never begun; 0 where a store does not tell how many there were.
  uint64_t notBegun = 0;

  std::deque<store::StoredRun> runs;
  std::deque<store::Problem> problems;
  std::deque<store::Candidate> candidates;
  std::deque<store::StoredGroup> groups;
  std::deque<store::CandidateResult> results;
  std::deque<store::CandidateEstimate> estimates;
  std::deque<store::Counters> counters;
  std::deque<store::DeviceStates> deviceStates;
};

struct Filter {
  std::vector<std::string> runs = {}; // as Reader::findRun takes them; empty: the latest
  bool allRuns = false;
  // Regular expressions that must be found somewhere in the name; empty: any.
  std::string problem = {}, dispatch = {};
  std::string provider = {}; // the name; empty: any
  std::optional<std::string> variant = {};
  // Of dispatches; nothing: any.
  std::function<bool(std::string_view dispatch)> takes = {};
};

// The name as a regular expression that finds nothing else.
std::string literally(std::string_view name);

// NotFound where no row fits the filter. What a run's machine can do at most is what was known when the run was made.
Result<Table> loadTable(store::Reader &reader, const Filter &filter);

// The rows of one problem of one run: a range of table.rows.
struct ProblemRows {
  const Row *begin, *end;
  const Row &front() const { return *begin; }
};
std::vector<ProblemRows> byProblem(const Table &table);

// The row that a user names: by the start of its name, or by its dispatch. NotFound also where there are several.
Result<const Row *> findRow(const Table &table, std::string_view name);

// How a row's samples are distributed.
struct Distribution {
  std::vector<double> quantiles;    // nanoseconds of one call, at 0, 2, 4, ... 100 percent
  std::vector<double> roundMedians; // in the order of the rounds
};
// For each row of the table, empty where there are no samples.
Result<std::vector<Distribution>> loadDistributions(store::Reader &reader, const Table &table);

} // namespace kiln::report

#endif // KILN_REPORT_MODEL_TABLE_H
