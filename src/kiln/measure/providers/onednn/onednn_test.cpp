// Each kind of operation at odd sizes, plain and with preferred layouts, against plain loops in f64.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>

#include "fmt/format.h"
#include "kiln/measure/providers/onednn_provider.h"
#include "kiln/measure/workers/shared_tensors.h"
#include "kiln/measure/workers/testing/tiny_matmul.h"
#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

using io::ElementType;
using Fields = std::map<std::string, std::string>;
using Indices = std::vector<uint64_t>;

// A tensor in f64.
struct Numbers {
  Indices shape;
  std::vector<double> values;

  double at(const Indices &indices) const {
    uint64_t index = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      index = index * shape[i] + indices[i];
    return values[index];
  }
};

// What is asked for, and what has to come out.
struct Case {
  std::string family;
  Fields fields;
  std::vector<TensorType> inputs;
  TensorType output;
  std::function<double(const std::vector<Numbers> &inputs, const Indices &indices)> expected;
  double tolerance = 0;    // relative, and to values below 1 absolute
  bool isPositive = false; // the inputs
};

class OneDnnTest : public ::testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    // As kiln-lab-worker does.
    ::setenv("OCL_ICD_FILENAMES", KILN_PEERS "/lib/libintelocl.so", 1);
    ::setenv("ONEAPI_DEVICE_SELECTOR", "opencl:cpu", 1);
    provider = createOneDnnProvider(KILN_PEERS, GetParam());
    Status started = provider->start(1);
    if (started.code() == StatusCode::Unimplemented)
      GTEST_SKIP() << started.message();
    ASSERT_TRUE(started.ok()) << started.message();
  }

  Status load(const Case &test) {
    inputs =
        std::make_unique<SharedTensors>(*SharedTensors::create("in", test.inputs, 3, SharedTensors::Pages::Reserved));
    outputs = std::make_unique<SharedTensors>(
        *SharedTensors::create("out", {&test.output, 1}, 3, SharedTensors::Pages::OnDemand));
    for (uint32_t set = 0; set < 3; ++set)
      fill(test, set);
    LoadRequest request;
    request.problem = {test.family, "the problem", {test.fields.begin(), test.fields.end()}};
    request.sets = 3;
    request.inputs = inputs->describe();
    request.outputs = outputs->describe();
    Result<TensorMemory> mapped = TensorMemory::map(request);
    if (!mapped.ok())
      return mapped.status();
    memory = *std::move(mapped);
    return provider->load(request, memory);
  }

  // Small integers, which are exact in all types.
  void fill(const Case &test, uint32_t set) {
    for (const MutableTensor &tensor : inputs->set(set))
      for (size_t i = 0; i < tensor.span().elementCount(); ++i) {
        int64_t number = int64_t(random.below(7)) - (test.isPositive ? 0 : 3);
        testing::writeElement(tensor.type, tensor.bytes.data() + i * hal::elementTypeByteSize(tensor.type),
                              double(number));
      }
  }

  static Numbers numbers(const io::TensorSpan &tensor) {
    Numbers result{{tensor.shape.begin(), tensor.shape.end()}, {}};
    for (size_t i = 0; i < tensor.elementCount(); ++i)
      result.values.push_back(
          testing::readElement(tensor.type, tensor.bytes.data() + i * hal::elementTypeByteSize(tensor.type)));
    return result;
  }

  // oneDNN computes in bf16 with AVX-512, and exactly with bytes that it lays out ahead with VNNI.
  bool mayBeRefused(const Case &test) const {
    auto has = [&](ElementType type) {
      return std::ranges::any_of(test.inputs, [&](const TensorType &input) { return input.type == type; });
    };
    return (has(ElementType::BF16) && !__builtin_cpu_supports("avx512bw")) ||
           (has(ElementType::I8) && preferred() && !__builtin_cpu_supports("avx512vnni"));
  }

  // Loads, and runs twice with other inputs: nothing may be kept from the time before.
  void expectRight(const Case &test) {
    Status loaded = load(test);
    if (loaded.code() == StatusCode::Unimplemented && mayBeRefused(test)) {
      EXPECT_NE(std::string_view(loaded.message()).find("oneDNN does not do this"), std::string_view::npos)
          << loaded.message();
      return;
    }
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    for (int attempt = 0; attempt < 2; ++attempt) {
      fill(test, 0);
      std::ranges::fill(outputs->set(0)[0].bytes, uint8_t(0xFF));
      Status ran = provider->run(0);
      ASSERT_TRUE(ran.ok()) << ran.message();
      expectEqual(test);
    }
    for (uint32_t set : {1, 2, 1})
      EXPECT_TRUE(provider->call(set).ok());
  }

  // To the next element of a row-major tensor.
  static void advance(Indices &indices, const Indices &shape) {
    for (size_t i = indices.size(); i > 0; --i) {
      if (++indices[i - 1] < shape[i - 1])
        return;
      indices[i - 1] = 0;
    }
  }

  void expectEqual(const Case &test) {
    std::vector<Numbers> in;
    for (const io::TensorSpan &tensor : inputs->view(0))
      in.push_back(numbers(tensor));
    Numbers out = numbers(outputs->view(0)[0]);
    Indices indices(out.shape.size(), 0);
    for (double value : out.values) {
      double expected = test.expected(in, indices);
      ASSERT_NEAR(value, expected, test.tolerance * std::max(1.0, std::abs(expected)))
          << "at " << fmt::format("{}", fmt::join(indices, ", "));
      advance(indices, out.shape);
    }
  }

  void expectRefused(const Case &test, StatusCode code, std::string_view part) {
    Status loaded = load(test);
    EXPECT_EQ(loaded.code(), code) << loaded.message();
    EXPECT_NE(std::string_view(loaded.message()).find(part), std::string_view::npos) << loaded.message();
  }

  // Only some processors compute in f16. There it is right, and elsewhere it is refused.
  void expectRightOrRefused(const Case &test, std::string_view part) {
    const bool computes = load(test).ok();
    SetUp();
    if (computes)
      expectRight(test);
    else
      expectRefused(test, StatusCode::Unimplemented, part);
    SetUp();
  }

  bool preferred() const { return GetParam(); }

  std::unique_ptr<Provider> provider;
  std::unique_ptr<SharedTensors> inputs, outputs;
  TensorMemory memory;
  Random random{7};
};

