#include "kiln/report/model/table.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "kiln/base/expression.h"
#include "kiln/base/own_providers.h"
#include "kiln/measure/statistics/robust.h"
#include "nlohmann/json.hpp"

namespace kiln::report {

static Peaks peaksOf(const nlohmann::json &json) {
  Peaks peaks;
  if (auto found = json.find("gflops"); found != json.end() && found->is_object())
    for (const auto &[type, value] : found->items())
      if (value.is_number() && value.get<double>() > 0)
        peaks.gigaflops[type] = value.get<double>();
  if (auto found = json.find("gb_per_s"); found != json.end() && found->is_number() && found->get<double>() > 0)
    peaks.gigabytes = found->get<double>();
  return peaks;
}

std::string deviceOfCeilings(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto device = json.is_object() ? json.find("device") : json.end();
  return device != json.end() && device->is_string() ? device->get<std::string>() : std::string();
}

Result<std::map<uint64_t, Peaks>> parsePeaks(std::string_view text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  std::map<uint64_t, Peaks> peaks;
  const bool several = json.is_object() && json.contains("by_threads") && json["by_threads"].is_array();
  for (const nlohmann::json &entry : several ? json["by_threads"] : nlohmann::json::array({json})) {
    auto threads = entry.is_object() ? entry.find("threads") : entry.end();
    if (threads == entry.end() || !threads->is_number_unsigned())
      return invalidArgument("'{}' are no ceilings of a machine by threads", text.substr(0, 80));
    peaks[threads->get<uint64_t>()] = peaksOf(entry);
  }
  return peaks;
}

std::string Row::dispatch() const {
  if (!candidate->configuration.empty())
    return problem->name + "_" + candidate->configuration;
  std::string name =
      problem->name + "_" + candidate->provider + (candidate->variant.empty() ? "" : "_") + candidate->variant;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string Row::name() const {
  return groupKey.substr(0, 8) + candidateKey.substr(0, 8);
}

std::string Row::provider() const {
  return candidate->variant.empty() ? candidate->provider
                                    : fmt::format("{} ({})", candidate->provider, candidate->variant);
}

std::string Row::shortName() const {
  static constexpr std::string_view kPrefix = "tile_config_";
  std::string_view name = candidate->configuration;
  if (name.empty())
    return provider();
  return fmt::format("{} {}", provider(), name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name);
}

std::string Row::reason() const {
  const store::Verification &verification = result->verification;
  std::string text;
  if (result->outcome == Outcome::Wrong) {
    const std::string &said = verification.explanation;
    if (!said.empty() && result->error.find(said) != std::string::npos)
      return result->error; // it begins with the pass and the cause
    text = verification.cause.empty() ? "wrong results" : verification.cause;
    if (!said.empty())
      text += ": " + said;
  }
  if (!result->error.empty())
    text += (text.empty() ? "" : "; ") + result->error;
  return text;
}

std::string_view Row::field(std::string_view name) const {
  return problem->field(name);
}

// "f32t" has elements of type f32: letters and digits up to the layout. Those without sign are multiplied by the same
// instructions as those with.
std::string Row::elementType() const {
  static constexpr std::string_view kDigits = "0123456789";
  std::string_view tensor = field("lhs");
  if (tensor.starts_with('u'))
    tensor.remove_prefix(1);
  size_t digits = std::min(tensor.find_first_of(kDigits), tensor.size());
  return std::string(tensor.substr(0, tensor.find_first_not_of(kDigits, digits)));
}

std::string Row::arithmetic() const {
  const std::string_view promised = field("arithmetic");
  return promised.empty() ? elementType() : std::string(promised);
}

bool Row::isKilnsDefault() const {
  return candidate->provider == "kiln" && candidate->configuration == kDefaultConfiguration;
}

std::string literally(std::string_view name) {
  std::string text;
  for (char c : name) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos)
      text += '\\';
    text += c;
  }
  return text;
}

// A filter with its expressions compiled.
class Matcher {
public:
  static Result<Matcher> compile(const Filter &filter) {
    Matcher matcher;
    matcher.provider = filter.provider;
    matcher.variant = filter.variant;
    matcher.takesDispatch = filter.takes;
    for (auto [text, expression] :
         {std::pair(&filter.problem, &matcher.problem), std::pair(&filter.dispatch, &matcher.dispatch)}) {
      if (text->empty())
        continue;
      KILN_ASSIGN_OR_RETURN(*expression, parseExpression(*text));
    }
    return matcher;
  }

  bool takes(const Row &row) const {
    if (!provider.empty() && row.candidate->provider != provider)
      return false;
    if (variant && row.candidate->variant != *variant)
      return false;
    if (problem && !std::regex_search(row.problem->name, *problem))
      return false;
    if (takesDispatch && !takesDispatch(row.dispatch()))
      return false;
    return !dispatch || std::regex_search(row.dispatch(), *dispatch);
  }

private:
  std::optional<std::regex> problem, dispatch;
  std::string provider;
  std::optional<std::string> variant;
  std::function<bool(std::string_view)> takesDispatch;
};

