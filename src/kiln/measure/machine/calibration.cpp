#include "kiln/measure/machine/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <map>

#include "kiln/base/clock.h"
#include "kiln/measure/machine/bandwidth.h"
#include "kiln/measure/machine/peak.h"
#include "kiln/measure/machine/team.h"

namespace kiln::measure {

Speed Speed::of(std::vector<double> speeds) {
  if (speeds.empty())
    return {};
  std::ranges::sort(speeds);
  return {speeds.back(), speeds[speeds.size() / 2], static_cast<unsigned>(speeds.size())};
}

std::string Calibration::timeNow() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

namespace {

// One measurement: work for some threads, and how much of it a window holds.
struct Task {
  unsigned threads;
  double amount;                                // of one unit of work on all threads: operations or bytes
  uint64_t units = 1;                           // of a window
  std::function<void(unsigned, uint64_t)> work; // of a thread, so many units
  std::vector<double> speeds;
};

uint64_t runUnits(Team &team, const Task &task) {
  return std::max<uint64_t>(1, team.run(task.threads, [&](unsigned thread) { task.work(thread, task.units); }));
}

// How many units take about as long as a window.
void fitWindow(Team &team, Task &task, double seconds) {
  double wanted = seconds * 1e9;
  for (task.units = 1; task.units < (uint64_t(1) << 40);) {
    // A run that was interrupted would make windows too short.
    auto took = static_cast<double>(std::min({runUnits(team, task), runUnits(team, task), runUnits(team, task)}));
    if (took >= wanted * 0.7)
      return;
    // In steps of at most 16: what short runs take says little.
    double factor = std::clamp(wanted / took, 1.5, 16.0);
    task.units = static_cast<uint64_t>(std::ceil(static_cast<double>(task.units) * factor));
  }
}

void measureOnce(Team &team, Task &task) {
  task.speeds.push_back(task.amount * static_cast<double>(task.units) /
                        (static_cast<double>(runUnits(team, task)) * 1e-9));
}

// Whether the best has been seen: several windows came as near to it as those of a quiet machine do.
bool isSettled(const Task &task) {
  constexpr size_t several = 3;
  constexpr double near = 0.985;
  if (task.speeds.size() < several)
    return false;
  std::vector<double> speeds = task.speeds;
  std::ranges::nth_element(speeds, speeds.begin() + several - 1, std::greater());
  return speeds[several - 1] >= near * std::ranges::max(speeds);
}

std::vector<unsigned> threadCounts(const CalibrationOptions &options, unsigned available) {
  std::vector<unsigned> counts = options.threads;
  if (counts.empty()) {
    for (unsigned count = 1; count < available; count *= 2)
      counts.push_back(count);
    counts.push_back(available);
  }
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

// All measurements of a calibration, and where their results go.
class Session {
public:
  Session(const Provenance &machine, std::vector<unsigned> counts)
      : machine(machine), counts(std::move(counts)), kernels(peakKernels(machine.features)),
        team(std::span(machine.allowedCpus).first(this->counts.back())) {}

  void addArithmetic(Calibration &result) {
    for (const PeakKernel &kernel : kernels)
      for (unsigned threads : counts) {
        result.arithmetic.push_back({kernel.type, kernel.instructions, threads, {}});
        tasks.push_back({.threads = threads,
                         .amount = kernel.operations * threads * kRounds,
                         .work = [&kernel](unsigned, uint64_t units) { kernel.run(units * kRounds); },
                         .speeds = {}});
      }
  }

  Status addBandwidth(Calibration &result) {
    KILN_RETURN_IF_ERROR(allocate());
    for (unsigned threads : counts)
      for (const MemoryLevel &level : memoryLevels(machine, threads))
        for (Transfer transfer : kTransfers) {
          uint64_t bytes = level.bytesPerThread;
          result.bandwidth.push_back({level.name, transferName(transfer), threads, bytes, {}});
          tasks.push_back({.threads = threads,
                           .amount = static_cast<double>(transferBytes(transfer, bytes)) * threads,
                           .work =
                               [this, transfer, bytes](unsigned thread, uint64_t units) {
                                 runTransfer(transfer, buffers[thread].bytes().first(bytes), units, machine.features);
                               },
                           .speeds = {}});
        }
    return okStatus();
  }

  void measure(const CalibrationOptions &options) {
    uint64_t begin = monotonicNanoseconds();
    auto elapsed = [&] { return static_cast<double>(monotonicNanoseconds() - begin) * 1e-9; };
    for (Task &task : tasks)
      fitWindow(team, task, options.windowSeconds);
    for (unsigned repetition = 0; repetition < options.repetitions; ++repetition) {
      if (repetition >= 3 && elapsed() > options.secondsLimit)
        return;
      if (options.progress)
        options.progress(static_cast<double>(repetition) / options.repetitions);
      for (Task &task : tasks)
        measureOnce(team, task);
      if (options.isOver && options.isOver())
        return;
    }
    // On a machine with neighbours some need longer until they have been alone.
    for (bool settled = false; !settled && elapsed() < options.secondsLimit;) {
      if (options.isOver && options.isOver())
        return;
      settled = true;
      for (Task &task : tasks)
        if (!isSettled(task)) {
          settled = false;
          measureOnce(team, task);
        }
    }
  }

  void finish(Calibration &result) {
    for (size_t i = 0; i < tasks.size(); ++i) {
      Speed speed = Speed::of(std::move(tasks[i].speeds));
      if (i < result.arithmetic.size())
        result.arithmetic[i].operations = speed;
      else
        result.bandwidth[i - result.arithmetic.size()].bytes = speed;
    }
  }

private:
  static constexpr uint64_t kRounds = 64;

  // Each thread's memory, as much as it needs with any number of threads, first touched by that thread.
  Status allocate() {
    std::vector<uint64_t> sizes(counts.back());
    for (unsigned threads : counts)
      for (const MemoryLevel &level : memoryLevels(machine, threads))
        for (unsigned thread = 0; thread < threads; ++thread)
          sizes[thread] = std::max(sizes[thread], level.bytesPerThread);
    for (uint64_t size : sizes) {
      KILN_ASSIGN_OR_RETURN(TransferBuffer buffer, TransferBuffer::create(size));
      buffers.push_back(std::move(buffer));
    }
    team.run(counts.back(), [&](unsigned thread) {
      std::span<std::byte> bytes = buffers[thread].bytes();
      std::memset(bytes.data(), 0, bytes.size());
    });
    return okStatus();
  }

  const Provenance &machine;
  std::vector<unsigned> counts;
  std::vector<PeakKernel> kernels;
  std::vector<Task> tasks; // arithmetic first, in the order of the results
  std::vector<TransferBuffer> buffers;
  Team team;
};

} // namespace

Result<Calibration> Calibration::run(const CalibrationOptions &options) {
  uint64_t begin = monotonicNanoseconds();
  Calibration result;
  result.time = timeNow();
  result.machine = Provenance::detect();
  auto available = static_cast<unsigned>(result.machine.allowedCpus.size());
  std::vector<unsigned> counts = threadCounts(options, available);
  if (counts.front() < 1 || counts.back() > available)
    return invalidArgument("this process may use {} CPUs; ask for 1 to {} threads", available, available);
  if (options.repetitions < 1 || !(options.windowSeconds > 0) || options.windowSeconds > 10)
    return invalidArgument("a calibration needs at least one repetition, of windows above 0 and up to 10 seconds");
  Session session(result.machine, counts);
  session.addArithmetic(result);
  KILN_RETURN_IF_ERROR(session.addBandwidth(result));
  session.measure(options);
  session.finish(result);
  result.seconds = static_cast<double>(monotonicNanoseconds() - begin) * 1e-9;
  return result;
}

//===--- Questions ------------------------------------------------------------------------------------------------===//

// Between and beyond measured numbers of threads, in proportion; never beyond the largest.
static std::optional<double> speedAt(const std::map<unsigned, double> &speeds, unsigned threads) {
  if (speeds.empty())
    return std::nullopt;
  auto above = speeds.lower_bound(threads);
  if (above == speeds.end())
    return speeds.rbegin()->second;
  if (above->first == threads)
    return above->second;
  if (above == speeds.begin())
    return above->second * threads / above->first;
  auto below = std::prev(above);
  double part = static_cast<double>(threads - below->first) / (above->first - below->first);
  return below->second + part * (above->second - below->second);
}

// Each is kept with its own windows, whose spread belongs to its best.
void Calibration::takeBest(const Calibration &other) {
  auto take = [](auto &rates, const auto &others, auto isSame, auto speed) {
    for (const auto &rate : others) {
      auto found = std::ranges::find_if(rates, [&](const auto &own) { return isSame(own, rate); });
      if (found == rates.end())
        rates.push_back(rate);
      else if (speed(rate).best > speed(*found).best)
        *found = rate;
    }
  };
  take(
      arithmetic, other.arithmetic,
      [](const auto &a, const auto &b) {
        return a.type == b.type && a.instructions == b.instructions && a.threads == b.threads;
      },
      [](const auto &rate) { return rate.operations; });
  take(
      bandwidth, other.bandwidth,
      [](const auto &a, const auto &b) {
        return a.level == b.level && a.transfer == b.transfer && a.threads == b.threads;
      },
      [](const auto &rate) { return rate.bytes; });
  for (const LaunchCost &cost : other.launches) {
    auto found = std::ranges::find(launches, cost.how, &LaunchCost::how);
    if (found == launches.end())
      launches.push_back(cost);
    else if (cost.bestNanoseconds < found->bestNanoseconds)
      *found = cost;
  }
}

std::optional<double> Calibration::peakOperations(std::string_view type, unsigned threads) const {
  std::map<unsigned, double> speeds;
  bool narrow = type == "f16" || type == "bf16";
  for (const ArithmeticRate &rate : arithmetic)
    if (rate.type == type || (narrow && rate.type == "f32"))
      speeds[rate.threads] = std::max(speeds[rate.threads], rate.operations.best);
  return speedAt(speeds, threads);
}

std::optional<double> Calibration::peakBytes(std::string_view level, unsigned threads) const {
  std::map<unsigned, double> speeds;
  for (const Bandwidth &entry : bandwidth)
    if (entry.level == level)
      speeds[entry.threads] = std::max(speeds[entry.threads], entry.bytes.best);
  return speedAt(speeds, threads);
}

} // namespace kiln::measure
