#include "kiln/measure/providers/cudnn/cudnn_provider.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kiln/measure/providers/cudnn/cudnn_convolution.h"
#include "kiln/measure/providers/gpu_provider.h"

namespace kiln::measure {

namespace {

using io::ElementType;

// So many plans are timed.
constexpr int kPlans = 8;

// `rows` x `columns` elements, row by row, to the same column by column. Tiles keep both in caches.
template <typename Element> void transpose(const std::byte *from, std::byte *to, size_t rows, size_t columns) {
  constexpr size_t kTile = 32, kBytes = sizeof(Element);
  for (size_t top = 0; top < rows; top += kTile)
    for (size_t left = 0; left < columns; left += kTile)
      for (size_t row = top; row < std::min(rows, top + kTile); ++row)
        for (size_t column = left; column < std::min(columns, left + kTile); ++column)
          std::memcpy(to + (column * rows + row) * kBytes, from + (row * columns + column) * kBytes, kBytes);
}

class CudnnProvider final : public GpuProvider {
public:
  CudnnProvider(LoadGpuLibrary<CudnnLibrary> load, bool tf32) : loadLibrary(std::move(load)), tf32(tf32) {}
  ~CudnnProvider() override {
    if (!handle)
      return;
    hal::CudaContext::Scope scope(gpu().context());
    packs.clear();
    chosen = {};
    convolution = {};
    library.cudnnDestroy(handle);
  }
  std::string version() const override { return gpuLibraryVersion(library.cudnnGetVersion()); }
  std::string note() const override {
    return fmt::format("{}the fastest of up to {} engines that it proposes, without FFT and Winograd; filters of "
                       "nhwc_hwcf are brought to f, r, s, c, which is not timed",
                       tf32 ? "products of f32 may be in tf32; " : "", kPlans);
  }
  bool preparedWeights() const override { return !filters.empty(); }

protected:
  Status openLibrary(const hal::CudaLibrary &cuda) override {
    KILN_ASSIGN_OR_RETURN(library, loadLibrary(cuda));
    KILN_RETURN_IF_ERROR(checkCudnn(library.cudnnCreate(&handle), "start cuDNN"));
    return checkCudnn(library.cudnnSetStream(handle, stream()), "choose a stream");
  }

  Status prepareProblem(const LoadRequest &request) override {
    KILN_ASSIGN_OR_RETURN(shape, convolutionShape(request));
    if (tf32 && shape.input != ElementType::F32)
      return unimplemented("tf32 is for f32; this is {}", shape.text());
    KILN_ASSIGN_OR_RETURN(convolution, CudnnConvolution::create(library, handle, shape));
    KILN_RETURN_IF_ERROR(makeFilters(request));
    for (uint32_t set = 0; set < request.sets; ++set) {
      void *filter = input(1, set);
      if (!filters.empty()) {
        KILN_ASSIGN_OR_RETURN(filter, addressOf(filters[set]));
      }
      KILN_ASSIGN_OR_RETURN(packs.emplace_back(), convolution.pack(input(0, set), filter, output(set), workspace()));
    }
    return choose();
  }

  Status enqueue(uint32_t set) override {
    const int status = library.cudnnBackendExecute(handle, chosen.object.get(), packs[set].get());
    if (status == cudnn::kSuccess) [[likely]]
      return okStatus();
    return checkCudnn(status, fmt::format("compute {}", shape.text()));
  }

  // From r, s, c, f to f, r, s, c.
  Status prepareWeights(uint32_t set) override {
    if (filters.empty())
      return okStatus();
    KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> plain, inputOnDevice(1, set));
    std::vector<std::byte> from(plain->byteLength()), to(from.size());
    KILN_RETURN_IF_ERROR(plain->read(0, from));
    if (shape.filter == ElementType::F32)
      transpose<float>(from.data(), to.data(), weightsOfFilter(), shape.f);
    else
      transpose<uint16_t>(from.data(), to.data(), weightsOfFilter(), shape.f);
    return filters[set]->write(0, to);
  }

private:
  size_t weightsOfFilter() const { return shape.height.filter * shape.width.filter * (shape.c / shape.groups); }

  // Where filters lie as cuDNN takes them, of all sets. One filter, or filters of one weight, are the same in both
  // ways.
  Status makeFilters(const LoadRequest &request) {
    if (!shape.channelsLast || shape.f == 1 || weightsOfFilter() == 1)
      return okStatus();
    if (!request.inputs[1].weight)
      return unimplemented("with channels last its filters are f x r x s x c, and only a weight may be brought there "
                           "before calls");
    for (uint32_t set = 0; set < request.sets; ++set) {
      KILN_ASSIGN_OR_RETURN(filters.emplace_back(),
                            gpu().allocator().allocate(hal::BufferUsage::External, request.inputs[1].bytes));
      KILN_RETURN_IF_ERROR(prepareWeights(set));
    }
    return okStatus();
  }

  // Of what cuDNN proposes, that which is precise and runs is timed; what it falls back on, where there is nothing.
  Status choose() {
    CudnnPlan best;
    Status failure = unimplemented("the library proposes no engine that is precise enough for {}", shape.text());
    for (bool fallback : {false, true}) {
      Result<std::vector<CudnnObject>> proposals = convolution.propose(fallback);
      if (!proposals.ok())
        failure = std::move(proposals).status();
      else
        best = fastestOf(*proposals, failure);
      if (best.object)
        break;
    }
    if (!best.object)
      return failure;
    chosen = best;
    return okStatus();
  }

  // Nothing where none runs; `failure` is then why the last one did not.
  CudnnPlan fastestOf(const std::vector<CudnnObject> &proposals, Status &failure) {
    const bool tensorCores = tf32 || shape.input != ElementType::F32;
    double fastest = std::numeric_limits<double>::infinity();
    CudnnPlan best;
    int timed = 0;
    for (const CudnnObject &proposal : proposals) {
      Result<bool> isPrecise = convolution.isPrecise(proposal, tensorCores);
      if (isPrecise.ok() && !*isPrecise)
        continue;
      Result<double> took =
          isPrecise.ok() ? timePlan(convolution.plan(proposal)) : Result<double>(std::move(isPrecise).status());
      if (!took.ok()) {
        failure = std::move(took).status();
        continue;
      }
      if (*took < fastest) {
        fastest = *took;
        best = chosen;
      }
      if (++timed == kPlans)
        break;
    }
    return best;
  }

  Result<double> timePlan(Result<CudnnPlan> plan) {
    if (!plan.ok())
      return std::move(plan).status().withContext(shape.text());
    if (plan->workspaceBytes > kWorkspaceBytes)
      return unimplemented("{} needs a workspace of {} bytes; there are {}", shape.text(), plan->workspaceBytes,
                           kWorkspaceBytes);
    chosen = *std::move(plan);
    return timeCalls();
  }

  const LoadGpuLibrary<CudnnLibrary> loadLibrary;
  const bool tf32;
  CudnnLibrary library;
  CudnnHandle handle = nullptr;
  ConvolutionShape shape;
  CudnnConvolution convolution;
  CudnnPlan chosen;
  std::vector<Ref<hal::Buffer>> filters; // of each set; empty where they are taken as they are
  std::vector<CudnnObject> packs;        // of each set
};

} // namespace

std::unique_ptr<Provider> createCudnnProvider(LoadGpuLibrary<CudnnLibrary> load, bool tf32) {
  return std::make_unique<CudnnProvider>(std::move(load), tf32);
}

} // namespace kiln::measure
