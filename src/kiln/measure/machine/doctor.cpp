#include "kiln/measure/machine/doctor.h"

#include <algorithm>
#include <unistd.h>

namespace kiln::measure {

// Beyond these something is worth a warning.
static constexpr double kTolerableNoise = 0.01;
static constexpr double kTolerableSteal = 0.005;
static constexpr double kTolerableNeighbours = 0.1; // CPUs
static constexpr double kTolerableClockLoss = 0.03;

const char *healthName(Health health) {
  switch (health) {
  case Health::Good: return "good";
  case Health::Warning: return "warning";
  case Health::Unavailable: return "not available";
  }
  return "?";
}

//===--- Looking --------------------------------------------------------------------------------------------------===//

static Fact turboOf(const SystemFiles &files) {
  Fact boost = files.boost();
  return boost.available() ? Fact::of(boost.value == "0" ? "off" : "on") : boost;
}

// "always [madvise] never" -> "madvise"
static Fact hugePagesOf(const SystemFiles &files) {
  Fact fact = files.fact("/sys/kernel/mm/transparent_hugepage/enabled");
  size_t open = fact.value.find('['), close = fact.value.find(']');
  if (fact.available() && open != std::string::npos && close != std::string::npos && open < close)
    return Fact::of(fact.value.substr(open + 1, close - open - 1));
  return fact;
}

// "150000 100000": what a control group lets its processes use.
static Fact quotaOf(const SystemFiles &files) {
  Fact fact = files.groupLimit("cpu.max");
  if (!fact.available() || fact.value == "max")
    return fact.available() ? Fact::of("none") : fact;
  std::vector<std::string_view> words = splitWords(fact.value);
  std::optional<uint64_t> used, period;
  if (words.size() == 2)
    used = parseUnsigned(words[0]), period = parseUnsigned(words[1]);
  if (!used || !period || *period == 0)
    return Fact::missing("the control group's cpu.max is malformed");
  return Fact::of(fmt::format("{:.2f} CPUs", static_cast<double>(*used) / static_cast<double>(*period)));
}

static Fact frequencyOf(const SystemFiles &files, unsigned cpu) {
  if (std::optional<double> megahertz = files.megahertz(cpu))
    return Fact::of(fmt::format("{:.2f} GHz", *megahertz * 1e-3));
  return Fact::missing(fmt::format("there is no /sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu));
}

Diagnosis Diagnosis::make(const DoctorOptions &options, const SystemFiles &files) {
  Diagnosis result;
  result.machine = Provenance::detect(files);
  auto cpus = static_cast<unsigned>(result.machine.allowedCpus.size());
  ActivitySnapshot before = ActivitySnapshot::take(files);
  double share = options.seconds / (cpus > 1 ? 2.2 : 1.2);
  result.noise.push_back(measureNoise(result.machine, 1, share, options.isOver));
  auto goesOn = [&] { return !(options.isOver && options.isOver()); };
  if (cpus > 1 && goesOn())
    result.noise.push_back(measureNoise(result.machine, cpus, share, options.isOver));
  if (ClockRate rate = measureClockRate(result.machine, goesOn() ? share * 0.2 : 0.01); rate.best > 0)
    result.clock = rate;
  result.currentFrequency = frequencyOf(files, result.machine.allowedCpus.front());
  ActivitySnapshot after = ActivitySnapshot::take(files);
  result.neighbours =
      watch(before, after, static_cast<unsigned>(::getpid()), static_cast<double>(::sysconf(_SC_CLK_TCK)));
  result.turbo = turboOf(files);
  result.smt = files.fact("/sys/devices/system/cpu/smt/active");
  result.hugePages = hugePagesOf(files);
  result.quota = quotaOf(files);
  result.counters = probeCounters(files);
  if (!options.peersFolder.empty())
    result.libraries = findLibraries(options.peersFolder);
  for (FoundLibrary &library : result.libraries)
    if (library.name == "OpenBLAS" && library.version.available() && !options.coreType.empty())
      library.version.value +=
          fmt::format("; OPENBLAS_CORETYPE={} is set, and workers do not see it", options.coreType);
  return result;
}

//===--- Judging --------------------------------------------------------------------------------------------------===//

double Diagnosis::noiseFloor() const {
  double floor = 0;
  for (const Noise &entry : noise)
    floor = std::max(floor, entry.floor);
  return floor;
}

Finding judgeNoise(const Noise &noise, std::string_view where) {
  bool loud = noise.floor > kTolerableNoise;
  return {"noise", loud ? Health::Warning : Health::Good,
          fmt::format("{}: the same kernel twice differs by up to {:.2f} %; runs lie within {:+.1f} and {:+.1f} %",
                      where, noise.floor * 100, (noise.p10 - 1) * 100, (noise.p90 - 1) * 100),
          loud ? "measure longer, or when the machine is quiet" : ""};
}

static void judgeNeighbours(const Neighbours &neighbours, std::vector<Finding> &findings) {
  if (neighbours.stolen) {
    bool loud = *neighbours.stolen > kTolerableSteal;
    findings.push_back(
        {"steal", loud ? Health::Warning : Health::Good,
         fmt::format("{:.2f} % of the CPU time went to other virtual machines", *neighbours.stolen * 100),
         loud ? "the host is shared; compare interleaved runs only" : ""});
  } else {
    findings.push_back({"steal", Health::Unavailable, "/proc/stat cannot be read", ""});
  }
  if (neighbours.busyCpus) {
    bool loud = *neighbours.busyCpus > kTolerableNeighbours;
    std::string who;
    for (const Neighbour &process : neighbours.processes)
      who += fmt::format("{}{} ({}) {:.2f}", who.empty() ? ": " : ", ", process.name, process.pid, process.cpus);
    findings.push_back({"neighbours", loud ? Health::Warning : Health::Good,
                        fmt::format("other processes kept {:.2f} CPUs busy{}", *neighbours.busyCpus, who),
                        loud ? "wait for them, or stop them" : ""});
  } else {
    findings.push_back({"neighbours", Health::Unavailable, "/proc/stat cannot be read", ""});
  }
  // The load counts this process too, and what it did within the last minute: no warning comes from it.
  findings.push_back(
      {"load", neighbours.load ? Health::Good : Health::Unavailable,
       neighbours.load ? fmt::format("{:.2f} over the last minute", *neighbours.load) : "/proc/loadavg cannot be read",
       ""});
}

static void judgeFrequency(const Diagnosis &diagnosis, std::vector<Finding> &findings) {
  if (diagnosis.clock) {
    const ClockRate &clock = *diagnosis.clock;
    bool unsteady = clock.median < clock.best * (1 - kTolerableClockLoss);
    findings.push_back(
        {"frequency", unsteady ? Health::Warning : Health::Good,
         fmt::format("{:.2f} GHz measured, {:.2f} GHz at best; the system says {}", clock.median * 1e-9,
                     clock.best * 1e-9,
                     diagnosis.currentFrequency.available() ? diagnosis.currentFrequency.value : "nothing"),
         unsteady ? "the clock changes, or the CPU is shared: compare interleaved runs only" : ""});
  } else {
    findings.push_back({"frequency", diagnosis.currentFrequency.available() ? Health::Good : Health::Unavailable,
                        diagnosis.currentFrequency.text(), ""});
  }
  const Fact &governor = diagnosis.machine.governor;
  bool slow = governor.available() && governor.value != "performance";
  findings.push_back({"governor",
                      !governor.available() ? Health::Unavailable
                      : slow                ? Health::Warning
                                            : Health::Good,
                      governor.text(), slow ? "`cpupower frequency-set -g performance` as root" : ""});
  findings.push_back(
      {"turbo", diagnosis.turbo.available() ? Health::Good : Health::Unavailable, diagnosis.turbo.text(), ""});
}

static Health plain(const Fact &fact) {
  return fact.available() ? Health::Good : Health::Unavailable;
}

std::vector<Finding> Diagnosis::findings() const {
  std::vector<Finding> all;
  for (const Noise &entry : noise)
    all.push_back(judgeNoise(entry, fmt::format("{} thread{}", entry.threads, entry.threads == 1 ? "" : "s")));
  judgeNeighbours(neighbours, all);
  judgeFrequency(*this, all);
  all.push_back({"smt", plain(smt),
                 !smt.available()   ? smt.text()
                 : smt.value == "1" ? "on; threads are put on different cores first"
                                    : "off",
                 ""});
  bool noHugePages = hugePages.available() && hugePages.value == "never";
  all.push_back({"huge pages", noHugePages ? Health::Warning : plain(hugePages), hugePages.text(),
                 noHugePages ? "large buffers miss in the TLB; `echo madvise` into "
                               "/sys/kernel/mm/transparent_hugepage/enabled as root"
                             : ""});
  bool limited = quota.available() && quota.value != "none";
  all.push_back({"quota", limited ? Health::Warning : plain(quota), quota.text(),
                 limited ? "a control group takes the CPU away when that is used up" : ""});
  for (const CounterProbe &counter : counters)
    all.push_back({counter.name, plain(counter.fact), counter.fact.text(), ""});
  for (const FoundLibrary &library : libraries)
    all.push_back({library.name, plain(library.version), library.version.text(), ""});
  return all;
}

bool areTrustworthy(const std::vector<Finding> &findings) {
  return std::ranges::none_of(findings, [](const Finding &finding) { return finding.health == Health::Warning; });
}

std::string summaryOf(std::string_view what, const std::vector<Finding> &findings, std::optional<double> noiseFloor) {
  auto warnings = std::ranges::count(findings, Health::Warning, &Finding::health);
  std::string floor = noiseFloor ? fmt::format("differences below {:.1f} % cannot be told in a short measurement",
                                               std::max(0.1, *noiseFloor * 100))
                                 : "how much runs differ was not measured";
  if (warnings == 0)
    return noiseFloor ? fmt::format("{} can be trusted: {}.", what, floor)
                      : fmt::format("There is no warning, but {}.", floor);
  return fmt::format("{} warning{}: {}.", warnings, warnings == 1 ? "" : "s", floor);
}

bool Diagnosis::trustworthy() const {
  return areTrustworthy(findings());
}

std::string Diagnosis::summary() const {
  return summaryOf("This machine", findings(), noiseFloor());
}

} // namespace kiln::measure
