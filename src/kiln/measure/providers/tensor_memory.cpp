#include "kiln/measure/providers/tensor_memory.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

#include "kiln/runtime/io/file.h"
#include "kiln/schema/executable_abi.h"

namespace kiln::measure {

namespace {

// Of the last set; nothing where it has no address. A stride and a number of sets that a request may have can be more
// together than 64 bits hold.
std::optional<uint64_t> endOf(const SharedTensor &tensor, uint32_t sets) {
  uint64_t end = 0;
  if (__builtin_mul_overflow(tensor.stride, uint64_t(sets) - 1, &end) ||
      __builtin_add_overflow(end, tensor.offset, &end) || __builtin_add_overflow(end, tensor.bytes, &end))
    return std::nullopt;
  return end;
}

} // namespace

TensorMemory::Mapping::Mapping(Mapping &&other) noexcept {
  *this = std::move(other);
}

TensorMemory::Mapping &TensorMemory::Mapping::operator=(Mapping &&other) noexcept {
  std::swap(memory, other.memory);
  std::swap(length, other.length);
  std::swap(path, other.path);
  return *this;
}

TensorMemory::Mapping::~Mapping() {
  if (memory)
    ::munmap(memory, length);
}

Result<TensorMemory> TensorMemory::map(const LoadRequest &request) {
  TensorMemory memory;
  memory.setCount = request.sets;
  memory.inputTensors = request.inputs;
  memory.outputTensors = request.outputs;
  KILN_ASSIGN_OR_RETURN(memory.inputBases, memory.mapAll(request.inputs, /*writable=*/false));
  KILN_ASSIGN_OR_RETURN(memory.outputBases, memory.mapAll(request.outputs, /*writable=*/true));
  return memory;
}

Result<std::vector<uint8_t *>> TensorMemory::mapAll(const std::vector<SharedTensor> &tensors, bool writable) {
  std::vector<uint8_t *> bases;
  size_t firstOwn = mappings.size();
  for (const SharedTensor &tensor : tensors) {
    if (tensor.offset % KILN_BINDING_ALIGNMENT != 0 || tensor.stride % KILN_BINDING_ALIGNMENT != 0)
      return invalidArgument("a tensor at offset {} with stride {}: both must be multiples of {}", tensor.offset,
                             tensor.stride, KILN_BINDING_ALIGNMENT);
    Mapping *found = nullptr;
    for (size_t i = firstOwn; i < mappings.size(); ++i)
      if (mappings[i].path == tensor.path)
        found = &mappings[i];
    if (!found) {
      KILN_RETURN_IF_ERROR(mapFile(tensor.path, writable).status());
      found = &mappings.back();
    }
    std::optional<uint64_t> end = endOf(tensor, setCount);
    if (!end || *end > found->length || (setCount > 1 && tensor.stride < tensor.bytes))
      return outOfRange("'{}' has {} bytes; {} sets of a tensor at offset {} with stride {} end {}", tensor.path,
                        found->length, setCount, tensor.offset, tensor.stride,
                        end ? fmt::format("at {}", *end) : "beyond what 64 bits can count");
    bases.push_back(found->memory);
  }
  return bases;
}

Result<uint8_t *> TensorMemory::mapFile(const std::string &path, bool writable) {
  std::string what = fmt::format("cannot map '{}' for {}", path, writable ? "writing" : "reading");
  io::FileDescriptor file(::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  struct stat info;
  if (!file || ::fstat(file.get(), &info) != 0)
    return errnoStatus(errno, what);
  if (info.st_size == 0)
    return outOfRange("{}: it is empty", what);
  void *memory = ::mmap(nullptr, size_t(info.st_size), writable ? PROT_READ | PROT_WRITE : PROT_READ,
                        MAP_SHARED | MAP_POPULATE, file.get(), 0);
  if (memory == MAP_FAILED)
    return errnoStatus(errno, what);
  Mapping mapping;
  mapping.memory = static_cast<uint8_t *>(memory);
  mapping.length = uint64_t(info.st_size);
  mapping.path = path;
  mappings.push_back(std::move(mapping));
  return mappings.back().memory;
}

} // namespace kiln::measure
