#include "kiln/measure/providers/cudnn/cudnn_convolution.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kiln::measure {

namespace {

using io::ElementType;

// Which tensor a pointer is for.
constexpr int64_t kImageId = 1, kFilterId = 2, kResultId = 3;
// Of all tensors: those of a request start at multiples of more.
constexpr int64_t kTensorAlignment = 16;

std::optional<int> typeOf(ElementType type) {
  switch (type) {
  case ElementType::F32: return cudnn::kF32;
  case ElementType::F16: return cudnn::kF16;
  case ElementType::BF16: return cudnn::kBF16;
  default: return std::nullopt;
  }
}

// Extents are in cuDNN's order: images or filters, channels, rows, columns. Where channels are last in memory, they are
// behind the columns there.
Result<CudnnObject> describe(const CudnnLibrary &library, int64_t id, ElementType type, bool channelsLast,
                             const std::array<uint64_t, 4> &extents) {
  const std::optional<int> known = typeOf(type);
  if (!known)
    return unimplemented("this provider computes convolutions of f16, bf16 and f32");
  std::array<int64_t, 4> sizes{}, strides{};
  std::ranges::transform(extents, sizes.begin(), [](uint64_t extent) { return int64_t(extent); });
  const auto [n, c, h, w] = sizes;
  strides = channelsLast ? std::array{h * w * c, int64_t(1), w * c, c} : std::array{c * h * w, h * w, w, int64_t(1)};
  KILN_ASSIGN_OR_RETURN(CudnnObject tensor, CudnnObject::create(library, cudnn::kTensor));
  KILN_RETURN_IF_ERROR(tensor.set(cudnn::kUniqueId, cudnn::kTypeI64, id));
  KILN_RETURN_IF_ERROR(tensor.set(cudnn::kElementType, cudnn::kTypeElementType, *known));
  KILN_RETURN_IF_ERROR(tensor.set(cudnn::kAlignment, cudnn::kTypeI64, kTensorAlignment));
  KILN_RETURN_IF_ERROR(tensor.set(cudnn::kExtents, cudnn::kTypeI64, std::span<const int64_t>(sizes)));
  KILN_RETURN_IF_ERROR(tensor.set(cudnn::kStrides, cudnn::kTypeI64, std::span<const int64_t>(strides)));
  KILN_RETURN_IF_ERROR(tensor.finalize());
  return tensor;
}

Result<CudnnObject> describeWindow(const CudnnLibrary &library, const ConvolutionShape &shape) {
  const ConvolutionAxis &h = shape.height, &w = shape.width;
  const std::pair<int, std::array<int64_t, 2>> ofAxes[] = {
      {cudnn::kDilations, {int64_t(h.dilation), int64_t(w.dilation)}},
      {cudnn::kFilterStrides, {int64_t(h.stride), int64_t(w.stride)}},
      {cudnn::kPaddingBefore, {int64_t(h.padding), int64_t(w.padding)}},
      {cudnn::kPaddingAfter, {int64_t(h.padding), int64_t(w.padding)}},
  };
  KILN_ASSIGN_OR_RETURN(CudnnObject window, CudnnObject::create(library, cudnn::kConvolution));
  KILN_RETURN_IF_ERROR(window.set(cudnn::kSpatialDimensions, cudnn::kTypeI64, int64_t(2)));
  KILN_RETURN_IF_ERROR(window.set(cudnn::kComputeType, cudnn::kTypeElementType, cudnn::kF32));
  KILN_RETURN_IF_ERROR(window.set(cudnn::kMode, cudnn::kTypeConvolutionMode, cudnn::kCrossCorrelation));
  for (const auto &[attribute, values] : ofAxes)
    KILN_RETURN_IF_ERROR(window.set(attribute, cudnn::kTypeI64, std::span<const int64_t>(values)));
  KILN_RETURN_IF_ERROR(window.finalize());
  return window;
}

} // namespace

Result<CudnnConvolution> CudnnConvolution::create(const CudnnLibrary &library, CudnnHandle handle,
                                                  const ConvolutionShape &shape) {
  if (shape.filter != shape.input || (shape.result != shape.input && shape.result != ElementType::F32))
    return unimplemented("this provider has no such convolution: {}", shape.text());
  const bool last = shape.channelsLast;
  const ConvolutionAxis &h = shape.height, &w = shape.width;
  KILN_ASSIGN_OR_RETURN(CudnnObject image,
                        describe(library, kImageId, shape.input, last, {shape.n, shape.c, h.input, w.input}));
  // Filters have the channels of one group, which is how cuDNN knows of groups.
  KILN_ASSIGN_OR_RETURN(CudnnObject filter, describe(library, kFilterId, shape.filter, last,
                                                     {shape.f, shape.c / shape.groups, h.filter, w.filter}));
  KILN_ASSIGN_OR_RETURN(CudnnObject result,
                        describe(library, kResultId, shape.result, last, {shape.n, shape.f, h.output(), w.output()}));
  KILN_ASSIGN_OR_RETURN(CudnnObject window, describeWindow(library, shape));
  KILN_ASSIGN_OR_RETURN(CudnnObject operation, CudnnObject::create(library, cudnn::kForwardConvolution));
  KILN_RETURN_IF_ERROR(operation.set(cudnn::kAlpha, cudnn::kTypeF32, 1.0F));
  KILN_RETURN_IF_ERROR(operation.set(cudnn::kBeta, cudnn::kTypeF32, 0.0F));
  KILN_RETURN_IF_ERROR(operation.set(cudnn::kOfConvolution, window));
  KILN_RETURN_IF_ERROR(operation.set(cudnn::kImage, image));
  KILN_RETURN_IF_ERROR(operation.set(cudnn::kFilter, filter));
  KILN_RETURN_IF_ERROR(operation.set(cudnn::kResult, result));
  KILN_RETURN_IF_ERROR(operation.finalize());
  CudnnConvolution made;
  made.library = &library;
  made.handle = handle;
  KILN_ASSIGN_OR_RETURN(made.graph, CudnnObject::create(library, cudnn::kOperationGraph));
  KILN_RETURN_IF_ERROR(made.graph.set(cudnn::kGraphHandle, cudnn::kTypeHandle, handle));
  KILN_RETURN_IF_ERROR(made.graph.set(cudnn::kGraphOperations, operation));
  KILN_RETURN_IF_ERROR(made.graph.finalize());
  return made;
}

