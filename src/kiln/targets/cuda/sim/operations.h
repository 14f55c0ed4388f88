// What the files of operations share: handlers made from functions of numbers, chosen by type.
#ifndef KILN_TARGETS_CUDA_SIM_OPERATIONS_H
#define KILN_TARGETS_CUDA_SIM_OPERATIONS_H

#include "kiln/targets/cuda/sim/decoder.h"
#include "kiln/targets/cuda/sim/values.h"

namespace kiln::cudasim {

// Calls `f` with a zero of the C++ type of integers; types of bits are unsigned.
template <typename F> Handler pickInteger(Type type, F f) {
  switch (type) {
  case Type::B8:
  case Type::U8: return f(uint8_t());
  case Type::S8: return f(int8_t());
  case Type::B16:
  case Type::U16: return f(uint16_t());
  case Type::S16: return f(int16_t());
  case Type::B32:
  case Type::U32: return f(uint32_t());
  case Type::S32: return f(int32_t());
  case Type::B64:
  case Type::U64: return f(uint64_t());
  case Type::S64: return f(int64_t());
  default: return nullptr;
  }
}

template <typename T, auto function> const Inst *unary(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = put<T>(function(get<T>(r[i->a])));
  return i + 1;
}
template <typename T, auto function> const Inst *binary(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = put<T>(function(get<T>(r[i->a]), get<T>(r[i->b])));
  return i + 1;
}
template <typename T, auto function> const Inst *ternary(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = put<T>(function(get<T>(r[i->a]), get<T>(r[i->b]), get<T>(r[i->c])));
  return i + 1;
}

// d, a, b, c of one type, as many as there are operands.
inline void sameTypeOperands(Decoder &in, Type type, size_t count) {
  in.expectOperands(count);
  if (in.failed())
    return;
  in.inst.d = in.target(0, type);
  if (count > 1)
    in.inst.a = in.source(1, type);
  if (count > 2)
    in.inst.b = in.source(2, type);
  if (count > 3)
    in.inst.c = in.source(3, type);
}

// The parts of operations of floats that share their name with those of integers; the type has been taken.
void decodeFloatAddSubMul(Decoder &in, FloatOp op, Type type);
void decodeFloatFma(Decoder &in, Type type);
void decodeFloatDiv(Decoder &in, Type type);
void decodeFloatMinMax(Decoder &in, bool isMax, Type type);
void decodeFloatAbsNeg(Decoder &in, bool isNeg, Type type);

// With `barrier.cluster` taken.
void decodeClusterBarrier(Decoder &in);

// Rounding modifiers of arithmetic, nearest where there is none.
Rounding takeRounding(Decoder &in);

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_OPERATIONS_H
