#include "kiln/tools/bench_model/model_engine.h"

#include <algorithm>
#include <fstream>
#include <limits>

#include "fmt/format.h"
#include "kiln/base/clock.h"
#include "kiln/measure/statistics/robust.h"
#include "kiln/tools/call_results.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/version.h"
#include "nlohmann/json.hpp"

namespace kiln {

namespace {

// The most memory that a process held, as the kernel tells.
uint64_t peakBytesOf(const std::string &process) {
  std::ifstream status("/proc/" + process + "/status");
  for (std::string word; status >> word;)
    if (uint64_t kilobytes; word == "VmHWM:" && status >> kilobytes)
      return kilobytes * 1024;
  return 0;
}

constexpr size_t kLeastCalls = 3;

} // namespace

//===--- Kiln -----------------------------------------------------------------------------------------------------===//

Result<std::unique_ptr<KilnEngine>> KilnEngine::create(const RuntimeFlags &flags, Ref<vm::Module> compiled) {
  const uint64_t began = monotonicNanoseconds();
  KILN_ASSIGN_OR_RETURN(Program program, Program::open(flags, std::move(compiled)));
  std::unique_ptr<KilnEngine> engine(new KilnEngine(std::move(program)));
  KILN_ASSIGN_OR_RETURN(engine->session, engine->program.createSession());
  KILN_ASSIGN_OR_RETURN(vm::Function function, findFunction(*engine->session, flags.function));
  engine->callee = function;
  engine->facts.version = kVersion;
  engine->facts.loadNanoseconds = int64_t(monotonicNanoseconds() - began);
  return engine;
}

Status KilnEngine::bind(const std::vector<ModelInput> &inputs) {
  std::vector<std::string> specs;
  for (const ModelInput &input : inputs)
    specs.push_back("@" + input.path);
  KILN_ASSIGN_OR_RETURN(arguments, readArguments(*callee, specs, program.device()));
  // Messages name what the user wrote, and not the files that it was written into.
  for (size_t i = 0; i < std::min(inputs.size(), arguments.files.size()); ++i)
    arguments.files[i].flag = inputs[i].spec;
  return okStatus();
}

Result<std::vector<std::string>> KilnEngine::call(const std::string &folder) {
  CallLimit::Scope scope(untilInterrupted());
  std::vector<vm::Value> results(callee->resultCount());
  KILN_RETURN_IF_ERROR(explainCall(session->call(*callee, arguments.values, results), arguments));
  OutputFlags flags;
  std::vector<std::string> paths;
  for (size_t i = 0; i < results.size(); ++i) {
    paths.push_back(fmt::format("{}/kiln.{}.npy", folder, i));
    flags.outputs.push_back("@" + paths.back());
  }
  KILN_RETURN_IF_ERROR(handleResults(*callee, results, flags).status());
  return paths;
}

Result<std::vector<int64_t>> KilnEngine::time(double seconds) {
  CallLimit::Scope scope(untilInterrupted());
  std::vector<int64_t> times;
  const uint64_t began = monotonicNanoseconds();
  for (uint64_t now = began; times.size() < kLeastCalls || double(now - began) < seconds * 1e9;) {
    const uint64_t start = monotonicNanoseconds();
    {
      std::vector<vm::Value> results(callee->resultCount());
      KILN_RETURN_IF_ERROR(explainCall(session->call(*callee, arguments.values, results), arguments));
    }
    now = monotonicNanoseconds();
    times.push_back(int64_t(now - start));
  }
  return times;
}

Result<DispatchTimes> KilnEngine::timeDispatches(double seconds) {
  CallLimit::Scope scope(untilInterrupted());
  return kiln::timeDispatches(program.device(), program.mainModule(), seconds, [&] {
    std::vector<vm::Value> results(callee->resultCount());
    return explainCall(session->call(*callee, arguments.values, results), arguments);
  });
}

Result<PeakMemory> KilnEngine::peakMemory() {
  return PeakMemory{peakBytesOf("self"), program.device().allocator().statistics().deviceLocal.peak};
}

//===--- Others ---------------------------------------------------------------------------------------------------===//

static Result<nlohmann::json> ask(measure::WorkerProcess &worker, const nlohmann::json &request, double timeout) {
  const auto patience = static_cast<uint64_t>(timeout * 1e9);
  const std::string step = request["do"];
  Result<std::string> line = worker.exchange(request.dump() + "\n", Deadline::after(patience));
  if (!line.ok() && line.status().code() == StatusCode::DeadlineExceeded)
    return unavailable("did not answer '{}' within {} s; --answer_seconds=S gives it more", step, timeout);
  if (!line.ok()) {
    // The worker does not know what lines of another kind than the lab's ask for.
    std::string text(line.status().message());
    if (const size_t at = text.find("''"); at != std::string::npos)
      text.insert(at + 1, step);
    return Status(line.status().code(), text);
  }
  nlohmann::json answer = nlohmann::json::parse(*line, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object() || !answer.contains("ok"))
    return dataLoss("answered '{}' with '{}'", step, line->substr(0, 100));
  if (answer["ok"] != true)
    return unavailable("{}", answer.value("why", "gave no reason"));
  return answer;
}

static std::vector<std::string> pathsOf(const std::vector<ModelInput> &inputs) {
  std::vector<std::string> paths;
  for (const ModelInput &input : inputs)
    paths.push_back(input.path);
  return paths;
}

static int64_t nanosecondsOf(const nlohmann::json &answer, const char *seconds) {
  const nlohmann::json &value = answer.value(seconds, nlohmann::json(0));
  const double given = value.is_number() ? value.get<double>() : 0;
  return given >= 0 && given < 1e9 ? int64_t(given * 1e9) : 0;
}

Result<std::unique_ptr<RivalEngine>> RivalEngine::create(const Options &options) {
  measure::WorkerOptions start;
  start.command = {options.python, options.script, options.name};
  start.threads = options.setting.threads;
  start.environment = options.setting.environment;
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<measure::WorkerProcess> worker, measure::WorkerProcess::start(start));
  std::unique_ptr<RivalEngine> rival(new RivalEngine(options, std::move(worker)));
  const nlohmann::json request = {{"do", "load"},
                                  {"model", options.model},
                                  {"inputs", pathsOf(options.inputs)},
                                  {"threads", options.setting.threads},
                                  {"setting", options.setting.name},
                                  {"other_lengths", options.otherLengths},
                                  {"function", options.function},
                                  {"device", options.device}};
  KILN_ASSIGN_OR_RETURN(nlohmann::json answer, ask(*rival->worker, request, options.timeoutSeconds));
  const nlohmann::json version = answer.value("version", nlohmann::json(""));
  rival->facts = {version.is_string() ? version.get<std::string>() : "", options.setting.name, options.setting.threads,
                  nanosecondsOf(answer, "load_s"), nanosecondsOf(answer, "compile_s")};
  return rival;
}

