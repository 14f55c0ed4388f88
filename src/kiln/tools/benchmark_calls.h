// The calls that kiln-benchmark-module times: of one function, one after the other or from several threads.
#ifndef KILN_TOOLS_BENCHMARK_CALLS_H
#define KILN_TOOLS_BENCHMARK_CALLS_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/vm/session.h"
#include "kiln/tools/runtime_flags.h"

namespace kiln {

// Makes batches of calls of one function with the same arguments. Results are dropped after each call, so that a call's
// time includes their allocation and release.
class CallBatch {
public:
  // `concurrency` threads, the calling one among them, each with a session of its own; their sessions are made here.
  static Result<std::unique_ptr<CallBatch>> create(const Program &program, const std::string &function,
                                                   const std::vector<vm::Value> &arguments, uint32_t concurrency);
  ~CallBatch();

  // Makes `count` calls and returns when all have come back. With several threads, a call that fails ends the batch
  // early.
  Status run(uint64_t count);

private:
  struct Caller;
  struct Team;
  CallBatch();

  std::unique_ptr<Team> team; // null where one thread does it all
  std::unique_ptr<Caller> self;
};

} // namespace kiln

#endif // KILN_TOOLS_BENCHMARK_CALLS_H
