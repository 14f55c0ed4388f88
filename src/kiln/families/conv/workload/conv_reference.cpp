// A convolution as its definition says it, which shares no code with what is measured.
#include <cstring>

#include "kiln/base/narrow_float.h"
#include "kiln/families/conv/workload/conv_verification.h"

namespace kiln::families {

namespace {

template <typename T> struct Plain {
  static T load(const uint8_t *element) {
    T value;
    std::memcpy(&value, element, sizeof(T));
    return value;
  }
  static void store(T value, uint8_t *element) { std::memcpy(element, &value, sizeof(T)); }
};

template <const NarrowFloat &Format> struct Narrow {
  static float load(const uint8_t *element) {
    return static_cast<float>(Format.decode(Plain<uint16_t>::load(element)));
  }
  static void store(float value, uint8_t *element) { Plain<uint16_t>::store(Format.encode(value), element); }
};

using Kernel = void (*)(const ConvSpec &, const uint8_t *, const uint8_t *, uint8_t *);

struct Position {
  uint64_t n, y, x, f;
};

// The sum of one element of the result.
template <typename In, typename Sum>
Sum sumAt(const ConvSpec &v, const Position &at, const uint8_t *image, const uint8_t *filter) {
  uint64_t bytes = hal::elementTypeByteSize(v.types.image), perGroup = v.groupChannels();
  Sum sum = 0;
  for (uint64_t r = 0; r < v.r; ++r)
    for (uint64_t s = 0; s < v.s; ++s) {
      uint64_t y = at.y * v.strideH + r * v.dilationH, x = at.x * v.strideW + s * v.dilationW;
      if (y < v.padH || x < v.padW || y - v.padH >= v.h || x - v.padW >= v.w)
        continue; // Padding is zero.
      y -= v.padH, x -= v.padW;
      for (uint64_t c = 0; c < perGroup; ++c) {
        uint64_t channel = at.f / v.groupFilters() * perGroup + c;
        uint64_t pixel = v.channelsFirst ? ((at.n * v.c + channel) * v.h + y) * v.w + x
                                         : ((at.n * v.h + y) * v.w + x) * v.c + channel;
        uint64_t weight =
            v.channelsFirst ? ((at.f * perGroup + c) * v.r + r) * v.s + s : ((r * v.s + s) * perGroup + c) * v.f + at.f;
        sum += Sum(In::load(image + pixel * bytes)) * Sum(In::load(filter + weight * bytes));
      }
    }
  return sum;
}

template <typename In, typename Sum, typename Out>
void convolve(const ConvSpec &v, const uint8_t *image, const uint8_t *filter, uint8_t *result) {
  uint64_t height = v.outputHeight(), width = v.outputWidth(), bytes = hal::elementTypeByteSize(v.types.result);
  for (uint64_t n = 0; n < v.n; ++n)
    for (uint64_t f = 0; f < v.f; ++f)
      for (uint64_t y = 0; y < height; ++y)
        for (uint64_t x = 0; x < width; ++x) {
          uint64_t element =
              v.channelsFirst ? ((n * v.f + f) * height + y) * width + x : ((n * height + y) * width + x) * v.f + f;
          Out::store(sumAt<In, Sum>(v, {n, y, x, f}, image, filter), result + element * bytes);
        }
}

struct Entry {
  ElementType in, out;
  Kernel kernel;
};
// Integers are summed without sign, so that they wrap around as the program's do.
constexpr Entry kKernels[] = {
    {ElementType::F32, ElementType::F32, convolve<Plain<float>, float, Plain<float>>},
    {ElementType::F16, ElementType::F16, convolve<Narrow<kF16>, float, Narrow<kF16>>},
    {ElementType::F16, ElementType::F32, convolve<Narrow<kF16>, float, Plain<float>>},
    {ElementType::BF16, ElementType::BF16, convolve<Narrow<kBF16>, float, Narrow<kBF16>>},
    {ElementType::BF16, ElementType::F32, convolve<Narrow<kBF16>, float, Plain<float>>},
    {ElementType::I8, ElementType::I32, convolve<Plain<int8_t>, uint32_t, Plain<uint32_t>>},
};

} // namespace

Status convReference(const ConvSpec &spec, measure::Tensors inputs, measure::MutableTensors outputs) {
  KILN_RETURN_IF_ERROR(matchTensors(spec, inputs));
  std::vector<io::TensorSpan> spans;
  for (const measure::MutableTensor &output : outputs)
    spans.push_back(output.span());
  KILN_RETURN_IF_ERROR(matchOutput(spec, spans));
  for (const Entry &entry : kKernels)
    if (spec.types.image == entry.in && spec.types.result == entry.out) {
      entry.kernel(spec, inputs[0].bytes.data(), inputs[1].bytes.data(), outputs[0].bytes.data());
      return okStatus();
    }
  return unimplemented("the reference does not convolve {}", hal::elementTypeName(spec.types.image));
}

} // namespace kiln::families
