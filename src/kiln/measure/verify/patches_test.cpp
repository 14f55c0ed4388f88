// A convolution is verified as the contraction of its patches with its filters.
#include "kiln/measure/verify/test_util.h"

namespace kiln::measure::verify {

namespace {

struct Convolution {
  int64_t images, groups, height, width, channels; // channels and filters of one group
  int64_t filters, filterHeight, filterWidth;
  int64_t stride, dilation, pad;
  bool channelsFirst;

  int64_t outputHeight() const { return (height + 2 * pad - dilation * (filterHeight - 1) - 1) / stride + 1; }
  int64_t outputWidth() const { return (width + 2 * pad - dilation * (filterWidth - 1) - 1) / stride + 1; }
  int64_t taps() const { return filterHeight * filterWidth; }

  // Where an element lies: NHWC, HWCF, NHWF or NCHW, FCHW, NFHW, with the groups' channels side by side.
  int64_t input(int64_t image, int64_t group, int64_t y, int64_t x, int64_t c) const {
    int64_t channel = group * channels + c, all = groups * channels;
    return channelsFirst ? ((image * all + channel) * height + y) * width + x
                         : ((image * height + y) * width + x) * all + channel;
  }
  int64_t filter(int64_t group, int64_t tap, int64_t c, int64_t f) const {
    int64_t number = group * filters + f, all = groups * filters;
    return channelsFirst ? (number * channels + c) * taps() + tap : (tap * channels + c) * all + number;
  }
  int64_t output(int64_t image, int64_t group, int64_t pixel, int64_t f) const {
    int64_t number = group * filters + f, all = groups * filters, pixels = outputHeight() * outputWidth();
    return channelsFirst ? (image * all + number) * pixels + pixel : (image * pixels + pixel) * all + number;
  }
};

constexpr Convolution kConvolutions[] = {
    {2, 1, 9, 8, 5, 7, 3, 3, 1, 1, 1, false},  {2, 1, 9, 8, 5, 7, 3, 3, 1, 1, 1, true},
    {1, 2, 11, 7, 4, 3, 3, 2, 2, 1, 0, false}, {1, 2, 11, 7, 4, 3, 3, 2, 2, 2, 2, true},
    {2, 6, 7, 7, 1, 1, 3, 3, 1, 1, 1, false},  {1, 6, 7, 7, 1, 2, 3, 3, 1, 1, 1, true},
    {1, 1, 6, 5, 8, 9, 1, 1, 1, 1, 0, false},  {1, 1, 12, 12, 3, 4, 7, 7, 2, 1, 3, false},
};

class ConvolutionData {
public:
  ConvolutionData(const Convolution &convolution, const Types &types, Pass pass)
      : v(convolution), types(types), pass(pass) {
    k = v.taps() * v.channels;
    Contraction extents =
        makeContraction(types, {v.images * v.groups, v.outputHeight() * v.outputWidth(), v.filters, k});
    InputPlan plan = InputPlan::make(extents, pass, 1, v.taps());
    uint64_t operandBytes = hal::elementTypeByteSize(types.operands);
    input.resize(v.images * v.groups * v.height * v.width * v.channels * operandBytes);
    filter.resize(v.groups * v.filters * k * operandBytes);
    output.resize(v.images * v.groups * extents.m * v.filters * hal::elementTypeByteSize(types.result));
    for (int64_t b = 0; b < v.images * v.groups; ++b)
      for (int64_t pixel = 0; pixel < v.height * v.width; ++pixel)
        for (int64_t c = 0; c < v.channels; ++c)
          storeInteger(types.operands, plan.lhs(b, pixel, c),
                       input.data() +
                           v.input(b / v.groups, b % v.groups, pixel / v.width, pixel % v.width, c) * operandBytes);
    for (int64_t g = 0; g < v.groups; ++g)
      for (int64_t tap = 0; tap < v.taps(); ++tap)
        for (int64_t c = 0; c < v.channels; ++c)
          for (int64_t f = 0; f < v.filters; ++f)
            storeInteger(types.operands, plan.rhs(g, tap, c, f), filter.data() + v.filter(g, tap, c, f) * operandBytes);
    prefillOutput(types.result, pass, output);
  }

  double exact(int64_t image, int64_t group, int64_t pixel, int64_t f) const {
    double sum = 0;
    for (int64_t tap = 0; tap < v.taps(); ++tap) {
      int64_t y = pixel / v.outputWidth() * v.stride + tap / v.filterWidth * v.dilation - v.pad;
      int64_t x = pixel % v.outputWidth() * v.stride + tap % v.filterWidth * v.dilation - v.pad;
      if (y < 0 || x < 0 || y >= v.height || x >= v.width)
        continue;
      for (int64_t c = 0; c < v.channels; ++c)
        sum += number(types.operands, input, v.input(image, group, y, x, c)) *
               number(types.operands, filter, v.filter(group, tap, c, f));
    }
    return sum;
  }

