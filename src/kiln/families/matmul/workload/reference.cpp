#include "kiln/families/matmul/workload/reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kiln/base/narrow_float.h"

namespace kiln::families {

namespace {

// How elements of a type are read and written. Element is what lies in memory.
template <typename T> struct Plain {
  using Element = T;
  static T load(T element) { return element; }
  template <typename Sum> static T store(Sum sum) { return T(sum); }
};

template <const NarrowFloat &Format> const std::vector<float> &decoded() {
  static const std::vector<float> table = [] {
    std::vector<float> values(1 << 16);
    for (uint32_t bits = 0; bits < values.size(); ++bits)
      values[bits] = static_cast<float>(Format.decode(static_cast<uint16_t>(bits)));
    return values;
  }();
  return table;
}

template <const NarrowFloat &Format> struct Narrow {
  using Element = uint16_t;
  static float load(uint16_t element) {
    static const float *table = decoded<Format>().data();
    return table[element];
  }
  template <typename Sum> static uint16_t store(Sum sum) { return Format.encode(static_cast<double>(sum)); }
};

float roundToF16(float value) {
  return Narrow<kF16>::load(Narrow<kF16>::store(value));
}

struct Operands {
  const uint8_t *lhs, *rhs, *bias;
  uint8_t *result;
};
using Kernel = void (*)(const MatmulSpec &, const Operands &);

// Elements from one row to the next, and from one column to the next.
struct Strides {
  uint64_t row, column;
  Strides(const Matrix &matrix, uint64_t rows, uint64_t columns)
      : row(matrix.columnMajor ? 1 : columns), column(matrix.columnMajor ? rows : 1) {}
};

// What the epilogue makes of a finished sum.
float finish(Epilogue epilogue, float sum, float bias) {
  float biased = sum + bias;
  switch (epilogue) {
  case Epilogue::None: return sum;
  case Epilogue::Bias: return biased;
  case Epilogue::BiasRelu: return std::isnan(biased) ? biased : std::max(biased, 0.0F);
  case Epilogue::BiasGelu: return 0.5F * biased * (1 + std::erf(biased * 0.70710678118654752F));
  case Epilogue::BiasGeluTanh:
    return 0.5F * biased * (1 + std::tanh(0.79788456080286536F * (biased + 0.044715F * biased * biased * biased)));
  }
  return sum;
}

// Integers are summed without sign, so that they wrap around as the program's do.
template <typename In, typename Sum, typename Out> class Loops {
public:
  static void run(const MatmulSpec &spec, const Operands &operands) {
    Strides lhs(spec.lhs, spec.m, spec.k), rhs(spec.rhs, spec.k, spec.n);
    const auto *left = reinterpret_cast<const typename In::Element *>(operands.lhs);
    const auto *right = reinterpret_cast<const typename In::Element *>(operands.rhs);
    const auto *bias = reinterpret_cast<const typename Out::Element *>(operands.bias);
    auto *result = reinterpret_cast<typename Out::Element *>(operands.result);
    for (uint64_t b = 0; b < spec.batch; ++b) {
      for (uint64_t i = 0; i < spec.m; ++i)
        for (uint64_t j = 0; j < spec.n; ++j) {
          Sum sum = element(spec, left + i * lhs.row, lhs.column, right + j * rhs.column, rhs.row);
          if constexpr (std::is_same_v<Sum, float>)
            sum = finish(spec.epilogue, sum, bias ? static_cast<float>(Out::load(bias[j])) : 0);
          result[i * spec.n + j] = Out::store(sum);
        }
      left += spec.m * spec.k;
      right += spec.k * spec.n;
      result += spec.m * spec.n;
    }
  }

private:
  // One element of the result, before what follows the product.
  static Sum element(const MatmulSpec &spec, const typename In::Element *left, uint64_t leftStride,
                     const typename In::Element *right, uint64_t rightStride) {
    bool eachStep = spec.accumulator == ElementType::F16;
    bool eachSlice = spec.split != SplitK::None && spec.partials == ElementType::F16;
    auto rounded = [](Sum sum, bool rounds) {
      if constexpr (std::is_same_v<Sum, float>)
        return rounds ? roundToF16(sum) : sum;
      return sum;
    };
    Sum total = 0;
    for (uint64_t slice = 0; slice < spec.slices; ++slice) {
      uint64_t begin = slice * spec.sliceLength();
      uint64_t end = slice + 1 < spec.slices ? begin + spec.sliceLength() : spec.k;
      Sum sum = spec.split == SplitK::Serial ? total : 0;
      for (uint64_t l = begin; l < end; ++l)
        sum = rounded(sum + Sum(In::load(left[l * leftStride])) * Sum(In::load(right[l * rightStride])), eachStep);
      sum = rounded(sum, eachSlice);
      total = spec.split == SplitK::Serial ? sum : total + sum;
    }
    return total;
  }
};

struct Entry {
  ElementType in, out;
  Kernel kernel;
};
constexpr Entry kKernels[] = {
    {ElementType::F32, ElementType::F32, Loops<Plain<float>, float, Plain<float>>::run},
    {ElementType::F16, ElementType::F16, Loops<Narrow<kF16>, float, Narrow<kF16>>::run},
    {ElementType::F16, ElementType::F32, Loops<Narrow<kF16>, float, Plain<float>>::run},
    {ElementType::BF16, ElementType::BF16, Loops<Narrow<kBF16>, float, Narrow<kBF16>>::run},
    {ElementType::BF16, ElementType::F32, Loops<Narrow<kBF16>, float, Plain<float>>::run},
    {ElementType::I8, ElementType::I32, Loops<Plain<int8_t>, uint32_t, Plain<uint32_t>>::run},
};

} // namespace

Status checkTensor(std::string_view what, const measure::TensorType &wanted, ElementType type,
                   std::span<const uint64_t> shape, size_t bytes) {
  uint64_t size = hal::elementTypeByteSize(wanted.type);
  for (uint64_t extent : wanted.shape)
    size *= extent;
  if (type == wanted.type && std::ranges::equal(shape, wanted.shape) && bytes == size)
    return okStatus();
  return invalidArgument("{} is {} bytes of type {}; {} bytes of type {} are needed", what, bytes,
                         hal::elementTypeName(type), size, hal::elementTypeName(wanted.type));
}

Status computeReference(const MatmulSpec &spec, measure::Tensors inputs, measure::MutableTensors outputs) {
  std::vector<measure::TensorType> wanted = {spec.lhsTensor(), spec.rhsTensor()};
  if (spec.hasBias())
    wanted.push_back(spec.biasTensor());
  if (inputs.size() != wanted.size() || outputs.size() != 1)
    return invalidArgument("{} has {} inputs and 1 output, not {} and {}", spec.name(), wanted.size(), inputs.size(),
                           outputs.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    KILN_RETURN_IF_ERROR(
        checkTensor(fmt::format("input {}", i), wanted[i], inputs[i].type, inputs[i].shape, inputs[i].bytes.size()));
  KILN_RETURN_IF_ERROR(
      checkTensor("the output", spec.resultTensor(), outputs[0].type, outputs[0].shape, outputs[0].bytes.size()));
  for (const Entry &entry : kKernels)
    if (entry.in == spec.lhs.type && entry.out == spec.result.type) {
      entry.kernel(spec, {inputs[0].bytes.data(), inputs[1].bytes.data(),
                          spec.hasBias() ? inputs[2].bytes.data() : nullptr, outputs[0].bytes.data()});
      return okStatus();
    }
  return unimplemented("there is no reference for {} with results of {}", spec.lhs.name(), spec.result.name());
}

} // namespace kiln::families