Result<std::unique_ptr<RivalEngine>> RivalEngine::createBest(Options options, std::span<const RivalSetting> settings,
                                                             double seconds) {
  options.setting = settings.front();
  if (settings.size() == 1 || seconds == 0)
    return create(options);
  std::unique_ptr<RivalEngine> best;
  double leastTime = std::numeric_limits<double>::infinity();
  for (const RivalSetting &setting : settings) {
    if (isInterrupted())
      return cancelled("interrupted");
    options.setting = setting;
    Result<std::unique_ptr<RivalEngine>> rival = create(options);
    if (!rival.ok() && !best)
      return rival;
    if (!rival.ok())
      continue;
    constexpr double kWarmUp = 0.25; // of the seconds
    Result<std::vector<int64_t>> times = (*rival)->time(kWarmUp * seconds);
    if (times.ok())
      times = (*rival)->time(seconds);
    if (!times.ok() && !best)
      return std::move(times).status();
    if (!times.ok())
      continue;
    (*rival)->pause();
    const std::vector<double> taken(times->begin(), times->end());
    if (const double time = measure::percentile(taken, 0.5); time < leastTime) {
      leastTime = time;
      best = *std::move(rival);
    }
  }
  return best;
}

Status RivalEngine::bind(const std::vector<ModelInput> &inputs) {
  return ask(*worker, {{"do", "bind"}, {"inputs", pathsOf(inputs)}}, timeoutSeconds).status();
}

Result<std::vector<std::string>> RivalEngine::call(const std::string &folder) {
  KILN_ASSIGN_OR_RETURN(nlohmann::json answer, ask(*worker, {{"do", "call"}, {"outputs", folder}}, timeoutSeconds));
  std::vector<std::string> paths;
  for (const nlohmann::json &path : answer["outputs"])
    paths.push_back(path.is_string() ? path.get<std::string>() : "");
  return paths;
}

Result<std::vector<int64_t>> RivalEngine::time(double seconds) {
  // Between its calls another program may have had the processor once or twice; time that it never tells is a lie.
  constexpr int kTurns = 3;
  Result<std::vector<int64_t>> times = timeOnce(seconds);
  for (int turn = 1; turn < kTurns && !times.ok() && times.status().code() == StatusCode::DataLoss; ++turn)
    times = timeOnce(seconds);
  return times;
}

Result<std::vector<int64_t>> RivalEngine::timeOnce(double seconds) {
  const uint64_t began = monotonicNanoseconds();
  KILN_ASSIGN_OR_RETURN(nlohmann::json answer,
                        ask(*worker, {{"do", "time"}, {"seconds", seconds}}, timeoutSeconds + seconds));
  const auto elapsed = double(monotonicNanoseconds() - began);
  std::vector<int64_t> times;
  double told = 0;
  for (const nlohmann::json &value : answer["ns"])
    if (value.is_number_unsigned()) {
      times.push_back(int64_t(std::min<uint64_t>(value.get<uint64_t>(), std::numeric_limits<int64_t>::max())));
      told += double(times.back());
    }
  if (times.size() < kLeastCalls)
    return dataLoss("measured {} calls", times.size());
  // It was asked for calls that fill the time, and they cannot have taken longer than the answer.
  constexpr double kLeastOfAsked = 0.5;
  if (!(told >= kLeastOfAsked * seconds * 1e9) || told > elapsed)
    return dataLoss("says that its calls took {:.3g} ms, where {:.3g} ms were asked for and {:.3g} ms went by",
                    told / 1e6, seconds * 1e3, elapsed / 1e6);
  return times;
}

Result<PeakMemory> RivalEngine::peakMemory() {
  KILN_ASSIGN_OR_RETURN(nlohmann::json answer, ask(*worker, {{"do", "memory"}}, timeoutSeconds));
  const nlohmann::json device = answer.value("device_bytes", nlohmann::json(0));
  return PeakMemory{peakBytesOf(std::to_string(worker->pid())),
                    device.is_number_unsigned() ? device.get<uint64_t>() : 0};
}

} // namespace kiln
