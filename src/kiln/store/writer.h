// The one that writes a store.
//
//   KILN_ASSIGN_OR_RETURN(std::unique_ptr<Writer> writer, Writer::open("generated/results.db", {}));
//   writer->addMachine(machine); writer->addRun(run); writer->addProblem(problem); writer->addCandidates(candidates);
//   writer->startGroup(group);
//   writer->addRounds(rounds);                        // as they come
//   writer->finishGroup(group.key(), results, estimates);
//   writer->endRun(run.key());
//
// Each call is one transaction: when it returns ok, its facts survive the death of this process, and finished groups
// and ended runs that of the machine. After an error nothing of the call is stored, all of before is, and the writer
// can still be used. Adding a fact that is there already does nothing; another fact of the same key is an error.
//
// For one thread at a time.
#ifndef KILN_STORE_WRITER_H
#define KILN_STORE_WRITER_H

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/store/facts.h"
#include "kiln/store/file_system.h"

namespace kiln::store {

struct WriterOptions {
  // How long another writer, or a program that has locked the file, is waited for.
  int waitMilliseconds = 5000;
  // The file grows no further; 0: as far as the disk goes.
  uint64_t maxBytes = 0;
  // Write also on a network file system, where nothing keeps writers of several nodes apart.
  bool allowNetwork = false;
  // For tests: where the store lies; nothing: as the kernel says.
  std::optional<FileSystem> fileSystem = {};
};

// What a store brought that was not known.
struct MergedFacts {
  uint64_t runs = 0;
  // Rows of runs that were known before, as where a copy of a store went on; by table, those that had any.
  std::map<std::string_view, uint64_t> rowsOfKnownRuns = {};

  bool operator==(const MergedFacts &) const = default;
};

class Writer {
public:
  // Makes the file and its folder where there are none, and brings an older store up to date. Groups that an earlier
  // writer left running stay as they are: that they are interrupted follows from what is started after them.
  static Result<std::unique_ptr<Writer>> open(const std::string &path, const WriterOptions &options);
  ~Writer();

  Status addMachine(const Machine &machine);
  Status addRun(const Run &run);
  Status addProblem(const Problem &problem);
  Status addCandidates(std::span<const Candidate> candidates);
  Status addCalibration(const Calibration &calibration);

  Status startGroup(const Group &group);
  // Known before the group is finished, such as a candidate that is wrong.
  Status addResult(const CandidateResult &result);
  Status addRounds(std::span<const Round> rounds);
  // Everything that the group concludes, and that it is finished: all of it or nothing. `cutSeconds`: time ended its
  // rounds before they had shown enough, and it had so much.
  Status finishGroup(const std::string &group, std::span<const CandidateResult> results,
                     std::span<const CandidateEstimate> estimates, std::optional<double> cutSeconds = {});
  // The sweep was stopped: its rounds stay, and are never compared with others.
  Status interruptGroup(const std::string &group);
  // The run is complete: it will not be resumed.
  Status endRun(const std::string &run);

  // Adds all facts of other stores, all of them or nothing; what of each was new. The stores may be of earlier
  // versions, in folders that cannot be written to, copies of each other or of this one, and at work: they are only
  // read. In which order stores are merged, and how often, makes no difference.
  Result<std::vector<MergedFacts>> merge(std::span<const std::string> paths);
  // Whether all of these can be read, before a store is made for what is in them.
  static Status checkMergeable(std::span<const std::string> paths);

private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace kiln::store

#endif // KILN_STORE_WRITER_H
