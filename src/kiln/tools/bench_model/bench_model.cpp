// kiln-bench-model: times a model on Kiln and on other runtimes, by turns, and compares what they compute.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>
#include <thread>

#include "fmt/format.h"
#include "kiln/base/clock.h"
#include "kiln/base/file.h"
#include "kiln/base/random.h"
#include "kiln/measure/device/device_calibration.h"
#include "kiln/measure/statistics/robust.h"
#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/io/input.h"
#include "kiln/targets/drivers.h"
#include "kiln/tools/bench_model/model_engine.h"
#include "kiln/tools/bench_model/model_inputs.h"
#include "kiln/tools/bench_model/model_report.h"
#include "kiln/tools/calibration_file.h"
#include "kiln/tools/compile_process.h"
#include "kiln/tools/declaration.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/peers_flag.h"
#include "kiln/tools/printing.h"
#include "kiln/tools/sibling.h"

using namespace kiln;

namespace {

struct BenchModelFlags {
  RuntimeFlags runtime;
  std::vector<std::string> models, compileFlags;
  std::string against = "none", peersDir, format = "table", output;
  uint32_t threads = 0, rounds = 9;
  double seconds = 0.5, tolerance = 1e-3, tokens = 0, answerSeconds = 600;
  bool perDispatch = false;
  uint64_t seed = 1, largest = 99, batch = 1;

  void add(FlagParser &parser) {
    parser.addPositional({"MODEL", "FILE", "An ONNX file, a program in MLIR, or a compiled module (.vmfb)."}, models);
    parser.group("Inputs");
    parser.add(
        {"input", "[SHAPExTYPE][=VALUE]",
         "One for each input, as kiln-run-module takes it. Without a value it is random; without the flag it has "
         "the shape that the model says."},
        runtime.inputs);
    parser.add({"function", "NAME", "The function to call; not needed where there is one."}, runtime.function);
    parser.add({"seed", "N", "Of random inputs."}, seed);
    parser.add({"largest_integer", "N", "Random integers are 0 to N."}, largest);
    parser.add({"parameters", "[SCOPE=]FILE", "Files of parameters that Kiln's module needs."}, runtime.parameters);
    parser.group("Against");
    parser.add({"against", "NAME,...",
                "Runtimes to compare with: onnxruntime, openvino, torch, torch-compile and iree. The model is the same "
                "file, but for torch: model.pt2 beside model.onnx, which torch.export.save writes."},
               against);
    addPeersFlag(parser, peersDir);
    parser.add({"tolerance", "SHARE",
                "How far outputs may be from the first runtime's, as a share of the largest of them; where they are "
                "further, the exit code is 1."},
               tolerance);
    parser.add({"answer_seconds", "S", "How long another runtime may take to load or to answer."}, answerSeconds);
    parser.group("Measurement");
    parser.add({"threads", "N", "Of each runtime; 0 is one for each core."}, threads);
    parser.add({"rounds", "N", "Each runtime is measured once in a round, in random order, while the others stand."},
               rounds);
    parser.add({"seconds", "S", "Of calls in a round; at least three."}, seconds);
    parser.group("Report");
    parser.addChoice({"format", "table|csv|json", "csv has the columns of SHARK's runner, and more; json is lines."},
                     format);
    parser.add(
        {"output", "FILE", "Where it goes, while the table is printed; rows are appended to a CSV file that there is."},
        output);
    parser.add({"tokens", "N", "How many tokens a call stands for: tokens per second are told too."}, tokens);
    parser.add({"per-dispatch", "",
                "Also tell where Kiln's own time goes: of each kernel how often it is launched, what it takes, and the "
                "nodes of the model that it computes. Not in CSV."},
               perDispatch);
    parser.add({"batch", "N", "What a row calls its batch size."}, batch);
    parser.group("Kiln");
    parser.add({"compile_flag", "FLAG", "For kiln-compile, beside the target of the device."}, compileFlags);
    runtime.addDeviceFlags(parser);
    parser.example("kiln bench-model resnet50.onnx --against=onnxruntime,iree --threads=2");
    parser.example("kiln bench-model bert.onnx --input=1x128xi64 --input=1x128xi64=1 --tokens=128");
  }
};

// A folder that goes with its content.
class WorkFolder {
public:
  static Result<WorkFolder> create() {
    std::string path = (std::filesystem::temp_directory_path() / "kiln-bench-model-XXXXXX").string();
    if (!::mkdtemp(path.data()))
      return errnoStatus(errno, fmt::format("cannot make a folder '{}'", path));
    return WorkFolder(path);
  }
  WorkFolder(WorkFolder &&other) noexcept : path(std::exchange(other.path, {})) {}
  WorkFolder &operator=(WorkFolder &&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path.empty())
      std::filesystem::remove_all(path, ignored);
  }
  const std::string &name() const { return path; }

private:
  explicit WorkFolder(std::string path) : path(std::move(path)) {}
  std::string path;
};

