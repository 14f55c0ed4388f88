// A library that takes the place of NVML in tests: a GPU at 00000000:19:00.0, at 700 W and 61 °C. Its clock is 1980
// MHz, and falls to 1755 MHz for a power limit at every second reading where the environment variable FAKE_NVML is
// `moving`; where it is `bare` the clock is all that it tells.
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
