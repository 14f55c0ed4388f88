// What one candidate did, round by round, in bounded memory, and the interval of its median.
#ifndef KILN_MEASURE_STATISTICS_ROUNDS_H
#define KILN_MEASURE_STATISTICS_ROUNDS_H

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/measure/statistics/robust.h"

namespace kiln::measure {

// Rounds count alike, however many samples fit into them: a fast moment of the machine must not weigh more than a slow
// one. A round with more than 64 samples is kept as 64 of its percentiles.
class CandidateRounds {
public:
  // Times of one call in nanoseconds, all positive, not empty.
  void add(std::vector<double> times);

  size_t rounds() const { return kept.size(); }
  uint64_t samples() const { return sampleCount; }
  // log of the median of the round that was added last.
  double lastLocation() const { return locations.back(); }

  // Of all that was added, which must be something; the one of `summarize`. Times may be 0 where only this is asked.
  double median() const;

  struct Summary {
    double median = 0;
    double p10 = 0;
    double p90 = 0;
    Interval interval; // of the median; low is 0 and high infinite below 3 rounds
  };
  // `alpha` is the chance that the interval misses.
  //
  // From 12 rounds on the interval is found on the distribution itself: in each round some share of the samples lies
  // below the overall median; how that share varies from round to round, with its autocorrelation, tells how far the
  // overall share is from one half, and the percentiles that far from the median are the interval (Woodruff, with
  // rounds as clusters). No outlier moves it, and it needs no assumption about the shape of the noise. With fewer
  // rounds it is what t gives for the logarithms of the rounds' medians, and at least their range.
  Summary summarize(double alpha) const;

private:
  struct Weighted {
    double value;
    double weight;
  };
  std::vector<Weighted> pool() const;
  Interval intervalOfFew(double alpha) const;
  Interval intervalOfMany(const std::vector<Weighted> &pooled, double median, double alpha) const;

  std::vector<std::vector<double>> kept; // each ascending
  std::vector<double> locations;
  uint64_t sampleCount = 0;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_STATISTICS_ROUNDS_H
