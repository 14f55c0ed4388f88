#include "kiln/tools/bench_model/model_report.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "kiln/tools/bench_model/model_columns.h"

namespace kiln {
namespace {

EngineMeasurement engineOf(const char *name, std::vector<int64_t> medians) {
  EngineMeasurement engine;
  engine.engine = name;
  for (size_t i = 0; i < medians.size(); ++i)
    engine.rounds.push_back({i + 1, 0, 0, {medians[i] - 10, medians[i], medians[i] + 10}});
  return engine;
}

ModelMeasurement measured() {
  ModelMeasurement result;
  result.model = "m.onnx";
  result.items = 4;
  result.itemName = "tokens";
  result.engines = {engineOf("kiln", {2'000'000, 2'000'000, 2'000'000}),
                    engineOf("other", {3'000'000, 3'000'000, 3'000'000})};
  return result;
}

// The value of a column that a file has under this name.
report::Value valueIn(const ModelReport &report, size_t row, std::string_view name) {
  for (const ModelColumn &column : modelColumns())
    if (column.json == name)
      return valueOf(column, report, report.rows[row]);
  ADD_FAILURE() << "no column " << name;
  return {};
}

double numberIn(const ModelReport &report, size_t row, std::string_view name) {
  const report::Value value = valueIn(report, row, name);
  const auto *number = std::get_if<report::Number>(&value);
  return number ? number->value : -1;
}

TEST(ModelReports, RowsFollowFromTheSamples) {
  const ModelReport report(measured());
  EXPECT_DOUBLE_EQ(numberIn(report, 0, "ms"), 2);
  EXPECT_DOUBLE_EQ(numberIn(report, 1, "ms"), 3);
  EXPECT_DOUBLE_EQ(numberIn(report, 1, "ratio"), 1.5);
  EXPECT_DOUBLE_EQ(numberIn(report, 0, "calls_per_second"), 500);
  EXPECT_DOUBLE_EQ(numberIn(report, 0, "items_per_second"), 2000);
  EXPECT_EQ(report.rows[0].calls, 9U);
}

TEST(ModelReports, RatiosAreOfRoundsThatBothRan) {
  ModelMeasurement some = measured();
  // A machine that slows down in the last rounds slows both: their ratio stays.
  some.engines[0] = engineOf("kiln", {1'000'000, 2'000'000, 4'000'000});
  some.engines[1] = engineOf("other", {2'000'000, 4'000'000, 8'000'000});
  some.engines[1].rounds.erase(some.engines[1].rounds.begin());
  const ModelReport report(some);
  EXPECT_DOUBLE_EQ(numberIn(report, 1, "ratio"), 2);
}

TEST(ModelReports, AFailureHasNoNumbers) {
  ModelMeasurement some = measured();
  some.engines[1].failure = "died, \"so\"";
  const ModelReport report(some);
  EXPECT_EQ(report.json().find("ratio", report.json().find("other")), std::string::npos);
  EXPECT_NE(report.csv().find("\"died, \"\"so\"\"\""), std::string::npos);
  EXPECT_NE(report.table().find("died"), std::string::npos);
  EXPECT_TRUE(report.agrees());
}

TEST(ModelReports, WrongOutputsDisagree) {
  for (double difference : {0.1, std::numeric_limits<double>::infinity(), std::nan("")}) {
    ModelMeasurement some = measured();
    some.reference = "other";
    some.tolerance = 0.01;
    some.engines[0].difference = difference;
    EXPECT_FALSE(ModelReport(some).agrees());
    EXPECT_NE(ModelReport(some).table().find("WRONG"), std::string::npos);
    some.tolerance = 0.2;
    EXPECT_EQ(ModelReport(some).agrees(), difference == 0.1);
  }
}

TEST(ModelReports, OfTwoThatAreWrongByAsMuchTheReferenceIsInDoubt) {
  ModelMeasurement some = measured();
  some.reference = "third";
  some.tolerance = 0.01;
  some.engines[0].difference = 0.5;
  const auto isInDoubt = [&](double other) {
    some.engines[1].difference = other;
    return ModelReport(some).table().find("it may be the one that is wrong") != std::string::npos;
  };
  EXPECT_TRUE(isInDoubt(0.52));
  EXPECT_FALSE(isInDoubt(0.7));
  EXPECT_FALSE(isInDoubt(0.001));
  EXPECT_FALSE(isInDoubt(std::nan("")));
  some.engines[0].difference = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(isInDoubt(std::numeric_limits<double>::infinity()));
}

TEST(ModelReports, FilesHaveEachColumnOnce) {
  std::vector<std::string> csv, json;
  for (const ModelColumn &column : modelColumns()) {
    if (*column.csv)
      csv.emplace_back(column.csv);
    if (*column.json)
      json.emplace_back(column.json);
  }
  for (std::vector<std::string> *names : {&csv, &json}) {
    std::ranges::sort(*names);
    EXPECT_EQ(std::ranges::adjacent_find(*names), names->end());
  }
}

TEST(ModelReports, DeviceMemoryIsAColumnWhereThereIsSome) {
  const ModelReport without(measured());
  EXPECT_EQ(without.table().find("dev. MB"), std::string::npos);
  ModelMeasurement some = measured();
  some.engines[1].devicePeakBytes = 5'000'000;
  EXPECT_NE(ModelReport(some).table().find("dev. MB"), std::string::npos);
}

} // namespace
} // namespace kiln
