// Latencies of the HAL: what a call costs beyond its kernels.
#include "kiln/base/clock.h"
#include "kiln/runtime/hal/conformance/test_executables.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/targets/drivers.h"

#include "benchmark/benchmark.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace kiln::hal::conformance {
namespace {

[[noreturn]] void stop(const Status &status) {
  std::fprintf(stderr, "%s\n", status.toString().c_str());
  std::exit(1);
}

void check(const Status &status) {
  if (!status.ok())
    stop(status);
}

template <typename T> T check(Result<T> result) {
  if (!result.ok())
    stop(result.status());
  return *std::move(result);
}

// A device with `workers` workers, and a command buffer that it replays.
struct Setup {
  Setup(const std::string &uri, uint32_t workers) {
    registerDrivers(registry);
    DeviceOptions options;
    options.allocator = AllocatorKind::Caching;
    options.task.workerCount = workers;
    options.executableFolder = testExecutableFolder(); // so that perf names the kernels
    device = check(registry.createDevice(uri, options));
    kernels = check(loadTestExecutable(*device, "kernels"));
    buffer = check(device->allocator().allocate(BufferUsage::Result, 4096));
  }

  // `waves` times, with barriers in between: `dispatches` dispatches of `workgroups` workgroups each.
  void record(uint32_t waves, uint32_t dispatches, uint64_t workgroups) {
    commands = check(device->createCommandBuffer(CommandBufferMode::Replay, 2));
    for (uint32_t i = 0; i < waves; ++i) {
      for (uint32_t j = 0; j < dispatches; ++j) {
        uint64_t constants[] = {1, 1, 0};
        SlotRange bindings[] = {{0, 0, 64}, {1, 0, 64}};
        Dispatch dispatch;
        dispatch.executable = kernels.get();
        dispatch.exportOrdinal = ScaleAdd;
        dispatch.workgroupCount[0] = workgroups;
        dispatch.constants = constants;
        dispatch.bindings = bindings;
        check(commands->dispatch(dispatch));
      }
      check(commands->barrier());
    }
    check(commands->finalize());
  }

  void runOnce() {
    Binding bindings[] = {{buffer.get(), 0, 2048}, {buffer.get(), 2048, 2048}};
    Ref<Fence> fence = check(device->execute(nullptr, commands.get(), bindings));
    check(fence->wait());
  }

  DriverRegistry registry;
  Ref<Device> device;
  Ref<Executable> kernels;
  Ref<Buffer> buffer;
  Ref<CommandBuffer> commands;
};

// Submit and await one execution.
void roundTrip(benchmark::State &state, const std::string &uri, uint32_t workers, uint32_t waves, uint32_t dispatches,
               uint64_t workgroups) {
  Setup setup(uri, workers);
  setup.record(waves, dispatches, workgroups);
  for (auto _ : state)
    setup.runOnce();
}

// The same after a pause that is long enough for the workers to have gone to sleep.
void coldRoundTrip(benchmark::State &state, const std::string &uri, uint32_t workers) {
  Setup setup(uri, workers);
  setup.record(1, 1, 1);
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    uint64_t start = monotonicNanoseconds();
    setup.runOnce();
    state.SetIterationTime(double(monotonicNanoseconds() - start) * 1e-9);
  }
}

// A buffer from the allocator and back.
void allocate(benchmark::State &state, const std::string &uri, uint64_t length) {
  Setup setup(uri, 1);
  for (auto _ : state)
    benchmark::DoNotOptimize(check(setup.device->allocator().allocate(BufferUsage::Transient, length)));
}

// As what a program with dynamic shapes does: record, run once, throw away.
void recordAndRun(benchmark::State &state, const std::string &uri, uint32_t workers) {
  Setup setup(uri, workers);
  for (auto _ : state) {
    setup.record(1, 1, 1);
    setup.runOnce();
  }
}

void registerAll() {
  struct Row {
    const char *uri;
    uint32_t workers;
  };
  for (Row row : {Row{"local-sync", 1}, Row{"local-task", 1}, Row{"local-task", 2}}) {
    std::string uri = row.uri;
    uint32_t workers = row.workers;
    auto add = [&](const char *what, auto function, auto... arguments) {
      std::string name = fmt::format("{}/{}/workers:{}", what, uri, workers);
      return benchmark::RegisterBenchmark(name.c_str(), function, uri, workers, arguments...)->UseRealTime();
    };
    add("round_trip/one_dispatch", roundTrip, 1u, 1u, uint64_t(1));
    add("round_trip/64_workgroups", roundTrip, 1u, 1u, uint64_t(64));
    add("round_trip/two_dispatches", roundTrip, 1u, 2u, uint64_t(1));
    add("round_trip/ten_waves", roundTrip, 10u, 1u, uint64_t(1));
    add("round_trip/hundred_waves_of_64", roundTrip, 100u, 1u, uint64_t(64));
    add("record_and_run", recordAndRun);
    benchmark::RegisterBenchmark(fmt::format("cold_round_trip/{}/workers:{}", uri, workers).c_str(), coldRoundTrip, uri,
                                 workers)
        ->UseManualTime()
        ->Iterations(500); // most of the time is sleep, which does not count
  }
  for (uint64_t length : {uint64_t(64), uint64_t(65536), uint64_t(16) << 20})
    benchmark::RegisterBenchmark(fmt::format("allocate/{}", length).c_str(), allocate, std::string("local-sync"),
                                 length);
}

} // namespace
} // namespace kiln::hal::conformance

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  kiln::hal::conformance::registerAll();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
