#include "kiln/tools/bench_model/model_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <thread>
#include <unistd.h>

#include "fmt/format.h"
#include "kiln/base/clock.h"
#include "kiln/base/random.h"
#include "kiln/measure/device/device_calibration.h"
#include "kiln/runtime/task/topology.h"
#include "kiln/targets/drivers.h"
#include "kiln/tools/bench_model/output_difference.h"
#include "kiln/tools/calibration_file.h"
#include "kiln/tools/compile_process.h"
#include "kiln/tools/declaration.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/peers_flag.h"
#include "kiln/tools/sibling.h"

namespace kiln {

namespace {

// What kiln-compile is told of the device.
std::vector<std::string> targetFlags(const std::string &device) {
  if (device.starts_with("cuda-sim"))
    return {"--kiln-hal-target-backends=cuda"};
  if (device.starts_with("cuda"))
    return {"--kiln-hal-target-backends=cuda", "--kiln-cuda-target=native"};
  return {"--kiln-hal-target-backends=llvm-cpu", "--kiln-llvmcpu-target-cpu=host"};
}

// One line on a terminal that the next one replaces.
void tell(const std::string &text) {
  if (::isatty(STDERR_FILENO))
    fmt::print(stderr, "\r\x1b[K{}", text);
}

double machineLoad() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

} // namespace

uint32_t threadsOf(const BenchModelFlags &flags) {
  if (!flags.runtime.devices.empty() && flags.runtime.devices.front() == "local-sync")
    return 1;
  return flags.threads ? flags.threads : std::max(1u, std::thread::hardware_concurrency());
}

std::string deviceOf(const BenchModelFlags &flags) {
  if (!flags.runtime.devices.empty())
    return flags.runtime.devices.front();
  return threadsOf(flags) == 1 ? "local-sync" : "local-task";
}

Result<ModelMeasurement> ModelComparison::measure(uint64_t length) {
  const bool isFirst = entries.empty();
  if (isFirst)
    KILN_RETURN_IF_ERROR(openKiln());
  auto &kiln = static_cast<KilnEngine &>(*entries.front().engine);
  const InputOptions options{flags.runtime.inputs, flags.seed, flags.largest,
                             length ? std::optional(length) : std::nullopt};
  KILN_ASSIGN_OR_RETURN(inputs, writeInputs(kiln.function(), options, folder->name()));
  KILN_RETURN_IF_ERROR(kiln.bind(inputs));
  if (isFirst)
    KILN_RETURN_IF_ERROR(openRivals(length != 0));
  else
    KILN_RETURN_IF_ERROR(bindRivals());
  ModelMeasurement measured = described(length);
  KILN_RETURN_IF_ERROR(compareOutputs(measured));
  KILN_RETURN_IF_ERROR(measureRounds(measured));
  measureMemory(measured);
  for (size_t i = 0; i < entries.size(); ++i)
    measured.engines[i].failure = entries[i].failure;
  if (flags.perDispatch)
    KILN_RETURN_IF_ERROR(timeDispatches(measured));
  return measured;
}

Status ModelComparison::openKiln() {
  RuntimeFlags runtime = flags.runtime;
  if (!runtime.devices.empty() && runtime.devices.front() == "local-sync" && flags.threads > 1)
    return invalidArgument("--device=local-sync --threads={}: it has one thread; local-task has several",
                           flags.threads);
  threads = threadsOf(flags);
  device = deviceOf(flags);
  KILN_ASSIGN_OR_RETURN(WorkFolder made, WorkFolder::create());
  folder.emplace(std::move(made));
  runtime.devices = {device};
  runtime.workers = flags.threads;
  Ref<vm::Module> compiled;
  int64_t compileNanoseconds = 0;
  if (model.ends_with(".vmfb")) {
    runtime.modules = {model};
  } else {
    std::vector<std::string> arguments = targetFlags(device);
    arguments.insert(arguments.begin(), model);
    arguments.insert(arguments.end(), flags.compileFlags.begin(), flags.compileFlags.end());
    setStep(fmt::format("while compiling '{}'", model));
    const uint64_t began = monotonicNanoseconds();
    KILN_ASSIGN_OR_RETURN(compiled, compileModule(arguments, model));
    compileNanoseconds = int64_t(monotonicNanoseconds() - began);
  }
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<KilnEngine> kiln, KilnEngine::create(runtime, std::move(compiled)));
  kiln->facts.compileNanoseconds = compileNanoseconds;
  kiln->facts.threads = threads;
  isDynamic = describeFunction(kiln->function()).find('?') != std::string::npos;
  const EngineFacts facts = kiln->facts;
  entries.push_back({"kiln", "", std::move(kiln), facts});
  return okStatus();
}