INSTANTIATE_TEST_SUITE_P(, OneDnnTest, ::testing::Bool(),
                         [](const auto &info) { return info.param ? "Preferred" : "Plain"; });

//===--- Matrix products -----------------------------------------------------------------------------------------===//

double gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

double geluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

Case matmulCase(std::string family, ElementType in = ElementType::F32, ElementType out = ElementType::F32) {
  constexpr uint64_t m = 13, n = 37, k = 19;
  auto operand = [](ElementType type) { return fmt::format("{}t", hal::elementTypeName(type)); };
  Case test;
  test.fields = {{"batch_count", "1"},
                 {"m", "13"},
                 {"n", "37"},
                 {"k", "19"},
                 {"lhs", operand(in)},
                 {"rhs", operand(in)},
                 {"result", operand(out)},
                 {"accumulator", "f32"}};
  test.inputs = {{in, {m, k}}, {in, {k, n}}};
  test.output = {out, {m, n}};
  bool relu = family == "matmul_bias_relu", hasGelu = family.starts_with("matmul_bias_gelu"),
       byTanh = family.ends_with("tanh");
  if (family.starts_with("matmul_bias")) {
    test.inputs.push_back({out, {n}});
    test.fields["epilogue"] = family.substr(sizeof("matmul_") - 1);
  }
  test.expected = [relu, hasGelu, byTanh](const std::vector<Numbers> &in, const Indices &at) {
    double sum = in.size() > 2 ? in[2].at({at[1]}) : 0;
    for (uint64_t i = 0; i < k; ++i)
      sum += in[0].at({at[0], i}) * in[1].at({i, at[1]});
    return relu ? std::max(sum, 0.0) : byTanh ? geluTanh(sum) : hasGelu ? gelu(sum) : sum;
  };
  test.family = std::move(family);
  test.tolerance = hasGelu ? 1e-5 : 0;
  return test;
}

TEST_P(OneDnnTest, Epilogues) {
  for (const char *family :
       {"matmul", "matmul_bias", "matmul_bias_relu", "matmul_bias_gelu", "matmul_bias_gelu_tanh"}) {
    SCOPED_TRACE(family);
    expectRight(matmulCase(family));
    SetUp();
  }
}

