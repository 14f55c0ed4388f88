// Measurements of models in a store of the lab's kind (store/facts.h), whose tables have a place for all of them: a
// model with its inputs is a problem of the family "model", a runtime is a candidate, the calls of a round are samples.
// What other facts there are of a runtime is in the details of its result.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_STORE_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_STORE_H

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/store/reader.h"
#include "kiln/store/writer.h"
#include "kiln/tools/bench_model/model_measurement.h"

namespace kiln {

class ModelStore {
public:
  static Result<ModelStore> open(const std::string &path, bool allowNetwork);

  // Goes on with the latest run like this one that has not ended, if it may, and gives what it has measured; or begins
  // this one.
  Result<std::vector<ModelMeasurement>> begin(ModelRun &run, bool resume);
  // All of a measurement, or nothing.
  Status add(const ModelMeasurement &measured);
  // All that was to be measured has been.
  Status end();

private:
  ModelStore(std::string path, std::unique_ptr<store::Writer> writer)
      : path(std::move(path)), writer(std::move(writer)) {}

  std::string path, run;
  std::unique_ptr<store::Writer> writer;
};

struct StoredModels {
  ModelRun run;
  std::vector<ModelMeasurement>
      measurements; // in the order in which they were begun, of each model and length the last
};

// What a store has of the run that is named as Reader::findRun takes it. NotFound also where it measured no models.
Result<StoredModels> readModels(const std::string &path, const std::string &run);

// 128 bits of XXH3 over the content of files, one after the other and each with its size, as 32 hexadecimal digits.
Result<std::string> hashOfFiles(std::span<const std::string> paths);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_STORE_H
