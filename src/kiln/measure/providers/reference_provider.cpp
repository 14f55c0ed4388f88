#include "kiln/measure/providers/reference_provider.h"

#include <array>
#include <cstring>
#include <vector>

#include "kiln/base/narrow_float.h"
#include "kiln/measure/providers/matmul_shape.h"

namespace kiln::measure {

namespace {

using io::ElementType;

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
      values[bits] = float(Format.decode(uint16_t(bits)));
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
  template <typename Sum> static uint16_t store(Sum sum) { return Format.encode(double(sum)); }
};

struct Pointers {
  const uint8_t *lhs, *rhs;
  uint8_t *result;
};
using Kernel = void (*)(const MatmulShape &, const Pointers &);

template <typename In, typename Sum, typename Out> void multiply(const MatmulShape &shape, const Pointers &pointers) {
  uint64_t lhsRow = shape.lhs.rowStride(shape.k), lhsColumn = shape.lhs.columnStride(shape.m);
  uint64_t rhsRow = shape.rhs.rowStride(shape.n), rhsColumn = shape.rhs.columnStride(shape.k);
  uint64_t resultRow = shape.result.rowStride(shape.n), resultColumn = shape.result.columnStride(shape.m);
  const auto *lhs = reinterpret_cast<const typename In::Element *>(pointers.lhs);
  const auto *rhs = reinterpret_cast<const typename In::Element *>(pointers.rhs);
  auto *result = reinterpret_cast<typename Out::Element *>(pointers.result);
  for (uint64_t b = 0; b < shape.batch; ++b) {
    for (uint64_t i = 0; i < shape.m; ++i)
      for (uint64_t j = 0; j < shape.n; ++j) {
        Sum sum = 0;
        for (uint64_t l = 0; l < shape.k; ++l)
          sum += Sum(In::load(lhs[i * lhsRow + l * lhsColumn])) * Sum(In::load(rhs[l * rhsRow + j * rhsColumn]));
        result[i * resultRow + j * resultColumn] = Out::store(sum);
      }
    lhs += shape.m * shape.k;
    rhs += shape.k * shape.n;
    result += shape.m * shape.n;
  }
}

struct Entry {
  ElementType in, out;
  Kernel kernel;
};
// Integers are summed without sign, so that they wrap around as the program's do.
constexpr Entry kKernels[] = {
    {ElementType::F32, ElementType::F32, multiply<Plain<float>, float, Plain<float>>},
    {ElementType::F64, ElementType::F64, multiply<Plain<double>, double, Plain<double>>},
    {ElementType::F16, ElementType::F16, multiply<Narrow<kF16>, float, Narrow<kF16>>},
    {ElementType::F16, ElementType::F32, multiply<Narrow<kF16>, float, Plain<float>>},
    {ElementType::BF16, ElementType::BF16, multiply<Narrow<kBF16>, float, Narrow<kBF16>>},
    {ElementType::BF16, ElementType::F32, multiply<Narrow<kBF16>, float, Plain<float>>},
    {ElementType::I8, ElementType::I32, multiply<Plain<int8_t>, uint32_t, Plain<uint32_t>>},
    {ElementType::I32, ElementType::I32, multiply<Plain<uint32_t>, uint32_t, Plain<uint32_t>>},
};

class ReferenceProvider final : public Provider {
public:
  Status start(uint32_t threads) override { return okStatus(); }
  std::string version() const override { return KILN_VERSION; }
  std::string note() const override { return "plain loops on one thread"; }

  Status load(const LoadRequest &request, TensorMemory &memory) override {
    KILN_ASSIGN_OR_RETURN(shape, matmulShape(request));
    for (const Entry &entry : kKernels)
      if (shape.lhs.type == entry.in && shape.rhs.type == entry.in && shape.result.type == entry.out)
        kernel = entry.kernel;
    if (!kernel)
      return unimplemented("the reference does not multiply {}", shape.typesText());
    tensors = &memory;
    return okStatus();
  }

  Status call(uint32_t set) override { return multiplyTo(set, tensors->output(0, set)); }

private:
  Status multiplyTo(uint32_t set, uint8_t *result) {
    kernel(shape, {tensors->input(0, set), tensors->input(1, set), result});
    return okStatus();
  }

  MatmulShape shape;
  Kernel kernel = nullptr;
  TensorMemory *tensors = nullptr;
};

} // namespace

std::unique_ptr<Provider> createReferenceProvider() {
  return std::make_unique<ReferenceProvider>();
}

} // namespace kiln::measure
