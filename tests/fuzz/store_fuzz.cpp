// Stores that somebody has changed (changed_store.h): they are read, and merged into another store.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "kiln/store/testing/sample_store.h"
#include "tests/fuzz/changed_store.h"

using namespace kiln;
using namespace kiln::store;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string changed = fuzz::writeChangedStore({reinterpret_cast<const char *>(data), size});
  constexpr const char *kMerged = "merged.db";
  (void)testing::readEverything(changed);
  std::error_code error;
  for (const char *suffix : {"", "-wal", "-shm"})
    std::filesystem::remove(std::string(kMerged) + suffix, error);
  Result<std::unique_ptr<Writer>> writer = Writer::open(kMerged, {});
  if (!writer.ok())
    std::abort();
  // What was taken can be read.
  if ((*writer)->merge(std::span(&changed, 1)).ok() && !testing::readEverything(kMerged).ok())
    std::abort();
  return 0;
}
