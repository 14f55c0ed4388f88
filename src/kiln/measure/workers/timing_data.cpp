#include "kiln/measure/workers/timing_data.h"

#include <cstring>
#include <vector>

#include "kiln/base/narrow_float.h"

namespace kiln::measure {

namespace {

using io::ElementType;

// splitmix64: one multiplication chain for each 64 bits, and any seed is as good as another.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

private:
  uint64_t state;
};

template <typename T, typename Make> void fill(const MutableTensor &tensor, Make &&make) {
  size_t count = tensor.bytes.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T value = T(make());
    std::memcpy(tensor.bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}

const NarrowFloat *narrowFloat(ElementType type) {
  switch (type) {
  case ElementType::F16: return &kF16;
  case ElementType::BF16: return &kBF16;
  case ElementType::F8E4M3FN: return &kF8E4M3FN;
  case ElementType::F8E5M2: return &kF8E5M2;
  default: return nullptr;
  }
}

// Encoding is slow, so 4096 numbers are encoded, and drawn from.
template <typename T> void fillNarrow(const NarrowFloat &format, Random &random, const MutableTensor &tensor) {
  constexpr int kCount = 4096;
  std::vector<T> table;
  for (int i = 0; i < kCount; ++i)
    table.push_back(T(format.encode(2.0 * i / kCount - 1)));
  fill<T>(tensor, [&] { return table[random.next() % kCount]; });
}

bool isUnsigned(ElementType type) {
  return type == ElementType::UI16 || type == ElementType::UI32 || type == ElementType::UI64;
}

template <typename T> void fillInteger(bool unsignedType, Random &random, const MutableTensor &tensor) {
  fill<T>(tensor, [&] { return int64_t(random.next() % 2001) - (unsignedType ? 0 : 1000); });
}

} // namespace

void fillForTiming(uint64_t seed, const MutableTensor &tensor) {
  Random random(seed);
  if (const NarrowFloat *format = narrowFloat(tensor.type)) {
    if (hal::elementTypeByteSize(tensor.type) == 1)
      fillNarrow<uint8_t>(*format, random, tensor);
    else
      fillNarrow<uint16_t>(*format, random, tensor);
    return;
  }
  if (tensor.type == ElementType::F32)
    return fill<float>(tensor, [&] { return float(int64_t(random.next()) >> 40) * 0x1p-23f; });
  if (tensor.type == ElementType::F64)
    return fill<double>(tensor, [&] { return double(int64_t(random.next()) >> 11) * 0x1p-52; });
  if (tensor.type == ElementType::I1)
    return fill<uint8_t>(tensor, [&] { return random.next() & 1; });
  bool unsignedType = isUnsigned(tensor.type);
  switch (hal::elementTypeByteSize(tensor.type)) {
  case 2: return fillInteger<uint16_t>(unsignedType, random, tensor);
  case 4: return fillInteger<uint32_t>(unsignedType, random, tensor);
  case 8: return fillInteger<uint64_t>(unsignedType, random, tensor);
  default: return fill<uint8_t>(tensor, [&] { return random.next(); });
  }
}

std::string timingDistribution(ElementType type) {
  if (type == ElementType::F32 || type == ElementType::F64)
    return "uniform in [-1, 1)";
  if (narrowFloat(type))
    return "4096 values uniform in [-1, 1)";
  if (type == ElementType::I1)
    return "0 or 1";
  if (hal::elementTypeByteSize(type) == 1)
    return "any 8 bits";
  return isUnsigned(type) ? "uniform integers in [0, 2000]" : "uniform integers in [-1000, 1000]";
}

} // namespace kiln::measure
