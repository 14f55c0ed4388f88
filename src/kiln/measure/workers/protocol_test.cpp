#include "kiln/measure/workers/protocol.h"

#include <algorithm>

#include "kiln/base/outcome.h"
#include "gtest/gtest.h"

namespace kiln::measure {

static LoadRequest sampleLoad() {
  LoadRequest load;
  load.slot = 7;
  load.problem = {"matmul", "matmul_2x3x4_f32t", {{"m", "2"}, {"lhs", "f32t"}, {"code", "007"}}};
  load.module = "x \"y\".vmfb";
  load.function = "f";
  load.sets = 3;
  load.inputs = {{io::ElementType::F32, {2, 4}, "/proc/1/fd/2", 0, 128, 32}};
  load.outputs = {{io::ElementType::BF16, {2, 3}, "/proc/1/fd/3", 64, 192, 12}};
  return load;
}

TEST(Protocol, LoadIsWhatTheDocumentSays) {
  EXPECT_EQ(encodeRequest(sampleLoad()),
            "{\"op\":\"load\",\"slot\":7,\"problem\":{\"family\":\"matmul\",\"name\":\"matmul_2x3x4_f32t\",\"fields\":{"
            "\"m\":2,"
            "\"lhs\":\"f32t\",\"code\":\"007\"}},\"module\":\"x \\\"y\\\".vmfb\",\"function\":\"f\",\"sets\":3,"
            "\"inputs\":[{\"type\":\"f32\",\"shape\":[2,4],\"path\":\"/proc/1/fd/2\",\"offset\":0,\"stride\":128,"
            "\"bytes\":32}],\"outputs\":[{\"type\":\"bf16\",\"shape\":[2,3],\"path\":\"/proc/1/fd/3\",\"offset\":64,"
            "\"stride\":192,\"bytes\":12}]}\n");
}

TEST(Protocol, TheTypeOfAFieldDoesNotDependOnItsValue) {
  LoadRequest load;
  load.problem = {"transpose", "transpose_10_5x7_f32", {{"permutation", "10"}, {"shape", "64"}, {"rows", "10"}}};
  EXPECT_NE(encodeRequest(load).find(R"({"permutation":"10","shape":"64","rows":10})"), std::string::npos)
      << encodeRequest(load);
}

TEST(Protocol, RequestsSurviveTheWay) {
  Result<Request> parsed = parseRequest(encodeRequest(sampleLoad()));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const auto &load = std::get<LoadRequest>(*parsed);
  EXPECT_EQ(load.problem.fields, sampleLoad().problem.fields);
  EXPECT_EQ(*load.problem.field("m"), "2");
  EXPECT_EQ(load.problem.field("x"), nullptr);
  EXPECT_EQ(load.module, "x \"y\".vmfb");
  EXPECT_EQ(load.sets, 3U);
  EXPECT_EQ(load.outputs[0].shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(load.outputs[0].stride, 192U);

  parsed = parseRequest(encodeRequest(TimeRequest{.calls = 12, .batch = 4, .start = 17, .watch = true}));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(std::get<TimeRequest>(*parsed).start, 17U);
  EXPECT_EQ(std::get<TimeRequest>(*parsed).batch, 4U);
  EXPECT_EQ(std::get<TimeRequest>(*parsed).calls, 12U);
  EXPECT_TRUE(std::get<TimeRequest>(*parsed).watch);
  EXPECT_FALSE(std::get<TimeRequest>(*parsed).empty);
  EXPECT_EQ(std::get<HelloRequest>(*parseRequest(encodeRequest(HelloRequest{1, 2}))).threads, 2U);
  EXPECT_EQ(std::get<HelloRequest>(*parseRequest(encodeRequest(HelloRequest{2, 1, "cuda://1"}))).device, "cuda://1");
  EXPECT_TRUE(std::get<TimeRequest>(*parseRequest(encodeRequest(TimeRequest{.byDevice = true}))).byDevice);
  PrepareRequest prepare{3, 12, 4, 17};
  EXPECT_EQ(std::get<PrepareRequest>(*parseRequest(encodeRequest(prepare))), prepare);
  const auto verify = std::get<VerifyRequest>(*parseRequest(encodeRequest(VerifyRequest{3, 2, UINT64_MAX, 77})));
  EXPECT_EQ(verify.slot, 3U);
  EXPECT_EQ(verify.pass, 2U);
  EXPECT_EQ(verify.seed, UINT64_MAX);
  EXPECT_EQ(verify.planted, 77U);
  EXPECT_EQ(std::get<RunRequest>(*parseRequest(encodeRequest(RunRequest{3, 5}))).set, 5U);
  EXPECT_EQ(std::get<UnloadRequest>(*parseRequest(encodeRequest(UnloadRequest{9}))).slot, 9U);
  EXPECT_EQ(std::get<UploadRequest>(*parseRequest(encodeRequest(UploadRequest{1, {2, 3}}))).sets, (SetRange{2, 3}));
  for (bool outputsOnly : {false, true}) {
    std::string line = encodeRequest(UploadRequest{1, {2, 3}, outputsOnly});
    EXPECT_EQ(std::get<UploadRequest>(*parseRequest(line)).outputsOnly, outputsOnly) << line;
  }
  EXPECT_EQ(std::get<FetchRequest>(*parseRequest(encodeRequest(FetchRequest{1, {2, 3}}))).sets, (SetRange{2, 3}));
  EXPECT_TRUE(std::holds_alternative<QuitRequest>(*parseRequest(encodeRequest(QuitRequest()))));
}

TEST(Protocol, BadRequestsAreTold) {
  struct {
    const char *line, *message;
  } cases[] = {
      {"", "no JSON"},
      {"{\"op\":\"run\"", "no JSON"},
      {"[1]", "no JSON object"},
      {"{}", "\"op\" must be a string"},
      {"{\"op\":\"dance\"}",
       "'dance'; it must be hello, load, unload, upload, fetch, run, verify, prepare, time or quit"},
      {"{\"op\":\"run\"}", "\"set\" must be an integer"},
      {"{\"op\":\"verify\",\"pass\":1,\"seed\":1}", "\"planted\" must be an integer"},
      {"{\"op\":\"verify\",\"pass\":65,\"seed\":1,\"planted\":0}", "\"pass\" is 65; at most 64"},
      {"{\"op\":\"run\",\"set\":-1}", "\"set\" must be an integer that is not negative"},
      {"{\"op\":\"run\",\"set\":1e300}", "\"set\" must be an integer"},
      {"{\"op\":\"run\",\"set\":99999999999}", "at most"},
      {"{\"op\":\"hello\",\"protocol\":1,\"threads\":0}", "\"threads\" is 0"},
      {"{\"op\":\"time\",\"calls\":1,\"start\":0,\"batch\":0}", "\"batch\" 0"},
      {"{\"op\":\"time\",\"calls\":5,\"start\":0,\"batch\":2}", "must be a multiple of batch"},
      {"{\"op\":\"time\",\"calls\":4294967296,\"start\":0,\"batch\":2}", "at most 1048576 batches"},
      {"{\"op\":\"run\",\"slot\":99999,\"set\":0}", "\"slot\" is 99999"},
      {"{\"op\":\"fetch\",\"sets\":3}", "\"sets\" must be an object"},
      {"{\"op\":\"load\",\"problem\":3}", "\"problem\" must be an object"},
      {"{\"op\":\"load\",\"problem\":{\"family\":\"f\",\"name\":\"n\",\"fields\":{\"m\":[]}}}", "field \"m\""},
  };
  for (const auto &[line, message] : cases) {
    Result<Request> request = parseRequest(line);
    ASSERT_FALSE(request.ok()) << line;
    EXPECT_NE(request.status().message().find(message), std::string_view::npos) << request.status().message();
  }
}

TEST(Protocol, BadTensorsAreTold) {
  auto withTensor = [](const std::string &tensor) {
    return parseRequest("{\"op\":\"load\",\"problem\":{\"family\":\"f\",\"name\":\"n\",\"fields\":{}},\"sets\":1,"
                        "\"outputs\":[],\"inputs\":[" +
                        tensor + "]}");
  };
  const char *good = R"({"type":"f32","shape":[2],"path":"/x","offset":0,"stride":0,"bytes":8})";
  EXPECT_TRUE(withTensor(good).ok());
  struct {
    const char *tensor, *message;
  } cases[] = {
      {"7", "must be an object"},
      {R"({"type":"f33","shape":[2],"path":"/x","offset":0,"stride":0,"bytes":8})", "'f33' is no element type"},
      {R"({"type":"f32","shape":[-2],"path":"/x","offset":0,"stride":0,"bytes":8})", "extents"},
      {R"({"type":"f32","shape":[2],"path":"/x","offset":0,"stride":0,"bytes":9})", "9 bytes is said to be 2xf32"},
      {R"({"type":"f32","shape":[18446744073709551615,2],"path":"/x","offset":0,"stride":0,"bytes":8})", "\"inputs\""},
      {R"({"type":"f32","shape":[2],"path":"/x","offset":18446744073709551615,"stride":0,"bytes":8})", "at most"},
  };
  for (const auto &[tensor, message] : cases) {
    Result<Request> request = withTensor(tensor);
    ASSERT_FALSE(request.ok()) << tensor;
    EXPECT_NE(request.status().message().find(message), std::string_view::npos) << request.status().message();
  }
}

TEST(Protocol, AnswersSurviveTheWay) {
  Answer answer;
  answer.provider = "onednn";
  answer.version = "2.6.3";
  answer.note = "note";
  answer.devices = {{"cpu", true},
                    {"gpu", false, WorkerDevice::Clock::Device, 1 << 20},
                    {"sim", false, WorkerDevice::Clock::Simulated, 0}};
  answer.tellsDeviceTimes = true;
  Result<Answer> greeted = parseAnswer(encodeAnswer(answer));
  ASSERT_TRUE(greeted.ok()) << greeted.status().message();
  EXPECT_EQ(greeted->devices, answer.devices);
  EXPECT_TRUE(greeted->tellsDeviceTimes);
  EXPECT_FALSE(greeted->makesEmptyCalls);
  answer.devices.clear();
  answer.tellsDeviceTimes = false;
  EXPECT_EQ(encodeAnswer(answer), "{\"ok\":true,\"provider\":\"onednn\",\"version\":\"2.6.3\",\"note\":\"note\"}\n");

  Answer times;
  times.batch = 2;
  times.host = {5, 6};
  times.spans = {3, 4};
  times.asGraph = false;
  times.device = DeviceTimes{"globaltimer", 1'000'000, {1, 4}, {2, 5}, {3, 6}};
  Result<Answer> parsed = parseAnswer(encodeAnswer(times));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->spans, times.spans);
  EXPECT_EQ(parsed->asGraph, false);
  EXPECT_EQ(parsed->host, times.host);
  EXPECT_EQ(parsed->device, times.device);
  times.device->submitted.clear(); // a device's clock may not see it
  EXPECT_EQ(parseAnswer(encodeAnswer(times))->device, times.device);
  EXPECT_EQ(parsed->batch, 2U);

  EXPECT_EQ(encodeAnswer(Answer::failure(unimplemented("no"))),
            "{\"ok\":false,\"unsupported\":true,\"error\":\"no\"}\n");
  // A message may hold anything.
  parsed = parseAnswer(encodeAnswer(Answer::failure(invalidArgument("\xFF\n"))));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_FALSE(parsed->ok);
  EXPECT_FALSE(parsed->unsupported);
}

TEST(Protocol, CountersAreOptional) {
  Answer times;
  times.batch = 1;
  times.host = {5};
  EXPECT_EQ(encodeAnswer(times).find("counters"), std::string::npos);
  times.counts.cycles = 12;
  times.counts.flops = 0;
  Result<Answer> parsed = parseAnswer(encodeAnswer(times));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->counts, times.counts);
  EXPECT_FALSE(parsed->counts.instructions);
  parsed = parseAnswer(R"({"ok":true,"batch":1,"host":[5],"counters":{"cache_misses":3,"page_faults":"many"}})");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->counts.cacheMisses, 3U);
  EXPECT_FALSE(parsed->counts.cycles);
}

