#include "kiln/measure/statistics/simulation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace kiln::measure::simulation {
namespace {

constexpr double kUnit = 100'000;
constexpr size_t kDraws = 100'000;

// One sample's deviation from what is common, without what its round has.
double drawSample(const Noise &noise, Random &random) {
  double deviation = noise.sampleSpread * random.normal();
  if (noise.tail > 0)
    deviation += std::log1p(-noise.tail * std::log(1 - random.uniform()));
  if (noise.outliers > 0 && random.uniform() < noise.outliers)
    deviation += std::log(1 + 9 * random.uniform());
  return deviation;
}

double drawRound(const Noise &noise, Random &random) {
  double deviation = noise.roundSpread * random.normal();
  if (noise.heavyShare > 0 && random.uniform() < noise.heavyShare)
    deviation *= 5;
  if (noise.hits > 0 && random.uniform() < noise.hits)
    deviation += std::log(1.2) + random.uniform() * std::log(10 / 1.2);
  return deviation;
}

// What a process with memory becomes one round later, with the same spread.
double stepMemory(double value, double spread, double memory, Random &random) {
  return memory * value + spread * std::sqrt(1 - memory * memory) * random.normal();
}

// Draws of all that is not common, ascending.
const std::vector<double> &ownDraws(const Noise &noise) {
  static std::map<std::string_view, std::vector<double>> known;
  std::vector<double> &draws = known[noise.name];
  if (draws.empty()) {
    Random random(1);
    for (size_t i = 0; i < kDraws; ++i)
      draws.push_back(drawRound(noise, random) + noise.ownSpread * random.normal() + drawSample(noise, random));
    std::sort(draws.begin(), draws.end());
  }
  return draws;
}

double medianOfMixture(const std::vector<double> &sorted, std::span<const double> shifts) {
  const auto [least, most] = std::minmax_element(shifts.begin(), shifts.end());
  double low = *least + sorted.front();
  double high = *most + sorted.back();
  for (int i = 0; i < 24; ++i) {
    const double middle = (low + high) / 2;
    size_t below = 0;
    for (double shift : shifts)
      below += static_cast<size_t>(std::upper_bound(sorted.begin(), sorted.end(), middle - shift) - sorted.begin());
    (2 * below < sorted.size() * shifts.size() ? low : high) = middle;
  }
  return high;
}

double stationaryShift(const Noise &noise) {
  static std::map<std::string_view, double> known;
  const auto [place, isNew] = known.try_emplace(noise.name, 0);
  if (isNew) {
    Random random(2);
    std::vector<double> common;
    for (int i = 0; i < 400; ++i)
      common.push_back(noise.commonSpread * random.normal() + (i < 400 * noise.slowShare ? noise.slowState : 0));
    place->second = medianOfMixture(ownDraws(noise), common);
  }
  return place->second;
}

} // namespace

std::span<const Noise> noiseModels() {
  static const Noise models[] = {
      {.name = "quiet", .sampleSpread = 0.01, .roundSpread = 0.002},
      {.name = "ordinary", .roundSpread = 0.015},
      {.name = "few samples, long tails", .samples = 2, .sampleSpread = 0.01, .tail = 0.02, .outliers = 0.05},
      {.name = "heavy tails", .roundSpread = 0.01, .heavyShare = 0.1, .outliers = 0.1},
      {.name = "wave of 5 %", .roundSpread = 0.015, .outliers = 0.05, .drift = 0.05},
      {.name = "walk of 0.5 % a round", .roundSpread = 0.015, .outliers = 0.05, .walk = 0.005},
      {.name = "correlated rounds",
       .roundSpread = 0.007,
       .ownSpread = 0.01,
       .ownMemory = 0.5,
       .commonSpread = 0.02,
       .commonMemory = 0.8},
      {.name = "two frequencies", .roundSpread = 0.005, .slowState = 0.08, .slowShare = 0.25},
      {.name = "one alone is hit", .roundSpread = 0.01, .hits = 0.07},
      {.name = "all at once",
       .roundSpread = 0.01,
       .heavyShare = 0.05,
       .tail = 0.02,
       .outliers = 0.05,
       .hits = 0.03,
       .ownSpread = 0.007,
       .ownMemory = 0.5,
       .commonSpread = 0.01,
       .commonMemory = 0.8,
       .drift = 0.03,
       .slowState = 0.05,
       .slowShare = 0.25},
  };
  return models;
}

Sweep::Sweep(const Noise &noise, std::span<const double> factors, const GroupOptions &options)
    : noise(noise), options(options), random(options.seed) {
  for (double factor : factors)
    candidates.push_back({std::log(factor * kUnit), noise.ownSpread * random.normal(), {}, {}, {}});
  slow = random.uniform() < noise.slowShare;
}

void Sweep::setTraits(std::span<const Trait> traits) {
  for (size_t i = 0; i < candidates.size(); ++i)
    candidates[i].trait = traits[i];
}

// What the machine does to the next token.
double Sweep::nextToken(double roundLevel) {
  if (noise.slowShare > 0) {
    const double leave = 0.5 / noise.slowLength / (slow ? noise.slowShare : 1 - noise.slowShare);
    if (random.uniform() < leave)
      slow = !slow;
  }
  return roundLevel + (slow ? noise.slowState : 0);
}

std::vector<int64_t> Sweep::measure(Simulated &candidate, double common) {
  candidate.common.push_back(common);
  if (noise.ownSpread > 0)
    candidate.memory = stepMemory(candidate.memory, noise.ownSpread, noise.ownMemory, random);
  const Trait &trait = candidate.trait;
  const double slower = slowTokens.contains(tokenCount) ? trait.slowdown : 0;
  const double level = candidate.level + common + slower + trait.noise * (candidate.memory + drawRound(noise, random));
  std::vector<int64_t> samples(noise.samples);
  for (int64_t &sample : samples)
    sample = std::llround(std::exp(level + trait.noise * drawSample(noise, random)));
  return samples;
}

std::vector<RankedEstimate> Sweep::run() {
  GroupStatistics group = *GroupStatistics::create(options);
  for (size_t i = 0; i < candidates.size(); ++i)
    group.addCandidate();
  const double phase = random.uniform();
  const double length = 100 + 300 * random.uniform();
  double memory = noise.commonSpread * random.normal();
  double walk = 0;
  for (std::vector<uint32_t> next = group.nextRound(); !next.empty(); next = group.nextRound()) {
    ++roundCount;
    const double wave = noise.drift * std::sin(2 * std::numbers::pi * (phase + group.round() / length));
    const double roundLevel = wave + memory + walk;
    for (uint32_t candidate : next) {
      ++tokenCount;
      const std::vector<int64_t> samples = measure(candidates[candidate], nextToken(roundLevel));
      if (!group.addRound(candidate, group.round(), samples, 1).ok())
        return {};
    }
    memory = stepMemory(memory, noise.commonSpread, noise.commonMemory, random);
    walk += noise.walk * random.normal();
  }
  for (uint32_t i = 0; i < candidates.size(); ++i)
    candidates[i].locations.assign(group.locations(i).begin(), group.locations(i).end());
  return group.estimates();
}

double Sweep::trueMedian(uint32_t candidate) const {
  return std::exp(candidates[candidate].level + medianOfMixture(ownDraws(noise), candidates[candidate].common));
}

double Sweep::stationaryMedian(uint32_t candidate) const {
  return std::exp(candidates[candidate].level + stationaryShift(noise));
}

} // namespace kiln::measure::simulation