Status ModelComparison::openRivals(bool otherLengths) {
  KILN_ASSIGN_OR_RETURN(std::vector<std::string> rivals, rivalsOf(flags.against));
  const auto cores = static_cast<uint32_t>(task::Topology::host().cores.size());
  for (const std::string &name : rivals) {
    setStep(fmt::format("while {} loads the model", name));
    if (isInterrupted())
      return cancelled("interrupted");
    tell(fmt::format("{} loads the model", name));
    RivalEngine::Options options;
    options.name = name;
    options.python = peersFolder(flags.peersDir) + "/bin/python3";
    options.script = ownFolder() + "compat/kiln_model_worker.py";
    options.model = std::filesystem::absolute(model).string();
    options.inputs = inputs;
    options.otherLengths = otherLengths;
    options.function = flags.runtime.function;
    options.device = device.starts_with("cuda") ? "cuda" : "cpu";
    options.timeoutSeconds = flags.answerSeconds;
    // A number that the user gave is not changed; a GPU's calls come from one thread.
    std::vector<RivalSetting> settings = settingsOf(name, threads, flags.threads ? threads : cores);
    if (options.device == "cuda")
      settings = {{"", threads}};
    Entry entry{name, "", nullptr, {}};
    if (std::optional<std::unique_ptr<RivalEngine>> rival =
            taken(entry, RivalEngine::createBest(options, settings, flags.contestSeconds))) {
      entry.facts = (*rival)->facts;
      entry.engine = *std::move(rival);
      entry.engine->pause();
    }
    if (isInterrupted())
      return cancelled("interrupted");
    entries.push_back(std::move(entry));
  }
  tell("");
  return okStatus();
}

Status ModelComparison::bindRivals() {
  for (size_t i = 1; i < entries.size(); ++i) {
    Entry &entry = entries[i];
    if (!entry.engine)
      continue;
    if (Status status = entry.engine->bind(inputs); !status.ok()) {
      entry.failure = std::string(status.message());
      entry.engine = nullptr;
      continue;
    }
    entry.engine->pause();
  }
  return okStatus();
}

ModelMeasurement ModelComparison::described(uint64_t length) const {
  ModelMeasurement measured;
  measured.model = std::filesystem::path(model).filename().string();
  measured.device = device;
  measured.threads = threads;
  measured.batch = flags.batch;
  measured.tolerance = flags.tolerance;
  measured.isDynamic = isDynamic;
  measured.length = length;
  measured.started = store::unixNanoseconds();
  for (const ModelInput &input : inputs) {
    measured.inputs += (measured.inputs.empty() ? "" : ", ") + input.typeText;
    const std::string type(hal::elementTypeName(input.type));
    if (measured.types.find(type) == std::string::npos)
      measured.types += (measured.types.empty() ? "" : "+") + type;
  }
  CallItems items;
  if (flags.items == "auto")
    items = itemsOf(inputs);
  else if (flags.items != "none")
    items = {std::strtoull(flags.items.c_str(), nullptr, 10), "items", ""};
  measured.items = items.count;
  measured.itemName = items.count > 0 && !flags.itemName.empty() ? flags.itemName : items.name;
  measured.itemsBecause = items.because;
  for (const Entry &entry : entries) {
    EngineMeasurement engine;
    engine.engine = entry.name;
    engine.version = entry.facts.version;
    engine.setting = entry.facts.setting;
    engine.threads = entry.engine ? entry.facts.threads : threads;
    engine.loadNanoseconds = entry.facts.loadNanoseconds;
    engine.compileNanoseconds = entry.facts.compileNanoseconds;
    measured.engines.push_back(std::move(engine));
  }
  measured.engines.front().flags = fmt::format("{}", fmt::join(flags.compileFlags, " "));
  return measured;
}