Result<std::vector<std::string>> rivalsOf(const std::string &list) {
  std::vector<std::string> rivals;
  const std::vector<std::string> known = knownRivals();
  for (size_t at = 0; at <= list.size() && list != "none";) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, end - at);
    if (std::ranges::find(known, name) == known.end())
      return invalidArgument("--against={}: '{}' is no runtime that is known; there are {}", list, name,
                             fmt::join(known, ", "));
    if (std::ranges::find(rivals, name) == rivals.end())
      rivals.push_back(name);
    at = end + 1;
  }
  return rivals;
}

// What kiln-compile is told of the device.
std::vector<std::string> targetFlags(const std::string &device) {
  if (device.starts_with("cuda-sim"))
    return {"--kiln-hal-target-backends=cuda"};
  if (device.starts_with("cuda"))
    return {"--kiln-hal-target-backends=cuda", "--kiln-cuda-target=native"};
  return {"--kiln-hal-target-backends=llvm-cpu", "--kiln-llvmcpu-target-cpu=host"};
}

// The largest difference of two outputs, as a share of the largest element of the first. NaN where they cannot be
// compared.
Result<double> differenceOf(const std::vector<std::string> &wanted, const std::vector<std::string> &found) {
  if (wanted.size() != found.size())
    return std::nan("");
  double worst = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    io::InputReader reader;
    std::vector<io::Input> read;
    KILN_RETURN_IF_ERROR(reader.read("@" + wanted[i], read));
    KILN_RETURN_IF_ERROR(reader.read("@" + found[i], read));
    const auto *a = std::get_if<io::HostTensor>(&read[0]), *b = std::get_if<io::HostTensor>(&read[1]);
    if (!a || !b || !std::ranges::equal(a->shape(), b->shape()) || a->type() != b->type())
      return std::nan("");
    double largest = 0, difference = 0; // of finite elements
    const size_t bytes = hal::elementTypeByteSize(a->type());
    for (uint64_t element = 0; element < a->elementCount(); ++element) {
      const double x = io::elementAsDouble(a->type(), a->bytes().data() + element * bytes);
      const double y = io::elementAsDouble(b->type(), b->bytes().data() + element * bytes);
      if (std::isnan(x) != std::isnan(y))
        return std::nan("");
      if (std::isfinite(x))
        largest = std::max(largest, std::abs(x));
      if (std::isnan(x) || x == y)
        continue;
      if (!std::isfinite(x) || !std::isfinite(y))
        return std::numeric_limits<double>::infinity();
      difference = std::max(difference, std::abs(x - y));
    }
    worst = std::max(worst, difference == 0 ? 0 : difference / largest);
  }
  return worst;
}

std::string now() {
  char text[32];
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::strftime(text, sizeof text, "%FT%TZ", &parts);
  return text;
}

// One model: who runs it, and what was measured.
class Comparison {
public:
  Comparison(const BenchModelFlags &flags, std::string model) : flags(flags), model(std::move(model)) {}

