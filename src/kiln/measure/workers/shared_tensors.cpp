#include "kiln/measure/workers/shared_tensors.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxBytes = uint64_t(1) << 46;
// With more sets, the caches would be filled by what describes them rather than by their data.
constexpr uint32_t kMaxTimingSets = 1 << 14;

uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

uint64_t tensorAlignment(uint64_t bytes) {
  return bytes >= kPage ? kPage : 64;
}

} // namespace

SetPlan planColdSets(uint64_t problemBytes, uint64_t lastLevelCacheBytes, uint64_t budget) {
  problemBytes = std::max<uint64_t>(problemBytes, 1);
  uint64_t wanted = 2 * lastLevelCacheBytes / problemBytes + 1;
  uint64_t affordable = std::max<uint64_t>(budget / problemBytes, 1);
  SetPlan plan;
  plan.timingSets = uint32_t(std::min({wanted, affordable, uint64_t(kMaxTimingSets)}));
  plan.timingBytes = plan.timingSets * problemBytes;
  plan.exceedsCache = plan.timingSets == wanted;
  return plan;
}

SetPlan planWarmSets(uint64_t problemBytes) {
  return {1, problemBytes, false};
}

Result<SharedTensors> SharedTensors::create(const char *name, TensorTypes types, uint32_t sets, Pages pages) {
  SharedTensors tensors;
  tensors.setCount = sets;
  tensors.types.assign(types.begin(), types.end());
  uint64_t end = 0, largest = 64;
  for (const TensorType &type : types) {
    KILN_ASSIGN_OR_RETURN(uint64_t bytes, hal::shapeByteLength(type.type, type.shape));
    if (bytes > kMaxBytes)
      return resourceExhausted("a tensor {} is too large to be shared", hal::shapeText(type.type, type.shape));
    end = alignUp(end, tensorAlignment(bytes));
    tensors.offsets.push_back(end);
    tensors.sizes.push_back(bytes);
    end += bytes;
    largest = std::max(largest, tensorAlignment(bytes));
  }
  tensors.stride = std::max<uint64_t>(alignUp(end, largest), 64);
  if (sets == 0 || tensors.stride > kMaxBytes / sets)
    return resourceExhausted("{} sets of {} bytes are too much to be shared", sets, tensors.stride);
  tensors.length = alignUp(tensors.stride * sets, kPage);

  tensors.file = io::FileDescriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!tensors.file)
    return errnoStatus(errno, "cannot create shared memory for tensors");
  std::string what = fmt::format("cannot get {} bytes of shared memory for tensors", tensors.length);
  if (::ftruncate(tensors.file.get(), off_t(tensors.length)) != 0)
    return errnoStatus(errno, what);
  if (pages == Pages::Reserved && ::fallocate(tensors.file.get(), 0, 0, off_t(tensors.length)) != 0)
    return errnoStatus(errno, what);
  if (::fcntl(tensors.file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return errnoStatus(errno, "cannot seal the size of shared memory");
  void *memory = ::mmap(nullptr, tensors.length, PROT_READ | PROT_WRITE, MAP_SHARED, tensors.file.get(), 0);
  if (memory == MAP_FAILED)
    return errnoStatus(errno, what);
  tensors.memory = static_cast<uint8_t *>(memory);
  return tensors;
}

SharedTensors::SharedTensors(SharedTensors &&other) noexcept {
  *this = std::move(other);
}

SharedTensors &SharedTensors::operator=(SharedTensors &&other) noexcept {
  std::swap(file, other.file);
  std::swap(memory, other.memory);
  std::swap(length, other.length);
  std::swap(stride, other.stride);
  std::swap(setCount, other.setCount);
  std::swap(types, other.types);
  std::swap(offsets, other.offsets);
  std::swap(sizes, other.sizes);
  return *this;
}

SharedTensors::~SharedTensors() {
  if (memory)
    ::munmap(memory, length);
}

Status SharedTensors::forbidWriting() {
  // Leaves the mapping that is there writable: inputs of set 0 change from pass to pass.
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
    return errnoStatus(errno, "cannot seal shared memory against writing");
  return okStatus();
}

Status SharedTensors::forbidSealing() {
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL) != 0)
    return errnoStatus(errno, "cannot seal the seals of shared memory");
  return okStatus();
}

std::vector<MutableTensor> SharedTensors::set(uint32_t index) {
  std::vector<MutableTensor> tensors;
  tensors.reserve(types.size());
  for (size_t i = 0; i < types.size(); ++i)
    tensors.push_back({types[i].type, types[i].shape, {memory + index * stride + offsets[i], sizes[i]}});
  return tensors;
}

std::vector<io::TensorSpan> SharedTensors::view(uint32_t index) const {
  std::vector<io::TensorSpan> tensors;
  tensors.reserve(types.size());
  for (size_t i = 0; i < types.size(); ++i)
    tensors.push_back({types[i].type, types[i].shape, {memory + index * stride + offsets[i], sizes[i]}});
  return tensors;
}

std::vector<SharedTensor> SharedTensors::describe() const {
  std::vector<SharedTensor> tensors;
  std::string path = fmt::format("/proc/{}/fd/{}", ::getpid(), file.get());
  for (size_t i = 0; i < types.size(); ++i)
    tensors.push_back({types[i].type, types[i].shape, path, offsets[i], stride, sizes[i]});
  return tensors;
}

} // namespace kiln::measure
