// What stands behind the handles of sessions, their functions and their fences. Internal to the C API.
#ifndef KILN_RUNTIME_CAPI_SESSION_OBJECT_H
#define KILN_RUNTIME_CAPI_SESSION_OBJECT_H

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kiln/base/call_limit.h"
#include "kiln/runtime/capi/call_queue.h"
#include "kiln/runtime/capi/values.h"
#include "kiln/runtime/hal/host_semaphore.h"
#include "kiln/runtime/vm/program.h"
#include "kiln/runtime/vm/session.h"

namespace kiln::capi {

struct ProgramObject final : RefCounted {
  Ref<vm::Program> program;
  uint64_t instance = 0; // of its devices
};

// A function that the program has a handle of. An export's name stands at one place of its module's metadata, which
// makes it the function's identity.
struct KnownFunction {
  const char *name;
  const kiln_function_t *handle;
};

struct SessionObject final : RefCounted {
  std::unique_ptr<vm::Session> session;
  uint64_t instance = 0;  // of its devices
  size_t exportCount = 0; // the first of `functions`; the others were looked up in other modules

  std::mutex mutex;
  std::vector<KnownFunction> functions; // guarded; released with the session's handle
  bool released = false;                // guarded

  std::atomic<size_t> submitted{0}; // asynchronous calls that have not ended
  CallQueue queue;                  // of these; they keep the session
};

struct FunctionObject final : RefCounted {
  FunctionObject(Ref<SessionObject> session, vm::Function function) : session(std::move(session)), function(function) {}
  const Ref<SessionObject> session;
  const vm::Function function;
};

// A call that this thread is in, while this lives; the call that it was made from is around it.
class CallOfThread {
public:
  explicit CallOfThread(const SessionObject &session) : session(&session), outer(std::exchange(innermost, this)) {}
  CallOfThread(const CallOfThread &) = delete;
  ~CallOfThread() { innermost = outer; }

  // Whether the thread is in a call of the session, which is not looked into.
  static bool isOf(const SessionObject *session) {
    for (const CallOfThread *call = innermost; call; call = call->outer)
      if (call->session == session)
        return true;
    return false;
  }

private:
  static inline thread_local constinit const CallOfThread *innermost = nullptr;
  const SessionObject *const session;
  const CallOfThread *const outer;
};

// An asynchronous call, as the program waits for it.
struct FenceObject final : RefCounted {
  const Ref<hal::HostSemaphore> ended = makeRef<hal::HostSemaphore>(0); // 1 when the call has succeeded
  std::vector<vm::Value> results;                                       // valid, and constant, from then on
  const SessionObject *session = nullptr;                               // of the call; may be gone when that has ended
  uint64_t instance = 0;                                                // of its session

  bool isSignaled() const { return ended->isReached(1); }
  // Fails with DEADLINE_EXCEEDED where the wait ends before the call, as the limit where there is one that is over,
  // else as the call does.
  Status wait(Deadline deadline, const CallLimit *limit) const;
};

// The function that a call is of, checked to take and give so many values at these places; without results where there
// is no place for them yet.
Result<Ref<FunctionObject>> calledFunction(kiln_session_t *session, const kiln_function_t *function,
                                           std::span<const kiln_value_t> arguments,
                                           std::optional<std::span<kiln_value_t>> results);
// What the program passes to the function.
Status readArguments(const FunctionObject &function, std::span<const kiln_value_t> arguments,
                     std::span<vm::Value> values);
// Moves values to the program, all or, where it throws, none.
void giveResults(std::span<vm::Value> values, std::span<kiln_value_t> results);

} // namespace kiln::capi

#endif // KILN_RUNTIME_CAPI_SESSION_OBJECT_H
