// Tuning databases, and the records that the compiler writes of its dispatches.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kiln/base/tile_config.h"
#include "kiln/schema/tuning_database.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  if (Result<TuningDatabase> database = TuningDatabase::parse(text); database.ok()) {
    const std::string written = database->text();
    Result<TuningDatabase> again = TuningDatabase::parse(written);
    if (!again.ok() || again->text() != written || again->size() != database->size())
      std::abort();
    (void)database->findAny("conv", "llvm-cpu");
  }
  const std::string_view line = text.substr(0, text.find('\n'));
  if (Result<TuningKeyRecord> record = TuningKeyRecord::parse(line); record.ok())
    if (Result<TuningKeyRecord> again = TuningKeyRecord::parse(record->text());
        !again.ok() || again->text() != record->text())
      std::abort();
  if (Result<TileConfig> config = TileConfig::parse(line); config.ok())
    if (Result<TileConfig> again = TileConfig::parse(config->name()); !again.ok() || *again != *config)
      std::abort();
  return 0;
}
