// cuDNN 9, loaded at run time; what is used of the C functions of its graph interface is declared here.
#ifndef KILN_MEASURE_PROVIDERS_CUDNN_CUDNN_LIBRARY_H
#define KILN_MEASURE_PROVIDERS_CUDNN_CUDNN_LIBRARY_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/targets/cuda/driver/cuda_library.h"

namespace kiln::measure {

using CudnnHandle = struct CudnnContext *;
using CudnnDescriptor = void *;

namespace cudnn {
inline constexpr int kSuccess = 0, kBadParameter = 2000, kNotSupported = 3000, kInternalError = 4000;
// Element types.
inline constexpr int kF32 = 0, kF16 = 2, kBF16 = 9;
// Kinds of descriptors.
inline constexpr int kConvolution = 1, kEngine = 2, kEngineConfiguration = 3, kHeuristics = 4, kPlan = 5,
                     kForwardConvolution = 10, kOperationGraph = 15, kVariantPack = 16, kTensor = 17;
// Types of attributes.
inline constexpr int kTypeHandle = 0, kTypeElementType = 1, kTypeI64 = 3, kTypeF32 = 4, kTypePointer = 6,
                     kTypeConvolutionMode = 7, kTypeHeuristicsMode = 8, kTypeNumericalNote = 11, kTypeDescriptor = 15;
// Attributes of a convolution and of the operation that it is in.
inline constexpr int kComputeType = 100, kMode = 101, kDilations = 102, kFilterStrides = 103, kPaddingAfter = 104,
                     kPaddingBefore = 105, kSpatialDimensions = 106;
inline constexpr int kAlpha = 700, kBeta = 701, kOfConvolution = 702, kFilter = 703, kImage = 704, kResult = 705;
inline constexpr int kCrossCorrelation = 1; // a mode
// Of heuristics, engine configurations and engines, and of plans.
inline constexpr int kHeuristicsMode = 200, kHeuristicsGraph = 201, kHeuristicsResults = 202;
inline constexpr int kModeFallback = 2, kModeA = 3;
inline constexpr int kEngineOfConfiguration = 300;
inline constexpr int kNumericalNotes = 1303;
inline constexpr int kPlanHandle = 400, kPlanConfiguration = 401, kPlanWorkspaceBytes = 402;
// Of graphs, tensors and variant packs.
inline constexpr int kGraphHandle = 800, kGraphOperations = 801;
inline constexpr int kAlignment = 900, kElementType = 901, kExtents = 902, kStrides = 903, kUniqueId = 906;
inline constexpr int kPackIds = 1000, kPackPointers = 1001, kPackWorkspace = 1003;
// What engines say of how they compute.
inline constexpr int kNoteTensorCore = 0, kNoteNarrowedInputs = 1, kNoteNarrowSums = 2, kNoteFft = 3,
                     kNoteOrderVaries = 4, kNoteWinograd = 5, kNotePropagatesNan = 9;
} // namespace cudnn

// A table of functions, each a member of its name.
struct CudnnLibrary {
#define KILN_CUDNN_FUNCTION(name, parameters) int(*name) parameters = nullptr;
#include "kiln/measure/providers/cudnn/cudnn_functions.def"
#undef KILN_CUDNN_FUNCTION
  size_t (*cudnnGetVersion)() = nullptr;

  // Unimplemented where this machine has none.
  static Result<CudnnLibrary> load(const std::string &peersFolder, const hal::CudaLibrary &cuda);
};

// Success, or an error with the library's number for it: Unimplemented where it does not do what was asked.
Status checkCudnn(int status, std::string_view what);

// A descriptor of the library. Copies share it, and it is destroyed with the last of them and of the objects that it
// was set in. It ends before the library and its handle do.
class CudnnObject {
public:
  CudnnObject() = default;
  static Result<CudnnObject> create(const CudnnLibrary &library, int kind);

  CudnnDescriptor get() const { return node->descriptor; }
  explicit operator bool() const { return node != nullptr; }

  template <typename T> Status set(int attribute, int type, std::span<const T> values) {
    return setValues(attribute, type, int64_t(values.size()), static_cast<const void *>(values.data()));
  }
  template <typename T> Status set(int attribute, int type, const T &value) {
    return setValues(attribute, type, 1, static_cast<const void *>(&value));
  }
  Status set(int attribute, const CudnnObject &object) {
    node->uses.push_back(object.node);
    return set(attribute, cudnn::kTypeDescriptor, object.get());
  }
  // No attribute can be set behind it.
  Status finalize();

  // How many values there are, of which as many as `values` has room for are copied there. Values that are descriptors
  // are made before, and filled in.
  template <typename T> Result<int64_t> read(int attribute, int type, std::span<T> values) const {
    return readValues(attribute, type, int64_t(values.size()), static_cast<void *>(values.data()));
  }

private:
  struct Node {
    explicit Node(const CudnnLibrary &library) : library(library) {}
    Node(const Node &) = delete;
    Node &operator=(const Node &) = delete;
    ~Node() { library.cudnnBackendDestroyDescriptor(descriptor); }

    const CudnnLibrary &library;
    CudnnDescriptor descriptor = nullptr;
    std::vector<std::shared_ptr<Node>> uses;
  };
  Status setValues(int attribute, int type, int64_t count, const void *values);
  Result<int64_t> readValues(int attribute, int type, int64_t wanted, void *values) const;

  std::shared_ptr<Node> node;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_CUDNN_CUDNN_LIBRARY_H
