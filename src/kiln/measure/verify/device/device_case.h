// A pass of a contraction whose inputs a device makes and whose result it checks by itself, as the host would.
#ifndef KILN_MEASURE_VERIFY_DEVICE_DEVICE_CASE_H
#define KILN_MEASURE_VERIFY_DEVICE_DEVICE_CASE_H

#include <cstdint>
#include <vector>

#include "kiln/measure/verify/check.h"

namespace kiln::measure::verify {

struct DeviceCase {
  Contraction contraction;
  Pass pass = Pass::Sums;
  uint64_t seed = 0;
  bool roomForBias = false;
  ColumnMap columns = {};
  Verdict right = {}; // what is said of an output that is right
  // What the problem's third input holds, where it has one: few bytes, which the host makes.
  std::vector<uint8_t> bias = {};
};

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVICE_DEVICE_CASE_H