  // False where outputs differ.
  Result<bool> run(ModelReport &report) {
    KILN_ASSIGN_OR_RETURN(WorkFolder folder, WorkFolder::create());
    KILN_RETURN_IF_ERROR(open(folder.name()));
    describe(report);
    KILN_RETURN_IF_ERROR(compareOutputs(folder.name(), report));
    KILN_RETURN_IF_ERROR(measure());
    fill(report);
    if (flags.perDispatch)
      KILN_RETURN_IF_ERROR(timeDispatches(report));
    return std::ranges::none_of(report.rows, [&](const ModelRow &row) { return report.differs(row); });
  }

private:
  // An engine, or why there is none, with the milliseconds of its rounds.
  struct Entry {
    std::string name, failure;
    std::unique_ptr<ModelEngine> engine;
    std::vector<double> rounds, calls;
    std::optional<double> difference;
  };

  Status open(const std::string &folder) {
    RuntimeFlags runtime = flags.runtime;
    threads = flags.threads ? flags.threads : std::max(1u, std::thread::hardware_concurrency());
    if (!runtime.devices.empty() && runtime.devices.front() == "local-sync") {
      if (flags.threads > 1)
        return invalidArgument("--device=local-sync --threads={}: it has one thread; local-task has several",
                               flags.threads);
      threads = 1;
    }
    device = runtime.devices.empty() ? (threads == 1 ? "local-sync" : "local-task") : runtime.devices.front();
    runtime.devices = {device};
    runtime.workers = flags.threads;
    Ref<vm::Module> compiled;
    double compileSeconds = 0;
    if (model.ends_with(".vmfb")) {
      runtime.modules = {model};
    } else {
      std::vector<std::string> arguments = targetFlags(device);
      arguments.insert(arguments.begin(), model);
      arguments.insert(arguments.end(), flags.compileFlags.begin(), flags.compileFlags.end());
      setStep(fmt::format("while compiling '{}'", model));
      const uint64_t began = monotonicNanoseconds();
      KILN_ASSIGN_OR_RETURN(compiled, compileModule(arguments, model));
      compileSeconds = double(monotonicNanoseconds() - began) / 1e9;
    }
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<KilnEngine> kiln, KilnEngine::create(runtime, std::move(compiled)));
    kiln->facts.compileSeconds = compileSeconds;
    KILN_ASSIGN_OR_RETURN(inputs,
                          writeInputs(kiln->function(), flags.runtime.inputs, flags.seed, flags.largest, folder));
    KILN_RETURN_IF_ERROR(kiln->bind(inputs));
    isDynamic = describeFunction(kiln->function()).find('?') != std::string::npos;
    entries.push_back({"kiln", "", std::move(kiln), {}, {}, {}});
    return openRivals();
  }

  Status openRivals() {
    KILN_ASSIGN_OR_RETURN(std::vector<std::string> rivals, rivalsOf(flags.against));
    for (const std::string &name : rivals) {
      setStep(fmt::format("while {} loads the model", name));
      if (isInterrupted())
        return cancelled("interrupted");
      RivalEngine::Options options;
      options.name = name;
      options.python = peersFolder(flags.peersDir) + "/bin/python3";
      options.script = ownFolder() + "compat/kiln_model_worker.py";
      options.model = std::filesystem::absolute(model).string();
      options.inputs = inputs;
      options.device = device.starts_with("cuda") ? "cuda" : "cpu";
      options.threads = threads;
      options.timeoutSeconds = flags.answerSeconds;
      Entry entry{name, "", nullptr, {}, {}, {}};
      if (Result<std::unique_ptr<RivalEngine>> rival = RivalEngine::create(options); rival.ok()) {
        entry.engine = *std::move(rival);
        entry.engine->pause();
      } else {
        entry.failure = std::string(rival.status().message());
      }
      entries.push_back(std::move(entry));
    }
    return okStatus();
  }

  void describe(ModelReport &report) {
    report.model = std::filesystem::path(model).filename().string();
    report.device = device;
    report.threads = threads;
    report.rounds = flags.rounds;
    report.batch = flags.batch;
    report.tokens = flags.tokens;
    report.tolerance = flags.tolerance;
    report.time = now();
    report.isDynamic = isDynamic;
    for (const std::string &path : inputs) {
      io::InputReader reader;
      std::vector<io::Input> read;
      if (reader.read("@" + path, read).ok())
        if (const auto *tensor = std::get_if<io::HostTensor>(&read.front())) {
          report.inputs += (report.inputs.empty() ? "" : ", ") + tensor->typeText();
          const std::string type(hal::elementTypeName(tensor->type()));
          if (report.types.find(type) == std::string::npos)
            report.types += (report.types.empty() ? "" : "+") + type;
        }
    }
  }

  // An engine that fails once is out.
  template <typename Value> std::optional<Value> taken(Entry &entry, Result<Value> result) {
    if (result.ok())
      return *std::move(result);
    entry.failure = std::string(result.status().message());
    entry.engine = nullptr;
    return std::nullopt;
  }

  Status compareOutputs(const std::string &folder, ModelReport &report) {
    std::vector<std::vector<std::string>> outputs(entries.size());
    Entry *reference = nullptr;
    for (size_t i = 0; i < entries.size(); ++i) {
      Entry &entry = entries[i];
      if (!entry.engine)
        continue;
      setStep(fmt::format("while {} computes the outputs", entry.name));
      Result<std::vector<std::string>> called = entry.engine->call(folder);
      if (i == 0)
        KILN_RETURN_IF_ERROR(called.status());
      if (std::optional<std::vector<std::string>> files = taken(entry, std::move(called)))
        outputs[i] = *std::move(files);
      if (entry.engine)
        entry.engine->pause();
      if (i != 0 && entry.engine && !reference) {
        reference = &entry;
        report.reference = entry.name;
      }
    }
    for (size_t i = 0; reference && i < entries.size(); ++i)
      if (entries[i].engine && &entries[i] != reference) {
        KILN_ASSIGN_OR_RETURN(entries[i].difference, differenceOf(outputs[reference - entries.data()], outputs[i]));
      }
    return okStatus();
  }

  Status measure() {
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
        Result<std::vector<double>> timed = entry.engine->time(round == 0 ? flags.seconds / 4 : flags.seconds);
        if (i == 0)
          KILN_RETURN_IF_ERROR(timed.status());
        std::optional<std::vector<double>> times = taken(entry, std::move(timed));
        if (entry.engine)
          entry.engine->pause();
        if (!times || round == 0)
          continue;
        entry.rounds.push_back(measure::percentile(*times, 0.5));
        entry.calls.insert(entry.calls.end(), times->begin(), times->end());
      }
    }
    tell("");
    return okStatus();
  }

  Status timeDispatches(ModelReport &report) {
    setStep("while timing dispatches");
    tell("kiln, by dispatch");
    KILN_ASSIGN_OR_RETURN(report.dispatches,
                          static_cast<KilnEngine &>(*entries[0].engine).timeDispatches(flags.seconds));
    tell("");
    if (Result<measure::Calibration> machine = readRoof(); machine.ok())
      addRoof(*report.dispatches, *machine, device.starts_with("cuda") ? 1 : threads);
    return okStatus();
  }

  // What was measured of the device once, if it was.
  Result<measure::Calibration> readRoof() const {
    if (!device.starts_with("cuda"))
      return readCalibrationFile(calibrationPath(nullptr));
    hal::DriverRegistry registry;
    hal::registerDrivers(registry);
    KILN_ASSIGN_OR_RETURN(const measure::CalibratedDevice described, measure::describeDevice(registry, device));
    return readCalibrationFile(calibrationPath(&described));
  }

  // One line on a terminal that the next one replaces.
  static void tell(const std::string &text) {
    if (::isatty(STDERR_FILENO))
      fmt::print(stderr, "\r\x1b[K{}", text);
  }

  void fill(ModelReport &report) {
    measure::StudentTable table(0.05);
    for (Entry &entry : entries) {
      ModelRow row;
      row.engine = entry.name;
      row.failure = entry.failure;
      row.difference = entry.difference;
      if (entry.engine) {
        row.version = entry.engine->facts.version;
        row.loadSeconds = entry.engine->facts.loadSeconds;
        row.compileSeconds = entry.engine->facts.compileSeconds;
        row.peakBytes = entry.engine->peakBytes();
        const measure::Location location = measure::locate(entry.rounds);
        const measure::Interval interval = location.interval(table);
        row.milliseconds = location.value;
        row.low = interval.low;
        row.high = interval.high;
        row.calls = entry.calls.size();
        row.fastest = measure::percentile(entry.calls, 0.05);
        row.slowest = measure::percentile(entry.calls, 0.95);
        std::vector<double> ratios;
        for (size_t i = 0; i < std::min(entry.rounds.size(), entries[0].rounds.size()); ++i)
          ratios.push_back(entry.rounds[i] / entries[0].rounds[i]);
        const measure::Location ratio = measure::locate(ratios);
        row.ratio = ratio.value;
        row.ratioLow = ratio.interval(table).low;
        row.ratioHigh = ratio.interval(table).high;
      }
      report.rows.push_back(std::move(row));
    }
  }

  const BenchModelFlags &flags;
  std::string model, device;
  uint32_t threads = 1;
  bool isDynamic = false;
  std::vector<std::string> inputs;
  std::vector<Entry> entries;
};