TEST(Protocol, BadAnswersAreTold) {
  for (const char *line :
       {"{\"ok\":true,\"batch\":1,\"host\":[1],\"counters\":[1]}",
        "{\"ok\":true,\"batch\":1,\"host\":[1],\"counters\":{\"cycles\":-1}}",
        "{\"ok\":true,\"batch\":1,\"host\":[1],\"counters\":{\"cycles\":1e19}}",
        "{\"ok\":true,\"batch\":1,\"host\":[1],\"counters\":{\"flops\":null}}", "", "ok", "{\"ok\":1}",
        "{\"ok\":false}", "{\"ok\":true,\"batch\":1,\"host\":5}", "{\"ok\":true,\"batch\":1,\"host\":[-5]}",
        "{\"ok\":true,\"batch\":1,\"host\":[1.5]}", "{\"ok\":true,\"batch\":1,\"host\":[1,2],\"device\":[1]}",
        "{\"ok\":true,\"batch\":1,\"host\":[1],\"device\":{\"clock\":\"c\",\"started\":[1],\"ended\":[]}}",
        R"({"ok":true,"batch":1,"host":[1],"device":{"clock":"c","per_second":0,"started":[1],"ended":[2]}})",
        "{\"ok\":true,\"devices\":[{\"name\":\"d\",\"memory\":\"far\"}]}", "{\"ok\":true,\"flops\":-1}",
        "{\"ok\":true,\"batch\":1,\"host\":[9e18,1e19]}"})
    EXPECT_FALSE(parseAnswer(line).ok()) << line;
  EXPECT_TRUE(parseAnswer("{\"ok\":true,\"protocol\":2}").ok());
  EXPECT_EQ(parseAnswer("{\"ok\":true,\"protocol\":1}").status().message(),
            "it speaks protocol 1, and this is protocol 2: '{\"ok\":true,\"protocol\":1}'");
}

