#include "kiln/tools/bench_model/model_store.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>

#include "kiln/base/testing/test_folder.h"
#include "kiln/store/testing/expectations.h"
#include "kiln/store/testing/sample_store.h"
#include "kiln/tools/bench_model/model_page.h"
#include "kiln/tools/bench_model/model_report.h"

namespace kiln {
namespace {

using namespace store::testing;

EngineMeasurement engineOf(const std::string &name, int64_t nanoseconds) {
  EngineMeasurement engine;
  engine.engine = name;
  engine.version = "1.2";
  engine.threads = 2;
  engine.loadNanoseconds = 123'456'789;
  engine.compileNanoseconds = 1'234'567'891;
  engine.peakBytes = 77'000'000;
  for (uint64_t round = 1; round <= 4; ++round)
    engine.rounds.push_back(
        {round, 1000 + int64_t(round), 0.5, {nanoseconds + int64_t(round), nanoseconds, nanoseconds + 9}});
  return engine;
}

ModelMeasurement measurementOf(uint64_t length) {
  ModelMeasurement measured;
  measured.model = "bert.onnx";
  measured.hash = "0123";
  measured.inputs = "1x128xi64, 1x128xi64";
  measured.types = "i64";
  measured.device = "local-task";
  measured.isDynamic = true;
  measured.length = length;
  measured.batch = 3;
  measured.items = 128;
  measured.itemName = "tokens";
  measured.itemsBecause = "the elements of the first input";
  measured.threads = 2;
  measured.reference = "onnxruntime";
  measured.tolerance = 1e-3;
  measured.started = 5'000 + int64_t(length);
  measured.engines = {engineOf("kiln", 1'000'000), engineOf("onnxruntime", 2'000'000), engineOf("openvino", 3'000'000)};
  measured.engines[0].difference = 1e-6;
  measured.engines[0].flags = "--kiln-opt-level=O2";
  measured.engines[0].devicePeakBytes = 9'000;
  measured.engines[1].setting = "not spinning";
  measured.engines[2].failure = "died";
  measured.engines[2].rounds.resize(2);
  DispatchTimes dispatches;
  dispatches.calls = 7;
  dispatches.callMilliseconds = 1.5;
  dispatches.roof = "what it reached";
  DispatchTime row;
  row.name = "matmul";
  row.element = "f32";
  row.launches = 3;
  row.milliseconds = 0.25;
  row.operations = 1'000;
  row.nodes = {"a", "b"};
  dispatches.rows = {row};
  measured.dispatches = dispatches;
  return measured;
}

ModelRun runOf(const std::string &sweep) {
  ModelRun run;
  run.machine = sampleMachine();
  run.run.sweep = sweep;
  run.run.commandLine = "kiln-bench-model bert.onnx";
  run.run.flags = R"({"hal_device":"local-task"})";
  run.run.kilnVersion = "0.1.0";
  return run;
}

class ModelStores : public ::testing::Test {
protected:
  ModelStore open() {
    Result<ModelStore> opened = ModelStore::open(path, false);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return *std::move(opened);
  }

