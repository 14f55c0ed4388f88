// Extremely randomized regression trees: a model of a function of which few values are known, that says how sure it is.
// Numbers of any scale, thresholds, and what depends on several features at once need no care.
#ifndef KILN_TOOLS_DISPATCH_TUNE_REGRESSION_FOREST_H
#define KILN_TOOLS_DISPATCH_TUNE_REGRESSION_FOREST_H

#include <cstdint>
#include <span>
#include <vector>

namespace kiln {

class RegressionForest {
public:
  struct Point {
    std::span<const double> features; // of the same length for all points
    double value;
  };
  struct Prediction {
    double mean = 0;
    double deviation = 0; // between trees
  };

  // Deterministic in the points, their order and the seed. At least one point.
  RegressionForest(std::span<const Point> points, uint64_t seed);

  Prediction predict(std::span<const double> features) const;

private:
  struct Node {
    int feature = -1; // -1: a leaf
    double threshold = 0;
    double value = 0;
    uint32_t below = 0, above = 0; // places in the tree
  };
  using Tree = std::vector<Node>;

  std::vector<Tree> trees;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_TUNE_REGRESSION_FOREST_H
