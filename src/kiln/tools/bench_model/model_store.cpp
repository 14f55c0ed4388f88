#include "kiln/tools/bench_model/model_store.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "fmt/format.h"
#include "kiln/measure/statistics/group_statistics.h"
#include "kiln/runtime/io/file.h"
#include "kiln/store/json.h"
#include "nlohmann/json.hpp"
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln {

namespace {

using Json = nlohmann::ordered_json;
using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr const char *kFamily = "model";

//===--- To facts -------------------------------------------------------------------------------------------------===//

store::Problem problemOf(const ModelMeasurement &measured) {
  constexpr size_t kLongestInputs = 80;
  store::Problem problem;
  problem.name = fmt::format("{} {}", measured.model, measured.inputs.substr(0, kLongestInputs));
  problem.family = kFamily;
  const auto add = [&](const char *name, std::string value) {
    if (!value.empty() && value != "0")
      problem.fields.emplace_back(name, std::move(value));
  };
  add("model", measured.model);
  add("hash", measured.hash);
  add("inputs", measured.inputs);
  add("types", measured.types);
  add("dynamic", measured.isDynamic ? "yes" : "");
  add("length", std::to_string(measured.length));
  add("batch", std::to_string(measured.batch));
  add("items", std::to_string(measured.items));
  add("item", measured.itemName);
  add("items_because", measured.itemsBecause);
  return problem;
}

store::Candidate candidateOf(const EngineMeasurement &engine, const std::string &problem) {
  store::Candidate candidate;
  candidate.problem = problem;
  candidate.provider = engine.engine;
  candidate.providerVersion = engine.version;
  candidate.variant = engine.setting;
  candidate.compilerFlags = engine.flags;
  candidate.threads = engine.threads;
  return candidate;
}

Json dispatchesJson(const DispatchTimes &times, bool withNodes) {
  Json rows = Json::array();
  for (const DispatchTime &time : times.rows) {
    Json row = {{"name", time.name}, {"element", time.element}, {"launches", time.launches}, {"ms", time.milliseconds}};
    if (time.operations)
      row["operations"] = *time.operations;
    if (time.bytes)
      row["bytes"] = *time.bytes;
    if (time.ofRoof)
      row["of_roof"] = *time.ofRoof;
    if (withNodes)
      row["nodes"] = time.nodes;
    rows.push_back(std::move(row));
  }
  return {{"calls", times.calls}, {"call_ms", times.callMilliseconds}, {"roof", times.roof}, {"rows", std::move(rows)}};
}

std::string dumped(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What of an engine has no column of its own.
std::string detailsOf(const ModelMeasurement &measured, size_t place) {
  const EngineMeasurement &engine = measured.engines[place];
  Json details = {{"place", place}, {"load_ns", engine.loadNanoseconds}};
  if (engine.devicePeakBytes > 0)
    details["device_peak_bytes"] = engine.devicePeakBytes;
  if (!measured.reference.empty()) {
    details["reference"] = measured.reference;
    details["tolerance"] = measured.tolerance;
  }
  // JSON has no number for outputs that cannot be compared.
  if (engine.difference && std::isfinite(*engine.difference))
    details["differs_by"] = *engine.difference;
  else if (engine.difference)
    details["differs_by"] = std::isnan(*engine.difference) ? "nan" : "inf";
  if (place != 0 || !measured.dispatches)
    return dumped(details);
  details["dispatches"] = dispatchesJson(*measured.dispatches, true);
  std::string text = dumped(details);
  if (text.size() < store::kMostJsonBytes)
    return text;
  details["dispatches"] = dispatchesJson(*measured.dispatches, false);
  return dumped(details);
}

store::CandidateResult resultOf(const ModelMeasurement &measured, size_t place, const std::string &group,
                                const std::string &candidate) {
  const EngineMeasurement &engine = measured.engines[place];
  store::CandidateResult result{group, candidate};
  result.verification.details = detailsOf(measured, place);
  if (!engine.failure.empty()) {
    result.outcome = Outcome::Failed;
    result.error = engine.failure;
  } else if (measured.reference.empty()) {
    result.outcome = Outcome::NotVerified;
    result.error = "no other runtime's outputs were there to compare with";
  } else if (measured.differs(engine)) {
    result.outcome = Outcome::Wrong;
    result.error = fmt::format("outputs differ from those of {} by {:.2g} of the largest, and may by {:.2g}",
                               measured.reference, *engine.difference, measured.tolerance);
  }
  if (engine.difference)
    result.verification.method = fmt::format("outputs of {}", measured.reference);
  if (engine.compileNanoseconds > 0)
    result.compileMilliseconds = double(engine.compileNanoseconds) / 1e6;
  if (engine.peakBytes > 0)
    result.worker = store::WorkerFacts{engine.engine, engine.version, "", 1, engine.peakBytes};
  return result;
}

// What the lab's reports show of the engines, by the lab's statistics.
Result<std::vector<store::CandidateEstimate>> estimatesOf(const ModelMeasurement &measured, const std::string &group,
                                                          const std::vector<std::string> &candidates) {
  measure::GroupOptions options;
  options.dropBeyond = measure::GroupOptions::kNeverDrop;
  options.maximumRounds = measure::GroupOptions::kMostRounds;
  KILN_ASSIGN_OR_RETURN(measure::GroupStatistics statistics, measure::GroupStatistics::create(options));
  std::map<uint64_t, std::vector<std::pair<uint32_t, const ModelRound *>>> rounds;
  for (const EngineMeasurement &engine : measured.engines) {
    const uint32_t number = statistics.addCandidate();
    for (const ModelRound &round : engine.rounds)
      if (engine.failure.empty())
        rounds[round.index].emplace_back(number, &round);
  }
  for (const auto &[index, turns] : rounds)
    for (const auto &[number, round] : turns)
      KILN_RETURN_IF_ERROR(statistics.addRound(number, static_cast<uint32_t>(index), round->calls, 1));
  std::vector<store::CandidateEstimate> estimates;
  constexpr double kNoEnd = 1e9; // of a ratio's interval
  for (measure::RankedEstimate &ranked : statistics.estimates()) {
    if (ranked.rounds == 0 || !std::isfinite(ranked.high))
      continue;
    store::CandidateEstimate &estimate = estimates.emplace_back();
    static_cast<Estimate &>(estimate) = ranked;
    estimate.ratio = std::isfinite(ranked.ratio) ? ranked.ratio : 0;
    estimate.ratioHigh = std::isfinite(ranked.ratioHigh) ? ranked.ratioHigh : kNoEnd;
    estimate.group = group;
    estimate.candidate = candidates[ranked.candidate];
    for (uint32_t other : ranked.ties)
      estimate.ties.push_back(candidates[other]);
  }
  return estimates;
}

//===--- From facts -----------------------------------------------------------------------------------------------===//

// A store's JSON may hold anything.
template <typename Value> Value memberOf(const Json &json, const char *name, Value otherwise) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  if (found == json.end())
    return otherwise;
  if constexpr (std::is_same_v<Value, std::string>)
    return found->is_string() ? found->template get<std::string>() : otherwise;
  else if constexpr (std::is_same_v<Value, double>)
    return found->is_number() ? found->template get<double>() : otherwise;
  else
    return found->is_number_unsigned() ? static_cast<Value>(found->template get<uint64_t>()) : otherwise;
}

template <typename Value> std::optional<Value> optionalMember(const Json &json, const char *name) {
  return json.is_object() && json.contains(name) ? std::optional(memberOf(json, name, Value())) : std::nullopt;
}

Json parsed(const std::string &text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

uint64_t numberOf(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<double> differenceOf(const Json &details) {
  const std::string text = memberOf(details, "differs_by", std::string());
  if (text == "nan")
    return std::nan("");
  if (text == "inf")
    return std::numeric_limits<double>::infinity();
  return optionalMember<double>(details, "differs_by");
}

std::optional<DispatchTimes> dispatchesOf(const Json &details) {
  const auto found = details.is_object() ? details.find("dispatches") : details.end();
  if (found == details.end() || !found->is_object())
    return std::nullopt;
  DispatchTimes times;
  times.calls = memberOf<uint64_t>(*found, "calls", 0);
  times.callMilliseconds = memberOf(*found, "call_ms", 0.0);
  times.roof = memberOf(*found, "roof", std::string());
  for (const Json &row : found->contains("rows") ? (*found)["rows"] : Json::array()) {
    DispatchTime &time = times.rows.emplace_back();
    time.name = memberOf(row, "name", std::string());
    time.element = memberOf(row, "element", std::string());
    time.launches = memberOf<uint64_t>(row, "launches", 0);
    time.milliseconds = memberOf(row, "ms", 0.0);
    time.operations = optionalMember<uint64_t>(row, "operations");
    time.bytes = optionalMember<uint64_t>(row, "bytes");
    time.ofRoof = optionalMember<double>(row, "of_roof");
    const auto nodes = row.is_object() ? row.find("nodes") : row.end();
    for (const Json &node : nodes != row.end() ? *nodes : Json::array())
      if (node.is_string())
        time.nodes.push_back(node.get<std::string>());
  }
  return times;
}

EngineMeasurement engineOf(const store::Candidate &candidate, const store::CandidateResult &result,
                           const Json &details) {
  EngineMeasurement engine;
  engine.engine = candidate.provider;
  engine.version = candidate.providerVersion;
  engine.setting = candidate.variant;
  engine.flags = candidate.compilerFlags;
  engine.threads = static_cast<uint32_t>(candidate.threads);
  if (result.outcome == Outcome::Failed)
    engine.failure = result.error.empty() ? "failed" : result.error;
  engine.loadNanoseconds = memberOf<int64_t>(details, "load_ns", 0);
  engine.compileNanoseconds = std::llround(result.compileMilliseconds.value_or(0) * 1e6);
  engine.peakBytes = result.worker ? result.worker->peakMemoryBytes : 0;
  engine.devicePeakBytes = memberOf<uint64_t>(details, "device_peak_bytes", 0);
  engine.difference = differenceOf(details);
  return engine;
}

// What is of the model, and not of an engine.
ModelMeasurement describedBy(const store::Problem &problem, const store::Run &run) {
  ModelMeasurement measured;
  const auto field = [&](const char *name) { return std::string(problem.field(name)); };
  measured.model = field("model");
  measured.hash = field("hash");
  measured.inputs = field("inputs");
  measured.types = field("types");
  measured.isDynamic = field("dynamic") == "yes";
  measured.length = numberOf(field("length"));
  measured.batch = problem.field("batch").empty() ? 1 : numberOf(field("batch"));
  measured.items = numberOf(field("items"));
  measured.itemName = field("item");
  measured.itemsBecause = field("items_because");
  measured.device = memberOf(parsed(run.flags), "hal_device", std::string());
  return measured;
}

// One run's facts, by their keys.
struct RunFacts {
  std::map<std::string, store::Problem> problems;
  std::map<std::string, store::Candidate> candidates;
  std::multimap<std::string, store::CandidateResult> results; // by group

  static Result<RunFacts> read(store::Reader &reader, const std::string &run) {
    RunFacts facts;
    KILN_ASSIGN_OR_RETURN(std::vector<store::Problem> problems, reader.problems(run));
    for (store::Problem &problem : problems) {
      std::string key = problem.key();
      facts.problems.emplace(std::move(key), std::move(problem));
    }
    KILN_ASSIGN_OR_RETURN(auto candidates, reader.candidates(run));
    facts.candidates.insert(candidates.begin(), candidates.end());
    KILN_ASSIGN_OR_RETURN(std::vector<store::CandidateResult> results, reader.results(run));
    for (store::CandidateResult &result : results)
      facts.results.emplace(result.group, std::move(result));
    return facts;
  }
};

Result<ModelMeasurement> measurementOf(store::Reader &reader, const store::StoredGroup &group, const RunFacts &facts,
                                       ModelMeasurement measured) {
  measured.started = group.started;
  std::multimap<uint64_t, EngineMeasurement> engines;
  for (auto [result, end] = facts.results.equal_range(group.key()); result != end; ++result) {
    const auto candidate = facts.candidates.find(result->second.candidate);
    if (candidate == facts.candidates.end())
      continue;
    const Json details = parsed(result->second.verification.details);
    EngineMeasurement engine = engineOf(candidate->second, result->second, details);
    KILN_ASSIGN_OR_RETURN(std::vector<store::Round> rounds, reader.rounds(group.key(), result->second.candidate));
    for (store::Round &round : rounds)
      if (!round.samples.call.empty())
        engine.rounds.push_back({round.index, round.started, round.load, std::move(round.samples.call)});
    if (const std::string reference = memberOf(details, "reference", std::string()); !reference.empty()) {
      measured.reference = reference;
      measured.tolerance = memberOf(details, "tolerance", 0.0);
    }
    if (std::optional<DispatchTimes> dispatches = dispatchesOf(details))
      measured.dispatches = std::move(dispatches);
    engines.emplace(memberOf<uint64_t>(details, "place", 0), std::move(engine));
  }
  for (auto &[place, engine] : engines)
    measured.engines.push_back(std::move(engine));
  if (!measured.engines.empty())
    measured.threads = measured.engines.front().threads;
  return measured;
}

Result<std::vector<ModelMeasurement>> measurementsOf(store::Reader &reader, const store::StoredRun &run) {
  KILN_ASSIGN_OR_RETURN(const RunFacts facts, RunFacts::read(reader, run.key()));
  KILN_ASSIGN_OR_RETURN(std::vector<store::StoredGroup> groups, reader.groups(run.key()));
  std::vector<ModelMeasurement> measurements;
  std::vector<std::string> problems; // of each measurement
  for (const store::StoredGroup &group : groups) {
    const auto problem = facts.problems.find(group.problem);
    if (group.status != store::GroupStatus::Finished || problem == facts.problems.end() ||
        problem->second.family != kFamily)
      continue;
    KILN_ASSIGN_OR_RETURN(ModelMeasurement measured,
                          measurementOf(reader, group, facts, describedBy(problem->second, run)));
    // Of those that were measured in two copies of a run, the last one counts, as in the lab's reports.
    if (const auto before = std::ranges::find(problems, group.problem); before != problems.end()) {
      measurements[static_cast<size_t>(before - problems.begin())] = std::move(measured);
      continue;
    }
    measurements.push_back(std::move(measured));
    problems.push_back(group.problem);
  }
  return measurements;
}

} // namespace

Result<ModelStore> ModelStore::open(const std::string &path, bool allowNetwork) {
  store::WriterOptions options;
  options.allowNetwork = allowNetwork;
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Writer> writer, store::Writer::open(path, options));
  return ModelStore(path, std::move(writer));
}

Result<std::vector<ModelMeasurement>> ModelStore::begin(ModelRun &wanted, bool resume) {
  KILN_RETURN_IF_ERROR(writer->addMachine(wanted.machine));
  wanted.run.machine = wanted.machine.keys();
  if (resume) {
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, store::Reader::open(path));
    KILN_ASSIGN_OR_RETURN(std::optional<std::string> unfinished, reader->unfinishedRun(wanted.run));
    if (unfinished) {
      KILN_ASSIGN_OR_RETURN(store::StoredRun stored, reader->findRun(*unfinished));
      run = stored.key();
      wanted.run = stored;
      return measurementsOf(*reader, stored);
    }
  }
  wanted.run.started = store::unixNanoseconds();
  run = wanted.run.key();
  KILN_RETURN_IF_ERROR(writer->addRun(wanted.run));
  return std::vector<ModelMeasurement>();
}

Status ModelStore::add(const ModelMeasurement &measured) {
  const store::Problem problem = problemOf(measured);
  const store::Group group{run, problem.key(), measured.started};
  std::vector<store::Candidate> candidates;
  std::vector<std::string> keys;
  std::vector<store::CandidateResult> results;
  std::vector<store::Round> rounds;
  for (size_t i = 0; i < measured.engines.size(); ++i) {
    const EngineMeasurement &engine = measured.engines[i];
    candidates.push_back(candidateOf(engine, problem.key()));
    keys.push_back(candidates.back().key());
    results.push_back(resultOf(measured, i, group.key(), keys.back()));
    for (const ModelRound &taken : engine.rounds) {
      store::Round &round = rounds.emplace_back();
      round.group = group.key();
      round.candidate = keys.back();
      round.index = taken.index;
      round.started = taken.started;
      round.load = taken.load;
      round.cacheMode = "warm";
      round.samples.call = taken.calls;
    }
  }
  KILN_ASSIGN_OR_RETURN(std::vector<store::CandidateEstimate> estimates, estimatesOf(measured, group.key(), keys));
  KILN_RETURN_IF_ERROR(writer->addProblem(problem));
  KILN_RETURN_IF_ERROR(writer->addCandidates(candidates));
  KILN_RETURN_IF_ERROR(writer->startGroup(group));
  KILN_RETURN_IF_ERROR(writer->addRounds(rounds));
  return writer->finishGroup(group.key(), results, estimates);
}

Status ModelStore::end() {
  return writer->endRun(run);
}

Result<StoredModels> readModels(const std::string &path, const std::string &name) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, store::Reader::open(path));
  KILN_ASSIGN_OR_RETURN(store::StoredRun run, reader->findRun(name));
  StoredModels stored;
  KILN_ASSIGN_OR_RETURN(stored.measurements, measurementsOf(*reader, run));
  if (stored.measurements.empty())
    return notFound("run {} of '{}' has no measurements of models: `{}` began it", run.key().substr(0, 12), path,
                    run.commandLine.substr(0, 60));
  KILN_ASSIGN_OR_RETURN(stored.run.machine, reader->machine(run.machine));
  stored.run.run = std::move(run);
  return stored;
}

Result<std::string> hashOfFiles(std::span<const std::string> paths) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t *)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<uint8_t> bytes(1 << 20);
  for (const std::string &path : paths) {
    KILN_ASSIGN_OR_RETURN(io::InputFile file, io::InputFile::open(path));
    const std::optional<uint64_t> size = file.remaining();
    if (!size)
      return invalidArgument("'{}' is no file that can be read twice", path);
    for (uint64_t left = *size; left > 0;) {
      const auto part = std::span(bytes).first(std::min<uint64_t>(left, bytes.size()));
      KILN_RETURN_IF_ERROR(file.read(part));
      XXH3_128bits_update(state.get(), part.data(), part.size());
      left -= part.size();
    }
    XXH3_128bits_update(state.get(), &*size, sizeof(*size));
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

} // namespace kiln
