// One worker: a process that is asked and answers. See docs/lab.md for what is said, spawn.h for how it is started.
//
//   KILN_ASSIGN_OR_RETURN(auto worker, WorkerProcess::start(options));
//   Result<Answer> answer = worker->ask(HelloRequest{}, Deadline::after(kSecond));
//   if (!answer.ok())
//     ... worker->outcome() says of which kind the failure is, and answer.status() says it in words
//
// Whatever a worker does costs no more than itself: it cannot block, crash or fill up the process that asks. A worker
// that broke the protocol, was late or grew too large is killed at once, with all that it started, and is reaped; `ask`
// then says so again. Not safe for use from several threads at once.
#ifndef KILN_MEASURE_WORKERS_WORKER_PROCESS_H
#define KILN_MEASURE_WORKERS_WORKER_PROCESS_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/clock.h"
#include "kiln/base/outcome.h"
#include "kiln/base/status.h"
#include "kiln/base/wrap_text.h"
#include "kiln/measure/workers/process_tree.h"
#include "kiln/measure/workers/protocol.h"
#include "kiln/measure/workers/spawn.h"
#include "kiln/measure/workers/worker_times.h"

namespace kiln::measure {

class WorkerProcess {
public:
  static Result<std::unique_ptr<WorkerProcess>> start(const WorkerOptions &options);
  // Kills it, if it is there still.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess &) = delete;
  WorkerProcess &operator=(const WorkerProcess &) = delete;

  // Sends one request and waits for its answer. An answer that is not ok is an error too, and the worker lives on.
  Result<Answer> ask(const Request &request, Deadline deadline);
  // The same with lines of the caller's making, for programs that answer lines of another kind.
  Result<std::string> exchange(std::string_view line, Deadline deadline);
  // Asks it to end, and kills it where it does not by then. An error where it did not end with exit code 0.
  Status quit(Deadline deadline);
  void kill();

  // Stops the worker and all that it started, so that nothing of it runs until it is resumed; what lost its parent is
  // killed. Whoever is to be asked, or to quit, is resumed first, which a caller that takes the time does before.
  void pause();
  void resume();
  // Ends it with an error where it ran although it was stopped: a signal of its own making, as of a timer, continues a
  // process, too. Whoever is to be asked is looked at first.
  Status checkPaused();

  // Of the last failure; Ok where there was none.
  Outcome outcome() const { return lastOutcome; }
  bool alive() const { return process.pid > 0; }
  // -1 once it has ended.
  pid_t pid() const { return process.pid; }
  WorkerTimes times() const { return WorkerTimes::of(process.pid, process.runTime); }
  // When it was stopped last, monotonicNanoseconds().
  uint64_t pausedAt() const { return stopped.at; }
  // What it had run, of WorkerTimes::running, when it was stopped last.
  uint64_t runningWhenPaused() const { return runWhenPaused; }
  // The end of what it wrote on standard error, as plainText.
  std::string errorOutput() const { return plainText(errorTail); }
  // The most memory that it held at a time, shared memory included; known once it has ended.
  uint64_t peakMemoryBytes() const { return peakBytes; }

  // How much of standard error is kept.
  static constexpr size_t kErrorTail = size_t(16) << 10;

private:
  WorkerProcess(const WorkerOptions &options, SpawnedProcess process);

  Status checkNothingUnasked();
  Status awaitEvent(size_t unsent, Deadline deadline);
  Status send(std::string_view &unsent);
  void lookForExit();
  void readOutput();
  void readError();
  bool takeLine(std::string &line);
  Status checkMemory();
  // Ends the worker, and gives the error with what it wrote on standard error.
  Status fail(Outcome outcome, StatusCode code, std::string what);
  Status failEnded();
  void reap();

  WorkerOptions options;
  SpawnedProcess process;
  std::string asked;    // the name of the request that runs
  std::string received; // of standard output, not yet taken
  size_t searched = 0;  // so much of it holds no newline
  bool outputEnded = false;
  bool hasExited = false; // seen at the pidfd
  std::string errorTail;
  bool isPaused = false;
  uint64_t runWhenPaused = 0;
  StoppedWorker stopped; // while it is paused
  Outcome lastOutcome = Outcome::Ok;
  Status end; // why it is gone
  int exitStatus = 0;
  uint64_t peakBytes = 0;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_WORKER_PROCESS_H
