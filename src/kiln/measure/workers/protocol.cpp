#include "kiln/measure/workers/protocol.h"

#include <algorithm>
#include <array>

#include "kiln/runtime/hal/buffer_view.h"
#include "nlohmann/json.hpp"

namespace kiln::measure {

namespace {

// Members keep their order: lines are read by people, too.
using Json = nlohmann::ordered_json;

constexpr uint32_t kMaxSets = uint32_t(1) << 24;
constexpr uint32_t kMaxBatch = uint32_t(1) << 24;
constexpr size_t kMaxTensors = 64;
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

// What is a decimal number in the same spelling becomes one.
Json fieldValue(const std::string &value) {
  bool digits =
      !value.empty() && value.size() <= 18 && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
  if (digits && (value.size() == 1 || value.front() != '0'))
    return std::stoull(value);
  return value;
}

Json encodeProblem(const ProblemText &problem) {
  Json fields = Json::object();
  for (const auto &[name, value] : problem.fields)
    fields[name] = fieldValue(value);
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
  for (const SharedTensor &tensor : tensors)
    list.push_back({{"type", hal::elementTypeName(tensor.type)},
                    {"shape", tensor.shape},
                    {"path", tensor.path},
                    {"offset", tensor.offset},
                    {"stride", tensor.stride},
                    {"bytes", tensor.bytes}});
  return list;
}

Result<SharedTensor> parseTensor(const Json &json) {
  if (!json.is_object())
    return invalidArgument("a tensor must be an object");
  SharedTensor tensor;
  KILN_ASSIGN_OR_RETURN(std::string type, text(json, "type", true));
  std::optional<io::ElementType> known = hal::parseElementType(type);
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

Result<Request> parseLoad(const Json &json) {
  LoadRequest load;
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

Result<Request> parseTime(const Json &json) {
  TimeRequest time;
  KILN_ASSIGN_OR_RETURN(time.nanoseconds, number(json, "nanoseconds", uint64_t(86'400) * 1'000'000'000));
  KILN_ASSIGN_OR_RETURN(time.start, number(json, "start", kMaxSets));
  KILN_ASSIGN_OR_RETURN(time.batch, number(json, "batch", kMaxBatch));
  if (time.batch == 0)
    return invalidArgument("\"batch\" is 0; there must be one call at least");
  return Request(time);
}

Result<std::vector<int64_t>> parseSamples(const Json &answer, const char *name) {
  std::vector<int64_t> samples;
  const Json *json = member(answer, name);
  if (!json)
    return samples;
  if (!json->is_array())
    return invalidArgument("\"{}\" must be a list of nanoseconds", name);
  for (const Json &sample : *json) {
    if (!sample.is_number_unsigned() || sample.get<uint64_t>() > uint64_t(INT64_MAX))
      return invalidArgument("\"{}\" must hold integers that are not negative", name);
    samples.push_back(sample.get<int64_t>());
  }
  return samples;
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
  static constexpr const char *kNames[] = {"hello", "load", "run", "time", "quit"};
  return kNames[request.index()];
}

std::string encodeRequest(const Request &request) {
  Json json = {{"op", requestName(request)}};
  if (const auto *hello = std::get_if<HelloRequest>(&request)) {
    json["protocol"] = hello->protocol;
    json["threads"] = hello->threads;
  } else if (const auto *load = std::get_if<LoadRequest>(&request)) {
    json["problem"] = encodeProblem(load->problem);
    json["module"] = load->module;
    json["function"] = load->function;
    json["sets"] = load->sets;
    json["inputs"] = encodeTensors(load->inputs);
    json["outputs"] = encodeTensors(load->outputs);
  } else if (const auto *run = std::get_if<RunRequest>(&request)) {
    json["set"] = run->set;
  } else if (const auto *time = std::get_if<TimeRequest>(&request)) {
    json["nanoseconds"] = time->nanoseconds;
    json["start"] = time->start;
    json["batch"] = time->batch;
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
    return Request(hello);
  }
  if (op == "load")
    return parseLoad(json);
  if (op == "run") {
    RunRequest run;
    KILN_ASSIGN_OR_RETURN(run.set, number(json, "set", kMaxSets));
    return Request(run);
  }
  if (op == "time")
    return parseTime(json);
  if (op == "quit")
    return Request(QuitRequest());
  return invalidArgument("\"op\" is '{}'; it must be hello, load, run, time or quit", op);
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
  if (!answer.provider.empty()) {
    json["provider"] = answer.provider;
    json["version"] = answer.version;
    if (!answer.note.empty())
      json["note"] = answer.note;
  }
  if (answer.batch != 0) {
    json["batch"] = answer.batch;
    json["call"] = answer.call;
    if (!answer.device.empty())
      json["device"] = answer.device;
    if (!answer.launch.empty())
      json["launch"] = answer.launch;
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
  KILN_ASSIGN_OR_RETURN(answer.error, text(json, "error", !answer.ok));
  KILN_ASSIGN_OR_RETURN(answer.provider, text(json, "provider", false));
  KILN_ASSIGN_OR_RETURN(answer.version, text(json, "version", false));
  KILN_ASSIGN_OR_RETURN(answer.note, text(json, "note", false));
  if (member(json, "protocol")) {
    KILN_ASSIGN_OR_RETURN(uint64_t protocol, number(json, "protocol", UINT32_MAX));
    if (protocol != kProtocolVersion)
      return invalidArgument("it speaks protocol {}, and this is protocol {}", protocol, kProtocolVersion);
  }
  if (member(json, "batch")) {
    KILN_ASSIGN_OR_RETURN(answer.batch, number(json, "batch", kMaxBatch));
  }
  KILN_ASSIGN_OR_RETURN(answer.call, parseSamples(json, "call"));
  KILN_ASSIGN_OR_RETURN(answer.device, parseSamples(json, "device"));
  KILN_ASSIGN_OR_RETURN(answer.launch, parseSamples(json, "launch"));
  KILN_ASSIGN_OR_RETURN(answer.counts, parseCounts(json));
  for (const std::vector<int64_t> *part : {&answer.device, &answer.launch})
    if (!part->empty() && part->size() != answer.call.size())
      return invalidArgument("\"device\" and \"launch\" must have as many samples as \"call\", or none");
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
