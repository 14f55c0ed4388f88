#include "kiln/tools/dispatch/tune/regression_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kiln/base/random.h"

namespace kiln {

static constexpr size_t kTrees = 48;
static constexpr size_t kLeafPoints = 2;

namespace {
struct Split {
  int feature = -1;
  double threshold = 0;
  double error = std::numeric_limits<double>::infinity(); // the sum of squares that is left
};

// A sum of squares about the mean, of values that come one by one.
struct Spread {
  double count = 0, sum = 0, squares = 0;
  void add(double value) { count += 1, sum += value, squares += value * value; }
  double error() const { return count > 0 ? squares - sum * sum / count : 0; }
};
} // namespace

// One threshold for each feature, anywhere between its ends; the best of them is taken.
static Split findSplit(std::span<const RegressionForest::Point> points, std::span<const uint32_t> members,
                       Random &random) {
  Split best;
  size_t features = points.front().features.size();
  for (size_t feature = 0; feature < features; ++feature) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (uint32_t member : members) {
      low = std::min(low, points[member].features[feature]);
      high = std::max(high, points[member].features[feature]);
    }
    if (!(low < high))
      continue;
    Split split{static_cast<int>(feature), low + (high - low) * random.uniform(), 0};
    Spread below, above;
    for (uint32_t member : members)
      (points[member].features[feature] <= split.threshold ? below : above).add(points[member].value);
    split.error = below.error() + above.error();
    if (below.count > 0 && above.count > 0 && split.error < best.error)
      best = split;
  }
  return best;
}

RegressionForest::RegressionForest(std::span<const Point> points, uint64_t seed) {
  Random random(seed);
  struct Pending {
    uint32_t node;
    std::vector<uint32_t> members;
  };
  for (size_t number = 0; number < kTrees; ++number) {
    Tree tree(1);
    std::vector<uint32_t> all(points.size());
    std::iota(all.begin(), all.end(), 0U);
    std::vector<Pending> pending;
    pending.push_back({0, std::move(all)});
    while (!pending.empty()) {
      Pending next = std::move(pending.back());
      pending.pop_back();
      double sum = 0;
      for (uint32_t member : next.members)
        sum += points[member].value;
      tree[next.node].value = sum / static_cast<double>(next.members.size());
      if (next.members.size() <= kLeafPoints)
        continue;
      Split split = findSplit(points, next.members, random);
      if (split.feature < 0)
        continue;
      Pending below{static_cast<uint32_t>(tree.size()), {}}, above{static_cast<uint32_t>(tree.size() + 1), {}};
      for (uint32_t member : next.members)
        (points[member].features[static_cast<size_t>(split.feature)] <= split.threshold ? below : above)
            .members.push_back(member);
      Node &node = tree[next.node];
      node.feature = split.feature, node.threshold = split.threshold;
      node.below = below.node, node.above = above.node;
      tree.resize(tree.size() + 2);
      pending.push_back(std::move(below));
      pending.push_back(std::move(above));
    }
    trees.push_back(std::move(tree));
  }
}

RegressionForest::Prediction RegressionForest::predict(std::span<const double> features) const {
  double sum = 0, squares = 0;
  for (const Tree &tree : trees) {
    const Node *node = &tree.front();
    while (node->feature >= 0)
      node = &tree[features[static_cast<size_t>(node->feature)] <= node->threshold ? node->below : node->above];
    sum += node->value;
    squares += node->value * node->value;
  }
  double count = static_cast<double>(trees.size()), mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean))};
}

} // namespace kiln
