// --input and --expected_output: inputs of a command line, a line each, up to a NUL. What follows it are the bytes of
// the files `a.npy` and `a.bin`, which inputs may name.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kiln/runtime/io/input.h"
#include "kiln/runtime/io/tensor_text.h"
#include "tests/fuzz/scratch_folder.h"

using namespace kiln;

namespace {

// What was read is read again from what is printed of it.
void checkPrinted(const io::HostTensor &tensor) {
  constexpr uint64_t kAll = 1000;
  const std::string text = io::formatTensor(tensor.span(), kAll);
  if (tensor.elementCount() == 0 || tensor.elementCount() > kAll)
    return;
  std::vector<io::Input> again;
  if (Status status = io::InputReader().read(text, again); !status.ok() || again.size() != 1)
    std::abort();
  const auto *same = std::get_if<io::HostTensor>(&again[0]);
  if (same && same->typeText() != tensor.typeText())
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::ScratchFolder folder;
  std::string_view all(reinterpret_cast<const char *>(data), size);
  std::string_view texts = all.substr(0, all.find('\0'));
  std::string_view file = all.substr(std::min(texts.size() + 1, all.size()));
  // Other files than the target's own are none of its business.
  if (texts.find('/') != std::string_view::npos)
    return 0;
  if (texts.find("a.") != std::string_view::npos) {
    folder.write("a.npy", file);
    folder.write("a.bin", file);
  }
  io::InputReader reader;
  std::vector<io::Input> inputs;
  while (!texts.empty()) {
    const size_t end = std::min(texts.find('\n'), texts.size());
    if (Status status = reader.read(texts.substr(0, end), inputs); !status.ok() && status.message().empty())
      std::abort();
    texts.remove_prefix(std::min(end + 1, texts.size()));
  }
  for (const io::Input &input : inputs)
    if (const auto *tensor = std::get_if<io::HostTensor>(&input))
      checkPrinted(*tensor);
  return 0;
}
