// A library that takes the place of NVML in tests: a GPU at 00000000:19:00.0, at 700 W and 61 °C. Its clock is 1980
// MHz, and falls to 1755 MHz for a power limit at every second reading where the environment variable FAKE_NVML is
// `moving`; where it is `bare` the clock is all that it tells; where it is
// `averaged` it does not know the power of this moment.
#include <cstdlib>
#include <cstring>

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
  *reasons = 0x2 | (is("moving") && readings % 2 == 0 ? 0x4 | 0x20 : 0);
  return is("bare") ? kNotSupported : 0;
}
}
