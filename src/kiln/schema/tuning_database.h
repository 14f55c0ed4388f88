// The tuning database: which configuration was measured to be the best for an operation on a target. docs/formats.md
// has the file; docs/tuning.md says who writes it and who reads it. The compiler alone makes the texts that operations
// and targets are known by here (compiler/Codegen/TuningLookup.h), so that they never differ.
#ifndef KILN_SCHEMA_TUNING_DATABASE_H
#define KILN_SCHEMA_TUNING_DATABASE_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/base/tile_config.h"

namespace kiln {

inline constexpr int64_t kTuningVersion = 1;

// Where a configuration's place in the database comes from. Nothing is decided by it but which of two entries is newer.
struct TuningProvenance {
  std::string problem;     // "matmul_4x512x512_f32t_f32t_f32t"
  double median = 0;       // nanoseconds of one call
  double defaultRatio = 1; // of that to the default configuration's time, measured together
  std::string date;        // "2026-05-01T12:00:00Z"
  std::string kiln;        // the version that measured
  std::string run;         // the key of that run in its store
  std::string device = {}; // "NVIDIA H200 (cuda://0)"; empty of the CPU

  bool operator==(const TuningProvenance &) const = default;
};

struct TuningEntry {
  std::string operation, target;
  uint32_t threads = 1; // that it was measured with; 1 on a device
  TileConfig configuration;
  TuningProvenance provenance;

  bool operator==(const TuningEntry &) const = default;
};

class TuningDatabase {
public:
  // The error has the number of the line, and says what is wrong there. Of entries for the same operation, target and
  // threads the newest stays, wherever it stands.
  static Result<TuningDatabase> parse(std::string_view text);
  // The error starts with the path. NotFound where there is no file.
  static Result<TuningDatabase> open(const std::string &path);

  // Takes the place of what is there for the same operation, target and threads.
  void set(TuningEntry entry);
  // Whether there was one.
  bool erase(std::string_view operation, std::string_view target, uint32_t threads);
  // Null where there is none.
  const TuningEntry *find(std::string_view operation, std::string_view target, uint32_t threads) const;
  // The one that was measured with the most threads.
  const TuningEntry *findAny(std::string_view operation, std::string_view target) const;
  size_t size() const { return entries.size(); }
  // Those that there are entries for, each once, in order.
  std::vector<std::string> targets() const;

  // One line for each entry, in the order of operation, target, threads: equal databases have equal texts.
  std::string text() const;

private:
  using Key = std::tuple<std::string, std::string, uint32_t>;
  std::map<Key, TuningEntry> entries;
};

// What the compiler tells of a dispatch with --dump-tuning-keys-to: what it is known by, what was chosen, and who chose
// it: "ir", "tuning-db", "built-in" (what the target brings along) or "default".
struct TuningKeyRecord {
  std::string function, operation, target, configuration, source;

  std::string text() const; // one line
  static Result<TuningKeyRecord> parse(std::string_view line);
};

} // namespace kiln

#endif // KILN_SCHEMA_TUNING_DATABASE_H