  void computeRightly() {
    for (int64_t image = 0; image < v.images; ++image)
      for (int64_t group = 0; group < v.groups; ++group)
        for (int64_t pixel = 0; pixel < v.outputHeight() * v.outputWidth(); ++pixel)
          for (int64_t f = 0; f < v.filters; ++f)
            set(v.output(image, group, pixel, f), exact(image, group, pixel, f));
  }
  void set(int64_t element, double value) {
    EXPECT_EQ(roundTo(types.result, value), value); // as the inputs promise
    storeNumber(types.result, value, output.data() + element * hal::elementTypeByteSize(types.result));
  }
  double get(int64_t element) const { return number(types.result, output, element); }

  Verdict check() const {
    int64_t pixels = v.outputHeight() * v.outputWidth(), channelsOfAll = v.groups * v.channels;
    PatchLayout patches = {.height = v.height,
                           .width = v.width,
                           .channels = v.channels,
                           .filterHeight = v.filterHeight,
                           .filterWidth = v.filterWidth,
                           .outputWidth = v.outputWidth(),
                           .strideY = v.stride,
                           .strideX = v.stride,
                           .dilationY = v.dilation,
                           .dilationX = v.dilation,
                           .padTop = v.pad,
                           .padLeft = v.pad,
                           .channelsFirst = v.channelsFirst,
                           .imageStride = v.height * v.width * channelsOfAll,
                           .groupStride = v.input(0, 1, 0, 0, 0),
                           .groups = v.groups,
                           .rowStride = v.input(0, 0, 1, 0, 0),
                           .columnStride = v.input(0, 0, 0, 1, 0),
                           .channelStride = v.input(0, 0, 0, 0, 1)};
    PatchOperand lhs(types.operands, patches, input);
    // Images share the filters. A reduction's position is (tap, channel) or (channel, tap).
    Layout filters = {0, v.channelsFirst ? 1 : v.filter(0, 0, 1, 0), v.filter(0, 0, 0, 1), v.filter(1, 0, 0, 0),
                      v.groups};
    TensorOperand rhs(types.operands, filters, filter);
    Layout out = {v.output(1, 0, 0, 0), v.output(0, 0, 1, 0), v.output(0, 0, 0, 1), v.output(0, 1, 0, 0), v.groups};
    ContractionCase subject = {v.images * v.groups,
                               pixels,
                               v.filters,
                               k,
                               types.operands,
                               types.operands,
                               types.result,
                               types.accumulator,
                               &lhs,
                               &rhs,
                               output,
                               out,
                               {},
                               {}};
    subject.coordinates = [&](int64_t b, int64_t i, int64_t j) {
      return std::vector<uint64_t>{uint64_t(b / v.groups), uint64_t(i / v.outputWidth()), uint64_t(i % v.outputWidth()),
                                   uint64_t(b % v.groups * v.filters + j)};
    };
    Result<Verdict> verdict = checkCase(subject, pass, 1);
    EXPECT_TRUE(verdict.ok()) << verdict.status().toString();
    return *verdict;
  }

  Convolution v;

private:
  static double number(ElementType type, const std::vector<uint8_t> &bytes, int64_t element) {
    return io::elementAsDouble(type, bytes.data() + element * hal::elementTypeByteSize(type));
  }

  Types types;
  Pass pass;
  int64_t k;
  std::vector<uint8_t> input, filter, output;
};

TEST(PatchesTest, RightConvolutionsPass) {
  for (const Convolution &convolution : kConvolutions) {
    for (const Types &types : kAllTypes) {
      for (Pass pass : passesOf(makeContraction(types, {1, 1, 1, 1}))) {
        ConvolutionData data(convolution, types, pass);
        data.computeRightly();
        Verdict verdict = data.check();
        EXPECT_TRUE(verdict.ok()) << types.name << " " << &convolution - kConvolutions << ": " << verdict.explanation;
      }
    }
  }
}

TEST(PatchesTest, WrongElementsAreFoundWhereTheyAre) {
  for (const Convolution &convolution : kConvolutions) {
    for (const Types &types : kAllTypes) {
      ConvolutionData data(convolution, types, Pass::Sums);
      data.computeRightly();
      int64_t image = convolution.images - 1, group = convolution.groups - 1, f = convolution.filters - 1;
      int64_t y = 1, x = 2, element = data.v.output(image, group, y * convolution.outputWidth() + x, f);
      data.set(element, data.get(element) + 8);
      Verdict verdict = data.check();
      EXPECT_EQ(verdict.cause, Cause::WrongElements) << verdict.explanation;
      EXPECT_EQ(verdict.wrong, 1u);
      EXPECT_EQ(verdict.examples.at(0).index,
                (std::vector<uint64_t>{uint64_t(image), uint64_t(y), uint64_t(x),
                                       uint64_t(convolution.groups * convolution.filters - 1)}));
    }
  }
}

TEST(PatchesTest, AnOutputThatIsAddedToIsNamed) {
  for (const Convolution &convolution : kConvolutions) {
    ConvolutionData data(convolution, kAllTypes[0], Pass::Sums), before = data;
    data.computeRightly();
    for (int64_t element = 0; element < convolution.images * convolution.groups * convolution.filters *
                                            convolution.outputHeight() * convolution.outputWidth();
         ++element)
      data.set(element, data.get(element) + before.get(element));
    EXPECT_EQ(data.check().cause, Cause::NotZeroed);
  }
}

} // namespace

} // namespace kiln::measure::verify
