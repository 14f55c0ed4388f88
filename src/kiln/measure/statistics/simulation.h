// Simulated machines, to see whether what the statistics claim is true. For tests only.
#ifndef KILN_MEASURE_STATISTICS_SIMULATION_H
#define KILN_MEASURE_STATISTICS_SIMULATION_H

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kiln/base/random.h"
#include "kiln/measure/statistics/group_statistics.h"

namespace kiln::measure::simulation {

// A machine's noise. Spreads are standard deviations of the logarithm; whatever is 0 does not happen.
struct Noise {
  std::string_view name;
  uint32_t samples = 8;       // in a round
  double sampleSpread = 0.02; // of one sample
  double roundSpread = 0.01;  // of all samples of one candidate in one round
  double heavyShare = 0;      // of such rounds, whose deviation is five times as large
  double tail = 0;            // mean of an exponential slowdown of each sample
  double outliers = 0;        // share of samples that take 1 to 10 times as long
  double hits = 0;            // share of a candidate's rounds that take 1.2 to 10 times as long
  double ownSpread = 0;       // of what a candidate's rounds share with its rounds before
  double ownMemory = 0;
  double commonSpread = 0; // of what all candidates share, and rounds with the rounds before
  double commonMemory = 0;
  double drift = 0;       // amplitude of a wave over 100 to 400 rounds; a trend where the group is shorter
  double walk = 0;        // of the steps of a walk that all candidates share
  double slowState = 0;   // by how much the machine is slower in its other state
  double slowShare = 0;   // share of time in it
  double slowLength = 10; // tokens until it changes, on average
};

// The models that every claim is tested under.
std::span<const Noise> noiseModels();

// What tells one candidate from the others, besides its time.
struct Trait {
  double noise = 1;    // factor of its own deviations, of rounds and of samples
  double slowdown = 0; // logarithm of the factor by which it is slower while the machine is
};

// Plays one group to its end.
class Sweep {
public:
  // `factors` are the candidates' true times, in units of 100 us.
  Sweep(const Noise &noise, std::span<const double> factors, const GroupOptions &options);

  // One trait for each candidate.
  void setTraits(std::span<const Trait> traits);
  // The machine is slower from one token to another.
  void slowDown(double fromToken, double untilToken) { slowTokens = {fromToken, untilToken}; }

  std::vector<RankedEstimate> run();
  // Tokens that were given out, and rounds.
  uint32_t tokens() const { return tokenCount; }
  uint32_t rounds() const { return roundCount; }
  // Of the candidate's median in each round, the logarithm; NaN where it was absent.
  const std::vector<double> &locations(uint32_t candidate) const { return candidates[candidate].locations; }
  // The median of the distribution that the candidate's samples came from, on average over the rounds in which it ran.
  double trueMedian(uint32_t candidate) const;
  // The same over all times; only for noise without drift and walk.
  double stationaryMedian(uint32_t candidate) const;

private:
  struct Simulated {
    double level = 0;
    double memory = 0;
    std::vector<double> common; // what was common in its rounds
    Trait trait;
    std::vector<double> locations;
  };
  double nextToken(double roundLevel);
  std::vector<int64_t> measure(Simulated &candidate, double common);

  const Noise &noise;
  GroupOptions options;
  Random random;
  std::vector<Simulated> candidates;
  bool slow = false;
  Interval slowTokens{-1, -1};
  uint32_t tokenCount = 0;
  uint32_t roundCount = 0;
};

} // namespace kiln::measure::simulation

#endif // KILN_MEASURE_STATISTICS_SIMULATION_H
