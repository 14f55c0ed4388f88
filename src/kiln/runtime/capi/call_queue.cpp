#include "kiln/runtime/capi/call_queue.h"

#include <condition_variable>
#include <list>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <utility>

#include "kiln/base/blocked_signals.h"
#include "kiln/base/exhaustion.h"

namespace kiln::capi {

struct CallQueue::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::list<std::unique_ptr<Call>> calls; // guarded
  bool stopping = false;                  // guarded
  std::thread thread;                     // guarded; set once

  void runCalls() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stopping || !calls.empty(); });
      if (calls.empty())
        return;
      std::unique_ptr<Call> call = std::move(calls.front());
      calls.pop_front();
      lock.unlock();
      call->run();
      call.reset();
      lock.lock();
    }
  }
};

CallQueue::CallQueue() : state(std::make_shared<State>()) {}

CallQueue::~CallQueue() {
  std::thread thread;
  {
    std::lock_guard lock(state->mutex);
    state->stopping = true;
    thread = std::move(state->thread);
  }
  state->changed.notify_one();
  if (!thread.joinable())
    return;
  // The last call of a session that was released before: its thread ends by itself when it has returned to its loop.
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else
    thread.join();
}

Status CallQueue::start() {
  std::lock_guard lock(state->mutex);
  if (!state->thread.joinable()) {
    BlockedSignals blocked;
    try {
      state->thread = std::thread([self = state] {
        pthread_setname_np(pthread_self(), "kiln-calls");
        self->runCalls();
      });
    } catch (const std::system_error &error) {
      return noThread("a thread for asynchronous calls of a session", error);
    }
  }
  return okStatus();
}

void CallQueue::push(std::unique_ptr<Call> call) {
  {
    std::lock_guard lock(state->mutex);
    state->calls.push_back(nullptr);
    state->calls.back() = std::move(call);
  }
  state->changed.notify_one();
}

bool CallQueue::isOwnThread() const {
  std::lock_guard lock(state->mutex);
  return state->thread.get_id() == std::this_thread::get_id();
}

} // namespace kiln::capi
