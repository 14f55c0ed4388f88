// A library that takes the place of NVML in tests: a GPU at 00000000:19:00.0, at 700 W and 61 °C. Its clock is 1980
// MHz, and falls to 1755 MHz for a power limit at every second reading where the environment variable FAKE_NVML is
// `moving`; where it is `bare` the clock is all that it tells; where it is
// `averaged` it does not know the power of this moment. Where it is `troubled` everything is the matter with it that
// may be.
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {
bool is(const char *mode) {
  const char *wanted = std::getenv("FAKE_NVML");
  return wanted && std::strcmp(wanted, mode) == 0;
}

constexpr int kNotSupported = 3, kNotFound = 6;
int readings = 0;
int gpu = 0;
} // namespace

extern "C" {

int nvmlInit_v2() {
  return 0;
}

const char *nvmlErrorString(int error) {
  return error == kNotFound ? "Not Found" : "Not Supported";
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *place, void **device) {
  *device = &gpu;
  return std::strcmp(place, "00000000:19:00.0") == 0 ? 0 : kNotFound;
}

// What the scripts of tests/gpu call besides.
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  *device = &gpu;
  return index == 0 ? 0 : kNotFound;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size) {
  std::strncpy(text, "580.95", size);
  return 0;
}

int nvmlDeviceGetMaxClockInfo(void *, int which, unsigned *megahertz) {
  *megahertz = which == 1 ? 1980 : 1;
  return is("bare") ? kNotSupported : 0;
}

int nvmlDeviceGetEnforcedPowerLimit(void *, unsigned *milliwatts) {
  *milliwatts = is("troubled") ? 500'000 : 700'000;
  return is("bare") ? kNotSupported : 0;
}

int nvmlDeviceGetPowerManagementDefaultLimit(void *, unsigned *milliwatts) {
  *milliwatts = 700'000;
  return is("bare") ? kNotSupported : 0;
}

int nvmlDeviceGetPersistenceMode(void *, int *mode) {
  *mode = !is("troubled");
  return is("bare") ? kNotSupported : 0;
}

int nvmlDeviceGetEccMode(void *, int *current, int *pending) {
  *current = *pending = 1;
  return is("bare") ? kNotSupported : 0;
}

int nvmlDeviceGetTotalEccErrors(void *, int kind, int since, unsigned long long *count) {
  *count = is("troubled") && kind == 1 && since == 0 ? 3 : 0;
  return is("bare") ? kNotSupported : 0;
}

int nvmlDeviceGetMigMode(void *, unsigned *current, unsigned *pending) {
  *current = *pending = is("troubled");
  return is("bare") ? kNotSupported : 0;
}

struct Utilization {
  unsigned gpu, memory;
};

int nvmlDeviceGetUtilizationRates(void *, void *rates) {
  *static_cast<Utilization *>(rates) = {is("troubled") ? 97U : 0U, 0};
  return is("bare") ? kNotSupported : 0;
}

struct ProcessInfo {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpuInstance, computeInstance;
};

// Process 1, which every system has, and the one that asks.
int nvmlDeviceGetComputeRunningProcesses_v3(void *, unsigned *count, void *processes) {
  auto *list = static_cast<ProcessInfo *>(processes);
  const unsigned there = is("troubled") ? 2 : 1;
  if (is("bare") || *count < there) {
    *count = there;
    return is("bare") ? kNotSupported : 7;
  }
  *count = there;
  list[0] = {static_cast<unsigned>(getpid()), 1 << 20, 0, 0};
  if (there > 1)
    list[1] = {1, 300 << 20, 0, 0};
  return 0;
}

struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  int type, code;
  unsigned value[2];
};

// The power of this moment, in milliwatts.
int nvmlDeviceGetFieldValues(void *device, int count, FieldValue *values) {
  if (device != &gpu || count != 1)
    return kNotFound;
  values->code = values->field == 186 && !is("averaged") ? 0 : kNotSupported;
  values->value[0] = 690'500;
  values->value[1] = 0xFFFFFFFF; // which a value of 32 bits leaves as it is
  return 0;
}

int nvmlDeviceGetClockInfo(void *device, int which, unsigned *megahertz) {
  ++readings;
  *megahertz = which == 1 && device == &gpu ? is("moving") && readings % 2 == 0 ? 1755 : 1980 : 1;
  return 0;
}

int nvmlDeviceGetPowerUsage(void *, unsigned *milliwatts) {
  *milliwatts = 700'000;
  return is("bare") ? kNotSupported : 0;
}

int nvmlDeviceGetTemperature(void *, int which, unsigned *celsius) {
  *celsius = which == 0 ? 61 : 1;
  return is("bare") ? kNotSupported : 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *, unsigned long long *reasons) {
  // Always a clock that somebody has set.
  *reasons = 0x2 | ((is("moving") && readings % 2 == 0) || is("troubled") ? 0x4 | 0x20 : 0);
  return is("bare") ? kNotSupported : 0;
}
}