namespace {

// Loads one run into a table.
struct RunLoader {
  store::Reader &reader;
  const Matcher &matcher;
  Table &table;

  Status load(store::StoredRun found);
  Status loadGroups(const std::string &key);
  Status loadRows(const std::string &key);
  Status loadPeaks();
  void deriveFromGroups(size_t first);

  const store::StoredRun *run = nullptr;
  std::string device;
  std::unordered_map<std::string, const store::Problem *> problems;
  std::unordered_map<std::string, const store::Candidate *> candidates;
  // Those that rows come from: of each problem the last finished one, else the last.
  std::unordered_map<std::string, const store::StoredGroup *> groups;
  std::map<uint64_t, Peaks> peaks; // by threads
};

} // namespace

Status RunLoader::load(store::StoredRun found) {
  std::string key = found.key();
  run = &table.runs.emplace_back(std::move(found));
  device = deviceOf(*run);
  KILN_ASSIGN_OR_RETURN(std::vector<store::Problem> storedProblems, reader.problems(key));
  for (store::Problem &problem : storedProblems) {
    const store::Problem &stored = table.problems.emplace_back(std::move(problem));
    problems.emplace(stored.key(), &stored);
  }
  KILN_ASSIGN_OR_RETURN(auto storedCandidates, reader.candidates(key));
  for (auto &[candidateKey, candidate] : storedCandidates)
    candidates.emplace(candidateKey, &table.candidates.emplace_back(std::move(candidate)));
  KILN_RETURN_IF_ERROR(loadGroups(key));
  KILN_RETURN_IF_ERROR(loadPeaks());
  size_t first = table.rows.size();
  KILN_RETURN_IF_ERROR(loadRows(key));
  deriveFromGroups(first);
  return okStatus();
}

static nlohmann::json flagsOf(const store::Run &run) {
  return nlohmann::json::parse(run.flags, nullptr, /*allow_exceptions=*/false);
}

// Older stores have the device's URI alone.
std::string deviceOf(const store::Run &run) {
  const nlohmann::json flags = flagsOf(run);
  for (const char *name : {"deviceName", "device"})
    if (auto found = flags.is_object() ? flags.find(name) : flags.end(); found != flags.end() && found->is_string())
      return found->get<std::string>();
  return {};
}

// How many problems a run's sweep has; 0 where the store is older, and does not tell.
static uint64_t plannedProblems(const store::Run &run) {
  const nlohmann::json flags = flagsOf(run);
  const auto planned = flags.is_object() ? flags.find("problems") : flags.end();
  return planned != flags.end() && planned->is_number_unsigned() ? planned->get<uint64_t>() : 0;
}

Status RunLoader::loadGroups(const std::string &key) {
  KILN_ASSIGN_OR_RETURN(std::vector<store::StoredGroup> stored, reader.groups(key));
  std::unordered_map<std::string, const store::StoredGroup *> chosen;
  for (store::StoredGroup &group : stored) {
    const store::StoredGroup *&best = chosen[group.problem];
    if (!best || group.status == store::GroupStatus::Finished || best->status != store::GroupStatus::Finished)
      best = &table.groups.emplace_back(std::move(group));
  }
  std::set<std::string> unfinished;
  for (const auto &[problem, group] : chosen) {
    groups.emplace(group->key(), group);
    if (auto known = problems.find(problem); known != problems.end() && group->status != store::GroupStatus::Finished)
      unfinished.insert(known->second->name);
  }
  table.unfinished.insert(table.unfinished.end(), unfinished.begin(), unfinished.end());
  table.notBegun += std::max<uint64_t>(plannedProblems(*run), chosen.size()) - chosen.size();
  return okStatus();
}

// Of the CPU or of the run's device: whoever measures on the other one meanwhile stores ceilings, too.
Status RunLoader::loadPeaks() {
  Result<store::Calibration> calibration =
      reader.calibration(run->machine, run->ended.value_or(run->started),
                         [&](const std::string &ceilings) { return deviceOfCeilings(ceilings) == device; });
  if (calibration.status().code() == StatusCode::NotFound)
    return okStatus();
  KILN_RETURN_IF_ERROR(calibration.status());
  KILN_ASSIGN_OR_RETURN(peaks, parsePeaks(calibration->ceilings));
  return okStatus();
}

