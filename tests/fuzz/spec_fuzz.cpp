// The rewriter of older transform specs, which MLIR's parser reads afterwards: a line stays a line.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kiln/compiler/TransformOps/SpecUpdater.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const std::string updated = kiln::updateSpec(text);
  if (std::ranges::count(updated, '\n') != std::ranges::count(text, '\n'))
    std::abort();
  return 0;
}
