// What a product by wgmma takes: from it the compiler chooses a tile, and the lab what a sweep measures first.
#ifndef KILN_TARGETS_CUDA_WGMMA_COST_H
#define KILN_TARGETS_CUDA_WGMMA_COST_H

#include <algorithm>
#include <cstdint>

#include "kiln/base/tile_config.h"

namespace kiln {

// Whether the two groups of warps of tensorcore_wgmma have a tile each, so that one multiplies while the other computes
// what follows: where the configuration gives four warps a whole tile of several times 64 rows.
inline bool takesTurns(const TileConfig &config) {
  return config.instructions == "tensorcore_wgmma" && config.rows == config.m && config.m > 64 &&
         config.columns == config.n && config.n > 64;
}

// Whether the columns of a tile are what wgmma calls rows, of which four warps have 64: a tile may then have any
// multiple of 16 rows.
inline bool swapsSides(const TileConfig &config) {
  return config.instructions == "tensorcore_wgmma" && config.rows == config.m && config.columns == 64 &&
         !(config.m == 64 && config.n == 64);
}

struct WgmmaProduct {
  int64_t m, n;
  int64_t steps; // of 128 bytes along k
  int64_t batch;
  int64_t epilogueOps; // that are computed of each element of the result
  int64_t multiprocessors;
};

// Microseconds of a configuration, fitted to what an H100 took for 31 shapes and up to 46 configurations of each
// (docs/performance.md), and for clusters that share copies to five shapes on an H200. It is within a tenth for most,
// and tells which tile is the better one; on other GPUs, whose clocks and memory differ, that alone.
inline double wgmmaMicroseconds(const WgmmaProduct &product, const TileConfig &config) {
  constexpr double kCycle = 1 / 1755.0, kLaunch = 0.9, kOp = 1.3 / 128 * kCycle;
  auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  auto along = [&](int64_t extent, int64_t tile, int64_t cluster) { return up(extent, tile * cluster) * cluster; };
  const int64_t tiles =
      along(product.m, config.m, config.clusterM) * along(product.n, config.n, config.clusterN) * product.batch;
  // Not all multiprocessors find a cluster's others in their group.
  const int64_t places = product.multiprocessors * (config.clusterK > 2 ? 9 : 10) / (10 * config.clusterK);
  const auto rounds = static_cast<double>(up(tiles, std::max<int64_t>(places, 1)));
  const auto elements = static_cast<double>(config.m * config.n), rows = static_cast<double>(config.m + config.n);
  // A multiprocessor gets a little more than 64 bytes in a cycle, and multiplies 2048 pairs of two bytes. Where all of
  // them do, what they copy costs power that the card then lacks.
  const double load = config.streamK ? 1
                                     : static_cast<double>(tiles * config.clusterK) /
                                           (rounds * static_cast<double>(product.multiprocessors));
  // Where sides are swapped, more groups of warps read what all of them need.
  const double work = elements / 32 * (swapsSides(config) ? 1.04 : 1);
  const double step = kCycle * std::max(work + 1.05 * rows * load * load, 80 + 1.5 * rows);
  const double multiplying =
      static_cast<double>(config.streamK ? product.steps : up(product.steps, config.clusterK)) * step;
  // Barriers, the way of the first stage, and the results' way out.
  const double around = 0.5 + elements * (6e-5 + static_cast<double>(product.epilogueOps) * kOp);
  // Sums are read from other blocks' memory, which is slow, and it has to be worth it for certain.
  const double adding = 1.35 + 2.35e-4 * elements;
  if (config.streamK) {
    const int64_t blocks = std::max<int64_t>(places, 1) * config.clusterK, whole = tiles / blocks;
    const auto ofParts = static_cast<double>(up(tiles - whole * blocks, std::max<int64_t>(places, 1)));
    const double part = static_cast<double>(up(product.steps, config.clusterK)) * step;
    return 1.01 * (kLaunch + static_cast<double>(whole) * (around + multiplying) + ofParts * (around + part + adding));
  }
  if (takesTurns(config)) // Each group is at one of both.
    return kLaunch + around + rounds * std::max(multiplying, (multiplying + around) / 2);
  const double time = kLaunch + rounds * (around + multiplying);
  // Blocks that share copies wait for each other, and copy less, which saves power.
  if (config.clusterM * config.clusterN > 1)
    return 1.1 + 0.988 * time;
  if (config.clusterK == 1)
    return time;
  return 1.1 * (time + rounds * adding);
}

} // namespace kiln

#endif // KILN_TARGETS_CUDA_WGMMA_COST_H
