// Asynchronous calls and fences of the C API.
#include <optional>

#include "kiln/runtime/capi/options.h"
#include "kiln/runtime/capi/session_object.h"

using namespace kiln;
using namespace kiln::capi;

namespace kiln::capi {

// How often a wait of a call asks whether that call was cancelled.
constexpr uint64_t kAskAgain = 20'000'000;

Status FenceObject::wait(Deadline deadline, const CallLimit *limit) const {
  if (!isSignaled() && CallOfThread::isOf(session))
    return failedPrecondition("the fence is of a call of the session that this thread is in a call of, and which comes "
                              "after this one");
  for (;;) {
    uint64_t nanoseconds = deadline.remaining();
    if (limit)
      nanoseconds = std::min({nanoseconds, limit->deadline().remaining(), kAskAgain});
    Status status = ended->wait(1, Deadline::after(nanoseconds));
    if (isSignaled())
      return status;
    if (limit && limit->isOver())
      return limit->status();
    if (!deadline.isInfinite() && deadline.remaining() == 0)
      return Status(StatusCode::DeadlineExceeded, "the call has not ended within the time that was given to the wait");
  }
}

} // namespace kiln::capi

namespace {

class AsyncCall final : public CallQueue::Call {
public:
  Ref<FunctionObject> function; // and with it the session
  std::vector<vm::Value> arguments;
  std::vector<Ref<FenceObject>> waits;
  Ref<CallLimit> limit; // may be null
  Ref<FenceObject> fence;

  void run() noexcept override {
    Status status;
    try {
      status = execute();
    } catch (...) {
      status = std::move(exception);
    }
    arguments.clear();
    waits.clear();
    limit = {};
    function->session->submitted.fetch_sub(1);
    // May be the last that keeps the session: whoever has waited knows that nothing of the call is left.
    function = {};
    if (status.ok())
      status = fence->ended->signal(1);
    if (!status.ok())
      fence->ended->fail(std::move(status));
  }

private:
  Status execute() {
    for (const Ref<FenceObject> &other : waits)
      KILN_RETURN_IF_ERROR(other->wait(Deadline::infinite(), limit.get())
                               .withContext("the call did not run, because a fence that it waits for failed"));
    std::optional<CallLimit::Scope> scope;
    if (limit)
      scope.emplace(*limit);
    CallOfThread inCall(*function->session);
    std::vector<vm::Value> results(function->function.resultCount());
    KILN_RETURN_IF_ERROR(function->session->session->callInTurn(function->function, arguments, results));
    fence->results = std::move(results);
    return okStatus();
  }

  // Made before there may be no memory for it. Exceptions of the program's functions have become statuses before.
  Status exception = resourceExhausted("out of memory");
};

Status submit(kiln_session_t *session, const kiln_function_t *functionHandle, std::span<const kiln_value_t> arguments,
              const kiln_submit_options_t *given, kiln_fence_t **out) {
  const OptionField fields[] = {
      KILN_OPTION_FIELD(kiln_submit_options_t, struct_size), KILN_OPTION_FIELD(kiln_submit_options_t, fences),
      KILN_OPTION_FIELD(kiln_submit_options_t, fence_count), KILN_OPTION_FIELD(kiln_submit_options_t, limit)};
  KILN_ASSIGN_OR_RETURN(kiln_submit_options_t options, readOptions("kiln_submit_options_t", given, fields));
  KILN_RETURN_IF_ERROR(needed(out, "out_fence"));
  auto call = std::make_unique<AsyncCall>();
  KILN_ASSIGN_OR_RETURN(call->function, calledFunction(session, functionHandle, arguments, std::nullopt));
  KILN_RETURN_IF_ERROR(readHandles("fences", options.fences, options.fence_count, call->waits));
  uint64_t instance = call->function->session->instance;
  for (size_t i = 0; i < call->waits.size(); ++i)
    KILN_RETURN_IF_ERROR(checkInstance(call->waits[i]->instance, instance, fmt::format("fence {}", i)));
  if (options.limit) {
    KILN_ASSIGN_OR_RETURN(call->limit, argument(options.limit, "limit"));
  }
  call->arguments.resize(arguments.size());
  KILN_RETURN_IF_ERROR(readArguments(*call->function, arguments, call->arguments));
  call->fence = makeRef<FenceObject>();
  call->fence->instance = instance;
  Ref<SessionObject> object = call->function->session;
  call->fence->session = object.get();
  KILN_RETURN_IF_ERROR(object->queue.start());
  // The handle is made first: afterwards the call cannot be taken back.
  kiln_fence_t *fence = giveHandle<kiln_fence_t>(call->fence);
  object->submitted.fetch_add(1);
  try {
    object->queue.push(std::move(call));
  } catch (...) {
    object->submitted.fetch_sub(1);
    HandleTable::release(HandleKind::Fence, fence);
    throw;
  }
  *out = fence;
  return okStatus();
}

Status fenceResults(kiln_fence_t *handle, std::span<kiln_value_t> results) {
  KILN_ASSIGN_OR_RETURN(Ref<FenceObject> fence, argument(handle, "fence"));
  KILN_RETURN_IF_ERROR(neededArray(results.data(), results.size(), "results"));
  if (!fence->isSignaled())
    return failedPrecondition("the call has not ended; wait for its fence");
  KILN_RETURN_IF_ERROR(fence->wait(Deadline::immediate(), nullptr));
  if (results.size() != fence->results.size())
    return invalidArgument("the call has {} results, room is given for {}", fence->results.size(), results.size());
  CallValues<vm::Value> copies(results.size());
  std::ranges::copy(fence->results, copies.span().begin());
  giveResults(copies.span(), results);
  return okStatus();
}

} // namespace

kiln_status_t *kiln_session_submit(kiln_session_t *session, const kiln_function_t *function,
                                   const kiln_value_t *arguments, size_t argument_count,
                                   const kiln_submit_options_t *options, kiln_fence_t **out_fence) {
  return guarded([&] { return submit(session, function, {arguments, argument_count}, options, out_fence); });
}

int kiln_fence_query(const kiln_fence_t *fence) {
  Ref<FenceObject> object = query(__func__, fence);
  return object && object->isSignaled();
}
kiln_status_t *kiln_fence_wait(kiln_fence_t *fence, uint64_t timeout_nanoseconds) {
  return guarded([&]() -> Status {
    KILN_ASSIGN_OR_RETURN(Ref<FenceObject> object, argument(fence, "fence"));
    // A native function that waits ends with the call that it works for.
    return object->wait(Deadline::after(timeout_nanoseconds), CallLimit::current());
  });
}
kiln_status_t *kiln_fence_results(kiln_fence_t *fence, kiln_value_t *results, size_t result_count) {
  return guarded([&] { return fenceResults(fence, {results, result_count}); });
}
void kiln_fence_retain(kiln_fence_t *fence) {
  retainHandle(__func__, fence);
}
void kiln_fence_release(kiln_fence_t *fence) {
  releaseHandle(__func__, fence);
}
