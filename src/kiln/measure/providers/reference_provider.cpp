#include "kiln/measure/providers/reference_provider.h"

#include <algorithm>
#include <vector>

#include "kiln/base/narrow_float.h"
#include "kiln/measure/family.h"
#include "kiln/measure/providers/matmul_shape.h"
#include "kiln/runtime/hal/buffer_view.h"

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

// What the provider does once it knows its problem.
class Computation {
public:
  virtual ~Computation() = default;
  virtual Status compute(const std::vector<const uint8_t *> &inputs, const std::vector<uint8_t *> &outputs) = 0;
};

class MatmulLoops final : public Computation {
public:
  static Result<std::unique_ptr<Computation>> create(const LoadRequest &request) {
    KILN_ASSIGN_OR_RETURN(MatmulShape shape, matmulShape(request));
    for (const Entry &entry : kKernels)
      if (shape.lhs.type == entry.in && shape.rhs.type == entry.in && shape.result.type == entry.out)
        return std::unique_ptr<Computation>(new MatmulLoops(shape, entry.kernel));
    return unimplemented("the reference does not multiply {}", shape.typesText());
  }

  Status compute(const std::vector<const uint8_t *> &inputs, const std::vector<uint8_t *> &outputs) override {
    kernel(shape, {inputs[0], inputs[1], outputs[0]});
    return okStatus();
  }

private:
  MatmulLoops(const MatmulShape &shape, Kernel kernel) : shape(shape), kernel(kernel) {}

  MatmulShape shape;
  Kernel kernel;
};

Status checkTensors(const Problem &problem, std::string_view what, const std::vector<TensorType> &expected,
                    const std::vector<SharedTensor> &given) {
  if (expected.size() != given.size())
    return invalidArgument("{} has {} {}s; the request has {}", problem.name(), expected.size(), what, given.size());
  for (size_t i = 0; i < given.size(); ++i)
    if (expected[i] != TensorType{given[i].type, given[i].shape})
      return invalidArgument("{} {} of {} is {}; the request has {}", what, i, problem.name(),
                             hal::shapeText(expected[i].type, expected[i].shape),
                             hal::shapeText(given[i].type, given[i].shape));
  return okStatus();
}

// Whatever a family defines.
class Definition final : public Computation {
public:
  static Result<std::unique_ptr<Computation>> create(const LoadRequest &request, const FamilyRegistry *families) {
    const ProblemText &text = request.problem;
    if (!families)
      return unimplemented("this worker has no families, and so no reference for {}", text.name);
    Result<std::unique_ptr<Problem>> problem = families->parse(text.name);
    if (problem.status().code() == StatusCode::NotFound)
      return unimplemented("the reference goes by names, and {}", problem.status().message());
    KILN_RETURN_IF_ERROR(problem.status());
    if ((*problem)->family() != text.family)
      return unimplemented("{} names a problem of the family {}, not {}", text.name, (*problem)->family(), text.family);
    auto fields = (*problem)->fields();
    for (const auto &field : text.fields)
      if (std::ranges::find(fields, field) == fields.end())
        return unimplemented("field '{}' of {} is '{}', which its name does not say", field.first, text.name,
                             field.second);
    KILN_RETURN_IF_ERROR(checkTensors(**problem, "input", (*problem)->inputs(), request.inputs));
    KILN_RETURN_IF_ERROR(checkTensors(**problem, "output", (*problem)->outputs(), request.outputs));
    return std::unique_ptr<Computation>(new Definition(*std::move(problem)));
  }

  Status compute(const std::vector<const uint8_t *> &inputs, const std::vector<uint8_t *> &outputs) override {
    std::vector<io::TensorSpan> in;
    std::vector<MutableTensor> out;
    for (size_t i = 0; i < inputs.size(); ++i)
      in.push_back({inputTypes[i].type, inputTypes[i].shape, {inputs[i], byteSize(inputTypes[i])}});
    for (size_t i = 0; i < outputs.size(); ++i)
      out.push_back({outputTypes[i].type, outputTypes[i].shape, {outputs[i], byteSize(outputTypes[i])}});
    return problem->reference(in, out);
  }

private:
  explicit Definition(std::unique_ptr<Problem> problem)
      : problem(std::move(problem)), inputTypes(this->problem->inputs()), outputTypes(this->problem->outputs()) {}

  static uint64_t byteSize(const TensorType &tensor) {
    uint64_t bytes = hal::elementTypeByteSize(tensor.type);
    for (uint64_t extent : tensor.shape)
      bytes *= extent;
    return bytes;
  }

  std::unique_ptr<Problem> problem;
  std::vector<TensorType> inputTypes, outputTypes;
};

class ReferenceProvider final : public Provider {
public:
  void setFamilies(const FamilyRegistry &registry) override { families = &registry; }
  Status start(uint32_t threads) override { return okStatus(); }
  std::string version() const override { return KILN_VERSION; }
  std::string note() const override { return "plain loops on one thread"; }

  Status load(const LoadRequest &request, TensorMemory &memory) override {
    bool isMatmul = request.problem.family == "matmul" || request.problem.family == "batch_matmul";
    KILN_ASSIGN_OR_RETURN(computation, isMatmul ? MatmulLoops::create(request) : Definition::create(request, families));
    tensors = &memory;
    return okStatus();
  }

  Status call(uint32_t set) override {
    std::vector<const uint8_t *> inputs;
    std::vector<uint8_t *> outputs;
    for (size_t i = 0; i < tensors->inputs().size(); ++i)
      inputs.push_back(tensors->input(i, set));
    for (size_t i = 0; i < tensors->outputs().size(); ++i)
      outputs.push_back(tensors->output(i, set));
    return computation->compute(inputs, outputs);
  }

private:
  const FamilyRegistry *families = nullptr;
  std::unique_ptr<Computation> computation;
  TensorMemory *tensors = nullptr;
};

} // namespace

std::unique_ptr<Provider> createReferenceProvider() {
  return std::make_unique<ReferenceProvider>();
}

} // namespace kiln::measure
