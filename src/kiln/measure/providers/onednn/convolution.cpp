// Convolutions in two dimensions. With the preferred layouts the filter is brought into its own when the problem is
// loaded; the input and the result are brought there and back in every call.
#include "kiln/measure/providers/convolution_shape.h"
#include "kiln/measure/providers/onednn/operation.h"

namespace kiln::measure::onednn {

namespace {

using io::ElementType;

// Sums of products of bytes saturate without instructions made for them.
bool multipliesBytesExactly() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  return true;
#endif
}

// oneDNN's order of dimensions is n, c, h, w, wherever they lie in memory.
Result<Description> describeImage(const Library &library, bool channelsLast, ElementType type, uint64_t n, uint64_t c,
                                  uint64_t h, uint64_t w) {
  std::vector<uint64_t> strides = {c * h * w, h * w, w, 1};
  if (channelsLast)
    strides = {h * w * c, 1, w * c, c};
  return library.describe(type, std::vector<uint64_t>{n, c, h, w}, strides);
}

// And that of filters is f, c, r, s; with groups, these before the f and c of each.
Result<Description> describeFilter(const Library &library, const ConvolutionShape &shape) {
  uint64_t f = shape.f / shape.groups, c = shape.c / shape.groups, r = shape.height.filter, s = shape.width.filter;
  std::vector<uint64_t> extents = {f, c, r, s}, strides = {c * r * s, r * s, s, 1};
  if (shape.channelsLast)
    strides = {1, shape.f, s * c * shape.f, c * shape.f};
  if (shape.groups > 1) {
    extents.insert(extents.begin(), shape.groups);
    strides.insert(strides.begin(), f * strides[0]);
  }
  return library.describe(shape.filter, extents, strides);
}

Result<PrimitiveDescription> choose(const Library &library, const ConvolutionShape &shape, const Description &source,
                                    const Description &weights, const Description &result) {
  int64_t strides[kMaxDimensions] = {}, dilations[kMaxDimensions] = {}, padding[kMaxDimensions] = {};
  int i = 0;
  for (const ConvolutionAxis &axis : {shape.height, shape.width}) {
    strides[i] = int64_t(axis.stride);
    dilations[i] = int64_t(axis.dilation - 1); // counted from 0
    padding[i++] = int64_t(axis.padding);
  }
  return library.choose(shape.text(), &Functions::convolution_forward_primitive_desc_create, kInference,
                        kConvolutionDirect, source.get(), weights.get(), nullptr, result.get(), strides, dilations,
                        padding, padding, nullptr);
}

} // namespace

Result<Operation> createConvolution(const Library &library, const LoadRequest &request, Layouts layouts) {
  KILN_ASSIGN_OR_RETURN(ConvolutionShape shape, convolutionShape(request));
  KILN_ASSIGN_OR_RETURN(Description source, describeImage(library, shape.channelsLast, shape.input, shape.n, shape.c,
                                                          shape.height.input, shape.width.input));
  KILN_ASSIGN_OR_RETURN(Description weights, describeFilter(library, shape));
  KILN_ASSIGN_OR_RETURN(Description result, describeImage(library, shape.channelsLast, shape.result, shape.n, shape.f,
                                                          shape.height.output(), shape.width.output()));
  Description wanted[] = {source, weights, result};
  // It halves such weights there, and loses their last bit.
  if (layouts == Layouts::Preferred && shape.filter == io::ElementType::I8 && !multipliesBytesExactly())
    return unimplemented("oneDNN does not do this exactly with a filter that is laid out ahead, on a processor without "
                         "AVX-512 VNNI: {}",
                         shape.text());
  if (layouts == Layouts::Preferred)
    for (Description &description : wanted) {
      KILN_ASSIGN_OR_RETURN(description, library.leaveOpen(description));
    }
  KILN_ASSIGN_OR_RETURN(PrimitiveDescription description, choose(library, shape, wanted[0], wanted[1], wanted[2]));
  KILN_ASSIGN_OR_RETURN(Description usedSource, library.chosenLayout(description, kSourceLayout, source));
  KILN_ASSIGN_OR_RETURN(Description usedWeights, library.chosenLayout(description, kWeightsLayout, weights));
  KILN_ASSIGN_OR_RETURN(Description usedResult, library.chosenLayout(description, kResultLayout, result));
  Operation created;
  KILN_ASSIGN_OR_RETURN(created.primitive, library.create(description));
  created.arguments = {{kSource, 0, source, usedSource},
                       {kWeights, 1, weights, usedWeights, /*isWeight=*/true},
                       {kResult, 0, result, usedResult}};
  return created;
}

} // namespace kiln::measure::onednn
