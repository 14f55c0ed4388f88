#include "kiln/tools/bench_model/model_engine.h"

#include <fstream>
#include <numeric>

#include "fmt/format.h"
#include "kiln/base/clock.h"
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
  engine->facts = {kVersion, double(monotonicNanoseconds() - began) / 1e9, 0};
  return engine;
}

Status KilnEngine::bind(const std::vector<std::string> &inputs) {
  std::vector<std::string> specs;
  for (const std::string &path : inputs)
    specs.push_back("@" + path);
  KILN_ASSIGN_OR_RETURN(arguments, readArguments(*callee, specs, program.device()));
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

Result<std::vector<double>> KilnEngine::time(double seconds) {
  CallLimit::Scope scope(untilInterrupted());
  std::vector<double> times;
  const uint64_t began = monotonicNanoseconds();
  for (uint64_t now = began; times.size() < kLeastCalls || double(now - began) < seconds * 1e9;) {
    const uint64_t start = monotonicNanoseconds();
    {
      std::vector<vm::Value> results(callee->resultCount());
      KILN_RETURN_IF_ERROR(explainCall(session->call(*callee, arguments.values, results), arguments));
    }
    now = monotonicNanoseconds();
    times.push_back(double(now - start) / 1e6);
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

uint64_t KilnEngine::peakBytes() {
  return peakBytesOf("self");
}

//===--- Others ---------------------------------------------------------------------------------------------------===//

std::vector<std::string> knownRivals() {
  return {"onnxruntime", "openvino", "torch", "torch-compile", "iree"};
}

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

Result<std::unique_ptr<RivalEngine>> RivalEngine::create(const Options &options) {
  measure::WorkerOptions start;
  start.command = {options.python, options.script, options.name};
  start.threads = options.threads;
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<measure::WorkerProcess> worker, measure::WorkerProcess::start(start));
  std::unique_ptr<RivalEngine> rival(new RivalEngine(options, std::move(worker)));
  const nlohmann::json request = {{"do", "load"},
                                  {"model", options.model},
                                  {"inputs", options.inputs},
                                  {"threads", options.threads},
                                  {"device", options.device}};
  KILN_ASSIGN_OR_RETURN(nlohmann::json answer, ask(*rival->worker, request, options.timeoutSeconds));
  rival->facts = {answer.value("version", ""), answer.value("load_s", 0.0), answer.value("compile_s", 0.0)};
  return rival;
}

Result<std::vector<std::string>> RivalEngine::call(const std::string &folder) {
  KILN_ASSIGN_OR_RETURN(nlohmann::json answer, ask(*worker, {{"do", "call"}, {"outputs", folder}}, timeoutSeconds));
  std::vector<std::string> paths;
  for (const nlohmann::json &path : answer["outputs"])
    paths.push_back(path.is_string() ? path.get<std::string>() : "");
  return paths;
}

Result<std::vector<double>> RivalEngine::time(double seconds) {
  const uint64_t began = monotonicNanoseconds();
  KILN_ASSIGN_OR_RETURN(nlohmann::json answer,
                        ask(*worker, {{"do", "time"}, {"seconds", seconds}}, timeoutSeconds + seconds));
  const double elapsed = double(monotonicNanoseconds() - began) / 1e6;
  std::vector<double> times;
  for (const nlohmann::json &value : answer["ms"])
    if (value.is_number())
      times.push_back(value.get<double>());
  if (times.size() < kLeastCalls)
    return dataLoss("measured {} calls", times.size());
  // It was asked for calls that fill the time, and they cannot have taken longer than the answer.
  const double told = std::accumulate(times.begin(), times.end(), 0.0);
  constexpr double kLeastOfAsked = 0.5;
  if (!(told >= kLeastOfAsked * seconds * 1e3) || told > elapsed)
    return dataLoss("says that its calls took {:.3g} ms, where {:.3g} ms were asked for and {:.3g} ms went by", told,
                    seconds * 1e3, elapsed);
  return times;
}

uint64_t RivalEngine::peakBytes() {
  return worker->alive() ? peakBytesOf(std::to_string(worker->pid())) : worker->peakMemoryBytes();
}

} // namespace kiln
