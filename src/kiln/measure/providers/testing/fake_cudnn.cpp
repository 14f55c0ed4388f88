#include "kiln/measure/providers/testing/fake_cudnn.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "fmt/format.h"
#include "kiln/measure/providers/testing/fake_kernels.h"

namespace kiln::measure::testing {

namespace {

constexpr int kExecutionFailed = 5000;
constexpr int64_t kMostExtents = 8;
constexpr int64_t kLargeWorkspace = int64_t(1) << 40, kSmallWorkspace = 4096;

FakeKernels kernels;
FakeEngine engineOfCall{};
std::string misuse;

//===--- Descriptors ---------------------------------------------------------------------------------------------===//

struct Object {
  int kind = 0;
  bool finalized = false;
  std::map<int, std::vector<std::byte>> attributes;
  FakeEngine engine{};           // of an engine, its configuration, and their plan
  const Object *graph = nullptr; // what that computes

  template <typename T> std::vector<T> values(int attribute) const {
    const std::vector<std::byte> &bytes = attributes.at(attribute);
    std::vector<T> all(bytes.size() / sizeof(T));
    std::memcpy(static_cast<void *>(all.data()), bytes.data(), bytes.size());
    return all;
  }
  template <typename T> T value(int attribute) const { return values<T>(attribute).at(0); }
  const Object &object(int attribute) const { return *static_cast<Object *>(value<CudnnDescriptor>(attribute)); }
};
std::set<void *> alive; // descriptors and handles

// An attribute that may be set, and must be before its descriptor is finalized.
struct Attribute {
  int kind, name, type;
  int64_t fewest, most;
  int object = -1; // the kind of descriptors that it takes
};
constexpr Attribute kAttributes[] = {
    {cudnn::kTensor, cudnn::kUniqueId, cudnn::kTypeI64, 1, 1},
    {cudnn::kTensor, cudnn::kElementType, cudnn::kTypeElementType, 1, 1},
    {cudnn::kTensor, cudnn::kAlignment, cudnn::kTypeI64, 1, 1},
    {cudnn::kTensor, cudnn::kExtents, cudnn::kTypeI64, 1, kMostExtents},
    {cudnn::kTensor, cudnn::kStrides, cudnn::kTypeI64, 1, kMostExtents},
    {cudnn::kConvolution, cudnn::kComputeType, cudnn::kTypeElementType, 1, 1},
    {cudnn::kConvolution, cudnn::kMode, cudnn::kTypeConvolutionMode, 1, 1},
    {cudnn::kConvolution, cudnn::kSpatialDimensions, cudnn::kTypeI64, 1, 1},
    {cudnn::kConvolution, cudnn::kDilations, cudnn::kTypeI64, 1, kMostExtents},
    {cudnn::kConvolution, cudnn::kFilterStrides, cudnn::kTypeI64, 1, kMostExtents},
    {cudnn::kConvolution, cudnn::kPaddingBefore, cudnn::kTypeI64, 1, kMostExtents},
    {cudnn::kConvolution, cudnn::kPaddingAfter, cudnn::kTypeI64, 1, kMostExtents},
    {cudnn::kForwardConvolution, cudnn::kAlpha, cudnn::kTypeF32, 1, 1},
    {cudnn::kForwardConvolution, cudnn::kBeta, cudnn::kTypeF32, 1, 1},
    {cudnn::kForwardConvolution, cudnn::kOfConvolution, cudnn::kTypeDescriptor, 1, 1, cudnn::kConvolution},
    {cudnn::kForwardConvolution, cudnn::kFilter, cudnn::kTypeDescriptor, 1, 1, cudnn::kTensor},
    {cudnn::kForwardConvolution, cudnn::kImage, cudnn::kTypeDescriptor, 1, 1, cudnn::kTensor},
    {cudnn::kForwardConvolution, cudnn::kResult, cudnn::kTypeDescriptor, 1, 1, cudnn::kTensor},
    {cudnn::kOperationGraph, cudnn::kGraphHandle, cudnn::kTypeHandle, 1, 1},
    {cudnn::kOperationGraph, cudnn::kGraphOperations, cudnn::kTypeDescriptor, 1, 1, cudnn::kForwardConvolution},
    {cudnn::kHeuristics, cudnn::kHeuristicsGraph, cudnn::kTypeDescriptor, 1, 1, cudnn::kOperationGraph},
    {cudnn::kHeuristics, cudnn::kHeuristicsMode, cudnn::kTypeHeuristicsMode, 1, 1},
    {cudnn::kPlan, cudnn::kPlanHandle, cudnn::kTypeHandle, 1, 1},
    {cudnn::kPlan, cudnn::kPlanConfiguration, cudnn::kTypeDescriptor, 1, 1, cudnn::kEngineConfiguration},
    {cudnn::kVariantPack, cudnn::kPackIds, cudnn::kTypeI64, 1, kMostExtents},
    {cudnn::kVariantPack, cudnn::kPackPointers, cudnn::kTypePointer, 1, kMostExtents},
    {cudnn::kVariantPack, cudnn::kPackWorkspace, cudnn::kTypePointer, 1, 1},
};

size_t sizeOf(int type) {
  switch (type) {
  case cudnn::kTypeI64: return sizeof(int64_t);
  case cudnn::kTypeHandle:
  case cudnn::kTypePointer:
  case cudnn::kTypeDescriptor: return sizeof(void *);
  default: return sizeof(int);
  }
}

// What a program must not do, as opposed to what a library does not compute.
int misused(std::string why) {
  misuse = std::move(why);
  return cudnn::kBadParameter;
}

Object *objectOf(CudnnDescriptor descriptor) {
  return alive.contains(descriptor) ? static_cast<Object *>(descriptor) : nullptr;
}

int cudnnBackendCreateDescriptor(int kind, CudnnDescriptor *descriptor) {
  auto *made = new Object();
  made->kind = kind;
  alive.insert(made);
  *descriptor = made;
  return cudnn::kSuccess;
}
int cudnnBackendDestroyDescriptor(CudnnDescriptor descriptor) {
  if (alive.erase(descriptor) == 0)
    return misused("a descriptor is destroyed that is none");
  delete static_cast<Object *>(descriptor);
  return cudnn::kSuccess;
}

int cudnnBackendSetAttribute(CudnnDescriptor descriptor, int name, int type, int64_t count, const void *values) {
  Object *object = objectOf(descriptor);
  if (!object || object->finalized || !values)
    return misused(fmt::format("attribute {} is set of no descriptor, of one that is final, or to nothing", name));
  const Attribute *known = std::ranges::find_if(
      kAttributes, [&](const Attribute &each) { return each.kind == object->kind && each.name == name; });
  if (known == std::end(kAttributes) || known->type != type || count < known->fewest || count > known->most)
    return misused(fmt::format("attribute {} of kind {} has another type than {}, or no {} values", name, object->kind,
                               type, count));
  const auto *bytes = static_cast<const std::byte *>(values);
  object->attributes[name].assign(bytes, bytes + size_t(count) * sizeOf(type));
  if (type == cudnn::kTypeHandle && !alive.contains(object->value<void *>(name)))
    return misused("a handle is none");
  for (int64_t i = 0; known->object >= 0 && i < count; ++i) {
    const Object *used = objectOf(object->values<CudnnDescriptor>(name)[size_t(i)]);
    if (!used || used->kind != known->object || !used->finalized)
      return misused(fmt::format("attribute {} takes descriptors of kind {} that are final", name, known->object));
  }
  return cudnn::kSuccess;
}

//===--- What is final --------------------------------------------------------------------------------------------===//

// Of a graph, with all sizes.
struct Convolution {
  std::vector<int64_t> x, w, y, xStrides, wStrides, yStrides, dilations, strides, before, after;
  int operands = 0, filterType = 0, result = 0;
  int64_t ids[3] = {}; // of x, w, y
  int64_t alignment = 0;