Status RunLoader::loadRows(const std::string &key) {
  KILN_ASSIGN_OR_RETURN(std::vector<store::CandidateEstimate> storedEstimates, reader.estimates(key));
  std::unordered_map<std::string, const store::CandidateEstimate *> estimates;
  for (store::CandidateEstimate &estimate : storedEstimates) {
    const store::CandidateEstimate &stored = table.estimates.emplace_back(std::move(estimate));
    estimates.emplace(stored.group + stored.candidate, &stored);
  }
  std::unordered_map<std::string, const store::Counters *> counters;
  KILN_ASSIGN_OR_RETURN(std::vector<store::CountedCalls> storedCounters, reader.counters(key));
  for (const store::CountedCalls &counted : storedCounters)
    counters.emplace(counted.group + counted.candidate, &table.counters.emplace_back(counted.counters));
  std::unordered_map<std::string, const store::DeviceStates *> deviceStates;
  KILN_ASSIGN_OR_RETURN(std::vector<store::DeviceStates> storedStates, reader.deviceStates(key));
  for (store::DeviceStates &states : storedStates) {
    const store::DeviceStates &stored = table.deviceStates.emplace_back(std::move(states));
    deviceStates.emplace(stored.group + stored.candidate, &stored);
  }
  KILN_ASSIGN_OR_RETURN(std::vector<store::CandidateResult> storedResults, reader.results(key));
  for (store::CandidateResult &result : storedResults) {
    auto group = groups.find(result.group);
    auto candidate = candidates.find(result.candidate);
    if (group == groups.end() || candidate == candidates.end())
      continue;
    auto problem = problems.find(group->second->problem);
    if (problem == problems.end())
      return dataLoss("the store holds a result of problem '{}', and no such problem", group->second->problem);
    Row row;
    row.run = run;
    row.problem = problem->second;
    row.candidate = candidate->second;
    row.group = group->second;
    row.groupKey = result.group;
    row.candidateKey = result.candidate;
    row.device = device;
    row.result = &table.results.emplace_back(std::move(result));
    if (isSuccess(row.result->outcome)) {
      if (auto estimate = estimates.find(row.groupKey + row.candidateKey); estimate != estimates.end())
        row.estimate = estimate->second;
      if (auto counted = counters.find(row.groupKey + row.candidateKey); counted != counters.end())
        row.counters = counted->second;
      if (auto states = deviceStates.find(row.groupKey + row.candidateKey); states != deviceStates.end())
        row.deviceStates = states->second;
    }
    if (Result<TileConfig> configuration = TileConfig::parse(row.candidate->configuration); configuration.ok())
      row.configuration = *std::move(configuration);
    if (auto known = peaks.find(row.candidate->threads); known != peaks.end()) {
      if (auto peak = known->second.gigaflops.find(row.arithmetic()); peak != known->second.gigaflops.end())
        row.peakGigaflops = peak->second;
      row.peakGigabytes = known->second.gigabytes;
    }
    table.rows.push_back(std::move(row));
  }
  return okStatus();
}

// What rows know of others of their group. Before the filter: the best library counts also where it is not shown.
void RunLoader::deriveFromGroups(size_t first) {
  struct Best {
    const store::CandidateEstimate *vendor = nullptr, *kiln = nullptr;
  };
  std::unordered_map<const store::StoredGroup *, Best> best;
  for (size_t i = first; i < table.rows.size(); ++i) {
    const Row &row = table.rows[i];
    if (!row.estimate)
      continue;
    Best &known = best[row.group];
    if (!isKilnsCode(row.candidate->provider) && (!known.vendor || row.estimate->median < known.vendor->median))
      known.vendor = row.estimate;
    // Of those that were ranked, which is by what they took in the same rounds.
    if (row.candidate->provider == "kiln" && row.ranked() && (!known.kiln || row.estimate->ratio < known.kiln->ratio))
      known.kiln = row.estimate;
  }
  for (size_t i = first; i < table.rows.size(); ++i)
    if (auto found = best.find(table.rows[i].group); found != best.end()) {
      table.rows[i].bestVendor = found->second.vendor;
      table.rows[i].bestKiln = found->second.kiln;
    }
  auto added = table.rows.begin() + static_cast<ptrdiff_t>(first);
  table.rows.erase(std::remove_if(added, table.rows.end(), [&](const Row &row) { return !matcher.takes(row); }),
                   table.rows.end());
  auto order = [](const Row &row) {
    bool good = isSuccess(row.result->outcome);
    return std::tuple(row.group->started, std::string_view(row.problem->name), !row.ranked(), !good,
                      row.ranked() ? row.estimate->rank : 0, row.estimate ? row.estimate->median : 0,
                      std::string_view(row.candidate->provider), std::string_view(row.candidate->configuration),
                      std::string_view(row.candidateKey));
  };
  std::sort(table.rows.begin() + static_cast<ptrdiff_t>(first), table.rows.end(),
            [&](const Row &a, const Row &b) { return order(a) < order(b); });
}