Result<CudnnObject> CudnnConvolution::pack(const void *image, const void *filter, void *result, void *workspace) const {
  const int64_t ids[] = {kImageId, kFilterId, kResultId};
  const void *pointers[] = {image, filter, result};
  KILN_ASSIGN_OR_RETURN(CudnnObject made, CudnnObject::create(*library, cudnn::kVariantPack));
  KILN_RETURN_IF_ERROR(made.set(cudnn::kPackIds, cudnn::kTypeI64, std::span<const int64_t>(ids)));
  KILN_RETURN_IF_ERROR(made.set(cudnn::kPackPointers, cudnn::kTypePointer, std::span<const void *const>(pointers)));
  KILN_RETURN_IF_ERROR(made.set(cudnn::kPackWorkspace, cudnn::kTypePointer, workspace));
  KILN_RETURN_IF_ERROR(made.finalize());
  return made;
}

Result<std::vector<CudnnObject>> CudnnConvolution::propose(bool fallback) const {
  KILN_ASSIGN_OR_RETURN(CudnnObject heuristics, CudnnObject::create(*library, cudnn::kHeuristics));
  KILN_RETURN_IF_ERROR(heuristics.set(cudnn::kHeuristicsGraph, graph));
  KILN_RETURN_IF_ERROR(heuristics.set(cudnn::kHeuristicsMode, cudnn::kTypeHeuristicsMode,
                                      fallback ? cudnn::kModeFallback : cudnn::kModeA));
  KILN_RETURN_IF_ERROR(heuristics.finalize());
  std::vector<CudnnDescriptor> places;
  KILN_ASSIGN_OR_RETURN(int64_t count, heuristics.read(cudnn::kHeuristicsResults, cudnn::kTypeDescriptor,
                                                       std::span<CudnnDescriptor>(places)));
  std::vector<CudnnObject> found;
  for (int64_t i = 0; i < count; ++i) {
    KILN_ASSIGN_OR_RETURN(found.emplace_back(), CudnnObject::create(*library, cudnn::kEngineConfiguration));
    places.push_back(found.back().get());
  }
  if (found.empty())
    return found;
  KILN_ASSIGN_OR_RETURN(
      count, heuristics.read(cudnn::kHeuristicsResults, cudnn::kTypeDescriptor, std::span<CudnnDescriptor>(places)));
  found.resize(size_t(std::clamp<int64_t>(count, 0, std::ssize(found))));
  return found;
}

Result<bool> CudnnConvolution::isPrecise(const CudnnObject &configuration, bool tensorCores) const {
  KILN_ASSIGN_OR_RETURN(CudnnObject engine, CudnnObject::create(*library, cudnn::kEngine));
  CudnnDescriptor place = engine.get();
  KILN_RETURN_IF_ERROR(
      configuration.read(cudnn::kEngineOfConfiguration, cudnn::kTypeDescriptor, std::span<CudnnDescriptor>(&place, 1))
          .status());
  std::array<int, 64> notes{};
  KILN_ASSIGN_OR_RETURN(const int64_t count,
                        engine.read(cudnn::kNumericalNotes, cudnn::kTypeNumericalNote, std::span<int>(notes)));
  // What is not known here may be less than what is promised.
  if (count > std::ssize(notes))
    return false;
  return std::ranges::all_of(std::span(notes).first(size_t(count)), [&](int note) {
    return note == cudnn::kNoteOrderVaries || note == cudnn::kNotePropagatesNan ||
           (note == cudnn::kNoteTensorCore && tensorCores);
  });
}

Result<CudnnPlan> CudnnConvolution::plan(const CudnnObject &configuration) const {
  CudnnPlan made;
  KILN_ASSIGN_OR_RETURN(made.object, CudnnObject::create(*library, cudnn::kPlan));
  KILN_RETURN_IF_ERROR(made.object.set(cudnn::kPlanHandle, cudnn::kTypeHandle, handle));
  KILN_RETURN_IF_ERROR(made.object.set(cudnn::kPlanConfiguration, configuration));
  KILN_RETURN_IF_ERROR(made.object.finalize());
  int64_t bytes = 0;
  KILN_RETURN_IF_ERROR(
      made.object.read(cudnn::kPlanWorkspaceBytes, cudnn::kTypeI64, std::span<int64_t>(&bytes, 1)).status());
  made.workspaceBytes = size_t(bytes);
  return made;
}

} // namespace kiln::measure
