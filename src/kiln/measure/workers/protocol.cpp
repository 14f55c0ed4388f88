#include "kiln/measure/workers/protocol.h"

#include <algorithm>
#include <array>

#include "kiln/base/wrap_text.h"
#include "kiln/measure/verify/number.h"
#include "kiln/runtime/hal/buffer_view.h"
#include "nlohmann/json.hpp"

namespace kiln::measure {

namespace {

// Members keep their order: lines are read by people, too.
using Json = nlohmann::ordered_json;

constexpr uint32_t kMaxSets = uint32_t(1) << 24;
constexpr uint32_t kMaxBatch = uint32_t(1) << 24;
constexpr uint64_t kMaxCalls = uint64_t(1) << 32;
constexpr uint64_t kMaxSamples = uint64_t(1) << 20; // of an answer, which is a line
constexpr size_t kMaxTensors = 64;
constexpr uint64_t kMaxPasses = 64;
constexpr uint64_t kMaxCount = uint64_t(1) << 50; // sums of thousands of them do not overflow

std::string dump(const Json &json) {
  // What is no UTF-8 is replaced: a message may quote anything.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Json> parseObject(std::string_view line) {
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return invalidArgument("this line is no JSON: {}", quoteLine(line));
  if (!json.is_object())
    return invalidArgument("this line is no JSON object: {}", quoteLine(line));
  return json;
}

const Json *member(const Json &object, const char *name) {
  auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

Result<bool> flag(const Json &object, const char *name) {
  const Json *value = member(object, name);
  if (value && !value->is_boolean())
    return invalidArgument("\"{}\" must be true or false", name);
  return value && value->get<bool>();
}

Result<uint64_t> number(const Json &object, const char *name, uint64_t limit) {
  const Json *value = member(object, name);
  if (!value || !value->is_number_unsigned())
    return invalidArgument("\"{}\" must be an integer that is not negative", name);
  if (value->get<uint64_t>() > limit)
    return invalidArgument("\"{}\" is {}; at most {} is possible", name, value->get<uint64_t>(), limit);
  return value->get<uint64_t>();
}

Result<std::string> text(const Json &object, const char *name, bool required) {
  const Json *value = member(object, name);
  if (!value && !required)
    return std::string();
  if (!value || !value->is_string())
    return invalidArgument("\"{}\" must be a string", name);
  return value->get<std::string>();
}

// A short text of a worker. Control characters, NUL among them, are written out, as in \x00.
Result<std::string> saidName(const Json &object, const char *name, bool required) {
  KILN_ASSIGN_OR_RETURN(std::string said, text(object, name, required));
  if (said.size() > kNameLimit)
    return invalidArgument("\"{}\" has {} bytes; it may have {}", name, said.size(), kNameLimit);
  return plainLine(said);
}

Result<std::string> saidNote(const Json &object, const char *name) {
  KILN_ASSIGN_OR_RETURN(std::string said, text(object, name, false));
  if (said.size() > kNoteLimit)
    return invalidArgument("\"{}\" has {} bytes; it may have {}", name, said.size(), kNoteLimit);
  return plainText(said);
}

// Nobody composes an error for its length, so that it is cut, and says so.
Result<std::string> saidError(const Json &object, const char *name, bool required) {
  KILN_ASSIGN_OR_RETURN(std::string said, text(object, name, required));
  if (said.size() <= kNoteLimit)
    return plainText(said);
  size_t end = kNoteLimit;
  while (!startsCharacter(said[end]))
    --end;
  return fmt::format("{}... ({} bytes)", plainText(said.substr(0, end)), said.size());
}

// Fields that are texts also where they are digits alone, so that a field's type does not depend on its value: the
// permutation 10 is one as 0213 is.
constexpr std::string_view kTextFields[] = {"permutation", "shape"};

// What else is a decimal number in the same spelling becomes one.
Json fieldValue(const std::string &name, const std::string &value) {
  if (std::ranges::find(kTextFields, name) != std::end(kTextFields))
    return value;
  bool digits =
      !value.empty() && value.size() <= 18 && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
  if (digits && (value.size() == 1 || value.front() != '0'))
    return std::stoull(value);
  return value;
}

Json encodeProblem(const ProblemText &problem) {
  Json fields = Json::object();
  for (const auto &[name, value] : problem.fields)
    fields[name] = fieldValue(name, value);
  return {{"family", problem.family}, {"name", problem.name}, {"fields", std::move(fields)}};
}

Result<ProblemText> parseProblem(const Json &request) {
  const Json *json = member(request, "problem");
  if (!json || !json->is_object())
    return invalidArgument("\"problem\" must be an object");
  ProblemText problem;
  KILN_ASSIGN_OR_RETURN(problem.family, text(*json, "family", true));
  KILN_ASSIGN_OR_RETURN(problem.name, text(*json, "name", true));
  const Json *fields = member(*json, "fields");
  if (!fields || !fields->is_object())
    return invalidArgument("\"fields\" of the problem must be an object");
  for (const auto &[name, value] : fields->items()) {
    if (!value.is_string() && !value.is_number_unsigned())
      return invalidArgument("field \"{}\" of the problem must be a string or a number", name);
    problem.fields.emplace_back(name,
                                value.is_string() ? value.get<std::string>() : std::to_string(value.get<uint64_t>()));
  }
  return problem;
}

Json encodeTensors(const std::vector<SharedTensor> &tensors) {
  Json list = Json::array();
  for (const SharedTensor &tensor : tensors) {
    Json &json = list.emplace_back(Json{{"type", hal::elementTypeName(tensor.type)},
                                        {"shape", tensor.shape},
                                        {"path", tensor.path},
                                        {"offset", tensor.offset},
                                        {"stride", tensor.stride},
                                        {"bytes", tensor.bytes}});
    if (tensor.weight)
      json["weight"] = true;
  }
  return list;
}

Result<SharedTensor> parseTensor(const Json &json) {
  if (!json.is_object())
    return invalidArgument("a tensor must be an object");
  SharedTensor tensor;
  KILN_ASSIGN_OR_RETURN(std::string type, text(json, "type", true));
  std::optional<io::ElementType> known = measure::verify::parseMeasuredType(type);
  if (!known)
    return invalidArgument("'{}' is no element type", type);
  tensor.type = *known;
  const Json *shape = member(json, "shape");
  if (!shape || !shape->is_array() || shape->size() > hal::BufferView::kMaxRank)
    return invalidArgument("\"shape\" must be a list of at most {} extents", hal::BufferView::kMaxRank);
  for (const Json &extent : *shape) {
    if (!extent.is_number_unsigned())
      return invalidArgument("extents must be integers that are not negative");
    tensor.shape.push_back(extent.get<uint64_t>());
  }
  KILN_ASSIGN_OR_RETURN(tensor.path, text(json, "path", true));
  constexpr uint64_t kFileLimit = uint64_t(1) << 47;
  KILN_ASSIGN_OR_RETURN(tensor.offset, number(json, "offset", kFileLimit));
  KILN_ASSIGN_OR_RETURN(tensor.stride, number(json, "stride", kFileLimit));
  KILN_ASSIGN_OR_RETURN(tensor.bytes, number(json, "bytes", kFileLimit));
  KILN_ASSIGN_OR_RETURN(tensor.weight, flag(json, "weight"));
  KILN_ASSIGN_OR_RETURN(uint64_t needed, hal::shapeByteLength(tensor.type, tensor.shape));
  if (tensor.bytes != needed)
    return invalidArgument("a tensor of {} bytes is said to be {}, which has {}", tensor.bytes,
                           hal::shapeText(tensor.type, tensor.shape), needed);
  return tensor;
}

Result<std::vector<SharedTensor>> parseTensors(const Json &request, const char *name) {
  const Json *json = member(request, name);
  if (!json || !json->is_array() || json->size() > kMaxTensors)
    return invalidArgument("\"{}\" must be a list of at most {} tensors", name, kMaxTensors);
  std::vector<SharedTensor> tensors;
  for (const Json &entry : *json) {
    Result<SharedTensor> tensor = parseTensor(entry);
    if (!tensor.ok())
      return std::move(tensor).status().withContext(fmt::format("\"{}\"", name));
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

Result<uint32_t> slotOf(const Json &json) {
  if (!member(json, "slot"))
    return uint32_t(0);
  KILN_ASSIGN_OR_RETURN(uint64_t slot, number(json, "slot", kMaxSlots - 1));
  return uint32_t(slot);
}

Result<SetRange> parseSets(const Json &json) {
  const Json *sets = member(json, "sets");
  if (!sets || !sets->is_object())
    return invalidArgument("\"sets\" must be an object with \"first\" and \"count\"");
  SetRange range;
  KILN_ASSIGN_OR_RETURN(range.first, number(*sets, "first", kMaxSets));
  KILN_ASSIGN_OR_RETURN(range.count, number(*sets, "count", kMaxSets));
  return range;
}

Json encodeSets(const SetRange &sets) {
  return {{"first", sets.first}, {"count", sets.count}};
}

Result<Request> parseLoad(const Json &json, uint32_t slot) {
  LoadRequest load;
  load.slot = slot;
  KILN_ASSIGN_OR_RETURN(load.problem, parseProblem(json));
  KILN_ASSIGN_OR_RETURN(load.module, text(json, "module", false));
  KILN_ASSIGN_OR_RETURN(load.function, text(json, "function", false));
  KILN_ASSIGN_OR_RETURN(load.sets, number(json, "sets", kMaxSets));
  if (load.sets == 0)
    return invalidArgument("\"sets\" is 0; there must be one at least");
  KILN_ASSIGN_OR_RETURN(load.inputs, parseTensors(json, "inputs"));
  KILN_ASSIGN_OR_RETURN(load.outputs, parseTensors(json, "outputs"));
  return Request(std::move(load));
}

Result<Request> parseTime(const Json &json, uint32_t slot) {
  TimeRequest time;
  time.slot = slot;
  KILN_ASSIGN_OR_RETURN(time.calls, number(json, "calls", kMaxCalls));
  KILN_ASSIGN_OR_RETURN(time.batch, number(json, "batch", kMaxBatch));
  KILN_ASSIGN_OR_RETURN(time.start, number(json, "start", kMaxSets));
  KILN_ASSIGN_OR_RETURN(time.watch, flag(json, "watch"));
  KILN_ASSIGN_OR_RETURN(time.empty, flag(json, "empty"));
  KILN_ASSIGN_OR_RETURN(std::string clock, text(json, "clock", false));
  if (!clock.empty() && clock != "device")
    return invalidArgument("\"clock\" is '{}'; it must be device, or left out", clock);
  time.byDevice = !clock.empty();
  if (time.batch == 0 || time.calls == 0 || time.calls % time.batch != 0)
    return invalidArgument("\"calls\" is {} and \"batch\" {}; calls must be a multiple of batch, and neither 0",
                           time.calls, time.batch);
  if (time.calls / time.batch > kMaxSamples)
    return invalidArgument("\"calls\" is {} and \"batch\" {}; at most {} batches are possible", time.calls, time.batch,
                           kMaxSamples);
  return Request(time);
}

Result<Request> parsePrepare(const Json &json, uint32_t slot) {
  KILN_ASSIGN_OR_RETURN(Request time, parseTime(json, slot));
  const auto &same = std::get<TimeRequest>(time);
  return Request(PrepareRequest{slot, same.calls, same.batch, same.start});
}

Result<std::vector<int64_t>> parseTicks(const Json &object, const char *name) {
  std::vector<int64_t> ticks;
  const Json *json = member(object, name);
  if (!json)
    return ticks;
  if (!json->is_array())
    return invalidArgument("\"{}\" must be a list of integers", name);
  for (const Json &tick : *json) {
    if (!tick.is_number_unsigned() || tick.get<uint64_t>() > uint64_t(INT64_MAX))
      return invalidArgument("\"{}\" must hold integers that are not negative", name);
    ticks.push_back(tick.get<int64_t>());
  }
  return ticks;
}

Result<std::optional<DeviceTimes>> parseDeviceTimes(const Json &answer) {
  const Json *json = member(answer, "device");
  if (!json)
    return std::optional<DeviceTimes>();
  if (!json->is_object())
    return invalidArgument("\"device\" must be an object with \"clock\", \"started\" and \"ended\"");
  DeviceTimes times;
  KILN_ASSIGN_OR_RETURN(times.clock, saidName(*json, "clock", true));
  if (member(*json, "per_second")) {
    KILN_ASSIGN_OR_RETURN(times.ticksPerSecond, number(*json, "per_second", uint64_t(1) << 40));
  }
  if (times.ticksPerSecond == 0)
    return invalidArgument("\"per_second\" is 0; a clock ticks");
  KILN_ASSIGN_OR_RETURN(times.submitted, parseTicks(*json, "submitted"));
  KILN_ASSIGN_OR_RETURN(times.started, parseTicks(*json, "started"));
  KILN_ASSIGN_OR_RETURN(times.ended, parseTicks(*json, "ended"));
  if (times.started.size() != times.ended.size() ||
      (!times.submitted.empty() && times.submitted.size() != times.started.size()))
    return invalidArgument("\"started\" has {} values, \"ended\" {} and \"submitted\" {}: they must be as many, and "
                           "only \"submitted\" may be left out",
                           times.started.size(), times.ended.size(), times.submitted.size());
  return std::optional(std::move(times));
}

Json encodeDeviceTimes(const DeviceTimes &times) {
  Json json = {{"clock", times.clock}, {"per_second", times.ticksPerSecond}};
  if (!times.submitted.empty())
    json["submitted"] = times.submitted;
  json["started"] = times.started;
  json["ended"] = times.ended;
  return json;
}

constexpr const char *kDeviceTimes = "device times", *kEmptyCalls = "empty calls", *kDeviceChecks = "device checks";

// A promise that is not known is no error: a worker may be newer.
Status parseHello(const Json &json, Answer &answer) {
  if (const Json *devices = member(json, "devices")) {
    if (!devices->is_array() || devices->size() > kMaxDevices)
      return invalidArgument("\"devices\" must be a list of at most {}", kMaxDevices);
    for (const Json &device : *devices) {
      if (!device.is_object())
        return invalidArgument("a device must be an object");
      WorkerDevice &parsed = answer.devices.emplace_back();
      KILN_ASSIGN_OR_RETURN(parsed.name, saidName(device, "name", true));
      KILN_ASSIGN_OR_RETURN(std::string memory, saidName(device, "memory", true));
      if (memory != "shared" && memory != "own")
        return invalidArgument("\"memory\" of a device is '{}'; it must be shared or own", memory);
      parsed.shared = memory == "shared";
      KILN_ASSIGN_OR_RETURN(std::string clock, saidName(device, "clock", false));
      if (!clock.empty() && clock != "device" && clock != "simulated")
        return invalidArgument("\"clock\" of a device is '{}'; it must be device or simulated, or left out", clock);
      parsed.clock = clock.empty()       ? WorkerDevice::Clock::None
                     : clock == "device" ? WorkerDevice::Clock::Device
                                         : WorkerDevice::Clock::Simulated;
      if (member(device, "cache_bytes")) {
        KILN_ASSIGN_OR_RETURN(parsed.cacheBytes, number(device, "cache_bytes", kMaxCount));
      }
    }
  }
  if (const Json *promises = member(json, "promises")) {
    if (!promises->is_array())
      return invalidArgument("\"promises\" must be a list");
    answer.tellsDeviceTimes = std::ranges::find(*promises, kDeviceTimes) != promises->end();
    answer.makesEmptyCalls = std::ranges::find(*promises, kEmptyCalls) != promises->end();
    answer.checksOnDevice = std::ranges::find(*promises, kDeviceChecks) != promises->end();
  }
  return okStatus();
}

void encodeHello(const Answer &answer, Json &json) {
  json["provider"] = answer.provider;
  json["version"] = answer.version;
  if (!answer.note.empty())
    json["note"] = answer.note;
  for (const WorkerDevice &device : answer.devices) {
    Json &said =
        json["devices"].emplace_back(Json{{"name", device.name}, {"memory", device.shared ? "shared" : "own"}});
    if (device.clock != WorkerDevice::Clock::None)
      said["clock"] = device.clock == WorkerDevice::Clock::Device ? "device" : "simulated";
    if (device.cacheBytes)
      said["cache_bytes"] = device.cacheBytes;
  }
  if (answer.tellsDeviceTimes)
    json["promises"].push_back(kDeviceTimes);
  if (answer.makesEmptyCalls)
    json["promises"].push_back(kEmptyCalls);
  if (answer.checksOnDevice)
    json["promises"].push_back(kDeviceChecks);
}

// Under the names of the protocol.
template <typename Counts> auto countFields(Counts &counts) {
  return std::to_array<std::pair<const char *, decltype(&counts.cycles)>>({{"cycles", &counts.cycles},
                                                                           {"instructions", &counts.instructions},
                                                                           {"cache_misses", &counts.cacheMisses},
                                                                           {"flops", &counts.flops}});
}

// Others than these are no error: a program may count more.
Result<CallCounts> parseCounts(const Json &answer) {
  CallCounts counts;
  const Json *json = member(answer, "counters");
  if (!json)
    return counts;
  if (!json->is_object())
    return invalidArgument("\"counters\" must be an object");
  for (auto [name, field] : countFields(counts))
    if (member(*json, name)) {
      KILN_ASSIGN_OR_RETURN(*field, number(*json, name, kMaxCount));
    }
  return counts;
}

} // namespace

const std::string *ProblemText::field(std::string_view name) const {
  auto found = std::ranges::find(fields, name, [](const auto &field) -> std::string_view { return field.first; });
  return found == fields.end() ? nullptr : &found->second;
}

ProblemText problemText(const Problem &problem) {
  return {std::string(problem.family()), problem.name(), problem.fields()};
}

const char *requestName(const Request &request) {
  static constexpr const char *kNames[] = {"hello", "load", "unload", "upload",  "fetch",
                                           "run",   "time", "quit",   "prepare", "verify"};
  return kNames[request.index()];
}

std::string encodeRequest(const Request &request) {
  Json json = {{"op", requestName(request)}};
  if (const auto *hello = std::get_if<HelloRequest>(&request)) {
    json["protocol"] = hello->protocol;
    json["threads"] = hello->threads;
    if (!hello->device.empty())
      json["device"] = hello->device;
  } else if (const auto *load = std::get_if<LoadRequest>(&request)) {
    json["slot"] = load->slot;
    json["problem"] = encodeProblem(load->problem);
    json["module"] = load->module;
    json["function"] = load->function;
    json["sets"] = load->sets;
    json["inputs"] = encodeTensors(load->inputs);
    json["outputs"] = encodeTensors(load->outputs);
  } else if (const auto *unload = std::get_if<UnloadRequest>(&request)) {
    json["slot"] = unload->slot;
  } else if (const auto *upload = std::get_if<UploadRequest>(&request)) {
    json["slot"] = upload->slot;
    json["sets"] = encodeSets(upload->sets);
    if (upload->outputsOnly)
      json["outputs_only"] = true;
  } else if (const auto *fetch = std::get_if<FetchRequest>(&request)) {
    json["slot"] = fetch->slot;
    json["sets"] = encodeSets(fetch->sets);
  } else if (const auto *run = std::get_if<RunRequest>(&request)) {
    json["slot"] = run->slot;
    json["set"] = run->set;
  } else if (const auto *time = std::get_if<TimeRequest>(&request)) {
    json["slot"] = time->slot;
    json["calls"] = time->calls;
    json["batch"] = time->batch;
    json["start"] = time->start;
    if (time->watch)
      json["watch"] = true;
    if (time->empty)
      json["empty"] = true;
    if (time->byDevice)
      json["clock"] = "device";
  } else if (const auto *prepare = std::get_if<PrepareRequest>(&request)) {
    json["slot"] = prepare->slot;
    json["calls"] = prepare->calls;
    json["batch"] = prepare->batch;
    json["start"] = prepare->start;
  } else if (const auto *verify = std::get_if<VerifyRequest>(&request)) {
    json["slot"] = verify->slot;
    json["pass"] = verify->pass;
    json["seed"] = verify->seed;
    json["planted"] = verify->planted;
  }
  return dump(json);
}

Result<Request> parseRequest(std::string_view line) {
  KILN_ASSIGN_OR_RETURN(Json json, parseObject(line));
  KILN_ASSIGN_OR_RETURN(std::string op, text(json, "op", true));
  if (op == "hello") {
    HelloRequest hello;
    KILN_ASSIGN_OR_RETURN(hello.protocol, number(json, "protocol", UINT32_MAX));
    KILN_ASSIGN_OR_RETURN(hello.threads, number(json, "threads", 4096));
    if (hello.threads == 0)
      return invalidArgument("\"threads\" is 0; there must be one at least");
    KILN_ASSIGN_OR_RETURN(hello.device, text(json, "device", false));
    return Request(hello);
  }
  if (op == "quit")
    return Request(QuitRequest());
  KILN_ASSIGN_OR_RETURN(uint32_t slot, slotOf(json));
  if (op == "load")
    return parseLoad(json, slot);
  if (op == "unload")
    return Request(UnloadRequest{slot});
  if (op == "upload" || op == "fetch") {
    KILN_ASSIGN_OR_RETURN(SetRange sets, parseSets(json));
    if (op == "fetch")
      return Request(FetchRequest{slot, sets});
    KILN_ASSIGN_OR_RETURN(bool outputsOnly, flag(json, "outputs_only"));
    return Request(UploadRequest{slot, sets, outputsOnly});
  }
  if (op == "run") {
    RunRequest run;
    run.slot = slot;
    KILN_ASSIGN_OR_RETURN(run.set, number(json, "set", kMaxSets));
    return Request(run);
  }
  if (op == "time")
    return parseTime(json, slot);
  if (op == "prepare")
    return parsePrepare(json, slot);
  if (op == "verify") {
    VerifyRequest verify;
    verify.slot = slot;
    KILN_ASSIGN_OR_RETURN(verify.pass, number(json, "pass", kMaxPasses));
    KILN_ASSIGN_OR_RETURN(verify.seed, number(json, "seed", UINT64_MAX));
    KILN_ASSIGN_OR_RETURN(verify.planted, number(json, "planted", UINT64_MAX));
    return Request(verify);
  }
  return invalidArgument(
      "\"op\" is '{}'; it must be hello, load, unload, upload, fetch, run, verify, prepare, time or quit", op);
}

Answer Answer::failure(const Status &status) {
  Answer answer;
  answer.ok = false;
  answer.unsupported = status.code() == StatusCode::Unimplemented;
  answer.error = status.message();
  return answer;
}

std::string encodeAnswer(const Answer &answer) {
  Json json = {{"ok", answer.ok}};
  if (!answer.ok) {
    if (answer.unsupported)
      json["unsupported"] = true;
    json["error"] = answer.error;
    return dump(json);
  }
  if (!answer.provider.empty())
    encodeHello(answer, json);
  if (answer.preparedWeights)
    json["prepared"] = true;
  if (answer.flops)
    json["flops"] = *answer.flops;
  if (answer.asGraph)
    json["graph"] = *answer.asGraph;
  if (answer.verdict)
    json["verdict"] = {{"wrong_rows", answer.verdict->wrongRows},
                       {"make_ns", answer.verdict->makeNanoseconds},
                       {"check_ns", answer.verdict->checkNanoseconds}};
  if (answer.batch != 0) {
    json["batch"] = answer.batch;
    json["host"] = answer.host;
    if (answer.device)
      json["device"] = encodeDeviceTimes(*answer.device);
    if (!answer.spans.empty())
      json["spans"] = answer.spans;
    for (auto [name, field] : countFields(answer.counts))
      if (*field)
        json["counters"][name] = **field;
  }
  return dump(json);
}

static Result<Answer> answerOf(const Json &json) {
  const Json *ok = member(json, "ok");
  if (!ok || !ok->is_boolean())
    return invalidArgument("\"ok\" must be true or false");
  Answer answer;
  answer.ok = ok->get<bool>();
  const Json *unsupported = member(json, "unsupported");
  answer.unsupported = !answer.ok && unsupported && unsupported->is_boolean() && unsupported->get<bool>();
  KILN_ASSIGN_OR_RETURN(answer.error, saidError(json, "error", !answer.ok));
  KILN_ASSIGN_OR_RETURN(answer.provider, saidName(json, "provider", false));
  KILN_ASSIGN_OR_RETURN(answer.version, saidName(json, "version", false));
  KILN_ASSIGN_OR_RETURN(answer.note, saidNote(json, "note"));
  if (member(json, "protocol")) {
    KILN_ASSIGN_OR_RETURN(uint64_t protocol, number(json, "protocol", UINT32_MAX));
    if (protocol != kProtocolVersion)
      return invalidArgument("it speaks protocol {}, and this is protocol {}", protocol, kProtocolVersion);
  }
  KILN_RETURN_IF_ERROR(parseHello(json, answer));
  KILN_ASSIGN_OR_RETURN(answer.preparedWeights, flag(json, "prepared"));
  if (const Json *flops = member(json, "flops")) {
    if (!flops->is_number() || !(flops->get<double>() > 0))
      return invalidArgument("\"flops\" must be a number above 0: the operations of a call");
    answer.flops = flops->get<double>();
  }
  if (const Json *verdict = member(json, "verdict")) {
    if (!verdict->is_object())
      return invalidArgument("\"verdict\" must be an object");
    Answer::DeviceVerdict &parsed = answer.verdict.emplace();
    KILN_ASSIGN_OR_RETURN(parsed.wrongRows, number(*verdict, "wrong_rows", UINT64_MAX));
    KILN_ASSIGN_OR_RETURN(parsed.makeNanoseconds, number(*verdict, "make_ns", UINT64_MAX));
    KILN_ASSIGN_OR_RETURN(parsed.checkNanoseconds, number(*verdict, "check_ns", UINT64_MAX));
  }
  if (member(json, "batch")) {
    KILN_ASSIGN_OR_RETURN(answer.batch, number(json, "batch", kMaxBatch));
  }
  KILN_ASSIGN_OR_RETURN(answer.host, parseTicks(json, "host"));
  KILN_ASSIGN_OR_RETURN(answer.spans, parseTicks(json, "spans"));
  if (member(json, "graph")) {
    KILN_ASSIGN_OR_RETURN(answer.asGraph, flag(json, "graph"));
  }
  KILN_ASSIGN_OR_RETURN(answer.device, parseDeviceTimes(json));
  KILN_ASSIGN_OR_RETURN(answer.counts, parseCounts(json));
  return answer;
}

Result<Answer> parseAnswer(std::string_view line) {
  KILN_ASSIGN_OR_RETURN(Json json, parseObject(line));
  Result<Answer> answer = answerOf(json);
  if (!answer.ok())
    return invalidArgument("{}: {}", answer.status().message(), quoteLine(line));
  return answer;
}

std::string quoteLine(std::string_view line) {
  constexpr size_t kShown = 120;
  std::string quoted = "'";
  for (char c : line.substr(0, kShown))
    quoted += c == '\\'              ? "\\\\"
              : c == '\n'            ? "\\n"
              : c == '\t'            ? "\\t"
              : c >= ' ' && c <= '~' ? std::string(1, c)
                                     : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  quoted += line.size() > kShown ? fmt::format("...' ({} bytes)", line.size()) : "'";
  return quoted;
}

} // namespace kiln::measure