TEST_P(OneDnnTest, EpiloguesOfOtherTypes) {
  Case test = matmulCase("matmul_bias_gelu", ElementType::BF16, ElementType::BF16);
  test.tolerance = 1.0 / 128;
  expectRight(test);
  SetUp();
  expectRight(matmulCase("matmul_bias_relu", ElementType::I8, ElementType::I32));
  SetUp();
  expectRefused(matmulCase("matmul_bias", ElementType::F64, ElementType::F64), StatusCode::Unimplemented, "f64");
}

TEST_P(OneDnnTest, BiasThatIsNotTheProblems) {
  Case test = matmulCase("matmul_bias");
  test.inputs[2].shape = {13};
  expectRefused(test, StatusCode::InvalidArgument, "the problem's bias is 37xf32 in memory; the request has 13xf32");
  test = matmulCase("matmul_bias");
  test.inputs.pop_back();
  expectRefused(test, StatusCode::InvalidArgument, "has 3 inputs and 1 outputs; the request has 2 and 1");
  test = matmulCase("matmul_bias");
  test.fields["epilogue"] = "swish";
  expectRefused(test, StatusCode::Unimplemented, "epilogue 'swish'");
}

TEST_P(OneDnnTest, SplitKIsThePlainProduct) {
  Case test = matmulCase("matmul_splitk");
  test.fields["split_k_mode"] = "parallel";
  test.fields["split_k_slices"] = "4";
  test.fields["partials"] = "f32";
  expectRight(test);
}

// With a result in i32, or requantized to lhs's type, with a scale for each column or one for all.
Case quantizedCase(ElementType lhs, ElementType result, bool perColumn, int zeroA, int zeroB, int zeroC) {
  constexpr uint64_t m = 13, n = 37, k = 19;
  Case test;
  test.family = "qmatmul";
  test.fields = {{"m", "13"},
                 {"n", "37"},
                 {"k", "19"},
                 {"lhs", fmt::format("{}t", hal::elementTypeName(lhs))},
                 {"rhs", "i8n"},
                 {"result", fmt::format("{}t", hal::elementTypeName(result))},
                 {"accumulator", "i32"},
                 {"lhs_zero_point", std::to_string(zeroA)},
                 {"rhs_zero_point", std::to_string(zeroB)}};
  test.inputs = {{lhs, {m, k}}, {ElementType::I8, {n, k}}};
  test.output = {result, {m, n}};
  bool requantizes = result != ElementType::I32;
  if (requantizes) {
    test.fields["result_zero_point"] = std::to_string(zeroC);
    test.fields["scale"] = perColumn ? "column" : "tensor";
    test.inputs.push_back({ElementType::F32, perColumn ? Indices{n} : Indices{}});
  }
  test.isPositive = true; // small integers: numbers without sign, and scales
  test.expected = [=](const std::vector<Numbers> &in, const Indices &at) {
    double sum = 0;
    for (uint64_t i = 0; i < k; ++i)
      sum += (in[0].at({at[0], i}) - zeroA) * (in[1].at({at[1], i}) - zeroB);
    if (!requantizes)
      return sum;
    double low = result == ElementType::UI8 ? 0 : -128;
    return std::clamp(sum * in[2].values[perColumn ? at[1] : 0] + zeroC, low, low + 255);
  };
  return test;
}

TEST_P(OneDnnTest, ZeroPoints) {
  for (auto [zeroA, zeroB] : {std::pair(0, 0), std::pair(3, 0), std::pair(0, 2), std::pair(3, 2)}) {
    SCOPED_TRACE(fmt::format("{} {}", zeroA, zeroB));
    expectRight(quantizedCase(ElementType::I8, ElementType::I32, false, zeroA, zeroB, 0));
    SetUp();
    expectRight(quantizedCase(ElementType::UI8, ElementType::I32, false, zeroA, zeroB, 0));
    SetUp();
  }
}