template <typename Value> std::optional<Value> ModelComparison::taken(Entry &entry, Result<Value> result) {
  if (result.ok())
    return *std::move(result);
  entry.failure = std::string(result.status().message());
  entry.engine = nullptr;
  return std::nullopt;
}

Status ModelComparison::compareOutputs(ModelMeasurement &measured) {
  std::vector<std::vector<std::string>> outputs(entries.size());
  std::optional<size_t> reference;
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry &entry = entries[i];
    if (!entry.engine)
      continue;
    setStep(fmt::format("while {} computes the outputs", entry.name));
    Result<std::vector<std::string>> called = entry.engine->call(folder->name());
    if (i == 0)
      KILN_RETURN_IF_ERROR(called.status());
    if (std::optional<std::vector<std::string>> files = taken(entry, std::move(called)))
      outputs[i] = *std::move(files);
    if (entry.engine)
      entry.engine->pause();
    if (i != 0 && entry.engine && !reference) {
      reference = i;
      measured.reference = entry.name;
    }
  }
  for (size_t i = 0; reference && i < entries.size(); ++i)
    if (entries[i].engine && i != *reference) {
      KILN_ASSIGN_OR_RETURN(measured.engines[i].difference, differenceOfFiles(outputs[*reference], outputs[i]));
    }
  return okStatus();
}

Status ModelComparison::measureRounds(ModelMeasurement &measured) {
  Random random(flags.seed);
  std::vector<size_t> order(entries.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  // The first turn of each warms up.
  for (uint32_t round = 0; round <= flags.rounds; ++round) {
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(i)]);
    for (size_t i : order) {
      if (isInterrupted())
        return cancelled("interrupted");
      Entry &entry = entries[i];
      if (!entry.engine)
        continue;
      setStep(fmt::format("while measuring {}, round {} of {}", entry.name, round, flags.rounds));
      tell(fmt::format("round {} of {}: {}", round, flags.rounds, entry.name));
      ModelRound turn{round, store::unixNanoseconds(), machineLoad(), {}};
      Result<std::vector<int64_t>> timed = entry.engine->time(round == 0 ? flags.seconds / 4 : flags.seconds);
      if (i == 0)
        KILN_RETURN_IF_ERROR(timed.status());
      std::optional<std::vector<int64_t>> times = taken(entry, std::move(timed));
      if (entry.engine)
        entry.engine->pause();
      if (!times || round == 0)
        continue;
      turn.calls = *std::move(times);
      measured.engines[i].rounds.push_back(std::move(turn));
    }
  }
  tell("");
  return okStatus();
}

// A runtime that does not tell its memory has been measured all the same.
void ModelComparison::measureMemory(ModelMeasurement &measured) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].engine)
      continue;
    if (Result<PeakMemory> peak = entries[i].engine->peakMemory(); peak.ok()) {
      measured.engines[i].peakBytes = peak->host;
      measured.engines[i].devicePeakBytes = peak->device;
    }
    entries[i].engine->pause();
  }
}

Status ModelComparison::timeDispatches(ModelMeasurement &measured) {
  setStep("while timing dispatches");
  tell("kiln, by dispatch");
  KILN_ASSIGN_OR_RETURN(measured.dispatches,
                        static_cast<KilnEngine &>(*entries.front().engine).timeDispatches(flags.seconds));
  tell("");
  if (Result<measure::Calibration> machine = readRoof(); machine.ok())
    addRoof(*measured.dispatches, *machine, device.starts_with("cuda") ? 1 : threads);
  return okStatus();
}

// What was measured of the device once, if it was.
Result<measure::Calibration> ModelComparison::readRoof() const {
  if (!device.starts_with("cuda"))
    return readCalibrationFile(calibrationPath(nullptr));
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  KILN_ASSIGN_OR_RETURN(const measure::CalibratedDevice described, measure::describeDevice(registry, device));
  return readCalibrationFile(calibrationPath(&described));
}

} // namespace kiln
