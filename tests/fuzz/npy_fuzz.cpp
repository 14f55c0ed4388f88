// .npy files: all arrays of one, with and without a type that is wanted.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "kiln/base/file.h"
#include "kiln/runtime/io/npy.h"

using namespace kiln;

namespace {

// The header that Kiln writes for what it has read says the same.
void checkHeader(const io::HostTensor &tensor) {
  const std::string header = io::formatNpyHeader(tensor.type(), tensor.shape());
  const size_t dictionary = header.find('{');
  Result<io::NpyHeader> again = io::parseNpyHeader(std::string_view(header).substr(dictionary), tensor.type());
  if (!again.ok() || !std::ranges::equal(again->shape, tensor.shape()) || again->fortranOrder)
    std::abort();
  if (again->type != tensor.type() && hal::elementTypeByteSize(tensor.type()) != 1)
    std::abort();
}

void readAll(const std::string &path, std::optional<io::ElementType> wanted) {
  Result<io::InputFile> file = io::InputFile::open(path);
  if (!file.ok())
    std::abort();
  while (true) {
    Result<bool> end = file->atEnd();
    if (!end.ok() || *end)
      return;
    Result<io::HostTensor> tensor = io::readNpy(*file, wanted);
    if (!tensor.ok()) {
      if (tensor.status().message().empty())
        std::abort();
      return;
    }
    checkHeader(*tensor);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FileDescriptor file(::memfd_create("array", MFD_CLOEXEC));
  if (!writeAll(file.get(), "the file", std::as_bytes(std::span(data, size))).ok())
    std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  readAll(path, std::nullopt);
  readAll(path, io::ElementType::F8E4M3FN);
  return 0;
}