TEST_P(OneDnnTest, RequantizedResults) {
  for (bool perColumn : {false, true})
    for (int zeroC : {0, 7}) {
      SCOPED_TRACE(fmt::format("{} {}", perColumn, zeroC));
      expectRight(quantizedCase(ElementType::I8, ElementType::I8, perColumn, 3, 2, zeroC));
      SetUp();
      expectRight(quantizedCase(ElementType::UI8, ElementType::UI8, perColumn, 3, 2, zeroC));
      SetUp();
    }
}

TEST_P(OneDnnTest, ZeroPointsThatMakeNoSense) {
  Case test = quantizedCase(ElementType::I8, ElementType::I8, true, 3, 2, 7);
  test.fields["lhs_zero_point"] = "300";
  expectRefused(test, StatusCode::InvalidArgument, "field 'lhs_zero_point' of the problem must be a number from -128");
  test.fields["lhs_zero_point"] = "3";
  test.fields["scale"] = "row";
  expectRefused(test, StatusCode::Unimplemented, "does not know the scale 'row'");
  test.fields["scale"] = "tensor";
  expectRefused(test, StatusCode::InvalidArgument, "the problem's scale is f32 in memory; the request has 37xf32");
}

//===--- Convolutions --------------------------------------------------------------------------------------------===//

struct ConvolutionCase {
  bool channelsLast = true;
  uint64_t c = 6, f = 10, groups = 1;
  uint64_t stride[2] = {1, 1}, dilation[2] = {1, 1}, padding[2] = {0, 0};
  ElementType in = ElementType::F32, out = ElementType::F32;
};

Case make(const ConvolutionCase &convolution) {
  constexpr uint64_t kN = 2, kH = 9, kW = 11, kR = 3, kS = 2;
  const uint64_t c = convolution.c / convolution.groups, f = convolution.f / convolution.groups;
  auto extent = [&](int axis, uint64_t input, uint64_t filter) {
    return (input + 2 * convolution.padding[axis] - (filter - 1) * convolution.dilation[axis] - 1) /
               convolution.stride[axis] +
           1;
  };
  uint64_t oh = extent(0, kH, kR), ow = extent(1, kW, kS);
  bool last = convolution.channelsLast;
  Case test;
  test.family = "conv2d";
  auto text = [](uint64_t number) { return std::to_string(number); };
  std::string in(hal::elementTypeName(convolution.in)), out(hal::elementTypeName(convolution.out));
  test.fields = {{"layout", last ? "nhwc_hwcf" : "nchw_fchw"},
                 {"n", text(kN)},
                 {"h", text(kH)},
                 {"w", text(kW)},
                 {"c", text(convolution.c)},
                 {"r", text(kR)},
                 {"s", text(kS)},
                 {"f", text(convolution.f)},
                 {"stride_h", text(convolution.stride[0])},
                 {"stride_w", text(convolution.stride[1])},
                 {"dilation_h", text(convolution.dilation[0])},
                 {"dilation_w", text(convolution.dilation[1])},
                 {"pad_h", text(convolution.padding[0])},
                 {"pad_w", text(convolution.padding[1])},
                 {"groups", text(convolution.groups)},
                 {"input_type", in},
                 {"filter_type", in},
                 {"result_type", out},
                 {"accumulator", convolution.in == ElementType::I8 ? "i32" : "f32"}};
  test.inputs = {{convolution.in, last ? Indices{kN, kH, kW, convolution.c} : Indices{kN, convolution.c, kH, kW}},
                 {convolution.in, last ? Indices{kR, kS, c, convolution.f} : Indices{convolution.f, c, kR, kS}}};
  test.output = {convolution.out, last ? Indices{kN, oh, ow, convolution.f} : Indices{kN, convolution.f, oh, ow}};
  test.expected = [=](const std::vector<Numbers> &in, const Indices &at) {
    uint64_t n = at[0], y = at[last ? 1 : 2], x = at[last ? 2 : 3], of = at[last ? 3 : 1];
    double sum = 0;
    for (uint64_t r = 0; r < kR; ++r)
      for (uint64_t s = 0; s < kS; ++s) {
        // What is before the start becomes very large.
        uint64_t h = y * convolution.stride[0] + r * convolution.dilation[0] - convolution.padding[0];
        uint64_t w = x * convolution.stride[1] + s * convolution.dilation[1] - convolution.padding[1];
        if (h >= kH || w >= kW)
          continue;
        for (uint64_t i = 0; i < c; ++i) {
          uint64_t ic = of / f * c + i;
          sum += last ? in[0].at({n, h, w, ic}) * in[1].at({r, s, i, of})
                      : in[0].at({n, ic, h, w}) * in[1].at({of, i, r, s});
        }
      }
    return sum;
  };
  return test;
}