// Whether the first run came to no end, and a later one of the same sweep, with other tags, did: nothing is left to do.
static bool isSuperseded(std::span<const store::StoredRun> runs) {
  const store::StoredRun &first = runs.front();
  return !first.ended && std::ranges::any_of(runs, [&](const store::StoredRun &later) {
    return later.ended && later.sweep == first.sweep && later.machine.node == first.machine.node &&
           later.machine.hardware == first.machine.hardware;
  });
}

Result<Table> loadTable(store::Reader &reader, const Filter &filter) {
  KILN_ASSIGN_OR_RETURN(Matcher matcher, Matcher::compile(filter));
  std::vector<store::StoredRun> runs;
  if (filter.allRuns) {
    KILN_ASSIGN_OR_RETURN(runs, reader.runs());
  } else {
    std::vector<std::string> names = filter.runs;
    if (names.empty())
      names.emplace_back("latest");
    for (const std::string &name : names) {
      KILN_ASSIGN_OR_RETURN(store::StoredRun run, reader.findRun(name));
      if (std::ranges::any_of(runs, [&](const store::StoredRun &other) { return other.key() == run.key(); }))
        return invalidArgument("--run={}: run {} is named twice; name each once", name, run.key().substr(0, 8));
      runs.push_back(std::move(run));
    }
  }
  Table table;
  std::vector<char> superseded(runs.size());
  for (size_t i = 0; i < runs.size(); ++i)
    superseded[i] = isSuperseded({runs.begin() + static_cast<ptrdiff_t>(i), runs.end()});
  for (size_t i = 0; i < runs.size(); ++i) {
    const size_t unfinished = table.unfinished.size();
    const uint64_t notBegun = table.notBegun;
    KILN_RETURN_IF_ERROR((RunLoader{reader, matcher, table, nullptr, {}, {}, {}, {}, {}}.load(std::move(runs[i]))));
    if (superseded[i]) {
      table.unfinished.resize(unfinished);
      table.notBegun = notBegun;
    }
  }
  if (table.rows.empty() && table.unfinished.empty() && table.notBegun == 0)
    return notFound("no results fit: {} run{} looked at, problem '{}', dispatch '{}', provider '{}'", runs.size(),
                    runs.size() == 1 ? "" : "s", filter.problem, filter.dispatch, filter.provider);
  return table;
}

std::vector<ProblemRows> byProblem(const Table &table) {
  std::vector<ProblemRows> problems;
  for (const Row &row : table.rows)
    if (problems.empty() || problems.back().front().group != row.group)
      problems.push_back({&row, &row + 1});
    else
      problems.back().end = &row + 1;
  return problems;
}

Result<const Row *> findRow(const Table &table, std::string_view name) {
  std::vector<const Row *> found;
  for (const Row &row : table.rows)
    if (!name.empty() && (row.name().starts_with(name) || row.dispatch() == name))
      found.push_back(&row);
  if (found.size() == 1)
    return found.front();
  if (found.empty())
    return notFound("no row '{}'; give a dispatch, or the start of what the column `row` shows", name);
  std::string list;
  const bool whole = std::ranges::any_of(found, [&](const Row *row) { return row->dispatch() == name; });
  for (size_t i = 0; i < found.size() && i < 8; ++i)
    list += fmt::format("\n  {}  {}", found[i]->name(), found[i]->dispatch());
  return notFound("{} rows are '{}'; give {}:{}", found.size(), name,
                  whole ? "the key of one, or its run with --run" : "more of it", list);
}

static void addRound(const store::Round &round, std::vector<double> &all, Distribution &distribution) {
  std::vector<double> times;
  for (int64_t time : round.samples.call)
    times.push_back(static_cast<double>(time) / static_cast<double>(std::max<uint64_t>(round.batch, 1)));
  if (times.empty())
    return;
  std::sort(times.begin(), times.end());
  distribution.roundMedians.push_back(measure::percentileOfSorted(times, 0.5));
  all.insert(all.end(), times.begin(), times.end());
}

Result<std::vector<Distribution>> loadDistributions(store::Reader &reader, const Table &table) {
  static constexpr int kSteps = 50;
  std::vector<Distribution> distributions;
  for (const Row &row : table.rows) {
    Distribution &distribution = distributions.emplace_back();
    if (!row.estimate)
      continue;
    KILN_ASSIGN_OR_RETURN(std::vector<store::Round> rounds, reader.rounds(row.groupKey, row.candidateKey));
    std::vector<double> all;
    for (const store::Round &round : rounds)
      addRound(round, all, distribution);
    if (all.empty())
      continue;
    std::sort(all.begin(), all.end());
    for (int i = 0; i <= kSteps; ++i)
      distribution.quantiles.push_back(measure::percentileOfSorted(all, static_cast<double>(i) / kSteps));
  }
  return distributions;
}

} // namespace kiln::report
