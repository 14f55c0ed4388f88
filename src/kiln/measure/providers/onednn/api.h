// The part of oneDNN's C interface, version 3, that is used here: names, numbers and signatures are the library's,
// which is loaded when it is needed, so that nothing of it is needed to build this.
#ifndef KILN_MEASURE_PROVIDERS_ONEDNN_API_H
#define KILN_MEASURE_PROVIDERS_ONEDNN_API_H

#include <cstdint>

namespace kiln::measure::onednn {

enum ReturnCode : int { kSuccess = 0, kOutOfMemory = 1, kInvalidArguments = 2, kUnimplemented = 3 };
enum DataType : int { kF16 = 1, kBF16 = 2, kF32 = 3, kS32 = 4, kS8 = 5, kU8 = 6 };
enum Algorithm : int {
  kConvolutionDirect = 0x1,
  kRelu = 0x20,
  kTanh = 0x21,
  kSqrt = 0x25,
  kLinear = 0x26,
  kLogistic = 0x29,
  kExp = 0x2a,
  kGeluTanh = 0x2b,
  kGeluErf = 0x31,
  kRound = 0x32, // halves to even
  kAdd = 0x1fff0,
  kMul = 0x1fff1,
  kMax = 0x2fff2,
  kMin = 0x2fff3,
  kSum = 0x2fff4,
  kMean = 0x2fff6,
  kSoftmaxAccurate = 0x30000,
};
enum Query : int { kSourceLayout = 129, kWeightsLayout = 131, kResultLayout = 133 };
enum ArgumentName : int {
  kSource = 1,
  kSource1 = 2,
  kResult = 17,
  kWeights = 33,
  kBias = 41,
  kScale = 51,
  kShift = 52,
  kFrom = 1,
  kTo = 17,
  // Added to the name of the argument that it is about.
  kScaleOf = 0x1000,
  kZeroPointOf = 0x2000,
};
// What a layer normalization does; a sum of them.
enum NormFlags : unsigned { kUseScale = 0x2, kUseShift = 0x4, kRootMeanSquare = 0x20 };
constexpr int kCpu = 1, kInOrder = 1, kAnyLayout = 1, kInference = 0x60, kMaxDimensions = 12;
// In place of an address: the library allocates the memory.
inline void *const kAllocate = reinterpret_cast<void *>(~uintptr_t(0));

using Dims = const int64_t *; // kMaxDimensions of them

struct EngineObject;
struct StreamObject;
struct LayoutObject;
struct MemoryObject;
struct AttributesObject;
struct PostOpsObject;
struct PrimitiveDescObject;
struct PrimitiveObject;
using Engine = EngineObject *;
using Layout = const LayoutObject *;
using PrimitiveDesc = PrimitiveDescObject *;

struct ExecutionArgument {
  int name;
  MemoryObject *memory;
};
struct Version {
  int major, minor, patch;
};

// X(name without "dnnl_", parameters) of each function; all but version return a ReturnCode.
#define KILN_DNNL_FUNCTIONS(X)                                                                                         \
  X(engine_create, (Engine *, int kind, size_t index))                                                                 \
  X(engine_destroy, (Engine))                                                                                          \
  X(stream_create, (StreamObject **, Engine, unsigned flags))                                                          \
  X(stream_destroy, (StreamObject *))                                                                                  \
  X(stream_wait, (StreamObject *))                                                                                     \
  X(memory_create, (MemoryObject **, Layout, Engine, void *))                                                          \
  X(memory_destroy, (MemoryObject *))                                                                                  \
  X(memory_desc_create_with_strides, (LayoutObject **, int count, Dims extents, DataType, Dims strides))               \
  X(memory_desc_create_with_tag, (LayoutObject **, int count, Dims extents, DataType, int tag))                        \
  X(memory_desc_clone, (LayoutObject **, Layout))                                                                      \
  X(memory_desc_destroy, (LayoutObject *))                                                                             \
  X(matmul_primitive_desc_create,                                                                                      \
    (PrimitiveDesc *, Engine, Layout source, Layout weights, Layout bias, Layout result, const AttributesObject *))    \
  X(convolution_forward_primitive_desc_create,                                                                         \
    (PrimitiveDesc *, Engine, int kind, Algorithm, Layout source, Layout weights, Layout bias, Layout result,          \
     Dims strides, Dims dilations, Dims paddingBefore, Dims paddingAfter, const AttributesObject *))                   \
  X(binary_primitive_desc_create,                                                                                      \
    (PrimitiveDesc *, Engine, Algorithm, Layout source0, Layout source1, Layout result, const AttributesObject *))     \
  X(eltwise_forward_primitive_desc_create, (PrimitiveDesc *, Engine, int kind, Algorithm, Layout source,               \
                                            Layout result, float alpha, float beta, const AttributesObject *))         \
  X(reduction_primitive_desc_create, (PrimitiveDesc *, Engine, Algorithm, Layout source, Layout result, float p,       \
                                      float epsilon, const AttributesObject *))                                        \
  X(softmax_forward_primitive_desc_create,                                                                             \
    (PrimitiveDesc *, Engine, int kind, Algorithm, Layout source, Layout result, int axis, const AttributesObject *))  \
  X(layer_normalization_forward_primitive_desc_create_v2,                                                              \
    (PrimitiveDesc *, Engine, int kind, Layout source, Layout result, Layout statistics, DataType scaleAndShift,       \
     float epsilon, unsigned flags, const AttributesObject *))                                                         \
  X(reorder_primitive_desc_create,                                                                                     \
    (PrimitiveDesc *, Layout source, Engine, Layout result, Engine, const AttributesObject *))                         \
  X(post_ops_create, (PostOpsObject **))                                                                               \
  X(post_ops_destroy, (PostOpsObject *))                                                                               \
  X(post_ops_append_eltwise, (PostOpsObject *, Algorithm, float alpha, float beta))                                    \
  X(primitive_attr_create, (AttributesObject **))                                                                      \
  X(primitive_attr_destroy, (AttributesObject *))                                                                      \
  X(primitive_attr_set_post_ops, (AttributesObject *, const PostOpsObject *))                                          \
  X(primitive_attr_set_scales_mask, (AttributesObject *, int name, int mask))                                          \
  X(primitive_attr_set_zero_points_mask, (AttributesObject *, int name, int mask))                                     \
  X(primitive_desc_destroy, (PrimitiveDesc))                                                                           \
  X(primitive_create, (PrimitiveObject **, const PrimitiveDescObject *))                                               \
  X(primitive_destroy, (PrimitiveObject *))                                                                            \
  X(primitive_execute, (const PrimitiveObject *, StreamObject *, int count, const ExecutionArgument *))

// The functions, found in the library when it is loaded.
struct Functions {
#define KILN_DNNL_MEMBER(name, parameters) ReturnCode(*name) parameters = nullptr;
  KILN_DNNL_FUNCTIONS(KILN_DNNL_MEMBER)
#undef KILN_DNNL_MEMBER
  const Version *(*version)() = nullptr;
  int (*memory_desc_equal)(Layout, Layout) = nullptr;
  Layout (*primitive_desc_query_md)(const PrimitiveDescObject *, Query, int index) = nullptr;
};

} // namespace kiln::measure::onednn

#endif // KILN_MEASURE_PROVIDERS_ONEDNN_API_H