Status write(const BenchModelFlags &flags, const ModelReport &report) {
  const bool exists = !flags.output.empty() && std::filesystem::exists(flags.output);
  const std::string text = flags.format == "csv"    ? report.csv(!exists)
                           : flags.format == "json" ? report.json()
                                                    : report.table();
  if (flags.output.empty()) {
    print(text);
    return okStatus();
  }
  KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(flags.output, OutputFile::Mode::Append));
  KILN_RETURN_IF_ERROR(file.write(text));
  KILN_RETURN_IF_ERROR(file.commit());
  print(report.table());
  return okStatus();
}

Result<bool> run(BenchModelFlags &flags) {
  KILN_ASSIGN_OR_RETURN(bool listed, flags.runtime.printLists());
  if (listed)
    return true;
  if (flags.models.empty())
    return invalidArgument("which model? kiln bench-model MODEL.onnx --against=onnxruntime");
  if (flags.models.size() > 1 && !flags.runtime.inputs.empty())
    return invalidArgument("--input is for one model, and {} are given", flags.models.size());
  if (flags.rounds < 3 || !(flags.seconds > 0))
    return invalidArgument("--rounds={} --seconds={}: three rounds and some time are needed for an interval",
                           flags.rounds, flags.seconds);
  if (flags.perDispatch && flags.format == "csv" && flags.output.empty())
    return invalidArgument("--per-dispatch is not in CSV; --output=FILE takes the rows, and the table is printed");
  KILN_RETURN_IF_ERROR(rivalsOf(flags.against).status());
  KILN_RETURN_IF_ERROR(flags.runtime.startTimeout());
  bool agree = true;
  for (size_t i = 0; i < flags.models.size(); ++i) {
    ModelReport report;
    KILN_ASSIGN_OR_RETURN(bool same, Comparison(flags, flags.models[i]).run(report));
    agree &= same;
    if (i != 0 && flags.format == "table" && flags.output.empty())
      print("\n");
    KILN_RETURN_IF_ERROR(write(flags, report));
  }
  return agree;
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-bench-model");
  catchInterrupts([] { reportInterrupted("kiln-bench-model"); });
  FlagParser parser("kiln-bench-model",
                    "Times a model on Kiln and on other runtimes. All get the same inputs, and what they compute is "
                    "compared first; then they are measured by turns, each while the others stand still. A runtime "
                    "that fails is a row that says why.");
  BenchModelFlags flags;
  flags.add(parser);
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  Result<bool> agree = run(flags);
  if (!agree.ok())
    return reportEnd(parser.tool(), agree.status());
  if (isInterrupted())
    return reportInterrupted(parser.tool());
  return finishOutput(parser.tool(), *agree ? 0 : 1);
}