  explicit Convolution(const Object &graph) {
    const Object &operation = graph.object(cudnn::kGraphOperations);
    const Object &window = operation.object(cudnn::kOfConvolution);
    const std::pair<int, std::pair<std::vector<int64_t> *, std::vector<int64_t> *>> tensors[] = {
        {cudnn::kImage, {&x, &xStrides}}, {cudnn::kFilter, {&w, &wStrides}}, {cudnn::kResult, {&y, &yStrides}}};
    for (size_t i = 0; const auto &[name, sizes] : tensors) {
      const Object &tensor = operation.object(name);
      *sizes.first = tensor.values<int64_t>(cudnn::kExtents);
      *sizes.second = tensor.values<int64_t>(cudnn::kStrides);
      ids[i++] = tensor.value<int64_t>(cudnn::kUniqueId);
      alignment = std::max(alignment, tensor.value<int64_t>(cudnn::kAlignment));
    }
    operands = operation.object(cudnn::kImage).value<int>(cudnn::kElementType);
    filterType = operation.object(cudnn::kFilter).value<int>(cudnn::kElementType);
    result = operation.object(cudnn::kResult).value<int>(cudnn::kElementType);
    dilations = window.values<int64_t>(cudnn::kDilations);
    strides = window.values<int64_t>(cudnn::kFilterStrides);
    before = window.values<int64_t>(cudnn::kPaddingBefore);
    after = window.values<int64_t>(cudnn::kPaddingAfter);
  }

