#include "kiln/families/conv/workload/conv_configurations.h"

#include <algorithm>
#include <array>
#include <set>

#include "kiln/measure/tiles.h"

namespace kiln::families {

using measure::divideUp, measure::RegisterTile, measure::roundUp, measure::tilesOf;

// What llvm-cpu takes of panels of filters, in bytes.
static constexpr int64_t kLargestPanels = 2 << 20;

//===--- The model ------------------------------------------------------------------------------------------------===//

namespace {
// The loops of a convolution as a configuration sees them. The result's dimensions are, from the inside to the outside:
// columns, `inside`, rows, `outside`. Sums are of 32-bit elements for all types.
struct Loops {
  int64_t columns, inside, rows, outside;
  int64_t channels, taps;
  int64_t imageBytes;     // of an element
  bool filtersAreColumns; // weights are vectors and pixels are broadcast; otherwise the other way round
  bool strided;           // pixels of a vector are not neighbours
  bool perChannel;        // no operand is used again by another column: depthwise
  int64_t lanes;
};
} // namespace

static Loops loopsOf(const ConvSpec &spec, const CpuShape &cpu) {
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  bool perChannel = spec.groups > 1 && spec.groups == spec.c && spec.groups == spec.f;
  int64_t height = number(spec.outputHeight()), width = number(spec.outputWidth());
  Loops loops{.columns = width,
              .inside = height,
              .rows = perChannel ? 1 : number(spec.groupFilters()),
              .outside = number(spec.n * spec.groups),
              .channels = number(spec.groupChannels()),
              .taps = number(spec.r * spec.s),
              .imageBytes = number(hal::elementTypeByteSize(spec.types.image)),
              .filtersAreColumns = !spec.channelsFirst,
              .strided = spec.channelsFirst && spec.strideW > 1,
              .perChannel = perChannel,
              .lanes = cpu.lanes()};
  if (!spec.channelsFirst) {
    loops.columns = number(perChannel ? spec.f : spec.groupFilters());
    loops.inside = perChannel ? 1 : number(spec.groups);
    loops.rows = width;
    loops.outside = number(spec.n) * height;
  }
  return loops;
}

// Cycles for one step of a register tile: a product for each of its elements.
static double cyclesOf(int64_t rows, int64_t vectors, const Loops &loops, const CpuShape &cpu, bool packed) {
  double r = static_cast<double>(rows), v = static_cast<double>(vectors);
  // Vectors of weights that are not packed lie far apart, in pages of their own. A pixel that is used by one vector
  // only is a load for each product.
  double vectorLoads = v * (packed || !loops.filtersAreColumns ? 0.5 : 1) * (loops.strided ? 3 : 1);
  double loads = loops.perChannel ? r * v / 2 + v : r / 2 + vectorLoads;
  double cycles = measure::cyclesPerStep(r, v, loads, /*latency=*/4.5, cpu);
  // Narrow elements are converted after they are loaded.
  if (loops.imageBytes < 4)
    cycles += (r + v) / 2;
  return cycles;
}

// Steps of a tile of so many rows and columns, each of what is left over at the ends too.
static double cyclesPerTile(int64_t rows, int64_t columns, const RegisterTile &tile, const Loops &loops,
                            const CpuShape &cpu, bool packed) {
  double cycles = 0;
  for (auto [rowCount, rowTiles] : {std::pair(tile.rows, rows / tile.rows), std::pair(rows % tile.rows, int64_t(1))})
    for (auto [width, columnTiles] :
         {std::pair(tile.columns, columns / tile.columns), std::pair(columns % tile.columns, int64_t(1))})
      if (rowCount != 0 && width != 0)
        cycles += static_cast<double>(rowTiles * columnTiles) *
                  cyclesOf(rowCount, divideUp(width, loops.lanes), loops, cpu, packed);
  return cycles;
}

// The time of the slowest worker.
static double cost(const TileConfig &config, const Loops &loops, const CpuShape &cpu) {
  auto real = [](int64_t value) { return static_cast<double>(value); };
  int64_t inside = std::min(loops.inside, config.m), rows = std::clamp<int64_t>(config.m / inside, 1, loops.rows);
  int64_t outside = std::clamp<int64_t>(config.m / (inside * rows), 1, loops.outside);
  int64_t columns = std::min(config.n, loops.columns);
  double lines = real(inside * outside), steps = real(loops.channels * loops.taps);
  RegisterTile tile{config.rows, config.columns};
  double cycles = lines * steps * cyclesPerTile(rows, columns, tile, loops, cpu, config.packB);

  // The weights of a register tile are used by all rows, and those of the tile by all lines: they should stay in L1 and
  // L2. Without panels they lie in whole lines of the cache, at distances that share few sets of it.
  int64_t weights = config.k * loops.taps * (loops.filtersAreColumns ? config.columns : config.rows) * 4;
  double spread = loops.filtersAreColumns && !config.packB && loops.columns >= 256 ? 2.5 : 1;
  cycles *= 1 + 0.1 * std::max(0.0, spread * real(weights) / real(cpu.l1Bytes) - 0.8) * (spread > 1 ? 2 : 1);
  double block = real(config.k * loops.taps * columns * loops.imageBytes) / real(cpu.l2Bytes);
  if (loops.filtersAreColumns)
    cycles *= 1 + 0.3 * std::max(0.0, block - 0.7);
  // Between steps of channels the result is loaded and stored.
  double vectors = lines * real(rows) * real(divideUp(columns, loops.lanes));
  cycles += real(divideUp(loops.channels, config.k)) * vectors * 1.5;
  if (config.packB)
    cycles += steps * real(divideUp(columns, loops.lanes)) * 2.5;
  int64_t workgroups = divideUp(loops.columns, columns) * divideUp(loops.inside, inside) * divideUp(loops.rows, rows) *
                       divideUp(loops.outside, outside);
  double start = 1500; // a workgroup's start
  return (cycles + start) * real(divideUp(workgroups, cpu.workers));
}

//===--- The space ------------------------------------------------------------------------------------------------===//

// The dimensions before the innermost one: parts of the rows with all that is inside of them, and whole rows of more
// and more of what is outside.
static std::set<int64_t> rowTiles(const Loops &loops, int64_t unit) {
  static constexpr std::array<int64_t, 5> parts = {8, 16, 32, 64, 128};
  static constexpr std::array<int64_t, 6> lines = {1, 2, 4, 8, 16, 32};
  std::set<int64_t> tiles;
  for (int64_t rows : tilesOf(loops.rows, parts, unit))
    tiles.insert(loops.inside * rows);
  for (int64_t outside : tilesOf(loops.outside, lines, 1))
    tiles.insert(loops.inside * loops.rows * outside);
  if (loops.rows == 1) // Then what is inside is all there is to cut.
    for (int64_t inside : tilesOf(loops.inside, parts, 1))
      tiles.insert(inside);
  return tiles;
}

std::vector<RatedConfig> convConfigurationSpace(const ConvSpec &spec, const CpuShape &cpu) {
  static constexpr std::array<int64_t, 6> columnTiles = {32, 64, 128, 256, 512, 1024};
  static constexpr std::array<int64_t, 5> depths = {16, 32, 64, 128, 512};
  Loops loops = loopsOf(spec, cpu);
  std::vector<RatedConfig> space;
  for (const RegisterTile &tile : measure::registerTiles(loops.rows, loops.columns, cpu))
    for (int64_t m : rowTiles(loops, tile.rows))
      for (int64_t n : tilesOf(loops.columns, columnTiles, tile.columns))
        for (int64_t k : tilesOf(loops.channels, depths, 1))
          for (bool pack : {false, true}) {
            // Panels need several rows that use them, and are of weights.
            int64_t panels = roundUp(n, tile.columns) * k * loops.taps * loops.imageBytes;
            if (pack && (!loops.filtersAreColumns || loops.perChannel || tile.rows == 1 || loops.rows < 8 ||
                         panels > kLargestPanels))
              continue;
            TileConfig config;
            config.m = m, config.n = n, config.k = k;
            config.instructions = "fma";
            config.rows = tile.rows, config.columns = tile.columns;
            config.packB = pack;
            space.push_back({config, cost(config, loops, cpu)});
          }
  measure::sortByCost(space);
  return space;
}

std::vector<std::string> convConfigurations(const ConvSpec &spec, const CpuShape &cpu, size_t count) {
  return measure::worthTrying(convConfigurationSpace(spec, cpu), count);
}

} // namespace kiln::families
