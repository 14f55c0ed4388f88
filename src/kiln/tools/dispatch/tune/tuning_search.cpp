#include "kiln/tools/dispatch/tune/tuning_search.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kiln/tools/dispatch/tune/regression_forest.h"

namespace kiln {

// With fewer answers than this a model says nothing.
static constexpr size_t kLeastAnswers = 6;
// Of so many of the best, neighbours are proposed.
static constexpr size_t kParents = 3;

TuningSearch::TuningSearch(std::vector<std::vector<double>> features, size_t kinds, const SearchOptions &options)
    : features(std::move(features)), kinds(kinds), options(options), random(options.seed) {
  proposed.resize(this->features.size());
  times.resize(this->features.size());
}

bool TuningSearch::take(size_t candidate, std::vector<size_t> &batch) {
  if (proposed[candidate] || batch.size() >= options.batch)
    return false;
  proposed[candidate] = true;
  batch.push_back(candidate);
  return true;
}

void TuningSearch::giveBack(std::span<const size_t> candidates) {
  for (size_t candidate : candidates)
    proposed[candidate] = false;
  triedCount -= candidates.size();
}

void TuningSearch::suggest(size_t candidate) {
  suggested.push_back(candidate);
}

void TuningSearch::tell(size_t candidate, std::optional<double> logTime) {
  times[candidate] = logTime;
}

std::vector<size_t> TuningSearch::best(size_t count) const {
  std::vector<size_t> known;
  for (size_t i = 0; i < size(); ++i)
    if (times[i])
      known.push_back(i);
  std::ranges::sort(known, [&](size_t a, size_t b) { return *times[a] != *times[b] ? *times[a] < *times[b] : a < b; });
  if (known.size() > count)
    known.resize(count);
  return known;
}

std::vector<size_t> TuningSearch::propose() {
  std::vector<size_t> batch;
  for (size_t candidate : suggested)
    take(candidate, batch);
  suggested.clear();
  if (isExhaustive()) {
    takeInOrder(batch);
  } else if (best(kLeastAnswers).size() < kLeastAnswers) {
    takeGuesses(batch, options.batch / 2);
    takeSpread(batch, options.batch);
  } else {
    size_t lots = std::max<size_t>(1, options.batch / 8);
    takeNeighbours(batch, (options.batch - lots) / 3);
    takeExpected(batch, options.batch - lots);
    takeSpread(batch, options.batch);
  }
  triedCount += batch.size();
  return batch;
}

void TuningSearch::takeInOrder(std::vector<size_t> &batch) {
  for (size_t i = 0; i < size() && batch.size() < options.batch; ++i)
    take(i, batch);
}

bool TuningSearch::isOfKind(size_t a, size_t b) const {
  return std::equal(features[a].begin(), features[a].begin() + static_cast<ptrdiff_t>(kinds), features[b].begin());
}

void TuningSearch::takeGuesses(std::vector<size_t> &batch, size_t upTo) {
  for (size_t i = 0; i < size() && batch.size() < upTo; ++i)
    if (std::ranges::none_of(batch, [&](size_t other) { return isOfKind(i, other); }))
      take(i, batch);
}

// At random, one from each of equally long stretches of the space.
void TuningSearch::takeSpread(std::vector<size_t> &batch, size_t upTo) {
  std::vector<size_t> open;
  for (size_t i = 0; i < size(); ++i)
    if (!proposed[i])
      open.push_back(i);
  size_t wanted = std::min(upTo - std::min(upTo, batch.size()), open.size());
  for (size_t stretch = 0; stretch < wanted; ++stretch) {
    size_t begin = open.size() * stretch / wanted, end = open.size() * (stretch + 1) / wanted;
    take(open[begin + random.below(end - begin)], batch);
  }
}

double TuningSearch::distance(size_t a, size_t b) const {
  double sum = 0;
  for (size_t i = 0; i < features[a].size(); ++i)
    sum += std::abs(features[a][i] - features[b][i]);
  return sum;
}

// Next to the best ones, in turn.
void TuningSearch::takeNeighbours(std::vector<size_t> &batch, size_t upTo) {
  std::vector<std::vector<std::pair<double, size_t>>> neighbours;
  for (size_t parent : best(kParents)) {
    std::vector<std::pair<double, size_t>> &near = neighbours.emplace_back();
    for (size_t i = 0; i < size(); ++i)
      if (!proposed[i])
        near.emplace_back(distance(i, parent), i);
    size_t enough = std::min(near.size(), upTo);
    std::ranges::partial_sort(near, near.begin() + static_cast<ptrdiff_t>(enough));
    near.resize(enough);
  }
  for (size_t turn = 0; turn < upTo; ++turn)
    for (const std::vector<std::pair<double, size_t>> &near : neighbours)
      if (turn < near.size() && batch.size() < upTo)
        take(near[turn].second, batch);
}

// What is won on average, beyond the best, by a candidate whose time is normally distributed.
static double expectedImprovement(const RegressionForest::Prediction &prediction, double best) {
  if (prediction.deviation <= 0)
    return std::max(0.0, best - prediction.mean);
  double z = (best - prediction.mean) / prediction.deviation;
  double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return prediction.deviation * (z * below + density);
}

void TuningSearch::takeExpected(std::vector<size_t> &batch, size_t upTo) {
  std::vector<RegressionForest::Point> points;
  for (size_t i = 0; i < size(); ++i)
    if (times[i])
      points.push_back({features[i], *times[i]});
  RegressionForest model(points, options.seed + triedCount);
  double fastest = *times[best(1).front()];
  std::vector<std::pair<double, size_t>> expected;
  for (size_t i = 0; i < size(); ++i)
    if (!proposed[i])
      expected.emplace_back(-expectedImprovement(model.predict(features[i]), fastest), i);
  std::ranges::sort(expected);
  // Of one kind no more than a part of the batch: what the model expects of them is right or wrong for all alike.
  size_t most = std::max<size_t>(2, options.batch / 4);
  for (bool limited : {true, false})
    for (auto [gain, candidate] : expected) {
      if (batch.size() >= upTo)
        return;
      auto alike = [&](size_t other) { return isOfKind(candidate, other); };
      if (!limited || static_cast<size_t>(std::ranges::count_if(batch, alike)) < most)
        take(candidate, batch);
    }
}

} // namespace kiln
