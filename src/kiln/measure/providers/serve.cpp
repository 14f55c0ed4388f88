#include "kiln/measure/providers/serve.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <unistd.h>

#include "kiln/base/clock.h"
#include "kiln/base/file.h"

namespace kiln::measure {

namespace {

// Of a batch, from when its first call was launched: its other calls are taken to be launched alike, since looking at
// the clock in each of them would be a part of what is measured.
void addParts(const TimeRequest &request, uint64_t started, uint64_t launched, Answer &answer) {
  if (launched < started)
    return;
  int64_t call = answer.call.back();
  int64_t launch = std::min(int64_t(launched - started) * int64_t(request.batch), call);
  answer.launch.push_back(launch);
  answer.device.push_back(call - launch);
}

// Calls until the time is up. The clock is read before and after a batch, and nothing else is done in between.
Status timeCalls(Provider &provider, const TimeRequest &request, uint32_t sets, Answer &answer) {
  uint64_t now = monotonicNanoseconds();
  uint64_t end = now + request.nanoseconds;
  uint32_t set = request.start;
  do {
    provider.watchLaunch();
    uint64_t started = monotonicNanoseconds();
    for (uint32_t i = 0; i < request.batch; ++i) {
      KILN_RETURN_IF_ERROR(provider.call(set));
      set = nextTimingSet(set, sets);
    }
    now = monotonicNanoseconds();
    answer.call.push_back(int64_t(now - started));
    addParts(request, started, provider.launched(), answer);
  } while (now < end);
  // All or nothing: a program may give work to its device in some calls only.
  if (answer.launch.size() != answer.call.size()) {
    answer.launch.clear();
    answer.device.clear();
  }
  return okStatus();
}

} // namespace

std::string Conversation::answer(std::string_view line) {
  Result<Request> request = parseRequest(line);
  Result<Answer> answer = request.ok() ? handle(*request) : Result<Answer>(request.status());
  if (ended)
    return {};
  return encodeAnswer(answer.ok() ? *answer : Answer::failure(answer.status()));
}

Result<Answer> Conversation::handle(const Request &request) {
  if (const auto *message = std::get_if<HelloRequest>(&request))
    return hello(*message);
  if (std::holds_alternative<QuitRequest>(request)) {
    ended = true;
    return Answer();
  }
  if (!started)
    return failedPrecondition("'{}' came before 'hello'", requestName(request));
  if (const auto *message = std::get_if<LoadRequest>(&request))
    return load(*message);
  if (!loaded)
    return failedPrecondition("'{}' came before 'load'", requestName(request));
  if (const auto *message = std::get_if<RunRequest>(&request))
    return run(*message);
  return time(std::get<TimeRequest>(request));
}

Result<Answer> Conversation::hello(const HelloRequest &request) {
  if (request.protocol != kProtocolVersion)
    return unimplemented("this worker speaks protocol {}, not {}", kProtocolVersion, request.protocol);
  if (started)
    return failedPrecondition("'hello' came twice");
  if (openCounters && !counters)
    counters = openCounters();
  KILN_RETURN_IF_ERROR(provider.start(request.threads));
  started = true;
  Answer answer;
  answer.provider = name;
  answer.version = provider.version();
  answer.note = provider.note();
  return answer;
}

Result<Answer> Conversation::load(const LoadRequest &request) {
  if (loadTried)
    return failedPrecondition("'load' came twice; a worker loads one problem");
  loadTried = true;
  KILN_ASSIGN_OR_RETURN(tensors, TensorMemory::map(request));
  KILN_RETURN_IF_ERROR(provider.load(request, tensors));
  loaded = true;
  return Answer();
}

Status Conversation::checkSet(uint32_t set) const {
  if (set < tensors.sets())
    return okStatus();
  return outOfRange("there is no set {}; {} were loaded", set, tensors.sets());
}

Result<Answer> Conversation::run(const RunRequest &request) {
  KILN_RETURN_IF_ERROR(checkSet(request.set));
  KILN_RETURN_IF_ERROR(provider.run(request.set));
  return Answer();
}

Result<Answer> Conversation::time(const TimeRequest &request) {
  KILN_RETURN_IF_ERROR(checkSet(request.start));
  Answer answer;
  answer.batch = request.batch;
  if (counters)
    counters->start();
  Status timed = timeCalls(provider, request, tensors.sets(), answer);
  if (counters)
    answer.counts = counters->stop();
  KILN_RETURN_IF_ERROR(timed);
  return answer;
}

Status serve(Conversation &conversation, int input, int output) {
  std::string received;
  char chunk[65536];
  while (!conversation.over()) {
    size_t newline = received.find('\n');
    if (newline != received.npos) {
      std::string answer = conversation.answer(std::string_view(received).substr(0, newline));
      received.erase(0, newline + 1);
      KILN_RETURN_IF_ERROR(writeAll(output, "an answer", std::as_bytes(std::span(answer))));
      continue;
    }
    if (received.size() > kLineLimit)
      return invalidArgument("a request has no end after {} MiB", kLineLimit >> 20);
    ssize_t count = ::read(input, chunk, sizeof(chunk));
    if (count == 0)
      return okStatus();
    if (count > 0)
      received.append(chunk, size_t(count));
    else if (errno != EINTR)
      return errnoStatus(errno, "cannot read requests");
  }
  return okStatus();
}

} // namespace kiln::measure
