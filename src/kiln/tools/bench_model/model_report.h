// What was found out about a model and the runtimes that ran it: as a table, as CSV with the columns of SHARK's runner,
// and as lines of JSON. All of it follows from a measurement's samples.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_REPORT_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_REPORT_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kiln/tools/bench_model/model_measurement.h"

namespace kiln {

// Half of an interval at 95 %, which is as far to both sides.
struct Estimated {
  double value = 0, reach = 0;
  double low() const { return value - reach; }
  double high() const { return value + reach; }
};

struct ModelRow {
  const EngineMeasurement *engine = nullptr;
  bool isMeasured = false;         // else the engine says why not
  Estimated milliseconds;          // of a call: the rounds' location
  Estimated ratio;                 // this engine's time over Kiln's, in the rounds that both ran
  double fastest = 0, slowest = 0; // the 5th and the 95th of a hundred calls, in milliseconds
  uint64_t calls = 0;
  bool isWrong = false; // its outputs differ by more than they may

  std::string title() const; // "onnxruntime 1.32"
};

struct ModelReport {
  ModelMeasurement measured;
  std::vector<ModelRow> rows; // they point into `measured`

  explicit ModelReport(ModelMeasurement measured);
  ModelReport(ModelReport &&) = default;
  ModelReport &operator=(ModelReport &&) = default;
  ModelReport(const ModelReport &) = delete;
  ModelReport &operator=(const ModelReport &) = delete;

  // Whether all outputs that were compared are as near as they have to be.
  bool agrees() const;
  // "1x128xi64, 1x128xi64; local-task, 2 threads, 9 rounds by turns"
  std::string conditions() const;

  std::string table() const;
  std::string csv() const;
  std::string json() const;
};

// The first line of a CSV file.
std::string csvHeader();

// What a reader has to know beside the table of these reports, which are of one model, a sentence each.
std::vector<std::string> notesOf(std::span<const ModelReport> reports);

// Of one model with several lengths: a row for each length and runtime.
std::string lengthsTable(std::span<const ModelReport> reports);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_REPORT_H
