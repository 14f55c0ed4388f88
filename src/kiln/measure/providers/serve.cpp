#include "kiln/measure/providers/serve.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <unistd.h>

#include "kiln/base/clock.h"
#include "kiln/base/file.h"

namespace kiln::measure {

namespace {

// The clock is read before and after a batch, and nothing else is done in between.
Status timeCalls(Provider &provider, const TimeRequest &request, uint32_t sets, Answer &answer) {
  answer.host.reserve(request.calls / request.batch);
  uint32_t set = request.start;
  for (uint64_t done = 0; done < request.calls; done += request.batch) {
    uint64_t started = monotonicNanoseconds();
    for (uint32_t i = 0; i < request.batch; ++i) {
      KILN_RETURN_IF_ERROR(request.empty ? provider.emptyCall() : provider.call(set));
      set = nextTimingSet(set, sets);
    }
    answer.host.push_back(int64_t(monotonicNanoseconds() - started));
  }
  return okStatus();
}

// Each batch was put together before.
Status timeBatches(std::span<const Ref<hal::TimedWork>> batches, Answer &answer) {
  for (const Ref<hal::TimedWork> &batch : batches) {
    const uint64_t started = monotonicNanoseconds();
    KILN_ASSIGN_OR_RETURN(const double nanoseconds, batch->run());
    answer.host.push_back(int64_t(monotonicNanoseconds() - started));
    answer.spans.push_back(int64_t(nanoseconds));
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
  if (threads == 0)
    return failedPrecondition("'{}' came before 'hello'", requestName(request));
  if (const auto *message = std::get_if<LoadRequest>(&request))
    return load(*message);
  if (const auto *message = std::get_if<UnloadRequest>(&request)) {
    KILN_RETURN_IF_ERROR(find(message->slot, {}).status());
    slots.erase(message->slot);
    return Answer();
  }
  if (const auto *message = std::get_if<UploadRequest>(&request)) {
    KILN_ASSIGN_OR_RETURN(Slot * slot, find(message->slot, message->sets));
    KILN_RETURN_IF_ERROR(slot->provider->upload(message->sets, message->outputsOnly));
    return Answer();
  }
  if (const auto *message = std::get_if<FetchRequest>(&request)) {
    KILN_ASSIGN_OR_RETURN(Slot * slot, find(message->slot, message->sets));
    KILN_RETURN_IF_ERROR(slot->provider->fetch(message->sets));
    return Answer();
  }
  if (const auto *message = std::get_if<RunRequest>(&request)) {
    KILN_ASSIGN_OR_RETURN(Slot * slot, find(message->slot, {message->set, 1}));
    KILN_RETURN_IF_ERROR(slot->provider->run(message->set));
    return Answer();
  }
  if (const auto *message = std::get_if<PrepareRequest>(&request))
    return prepare(*message);
  if (const auto *message = std::get_if<VerifyRequest>(&request))
    return verify(*message);
  return time(std::get<TimeRequest>(request));
}

Result<std::unique_ptr<Provider>> Conversation::startProvider() {
  std::unique_ptr<Provider> provider = makeProvider();
  if (!device.empty())
    KILN_RETURN_IF_ERROR(provider->setDevice(device));
  KILN_RETURN_IF_ERROR(provider->start(threads));
  return provider;
}

Result<Answer> Conversation::hello(const HelloRequest &request) {
  if (request.protocol != kProtocolVersion)
    return unimplemented("this worker speaks protocol {}, not {}", kProtocolVersion, request.protocol);
  if (threads != 0)
    return failedPrecondition("'hello' came twice");
  if (openCounters && !counters)
    counters = openCounters();
  threads = request.threads;
  device = request.device;
  Result<std::unique_ptr<Provider>> started = startProvider();
  if (!started.ok()) {
    threads = 0;
    return std::move(started).status();
  }
  spare = *std::move(started);
  Answer answer;
  answer.provider = name;
  answer.version = spare->version();
  answer.note = spare->note();
  answer.devices = {spare->device()};
  answer.tellsDeviceTimes = spare->tellsDeviceTimes();
  answer.makesEmptyCalls = spare->makesEmptyCalls();
  answer.checksOnDevice = families && spare->deviceOfChecks();
  return answer;
}

Result<Answer> Conversation::load(const LoadRequest &request) {
  if (slots.contains(request.slot))
    return failedPrecondition("slot {} holds a problem already; unload it first", request.slot);
  std::unique_ptr<Provider> provider = std::move(spare);
  if (!provider) {
    KILN_ASSIGN_OR_RETURN(provider, startProvider());
  }
  Slot &slot = slots[request.slot];
  Result<TensorMemory> tensors = TensorMemory::map(request);
  Status loaded = tensors.ok() ? okStatus() : tensors.status();
  if (loaded.ok()) {
    slot.tensors = *std::move(tensors);
    slot.problem = request.problem;
    slot.provider = std::move(provider);
    loaded = slot.provider->load(request, slot.tensors);
  }
  if (!loaded.ok()) {
    slots.erase(request.slot);
    return loaded;
  }
  Answer answer;
  answer.preparedWeights = slot.provider->preparedWeights();
  answer.flops = slot.provider->flops();
  return answer;
}

Result<Conversation::Slot *> Conversation::find(uint32_t slot, SetRange sets) {
  auto found = slots.find(slot);
  if (found == slots.end())
    return failedPrecondition("slot {} holds no problem; 'load' comes first", slot);
  uint32_t count = found->second.tensors.sets();
  if (sets.first >= count)
    return outOfRange("there is no set {}; {} were loaded", sets.first, count);
  if (sets.count > count)
    return outOfRange("there are no {} sets; {} were loaded", sets.count, count);
  return &found->second;
}

Result<Answer> Conversation::prepare(const PrepareRequest &request) {
  KILN_ASSIGN_OR_RETURN(Slot * slot, find(request.slot, {request.start, 1}));
  slot->batches.clear();
  std::vector<Ref<hal::TimedWork>> batches;
  Answer answer;
  answer.asGraph = true;
  uint32_t set = request.start;
  for (uint64_t done = 0; done < request.calls; done += request.batch) {
    std::vector<uint32_t> sets;
    for (uint32_t i = 0; i < request.batch; ++i, set = nextTimingSet(set, slot->tensors.sets()))
      sets.push_back(set);
    KILN_ASSIGN_OR_RETURN(Ref<hal::TimedWork> batch, slot->provider->prepare(sets));
    answer.asGraph = *answer.asGraph && batch->isGraph();
    batches.push_back(std::move(batch));
  }
  slot->prepared = request;
  slot->batches = std::move(batches);
  return answer;
}

Result<Answer> Conversation::verify(const VerifyRequest &request) {
  KILN_ASSIGN_OR_RETURN(Slot * slot, find(request.slot, {}));
  if (!families)
    return unimplemented("this worker knows no families of problems");
  if (!slot->verification) {
    KILN_ASSIGN_OR_RETURN(slot->verification,
                          DeviceVerification::create(*slot->provider, *families, slot->problem, slot->tensors));
  }
  Answer answer;
  KILN_ASSIGN_OR_RETURN(answer.verdict, slot->verification->verify(request));
  return answer;
}

Result<Answer> Conversation::time(const TimeRequest &request) {
  KILN_ASSIGN_OR_RETURN(Slot * slot, find(request.slot, {request.start, 1}));
  if (request.byDevice && (request.watch || request.empty))
    return invalidArgument("calls that are watched or empty are not timed by the device's clock");
  if (request.byDevice && (slot->batches.empty() ||
                           slot->prepared != PrepareRequest{request.slot, request.calls, request.batch, request.start}))
    return failedPrecondition("these calls were not prepared; 'prepare' comes before a 'time' by the device's clock");
  Provider &provider = *slot->provider;
  if (request.watch && !provider.tellsDeviceTimes())
    return unimplemented("this provider cannot tell when its device was at work");
  Answer answer;
  answer.batch = request.batch;
  if (counters)
    counters->start();
  if (request.watch)
    provider.watch(true);
  Status timed = request.byDevice ? timeBatches(slot->batches, answer)
                                  : timeCalls(provider, request, slot->tensors.sets(), answer);
  if (counters)
    answer.counts = counters->stop();
  if (request.watch) {
    provider.watch(false);
    answer.device = provider.takeDeviceTimes();
  }
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
