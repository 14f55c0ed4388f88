#include "kiln/measure/statistics/run_simulation.h"

#include <algorithm>
#include <cmath>

namespace kiln::measure::simulation {
namespace {

constexpr uint32_t kRounds = 30;

struct SimulatedCandidate {
  double level = 0; // logarithm of its time
  double processShift = 0;
  Trait trait;
};

class Runs {
public:
  Runs(const RunNoise &noise, const RunShape &shape, uint64_t seed)
      : noise(noise), shape(shape), random(seed), series(shape.groups * perGroup()) {
    runShift = noise.runShift * random.normal();
    for (size_t i = 0; i < series.size(); ++i) {
      series[i].group = i / perGroup();
      series[i].control = i % perGroup() < shape.controls;
      const double scale = std::exp(noise.unequal * random.normal());
      const double hidden = std::exp(noise.hiddenUnequal * random.normal());
      const double sensitive = std::max(0.0, 1 + noise.slowdownUnequal * random.normal());
      candidates.push_back({0.08 * random.uniform(),
                            noise.processShift * scale * hidden,
                            {scale, std::log1p(noise.slowdown) * sensitive}});
    }
  }

  void play(bool after, double planted) {
    const double slowFrom = random.uniform() * (1 - noise.slowShare);
    for (size_t group = 0; group < shape.groups; ++group)
      playGroup(group, after, planted, slowFrom);
    runShift = noise.runMemory * runShift +
               noise.runShift * std::sqrt(1 - noise.runMemory * noise.runMemory) * random.normal();
  }

  std::vector<RunSeries> take() { return std::move(series); }

private:
  size_t perGroup() const { return shape.controls + shape.others; }

  void playGroup(size_t group, bool after, double planted, double slowFrom) {
    const size_t first = group * perGroup();
    const double shared = runShift + noise.groupShift * random.normal();
    std::vector<double> factors;
    std::vector<Trait> traits;
    for (size_t i = first; i < first + perGroup(); ++i) {
      const SimulatedCandidate &candidate = candidates[i];
      const double change = after && !series[i].control ? planted : 0;
      factors.push_back(std::exp(candidate.level + shared + candidate.processShift * random.normal() + change));
      traits.push_back(candidate.trait);
    }
    const GroupOptions options{.maximumRounds = kRounds, .seed = random.bits()};
    Sweep sweep(noise.within, factors, options);
    sweep.setTraits(traits);
    const auto tokens = static_cast<double>(kRounds * perGroup());
    const auto groups = static_cast<double>(shape.groups);
    const double from = (slowFrom * groups - static_cast<double>(group)) * tokens;
    if (noise.slowShare > 0)
      sweep.slowDown(from, from + noise.slowShare * groups * tokens);
    std::vector<Estimate> estimates(perGroup());
    for (const RankedEstimate &each : sweep.run())
      estimates[each.candidate] = each;
    const std::vector<RunLevel> levels = runLevels(estimates);
    for (size_t i = 0; i < perGroup(); ++i)
      (after ? series[first + i].after : series[first + i].before).emplace_back(levels[i]);
  }

  const RunNoise &noise;
  const RunShape &shape;
  Random random;
  std::vector<RunSeries> series;
  std::vector<SimulatedCandidate> candidates;
  double runShift = 0;
};

} // namespace

std::span<const RunNoise> runNoiseModels() {
  static const Noise calm{.name = "calm", .roundSpread = 0.006};
  static const Noise drifting{.name = "drifting", .roundSpread = 0.006, .outliers = 0.05, .drift = 0.05, .walk = 0.004};
  static const Noise remembering{.name = "remembering",
                                 .roundSpread = 0.005,
                                 .ownSpread = 0.006,
                                 .ownMemory = 0.6,
                                 .commonSpread = 0.02,
                                 .commonMemory = 0.8};
  static const RunNoise models[] = {
      {.name = "calm", .within = calm},
      {.name = "shift of each run", .within = calm, .runShift = 0.04, .groupShift = 0.02},
      {.name = "shift of each process", .within = calm, .runShift = 0.02, .processShift = 0.007},
      {.name = "drift", .within = drifting, .runShift = 0.03, .runMemory = 0.7, .processShift = 0.003},
      {.name = "memory", .within = remembering, .runShift = 0.02, .processShift = 0.003},
      {.name = "unequal noise", .within = calm, .runShift = 0.02, .processShift = 0.005, .unequal = 0.6},
      {.name = "unequal between runs alone",
       .within = calm,
       .runShift = 0.02,
       .processShift = 0.005,
       .hiddenUnequal = 0.3},
      {.name = "slow for a while",
       .within = calm,
       .processShift = 0.003,
       .slowShare = 0.2,
       .slowdown = 0.15,
       .slowdownUnequal = 0.15},
      {.name = "all at once",
       .within = remembering,
       .runShift = 0.03,
       .runMemory = 0.5,
       .groupShift = 0.01,
       .processShift = 0.005,
       .unequal = 0.4,
       .hiddenUnequal = 0.2,
       .slowShare = 0.15,
       .slowdown = 0.1,
       .slowdownUnequal = 0.15},
  };
  return models;
}

std::vector<RunSeries> playRuns(const RunNoise &noise, const RunShape &shape, double planted, uint64_t seed) {
  Runs runs(noise, shape, seed);
  for (size_t run = 0; run < shape.before; ++run)
    runs.play(false, planted);
  for (size_t run = 0; run < shape.after; ++run)
    runs.play(true, planted);
  return runs.take();
}

} // namespace kiln::measure::simulation