// A limit is kept to the byte, and no character is cut in two.
TEST(Protocol, WhatWorkersSayHasLimits) {
  auto answerWith = [](const std::string &name, const std::string &value) {
    return parseAnswer(fmt::format(R"({{"ok":{},"{}":"{}"}})", name != "error", name, value));
  };
  for (const char *name : {"provider", "version"}) {
    EXPECT_TRUE(answerWith(name, std::string(200, 'x')).ok());
    EXPECT_FALSE(answerWith(name, std::string(201, 'x')).ok());
  }
  EXPECT_TRUE(answerWith("note", std::string(4096, 'x')).ok());
  EXPECT_FALSE(answerWith("note", std::string(4097, 'x')).ok());
  EXPECT_EQ(answerWith("error", std::string(4096, 'x'))->error, std::string(4096, 'x'));
  EXPECT_EQ(answerWith("error", std::string(4095, 'x') + "µ")->error, std::string(4095, 'x') + "... (4097 bytes)");
  EXPECT_FALSE(answerWith("note", "\xff").ok()); // JSON is UTF-8
  EXPECT_EQ(answerWith("note", "\\u0000\\u009b")->note, "\\x00\\x9b");
  std::string devices;
  for (int i = 0; i < 65; ++i)
    devices += fmt::format("{}{{\"name\":\"d\",\"memory\":\"own\"}}", i ? "," : "");
  EXPECT_FALSE(parseAnswer(fmt::format("{{\"ok\":true,\"devices\":[{}]}}", devices)).ok());
  EXPECT_FALSE(
      parseAnswer(fmt::format(R"({{"ok":true,"devices":[{{"name":"{}","memory":"own"}}]}})", std::string(201, 'x')))
          .ok());
}

TEST(Protocol, WhatIsQuotedIsPrintable) {
  EXPECT_EQ(quoteLine("a\tb\n\x1b[1m\xff\\"), "'a\\tb\\n\\x1b[1m\\xff\\\\'");
  EXPECT_EQ(quoteLine(std::string(121, 'x')), "'" + std::string(120, 'x') + "...' (121 bytes)");
}

TEST(Protocol, TimingSetsGoAround) {
  EXPECT_EQ(nextTimingSet(0, 1), 0U);
  EXPECT_EQ(nextTimingSet(1, 2), 1U);
  EXPECT_EQ(nextTimingSet(1, 4), 2U);
  EXPECT_EQ(nextTimingSet(3, 4), 1U);
}

TEST(Outcome, NamesComeBackAndAllThatFailedIsCalledSo) {
  for (int i = 0; i <= int(Outcome::Rubbish); ++i)
    EXPECT_EQ(parseOutcome(outcomeName(Outcome(i))), std::min(Outcome(i), Outcome::Failed));
  EXPECT_FALSE(parseOutcome("fine"));
}

} // namespace kiln::measure