TEST_P(OneDnnTest, Convolutions) {
  for (bool last : {true, false})
    for (uint64_t groups : {1, 2, 6}) {
      SCOPED_TRACE(fmt::format("channels {}, {} groups", last ? "last" : "first", groups));
      ConvolutionCase convolution{.channelsLast = last, .f = groups == 6 ? 6U : 10U, .groups = groups};
      expectRight(make(convolution));
      SetUp();
      convolution.stride[0] = 2;
      convolution.stride[1] = 3;
      convolution.dilation[0] = 2;
      convolution.dilation[1] = 4;
      convolution.padding[0] = 1;
      convolution.padding[1] = 2;
      expectRight(make(convolution));
      SetUp();
    }
}

TEST_P(OneDnnTest, ConvolutionsOfOtherTypes) {
  for (bool last : {true, false}) {
    SCOPED_TRACE(last ? "channels last" : "channels first");
    Case test = make({.channelsLast = last, .padding = {1, 1}, .in = ElementType::BF16, .out = ElementType::F32});
    expectRight(test);
    SetUp();
    test = make({.channelsLast = last, .groups = 2, .in = ElementType::BF16, .out = ElementType::BF16});
    test.tolerance = 1.0 / 128;
    expectRight(test);
    SetUp();
    expectRight(make({.channelsLast = last, .padding = {1, 0}, .in = ElementType::I8, .out = ElementType::I32}));
    SetUp();
  }
  expectRightOrRefused(make({.in = ElementType::F16, .out = ElementType::F32}),
                       "a convolution of f16 x f16 to f32 in nhwc_hwcf");
}

TEST_P(OneDnnTest, ConvolutionsThatMakeNoSense) {
  Case test = make({});
  test.fields["groups"] = "4";
  expectRefused(test, StatusCode::InvalidArgument, "6 channels to 10 cannot be split into 4 groups");
  test = make({});
  test.fields["dilation_h"] = "5";
  expectRefused(test, StatusCode::InvalidArgument, "larger than its padded input");
  test = make({});
  test.fields["pad_w"] = "-1";
  expectRefused(test, StatusCode::InvalidArgument, "field 'pad_w' of the problem must be a number from 0");
  test = make({});
  test.fields["stride_h"] = "0";
  expectRefused(test, StatusCode::InvalidArgument, "field 'stride_h' of the problem must be a number from 1");
  test = make({});
  test.fields["layout"] = "nhwc_fhwc";
  expectRefused(test, StatusCode::Unimplemented, "layout 'nhwc_fhwc'");
  test = make({});
  test.fields["pad_h"] = "1";
  expectRefused(test, StatusCode::InvalidArgument, "the problem's result is");
  test = make({});
  test.fields["epilogue"] = "relu";
  expectRefused(test, StatusCode::Unimplemented, "field 'epilogue'");
  test = make({});
  test.fields["input_type"] = "f33";
  expectRefused(test, StatusCode::InvalidArgument, "field 'input_type' of the problem must be an element type");
}

//===--- Elementwise, rows ---------------------------------------------------------------------------------------===//