  bool fits() const {
    if (x.size() != 4 || w.size() != 4 || y.size() != 4 || dilations.size() != 2)
      return false;
    for (size_t axis = 0; axis < 2; ++axis) {
      const int64_t reach = dilations[axis] * (w[axis + 2] - 1) + 1;
      if ((x[axis + 2] + before[axis] + after[axis] - reach) / strides[axis] + 1 != y[axis + 2])
        return false;
    }
    const int64_t groups = x[1] / w[1];
    return x[0] == y[0] && x[1] % w[1] == 0 && w[0] == y[1] && w[0] % groups == 0 && ids[0] != ids[1] &&
           ids[1] != ids[2] && ids[0] != ids[2];
  }

  static bool channelsLast(const std::vector<int64_t> &extents, const std::vector<int64_t> &strides) {
    return strides ==
           std::vector{extents[1] * extents[2] * extents[3], int64_t(1), extents[3] * extents[1], extents[1]};
  }
  static bool channelsFirst(const std::vector<int64_t> &extents, const std::vector<int64_t> &strides) {
    return strides ==
           std::vector{extents[1] * extents[2] * extents[3], extents[2] * extents[3], extents[3], int64_t(1)};
  }
  // All three of one layout, dense, and of types that go together.
  bool isSupported() const {
    const bool last = channelsLast(x, xStrides) && channelsLast(w, wStrides) && channelsLast(y, yStrides),
               first = channelsFirst(x, xStrides) && channelsFirst(w, wStrides) && channelsFirst(y, yStrides);
    return (last || first) && operands == filterType && (result == operands || result == cudnn::kF32);
  }
};

bool isComplete(const Object &object) {
  return std::ranges::all_of(kAttributes, [&](const Attribute &attribute) {
    return attribute.kind != object.kind || object.attributes.contains(attribute.name);
  });
}

int finalizeTensor(const Object &tensor) {
  const std::vector<int64_t> extents = tensor.values<int64_t>(cudnn::kExtents),
                             strides = tensor.values<int64_t>(cudnn::kStrides);
  auto isPositive = [](int64_t value) { return value > 0; };
  if (extents.size() != strides.size() || !std::ranges::all_of(extents, isPositive) ||
      !std::ranges::all_of(strides, isPositive))
    return misused("a tensor has extents or strides that are none");
  return cudnn::kSuccess;
}

int finalizeWindow(const Object &window) {
  const auto dimensions = size_t(window.value<int64_t>(cudnn::kSpatialDimensions));
  for (int name : {cudnn::kDilations, cudnn::kFilterStrides, cudnn::kPaddingBefore, cudnn::kPaddingAfter})
    if (window.values<int64_t>(name).size() != dimensions)
      return misused("a convolution has values for other dimensions than it has");
  const bool isKnown = window.value<int>(cudnn::kComputeType) == cudnn::kF32 &&
                       window.value<int>(cudnn::kMode) == cudnn::kCrossCorrelation;
  return isKnown ? cudnn::kSuccess : cudnn::kNotSupported;
}

int cudnnBackendFinalize(CudnnDescriptor descriptor) {
  Object *object = objectOf(descriptor);
  if (!object || object->finalized || !isComplete(*object))
    return misused("a descriptor is finalized that is none, is final, or lacks an attribute");
  int status = cudnn::kSuccess;
  switch (object->kind) {
  case cudnn::kTensor: status = finalizeTensor(*object); break;
  case cudnn::kConvolution: status = finalizeWindow(*object); break;
  case cudnn::kOperationGraph:
    if (!Convolution(*object).fits())
      status = misused("sizes of a convolution do not go together");
    break;
  case cudnn::kPlan:
    object->engine = object->object(cudnn::kPlanConfiguration).engine;
    object->graph = object->object(cudnn::kPlanConfiguration).graph;
    status = object->engine == FakeEngine::Refused ? cudnn::kNotSupported : cudnn::kSuccess;
    break;
  case cudnn::kVariantPack:
    if (object->values<int64_t>(cudnn::kPackIds).size() != object->values<void *>(cudnn::kPackPointers).size())
      status = misused("a pack has as many pointers as it has not names");
    break;
  case cudnn::kEngine:
  case cudnn::kEngineConfiguration: status = misused("an engine is made by a program"); break;
  default: break;
  }
  object->finalized = status == cudnn::kSuccess;
  return status;
}

//===--- Engines --------------------------------------------------------------------------------------------------===//

std::vector<FakeEngine> proposalsOf(const Object &heuristics) {
  using enum FakeEngine;
  const bool fallback = heuristics.value<int>(cudnn::kHeuristicsMode) == cudnn::kModeFallback;
  if (!Convolution(heuristics.object(cudnn::kHeuristicsGraph)).isSupported())
    return {};
  if (fallback)
    return fakeProposals == FakeProposals::None ? std::vector{Refused} : std::vector{Winograd, Plain};
  std::vector<FakeEngine> all = {Refused, Large, NarrowedInputs, NarrowSums, Winograd, Unknown};
  if (fakeProposals == FakeProposals::All)
    all.insert(all.end(), {Slow, TensorCores, Plain});
  return all;
}

std::vector<int> notesOf(FakeEngine engine) {
  switch (engine) {
  case FakeEngine::NarrowedInputs: return {cudnn::kNoteTensorCore, cudnn::kNoteNarrowedInputs};
  case FakeEngine::NarrowSums: return {cudnn::kNoteNarrowSums};
  case FakeEngine::Winograd: return {cudnn::kNotePropagatesNan, cudnn::kNoteWinograd};
  case FakeEngine::Unknown: return {1000};
  case FakeEngine::Slow: return {cudnn::kNoteOrderVaries};
  case FakeEngine::TensorCores: return {cudnn::kNoteTensorCore};
  default: return {};
  }
}

// Into descriptors that the program has made.
int tellEngines(std::span<const FakeEngine> engines, const Object *graph, int kind, int64_t wanted, int64_t *count,
                void *values) {
  *count = int64_t(engines.size());
  auto **places = static_cast<CudnnDescriptor *>(values);
  if (wanted == 0)
    return cudnn::kSuccess;
  for (int64_t i = 0; i < std::min(wanted, *count); ++i) {
    Object *place = objectOf(places[i]);
    if (!place || place->kind != kind || place->finalized)
      return misused("an engine is asked for where no new descriptor for it is");
    place->finalized = true;
    place->engine = engines[size_t(i)];
    place->graph = graph;
  }
  *count = std::min(wanted, *count);
  return cudnn::kSuccess;
}

int cudnnBackendGetAttribute(CudnnDescriptor descriptor, int name, int type, int64_t wanted, int64_t *count,
                             void *values) {
  const Object *object = objectOf(descriptor);
  if (!object || !object->finalized || !count || (wanted > 0 && !values))
    return misused(fmt::format("attribute {} is read of nothing, of what is not final, or to nowhere", name));
  if (object->kind == cudnn::kHeuristics && name == cudnn::kHeuristicsResults && type == cudnn::kTypeDescriptor)
    return tellEngines(proposalsOf(*object), &object->object(cudnn::kHeuristicsGraph), cudnn::kEngineConfiguration,
                       wanted, count, values);
  if (object->kind == cudnn::kEngineConfiguration && name == cudnn::kEngineOfConfiguration &&
      type == cudnn::kTypeDescriptor)
    return tellEngines({&object->engine, 1}, object->graph, cudnn::kEngine, wanted, count, values);
  if (object->kind == cudnn::kEngine && name == cudnn::kNumericalNotes && type == cudnn::kTypeNumericalNote) {
    const std::vector<int> notes = notesOf(object->engine);
    *count = int64_t(notes.size());
    std::copy_n(notes.begin(), std::min(wanted, *count), static_cast<int *>(values));
    return cudnn::kSuccess;
  }
  if (object->kind == cudnn::kPlan && name == cudnn::kPlanWorkspaceBytes && type == cudnn::kTypeI64 && wanted == 1) {
    *static_cast<int64_t *>(values) = object->engine == FakeEngine::Large ? kLargeWorkspace : kSmallWorkspace;
    *count = 1;
    return cudnn::kSuccess;
  }
  return misused(fmt::format("attribute {} of kind {} cannot be read as type {}", name, object->kind, type));
}

//===--- The kernel -----------------------------------------------------------------------------------------------===//

io::ElementType elementOf(int type) {
  return type == cudnn::kF16    ? io::ElementType::F16
         : type == cudnn::kBF16 ? io::ElementType::BF16
                                : io::ElementType::F32;
}

// y[n, f, p, q] = sum over c, r, s of x[n, group of f * channels + c, row, column] * w[f, c, r, s], where that is in x.
std::string kernelText(int operands, int result, bool tf32) {
  const ElementText &in = elementText(elementOf(operands)), &out = elementText(elementOf(result));
  const char *names[] = {"image", "filter",  "result", "xn", "xc", "xh", "xw", "wf", "wc", "wr", "ws",
                         "yn",    "yf",      "yp",     "yq", "H",  "W",  "C",  "R",  "S",  "F",  "P",
                         "Q",     "ofGroup", "count",  "sh", "sw", "dh", "dw", "ph", "pw"};
  std::string text = kernelHead("convolve", names);
  text += ".reg .f32 %a, %b, %sum;\n.reg .u64 %n, %f, %p0, %q, %g, %c, %r, %s, %row, %column, %ax, %aw, %ay;\n"
          "setp.ge.u64 %p, %i, %count;\n@%p bra done;\n"
          "rem.u64 %q, %i, %Q; div.u64 %i, %i, %Q; rem.u64 %p0, %i, %P; div.u64 %i, %i, %P;\n"
          "rem.u64 %f, %i, %F; div.u64 %n, %i, %F; div.u64 %g, %f, %ofGroup; mul.lo.u64 %g, %g, %C;\n"
          "mov.f32 %sum, 0f00000000; mov.u64 %c, 0;\n"
          "channel:\nmov.u64 %r, 0;\n"
          "filterRow:\nmov.u64 %s, 0;\n"
          "mul.lo.u64 %row, %p0, %sh; mad.lo.u64 %row, %r, %dh, %row; sub.u64 %row, %row, %ph;\n"
          "setp.ge.u64 %p, %row, %H;\n@%p bra nextRow;\n"
          "filterColumn:\n"
          "mul.lo.u64 %column, %q, %sw; mad.lo.u64 %column, %s, %dw, %column; sub.u64 %column, %column, %pw;\n"
          "setp.ge.u64 %p, %column, %W;\n@%p bra nextColumn;\n";
  text += fmt::format(
      "mul.lo.u64 %ax, %n, %xn; add.u64 %aw, %g, %c; mad.lo.u64 %ax, %aw, %xc, %ax;\n"
      "mad.lo.u64 %ax, %row, %xh, %ax; mad.lo.u64 %ax, %column, %xw, %ax; mad.lo.u64 %ax, %ax, {0}, %image;\n"
      "mul.lo.u64 %aw, %f, %wf; mad.lo.u64 %aw, %c, %wc, %aw; mad.lo.u64 %aw, %r, %wr, %aw;\n"
      "mad.lo.u64 %aw, %s, %ws, %aw; mad.lo.u64 %aw, %aw, {0}, %filter;\n{1}\n{2}\n{3}\n",
      in.bytes, in.load("%a", "%ax"), in.load("%b", "%aw"), tf32 ? narrowToTF32("%a", "%b") : "");
  text += "fma.rn.f32 %sum, %a, %b, %sum;\n"
          "nextColumn:\nadd.u64 %s, %s, 1; setp.lt.u64 %p, %s, %S;\n@%p bra filterColumn;\n"
          "nextRow:\nadd.u64 %r, %r, 1; setp.lt.u64 %p, %r, %R;\n@%p bra filterRow;\n"
          "add.u64 %c, %c, 1; setp.lt.u64 %p, %c, %C;\n@%p bra channel;\n";
  text += fmt::format("mul.lo.u64 %ay, %n, %yn; mad.lo.u64 %ay, %f, %yf, %ay; mad.lo.u64 %ay, %p0, %yp, %ay;\n"
                      "mad.lo.u64 %ay, %q, %yq, %ay; mad.lo.u64 %ay, %ay, {}, %result;\n{}\n",
                      out.bytes, out.store("%sum", "%ay"));
  return text + "done:\nret;\n}\n";
}

bool launch(const Convolution &c, std::span<void *const> pointers, bool tf32, hal::CUstream stream) {
  std::vector<uint64_t> values;
  auto add = [&](auto value) { values.push_back(uint64_t(value)); };
  for (void *pointer : pointers)
    add(pointer);
  for (const std::vector<int64_t> *strides : {&c.xStrides, &c.wStrides, &c.yStrides})
    for (int64_t stride : *strides)
      add(stride);
  const int64_t groups = c.x[1] / c.w[1], count = c.y[0] * c.y[1] * c.y[2] * c.y[3];
  for (int64_t extent : {c.x[2], c.x[3], c.w[1], c.w[2], c.w[3], c.y[1], c.y[2], c.y[3], c.w[0] / groups, count})
    add(extent);
  for (const std::vector<int64_t> *steps : {&c.strides, &c.dilations, &c.before})
    for (int64_t step : *steps)
      add(step);
  return kernels.launch(kernelText(c.operands, c.result, tf32), "convolve", {unsigned(count + 31) / 32, 1, 1}, values,
                        stream);
}

//===--- Handles --------------------------------------------------------------------------------------------------===//

struct Handle {
  hal::CUstream stream = nullptr;
};

int cudnnCreate(CudnnHandle *handle) {
  *handle = reinterpret_cast<CudnnHandle>(new Handle());
  alive.insert(*handle);
  return cudnn::kSuccess;
}
int cudnnDestroy(CudnnHandle handle) {
  if (alive.erase(handle) == 0)
    return misused("a handle is destroyed that is none");
  delete reinterpret_cast<Handle *>(handle);
  kernels.unload();
  return cudnn::kSuccess;
}
int cudnnSetStream(CudnnHandle handle, hal::CUstream stream) {
  reinterpret_cast<Handle *>(handle)->stream = stream;
  return cudnn::kSuccess;
}
size_t cudnnGetVersion() {
  return 92800;
}

int cudnnBackendExecute(CudnnHandle handle, CudnnDescriptor planAt, CudnnDescriptor packAt) {
  const Object *plan = objectOf(planAt), *pack = objectOf(packAt);
  if (!alive.contains(handle) || !plan || plan->kind != cudnn::kPlan || !plan->finalized || !pack ||
      pack->kind != cudnn::kVariantPack || !pack->finalized)
    return misused("what is executed is no plan, or its tensors no pack");
  engineOfCall = plan->engine;
  const Convolution convolution(*plan->graph);
  const std::vector<int64_t> ids = pack->values<int64_t>(cudnn::kPackIds);
  const std::vector<void *> pointers = pack->values<void *>(cudnn::kPackPointers);
  std::vector<void *> ordered;
  for (int64_t id : convolution.ids) {
    const auto at = std::ranges::find(ids, id);
    if (at == ids.end())
      return misused("a tensor of the graph is not in the pack");
    ordered.push_back(pointers[size_t(at - ids.begin())]);
    if (!ordered.back() || uint64_t(ordered.back()) % uint64_t(convolution.alignment) != 0)
      return misused("a tensor is not aligned as it was described");
  }
  if (!pack->value<void *>(cudnn::kPackWorkspace))
    return misused("there is no workspace");
  const int times = engineOfCall == FakeEngine::Slow          ? 5
                    : engineOfCall == FakeEngine::Plain       ? 3
                    : engineOfCall == FakeEngine::TensorCores ? 1
                                                              : 0;
  const bool tf32 = engineOfCall == FakeEngine::TensorCores && convolution.operands == cudnn::kF32;
  for (int i = 0; i < times; ++i)
    if (!launch(convolution, ordered, tf32, reinterpret_cast<Handle *>(handle)->stream))
      return kExecutionFailed;
  return cudnn::kSuccess;
}

} // namespace

Result<CudnnLibrary> fakeCudnn(const hal::CudaLibrary &cuda) {
  kernels.use(cuda);
  misuse.clear();
  CudnnLibrary library;
#define KILN_CUDNN_FUNCTION(name, parameters) library.name = &testing::name;
#include "kiln/measure/providers/cudnn/cudnn_functions.def"
#undef KILN_CUDNN_FUNCTION
  library.cudnnGetVersion = &testing::cudnnGetVersion;
  return library;
}

FakeEngine lastEngine() {
  return engineOfCall;
}
size_t fakeCudnnObjects() {
  return alive.size();
}
std::string fakeCudnnMisuse() {
  return misuse;
}

} // namespace kiln::measure::testing
