// Reads a store, also while it is written. What it returns is a copy.
//
// For one thread at a time; any number of readers.
#ifndef KILN_STORE_READER_H
#define KILN_STORE_READER_H

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/store/facts.h"

namespace kiln::store {

// Stored facts keep the keys that they were stored with, which an earlier version may have made in another way.
struct StoredRun : Run {
  std::string storedKey;
  std::optional<int64_t> ended; // nothing: still running, or interrupted

  const std::string &key() const { return storedKey; }
};

struct StoredGroup : Group {
  std::string storedKey;
  GroupStatus status = GroupStatus::Running;
  std::optional<int64_t> ended = {}; // nothing: it is not finished
  uint64_t attempt = 1;              // how often its run has started this problem so far
  // The seconds that its rounds had, where their end was not that they had shown enough.
  std::optional<double> cutSeconds = {};
  // How its rounds were measured, which is warm also where a cold run could not make a problem exceed the caches; empty
  // where there are none.
  std::string cacheMode = {};

  const std::string &key() const { return storedKey; }
};

// On which machine a run is resumed.
enum class ResumeOn { SameNode, EqualHardware };

// What was counted of a candidate in all rounds of a group.
struct CountedCalls {
  std::string group, candidate;
  Counters counters;
};

// How the device was while a candidate's calls were made in the rounds of a group that told it.
struct DeviceStates {
  std::string group, candidate;
  DeviceState state;
  uint64_t rounds = 0, moved = 0; // moved: during which its clock did
};

// What `query` returns, as text; a NULL is empty, a blob is x'0a1b' as SQL writes it, and a long one only its size.
struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

class Reader {
public:
  // Never writes to the store, also where an earlier version has written it: its facts are then brought up to date in a
  // private copy. NotFound where there is no file; an error too for an empty file, and for a store of a later version.
  static Result<std::unique_ptr<Reader>> open(const std::string &path);
  ~Reader();

  // Oldest first.
  Result<std::vector<StoredRun>> runs();
  // By a start of its key, "latest", or "latest~1" for the one before it, and so on. The error lists the latest runs.
  Result<StoredRun> findRun(std::string_view name);
  Result<Machine> machine(const MachineKeys &keys);
  // The latest one by then of this hardware and allocation whose ceilings are wanted, or any; NotFound where there is
  // none.
  Result<Calibration> calibration(const MachineKeys &machine, int64_t when,
                                  const std::function<bool(const std::string &)> &isWanted = {});

  // Of one run.
  Result<std::vector<StoredGroup>> groups(const std::string &run);
  Result<std::vector<Problem>> problems(const std::string &run);
  // With their keys, in the order of the keys.
  Result<std::vector<std::pair<std::string, Candidate>>> candidates(const std::string &run);
  Result<std::vector<CandidateResult>> results(const std::string &run);
  Result<std::vector<CandidateEstimate>> estimates(const std::string &run);

  // Of those candidates of which something was counted.
  Result<std::vector<CountedCalls>> counters(const std::string &run);
  // In the order of groups and candidates.
  Result<std::vector<DeviceStates>> deviceStates(const std::string &run);

  // In the order of the rounds. With a candidate, only its.
  Result<std::vector<Round>> rounds(const std::string &group, const std::optional<std::string> &candidate = {});

  // The latest run that has not ended, of the same sweep, with the same tags, and begun on the same node or on equal
  // hardware: the one to resume.
  Result<std::optional<std::string>> unfinishedRun(const Run &like, ResumeOn where = ResumeOn::SameNode);

  // One statement that changes nothing.
  Result<QueryResult> query(std::string_view sql);
  // Reads all of the file and says whether it is whole. Takes time.
  Status check();

private:
  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace kiln::store

#endif // KILN_STORE_READER_H
