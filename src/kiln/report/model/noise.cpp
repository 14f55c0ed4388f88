#include "kiln/report/model/noise.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace kiln::report {

static constexpr size_t kBest = 3;

static std::string percent(double part) {
  double value = part * 100;
  return value >= 9.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

std::string NoiseWarning::text() const {
  std::string apart = percent(std::min(difference, 9.99));
  return fmt::format("warning: noise of {} % hides {} between the best {}; see `kiln doctor`",
                     percent(std::min(noise, 9.99)), apart == "0.0" ? "what is" : fmt::format("the {} %", apart),
                     candidates);
}

std::optional<NoiseWarning> noiseWarning(std::span<const store::CandidateEstimate *const> group, double target) {
  std::vector<const store::CandidateEstimate *> best;
  for (const store::CandidateEstimate *estimate : group)
    if (estimate->rank > 0 && !estimate->dropped && estimate->median > 0 && std::isfinite(estimate->high))
      best.push_back(estimate);
  std::ranges::sort(best, {}, &store::CandidateEstimate::median);
  best.resize(std::min(best.size(), kBest));
  if (best.size() < 2)
    return std::nullopt;
  std::set<uint64_t> ranks;
  for (const store::CandidateEstimate *estimate : best)
    ranks.insert(estimate->rank);
  if (ranks.size() == best.size() && std::ranges::all_of(best, [](const auto *one) { return one->ties.empty(); }))
    return std::nullopt;
  // The noise of the second best known candidate, so that a single noisy one does not count for the others.
  std::vector<double> halves;
  for (const store::CandidateEstimate *estimate : best)
    halves.push_back((estimate->high - estimate->low) / 2 / estimate->median);
  std::ranges::sort(halves);
  NoiseWarning warning;
  warning.candidates = static_cast<uint32_t>(best.size());
  warning.noise = halves[1];
  warning.difference = best.back()->median / best.front()->median - 1;
  if (warning.noise <= target || warning.noise <= warning.difference)
    return std::nullopt;
  return warning;
}

std::optional<NoiseWarning> noiseWarning(const ProblemRows &problem) {
  std::vector<const store::CandidateEstimate *> estimates;
  for (const Row *row = problem.begin; row != problem.end; ++row)
    if (row->estimate && row->ranked())
      estimates.push_back(row->estimate);
  return noiseWarning(estimates);
}

// A text in a JSON object; empty where there is none.
static std::string textIn(const nlohmann::json &object, const char *name) {
  if (!object.is_object())
    return {};
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

static nlohmann::json flagsOf(const store::Run &run) {
  return nlohmann::json::parse(run.flags, nullptr, /*allow_exceptions=*/false);
}

std::string machineWarning(const store::Run &run) {
  nlohmann::json flags = flagsOf(run);
  return flags.is_object() && flags.contains("machine") ? textIn(flags["machine"], "warning") : std::string();
}

std::string kilnWorker(const store::Run &run) {
  return textIn(flagsOf(run), "kilnWorker");
}

} // namespace kiln::report
