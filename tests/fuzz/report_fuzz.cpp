// Reports of stores that somebody has changed (changed_store.h), in every format.
#include <cstdint>
#include <string>

#include "kiln/report/formats/formats.h"
#include "tests/fuzz/changed_store.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string changed = fuzz::writeChangedStore({reinterpret_cast<const char *>(data), size});
  Result<std::unique_ptr<store::Reader>> reader = store::Reader::open(changed);
  if (!reader.ok())
    return 0;
  Result<report::Table> table = report::loadTable(**reader, {.allRuns = true});
  if (!table.ok())
    return 0;
  report::FormatOptions options;
  if (Result<std::vector<report::Distribution>> found = report::loadDistributions(**reader, *table); found.ok())
    options.distributions = *std::move(found);
  for (const report::Format &format : report::formats())
    (void)format.write(*table, options);
  return 0;
}
