// Elements of matrices within registers.
#ifndef KILN_TARGETS_CUDA_SIM_MATRIX_ELEMENTS_H
#define KILN_TARGETS_CUDA_SIM_MATRIX_ELEMENTS_H

#include "kiln/targets/cuda/sim/values.h"

namespace kiln::cudasim {

inline int64_t integerPart(uint64_t bits, Type type, uint32_t index) {
  const uint32_t width = typeBits(type);
  const uint64_t part = bits >> (index * width) & ((uint64_t(1) << width) - 1);
  return isSigned(type) ? int64_t(part << (64 - width)) >> (64 - width) : int64_t(part);
}
inline double floatPart(uint64_t bits, Type type, uint32_t index) {
  switch (type) {
  case Type::F16: return halfToFloat(uint16_t(bits >> (16 * index)));
  case Type::BF16: return brainToFloat(uint16_t(bits >> (16 * index)));
  case Type::TF32: return get<float>(bits & 0xffffe000); // the lower bits are not looked at
  case Type::F32: return get<float>(bits);
  case Type::E4M3: return decode(uint8_t(bits >> (8 * index)), kE4M3);
  case Type::E5M2: return decode(uint8_t(bits >> (8 * index)), kE5M2);
  default: return get<double>(bits);
  }
}

// The element of that number in a register; integers are exact as doubles.
inline double part(uint64_t bits, Type type, uint32_t index) {
  return isFloat(type) ? floatPart(bits, type, index) : double(integerPart(bits, type, index));
}

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_MATRIX_ELEMENTS_H
