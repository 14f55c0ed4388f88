#include "kiln/measure/machine/call_counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace kiln::measure {

namespace {

enum class Kind { Cycles, Instructions, CacheMisses, Flops };

class Counter {
public:
  // Inherited by threads that are started from now on; reading sums over them.
  static std::optional<Counter> open(Kind kind, uint32_t type, uint64_t config, uint64_t weight = 1) {
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    attr.type = type;
    attr.config = config;
    attr.disabled = 1;
    attr.inherit = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    long file = ::syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (file < 0)
      return std::nullopt;
    return Counter(static_cast<int>(file), kind, weight);
  }
  Counter(Counter &&other) noexcept
      : kind(other.kind), weight(other.weight), file(std::exchange(other.file, -1)), before(other.before) {}
  Counter &operator=(Counter &&) = delete;
  ~Counter() {
    if (file >= 0)
      ::close(file);
  }

  // Resetting a counter leaves what threads have inherited from it: readings are told apart instead.
  void start() {
    before = read();
    ::ioctl(file, PERF_EVENT_IOC_ENABLE, 0);
  }
  std::optional<uint64_t> stop() {
    ::ioctl(file, PERF_EVENT_IOC_DISABLE, 0);
    std::optional<uint64_t> count = countBetween(before, read());
    return count ? std::optional(*count * weight) : std::nullopt;
  }

  Kind kind;

private:
  Counter(int file, Kind kind, uint64_t weight) : kind(kind), weight(weight), file(file) {}

  CounterReading read() const {
    uint64_t numbers[3] = {}; // in the order of the flags of read_format
    bool whole = ::read(file, numbers, sizeof(numbers)) == static_cast<ssize_t>(sizeof(numbers));
    return whole ? CounterReading{numbers[0], numbers[1], numbers[2]} : CounterReading();
  }

  uint64_t weight;
  int file;
  CounterReading before;
};

class PerfCounters final : public CallCounters {
public:
  explicit PerfCounters(const SystemFiles &files) {
    add(Kind::Cycles, PERF_COUNT_HW_CPU_CYCLES);
    add(Kind::Instructions, PERF_COUNT_HW_INSTRUCTIONS);
    add(Kind::CacheMisses, PERF_COUNT_HW_CACHE_MISSES);
    // A raw event means something only where there are counters at all.
    if (Result<std::string> cpuinfo = files.read("/proc/cpuinfo"); cpuinfo.ok() && any())
      addFlops(flopEvents(*cpuinfo));
  }

  bool any() const { return !counters.empty(); }

  void start() override {
    for (Counter &counter : counters)
      counter.start();
  }

  CallCounts stop() override {
    CallCounts counts;
    std::optional<uint64_t> *fields[] = {&counts.cycles, &counts.instructions, &counts.cacheMisses, &counts.flops};
    bool flopsWhole = true;
    for (Counter &counter : counters) {
      std::optional<uint64_t> count = counter.stop();
      std::optional<uint64_t> &field = *fields[static_cast<size_t>(counter.kind)];
      if (count)
        field = field.value_or(0) + *count;
      else if (counter.kind == Kind::Flops)
        flopsWhole = false;
    }
    // A sum that lacks a part is no sum.
    if (!flopsWhole)
      counts.flops.reset();
    return counts;
  }

private:
  void add(Kind kind, uint64_t config) {
    if (std::optional<Counter> counter = Counter::open(kind, PERF_TYPE_HARDWARE, config))
      counters.push_back(*std::move(counter));
  }

  void addFlops(const std::vector<FlopEvent> &events) {
    std::vector<Counter> opened;
    for (const FlopEvent &event : events)
      if (std::optional<Counter> counter = Counter::open(Kind::Flops, PERF_TYPE_RAW, event.config, event.weight))
        opened.push_back(*std::move(counter));
    if (opened.size() == events.size())
      for (Counter &counter : opened)
        counters.push_back(std::move(counter));
  }

  std::vector<Counter> counters;
};

} // namespace

std::optional<uint64_t> countBetween(const CounterReading &before, const CounterReading &after) {
  if (after.running <= before.running || after.enabled < before.enabled || after.value < before.value)
    return std::nullopt;
  uint64_t value = after.value - before.value, enabled = after.enabled - before.enabled,
           running = after.running - before.running;
  if (running >= enabled)
    return value;
  return static_cast<uint64_t>(static_cast<double>(value) * static_cast<double>(enabled) /
                               static_cast<double>(running));
}

// The codes are those that libpfm4 gives for RETIRED_SSE_AVX_FLOPS, which counts operations, and for
// FP_ARITH_INST_RETIRED, which counts instructions by the number of their elements, a multiply-add twice.
std::vector<FlopEvent> flopEvents(std::string_view cpuinfo) {
  std::string vendor = findField(cpuinfo, "vendor_id").value_or("");
  uint64_t family = parseUnsigned(findField(cpuinfo, "cpu family").value_or("")).value_or(0);
  uint64_t model = parseUnsigned(findField(cpuinfo, "model").value_or("")).value_or(0);
  std::string flags = " " + findField(cpuinfo, "flags").value_or("") + " ";
  // From Zen 2 on; before it the event had other bits.
  if (vendor == "AuthenticAMD" && (family > 0x17 || (family == 0x17 && model >= 0x30)))
    return {{0x0f03, 1}};
  // Those with AVX-512 are known to have it, on all of their cores. Events of the same weight share a counter: scalars;
  // 2 doubles; 4 floats or doubles; 8; 16 floats.
  if (vendor == "GenuineIntel" && flags.find(" avx512f ") != std::string::npos)
    return {{0x03c7, 1}, {0x04c7, 2}, {0x18c7, 4}, {0x60c7, 8}, {0x80c7, 16}};
  return {};
}

std::unique_ptr<CallCounters> openCallCounters(const SystemFiles &files) {
  auto counters = std::make_unique<PerfCounters>(files);
  return counters->any() ? std::move(counters) : nullptr;
}

} // namespace kiln::measure
