// Register tiles and what they cost, for families whose configurations multiply and add.
#ifndef KILN_MEASURE_REGISTER_TILES_H
#define KILN_MEASURE_REGISTER_TILES_H

#include <string>
#include <vector>

#include "kiln/base/tile_config.h"
#include "kiln/measure/cpu_shape.h"

namespace kiln::measure {

struct RegisterTile {
  int64_t rows, columns;
};

// Those that are worth trying for a result of so many rows and columns, and fit into the registers.
std::vector<RegisterTile> registerTiles(int64_t rows, int64_t columns, const CpuShape &cpu);

// Cycles for one step of a tile, a product for each of its vectors, which needs so many loads; `latency` is that of a
// chain's step. Sums are of 32-bit elements for all types.
double cyclesPerStep(double rows, double vectors, double loads, double latency, const CpuShape &cpu);

// A configuration with the time that a simple model expects of it, in cycles. The number compares configurations of one
// problem, and says nothing else.
struct RatedConfig {
  TileConfig config;
  double cost;
};

// Best guess first, and equal ones in the order of their names, so that the order is the same everywhere.
void sortByCost(std::vector<RatedConfig> &space);

// At most `count` of a sorted space, best guess first. Each register tile that is any good is among them with its best
// cache tiles, so that a model which is wrong about one of them costs little.
std::vector<std::string> worthTrying(const std::vector<RatedConfig> &space, size_t count);

// All of them.
std::vector<std::string> namesOf(const std::vector<RatedConfig> &space);

} // namespace kiln::measure

#endif // KILN_MEASURE_REGISTER_TILES_H