Case elementwiseCase(std::string op, ElementType type = ElementType::F32) {
  static const std::map<std::string, double (*)(double)> kUnary = {
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"gelu", gelu},
      {"gelu_tanh", geluTanh},
      {"exp", [](double x) { return std::exp(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"sqrt", [](double x) { return std::sqrt(x); }}};
  Case test;
  test.family = "elementwise";
  test.fields = {{"op", op}, {"shape", "5x7x11"}, {"type", std::string(hal::elementTypeName(type))}};
  test.output = {type, {5, 7, 11}};
  test.inputs.assign(op == "add" || op == "mul" ? 2 : 1, test.output);
  test.isPositive = op == "sqrt";
  test.tolerance = type == ElementType::F32 ? 1e-5 : 1.0 / 128;
  test.expected = [op](const std::vector<Numbers> &in, const Indices &at) {
    if (auto function = kUnary.find(op); function != kUnary.end())
      return function->second(in[0].at(at));
    return op == "add" ? in[0].at(at) + in[1].at(at) : in[0].at(at) * in[1].at(at);
  };
  return test;
}

TEST_P(OneDnnTest, Elementwise) {
  if (preferred())
    return expectRefused(elementwiseCase("add"), StatusCode::Unimplemented, "has no weights");
  for (const char *op : {"add", "mul", "relu", "gelu", "gelu_tanh", "exp", "tanh", "sigmoid", "sqrt"})
    for (ElementType type : {ElementType::F32, ElementType::BF16}) {
      SCOPED_TRACE(op);
      expectRight(elementwiseCase(op, type));
      SetUp();
    }
  expectRefused(elementwiseCase("add", ElementType::F64), StatusCode::Unimplemented, "no type f64");
  expectRightOrRefused(elementwiseCase("exp", ElementType::F16), "exp of f16");
  Case test = elementwiseCase("relu");
  test.fields["op"] = "swish";
  expectRefused(test, StatusCode::Unimplemented, "operation 'swish'");
  for (const char *shape : {"", "5x", "5x7x11x", "5x0x11", "5x7x12"}) {
    test = elementwiseCase("relu");
    test.fields["shape"] = shape;
    expectRefused(test, StatusCode::InvalidArgument, "");
  }
}

Case rowsCase(std::string family, const std::string &op, ElementType in, ElementType out, uint64_t columns = 37) {
  constexpr uint64_t rows = 5;
  bool isSoftmax = family == "softmax";
  Case test;
  test.fields = {{"rows", "5"},
                 {"columns", std::to_string(columns)},
                 {"type", std::string(hal::elementTypeName(in))},
                 {"accumulator", "f32"}};
  if (!isSoftmax) {
    test.fields["op"] = op;
    test.fields["result_type"] = hal::elementTypeName(out);
  }
  test.family = std::move(family);
  test.inputs = {{in, {rows, columns}}};
  test.output = {out, isSoftmax ? Indices{rows, columns} : Indices{rows}};
  test.tolerance = out == ElementType::F32 ? 1e-6 : 1.0 / 128;
  test.expected = [isSoftmax, op, columns](const std::vector<Numbers> &in, const Indices &at) {
    double sum = 0, exponentials = 0, least = 1e9, most = -1e9;
    for (uint64_t i = 0; i < columns; ++i) {
      double value = in[0].at({at[0], i});
      sum += value;
      exponentials += std::exp(value);
      least = std::min(least, value);
      most = std::max(most, value);
    }
    if (isSoftmax)
      return std::exp(in[0].at(at)) / exponentials;
    return op == "sum" ? sum : op == "mean" ? sum / columns : op == "min" ? least : most;
  };
  return test;
}

TEST_P(OneDnnTest, Reductions) {
  if (preferred())
    return expectRefused(rowsCase("reduction", "sum", ElementType::F32, ElementType::F32), StatusCode::Unimplemented,
                         "no weights");
  for (const char *op : {"sum", "max", "min", "mean"}) {
    SCOPED_TRACE(op);
    expectRight(rowsCase("reduction", op, ElementType::F32, ElementType::F32));
    SetUp();
    expectRight(rowsCase("reduction", op, ElementType::BF16, ElementType::BF16));
    SetUp();
    expectRight(rowsCase("reduction", op, ElementType::BF16, ElementType::F32));
    SetUp();
  }
  expectRefused(rowsCase("reduction", "product", ElementType::F32, ElementType::F32), StatusCode::Unimplemented,
                "reduction 'product'");
  expectRefused(rowsCase("reduction", "sum", ElementType::I8, ElementType::I32), StatusCode::Unimplemented, "exactly");
  expectRefused(rowsCase("reduction", "max", ElementType::F32, ElementType::F32, 1), StatusCode::Unimplemented,
                "reduces no dimension of a single element: the max of f32 to f32");
}

TEST_P(OneDnnTest, Softmax) {
  if (preferred())
    return expectRefused(rowsCase("softmax", "", ElementType::F32, ElementType::F32), StatusCode::Unimplemented,
                         "no weights");
  expectRight(rowsCase("softmax", "", ElementType::F32, ElementType::F32));
  SetUp();
  expectRight(rowsCase("softmax", "", ElementType::BF16, ElementType::BF16));
}

Case normCase(const std::string &family, ElementType type) {
  constexpr uint64_t rows = 5, columns = 37;
  const bool isLayerNorm = family == "layer_norm";
  Case test;
  test.family = family;
  test.fields = {{"rows", "5"},
                 {"columns", "37"},
                 {"type", std::string(hal::elementTypeName(type))},
                 {"epsilon", "1e-05"},
                 {"accumulator", "f32"}};
  test.inputs = {{type, {rows, columns}}, {type, {columns}}};
  if (isLayerNorm)
    test.inputs.push_back({type, {columns}});
  test.output = {type, {rows, columns}};
  test.tolerance = type == ElementType::F32 ? 1e-5 : 1.0 / 64;
  test.expected = [isLayerNorm](const std::vector<Numbers> &in, const Indices &at) {
    double mean = 0, squares = 0;
    for (uint64_t i = 0; i < columns; ++i)
      mean += isLayerNorm ? in[0].at({at[0], i}) / columns : 0;
    for (uint64_t i = 0; i < columns; ++i)
      squares += std::pow(in[0].at({at[0], i}) - mean, 2) / columns;
    const double scaled = (in[0].at(at) - mean) / std::sqrt(squares + 1e-5) * in[1].at({at[1]});
    return isLayerNorm ? scaled + in[2].at({at[1]}) : scaled;
  };
  return test;
}

TEST_P(OneDnnTest, Norms) {
  if (preferred())
    return expectRefused(normCase("layer_norm", ElementType::F32), StatusCode::Unimplemented, "no weights");
  for (const char *family : {"layer_norm", "rms_norm"})
    for (ElementType type : {ElementType::F32, ElementType::BF16}) {
      SCOPED_TRACE(family);
      expectRight(normCase(family, type));
      SetUp();
    }
  Case test = normCase("layer_norm", ElementType::F32);
  test.fields["epsilon"] = "small";
  expectRefused(test, StatusCode::InvalidArgument, "epsilon 'small' of the problem is no number from 0 on");
}

Case transposeCase(const std::string &permutation, ElementType type) {
  const std::string shapes[] = {"", "", "5x37", "3x5x7", "2x3x5x7"};
  const Indices extents[] = {{}, {}, {5, 37}, {3, 5, 7}, {2, 3, 5, 7}};
  const size_t rank = permutation.size();
  Case test;
  test.family = "transpose";
  test.fields = {
      {"permutation", permutation}, {"shape", shapes[rank]}, {"type", std::string(hal::elementTypeName(type))}};
  test.inputs = {{type, extents[rank]}};
  for (char digit : permutation)
    test.output.shape.push_back(extents[rank][static_cast<size_t>(digit - '0')]);
  test.output.type = type;
  test.expected = [permutation](const std::vector<Numbers> &in, const Indices &at) {
    Indices from(at.size());
    for (size_t d = 0; d < at.size(); ++d)
      from[static_cast<size_t>(permutation[d] - '0')] = at[d];
    return in[0].at(from);
  };
  return test;
}

TEST_P(OneDnnTest, Transpositions) {
  if (preferred())
    return expectRefused(transposeCase("10", ElementType::F32), StatusCode::Unimplemented, "no weights");
  for (const char *permutation : {"10", "021", "201", "0213", "3021"})
    for (ElementType type :
         {ElementType::F32, ElementType::BF16, ElementType::F16, ElementType::I8, ElementType::I32}) {
      SCOPED_TRACE(permutation);
      expectRight(transposeCase(permutation, type));
      SetUp();
    }
  for (const char *wrong : {"11", "1", "012", "a0", "02"}) {
    Case test = transposeCase("10", ElementType::F32);
    test.fields["permutation"] = wrong;
    expectRefused(test, StatusCode::InvalidArgument, "is no permutation of the 2 dimensions of the problem");
  }
}

TEST_P(OneDnnTest, FamiliesThatAreNotKnown) {
  Case test = matmulCase("matmul");
  test.family = "fft";
  expectRefused(test, StatusCode::Unimplemented, "family fft");
}

} // namespace
} // namespace kiln::measure