  TestFolder folder;
  std::string path = folder.file("models.db");
};

void expectEqual(const ModelMeasurement &a, const ModelMeasurement &b) {
  // All that a reader sees, and what it is computed from.
  EXPECT_EQ(ModelReport(a).table(), ModelReport(b).table());
  EXPECT_EQ(ModelReport(a).csv(), ModelReport(b).csv());
  EXPECT_EQ(ModelReport(a).json(), ModelReport(b).json());
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.started, b.started);
  ASSERT_EQ(a.engines.size(), b.engines.size());
  for (size_t i = 0; i < a.engines.size(); ++i) {
    EXPECT_EQ(a.engines[i].flags, b.engines[i].flags);
    EXPECT_EQ(a.engines[i].loadNanoseconds, b.engines[i].loadNanoseconds);
    EXPECT_EQ(a.engines[i].compileNanoseconds, b.engines[i].compileNanoseconds);
    ASSERT_EQ(a.engines[i].rounds.size(), b.engines[i].rounds.size());
    for (size_t round = 0; round < a.engines[i].rounds.size(); ++round) {
      EXPECT_EQ(a.engines[i].rounds[round].calls, b.engines[i].rounds[round].calls);
      EXPECT_EQ(a.engines[i].rounds[round].started, b.engines[i].rounds[round].started);
    }
  }
}

TEST_F(ModelStores, MeasurementsComeBackAsTheyWere) {
  {
    ModelStore store = open();
    ModelRun run = runOf("s");
    EXPECT_TRUE(valueOf(store.begin(run, true)).empty());
    EXPECT_TRUE(store.add(measurementOf(64)).ok());
    EXPECT_TRUE(store.add(measurementOf(128)).ok());
    EXPECT_TRUE(store.end().ok());
  }
  const StoredModels stored = valueOf(readModels(path, "latest"));
  ASSERT_EQ(stored.measurements.size(), 2U);
  expectEqual(stored.measurements[0], measurementOf(64));
  expectEqual(stored.measurements[1], measurementOf(128));
  EXPECT_EQ(stored.run.run.commandLine, "kiln-bench-model bert.onnx");
  EXPECT_EQ(stored.run.machine.hardware, sampleMachine().hardware);
}

TEST_F(ModelStores, OutputsThatCannotBeComparedComeBack) {
  for (double difference : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    ModelMeasurement measured = measurementOf(64);
    measured.engines[0].difference = difference;
    {
      ModelStore store = open();
      ModelRun run = runOf(std::to_string(difference));
      EXPECT_TRUE(store.begin(run, true).ok());
      EXPECT_TRUE(store.add(measured).ok());
    }
    const ModelMeasurement stored = valueOf(readModels(path, "latest")).measurements[0];
    EXPECT_TRUE(stored.differs(stored.engines[0]));
    EXPECT_EQ(std::isnan(*stored.engines[0].difference), std::isnan(difference));
  }
}

TEST_F(ModelStores, ARunThatWasInterruptedGoesOn) {
  {
    ModelStore store = open();
    ModelRun run = runOf("s");
    EXPECT_TRUE(store.begin(run, true).ok());
    EXPECT_TRUE(store.add(measurementOf(64)).ok());
  }
  {
    ModelStore store = open();
    ModelRun other = runOf("other");
    EXPECT_TRUE(valueOf(store.begin(other, true)).empty());
    ModelRun run = runOf("s"), fresh = runOf("s");
    const std::vector<ModelMeasurement> known = valueOf(store.begin(run, true));
    ASSERT_EQ(known.size(), 1U);
    expectEqual(known[0], measurementOf(64));
    EXPECT_TRUE(store.add(measurementOf(128)).ok());
    EXPECT_TRUE(store.end().ok());
    // What has ended does not go on.
    EXPECT_TRUE(valueOf(store.begin(fresh, true)).empty());
  }
  EXPECT_EQ(valueOf(readModels(path, "latest~2")).measurements.size(), 2U);
  EXPECT_EQ(readModels(path, "latest").status().code(), StatusCode::NotFound);
}

TEST_F(ModelStores, ThatAreMergedKeepThem) {
  const std::string all = folder.file("all.db");
  for (const char *sweep : {"a", "b"}) {
    path = folder.file(std::string(sweep) + ".db");
    ModelStore store = open();
    ModelRun run = runOf(sweep);
    EXPECT_TRUE(store.begin(run, true).ok());
    EXPECT_TRUE(store.add(measurementOf(64)).ok());
    EXPECT_TRUE(store.end().ok());
  }
  const std::vector<std::string> shards = {folder.file("a.db"), folder.file("b.db")};
  {
    std::unique_ptr<store::Writer> writer = valueOf(store::Writer::open(all, {}));
    EXPECT_EQ(valueOf(writer->merge(shards))[1].runs, 1U);
    EXPECT_EQ(valueOf(writer->merge(shards))[1], store::MergedFacts());
  }
  expectEqual(valueOf(readModels(all, "latest")).measurements[0], measurementOf(64));
  expectEqual(valueOf(readModels(all, "latest~1")).measurements[0], measurementOf(64));
}

TEST_F(ModelStores, ThatWereEditedAreShownAsFarAsTheyGo) {
  {
    std::unique_ptr<store::Writer> writer = valueOf(store::Writer::open(path, {}));
    ModelRun run = runOf("s");
    run.run.machine = run.machine.keys();
    EXPECT_TRUE(writer->addMachine(run.machine).ok());
    EXPECT_TRUE(writer->addRun(run.run).ok());
    store::Problem problem;
    problem.name = "m";
    problem.family = "model";
    problem.fields = {{"model", "m.onnx"}, {"length", "many"}, {"items", "-3"}, {"item", "x"}};
    const store::Group group{run.run.key(), problem.key(), 5};
    const store::Candidate kiln{problem.key(), "kiln", "1", ""}, other{problem.key(), "other", "1", ""};
    EXPECT_TRUE(writer->addProblem(problem).ok());
    EXPECT_TRUE(writer->addCandidates(std::vector{kiln, other}).ok());
    EXPECT_TRUE(writer->startGroup(group).ok());
    store::Round round{group.key(), kiln.key(), 1};
    round.samples.call = {0, -5, 7};
    EXPECT_TRUE(writer->addRounds(std::vector{round}).ok());
    store::CandidateResult first{group.key(), kiln.key()}, second{group.key(), other.key()};
    first.verification.details = R"({"place":"x","load_ns":-5,"differs_by":{},"reference":7,"tolerance":"y",)"
                                 R"("dispatches":{"calls":-1,"rows":[1,{"nodes":7,"ms":"x"},{"nodes":[3,"n"]}]}})";
    second.verification.details = R"({"place":1,"dispatches":[]})";
    EXPECT_TRUE(writer->finishGroup(group.key(), std::vector{first, second}, {}).ok());
  }
  const StoredModels stored = valueOf(readModels(path, "latest"));
  ASSERT_EQ(stored.measurements.size(), 1U);
  std::vector<ModelReport> reports;
  reports.emplace_back(stored.measurements[0]);
  EXPECT_NE(reports[0].table().find("m.onnx"), std::string::npos);
  EXPECT_NE(reports[0].csv().find("m.onnx,1,other"), std::string::npos) << reports[0].csv();
  EXPECT_NE(reports[0].json().find("m.onnx"), std::string::npos);
  EXPECT_NE(modelPage(stored.run, reports).find("m.onnx"), std::string::npos);
}

TEST_F(ModelStores, OfTheLabHaveNoModels) {
  {
    std::unique_ptr<store::Writer> writer = valueOf(store::Writer::open(path, {}));
    EXPECT_TRUE(fillSampleStore(*writer, {}).ok());
  }
  const Status status = readModels(path, "latest").status();
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_NE(status.message().find("has no measurements of models"), std::string_view::npos);
}

TEST_F(ModelStores, HashesAreOfTheContent) {
  const std::string a = folder.file("a"), b = folder.file("b");
  std::ofstream(a) << std::string(3'000'000, 'x');
  std::ofstream(b) << std::string(3'000'000, 'x');
  const auto hashOf = [](std::vector<std::string> paths) { return hashOfFiles(paths); };
  EXPECT_EQ(valueOf(hashOf({a})), valueOf(hashOf({b})));
  EXPECT_EQ(valueOf(hashOf({a, b})), valueOf(hashOf({b, a})));
  EXPECT_NE(valueOf(hashOf({a, b})), valueOf(hashOf({a})));
  std::ofstream(b, std::ios::app) << "y";
  EXPECT_NE(valueOf(hashOf({a})), valueOf(hashOf({b})));
  EXPECT_NE(valueOf(hashOf({a, b})), valueOf(hashOf({b, a}))); // where a file ends counts
  EXPECT_FALSE(hashOf({a, folder.file("missing")}).ok());
}

} // namespace
} // namespace kiln
