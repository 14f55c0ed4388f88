#include "kiln/families/matmul/workload/cpu_configurations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "kiln/measure/tiles.h"

namespace kiln::families {

//===--- What the compiler takes ----------------------------------------------------------------------------------===//

// The limits of llvm-cpu on register tiles.
static constexpr int64_t kMostRows = 32;
static constexpr int64_t kMostVectorsInTile = 256;
static constexpr int64_t kNarrowestVector = 4; // what columns count as where the lanes are left to the compiler

using measure::divideUp, measure::roundUp, measure::tilesOf;

Status verifyCpuConfiguration(const TileConfig &config) {
  if (config.instructions != "fma" && config.instructions != "vector" && config.instructions != "scalar")
    return invalidArgument("llvm-cpu has no instructions '{}'; it has fma, vector and scalar", config.instructions);
  if (config.stages != 1)
    return invalidArgument("llvm-cpu does not overlap K tiles; {} stages must be 1", config.stages);
  if (config.packA)
    return invalidArgument("llvm-cpu packs only B (_packb)");
  int64_t lanes = config.lanes ? config.lanes : kNarrowestVector;
  bool powerOf2 = (lanes & (lanes - 1)) == 0;
  if (config.rows > kMostRows || !powerOf2 || lanes > 128 ||
      config.rows * std::max<int64_t>(1, divideUp(config.columns, lanes)) > kMostVectorsInTile)
    return invalidArgument("no CPU can hold a register tile of {}x{}", config.rows, config.columns);
  return okStatus();
}

//===--- The model ------------------------------------------------------------------------------------------------===//

namespace {
// What the choice of tiles knows of a problem. Sums are of 32-bit elements for all types, f16 ones too.
struct Extents {
  int64_t batch, m, n, k;
  int64_t operandBytes; // of an element
  bool stridedRhs;      // column-major: read through panels, whatever the configuration says
  int64_t lanes;
};

struct RegisterTile {
  int64_t rows, columns;
};
} // namespace

static Extents describe(const MatmulSpec &spec, const CpuShape &cpu) {
  // Slices are a batch of shorter products, at once or one after the other.
  return {.batch = static_cast<int64_t>(spec.batch * (spec.split == SplitK::Parallel ? spec.slices : 1)),
          .m = static_cast<int64_t>(spec.m),
          .n = static_cast<int64_t>(spec.n),
          .k = static_cast<int64_t>(spec.sliceLength()),
          .operandBytes = static_cast<int64_t>(hal::elementTypeByteSize(spec.lhs.type)),
          .stridedRhs = spec.rhs.columnMajor,
          .lanes = std::max<int64_t>(1, cpu.vectorBits / 32)};
}

// Cycles for one vector FMA in the innermost loop, 0.5 at best. The numbers are fitted to measurements of a Zen 5.
static double cyclesPerFma(const RegisterTile &tile, const Extents &problem, const CpuShape &cpu, bool packed) {
  double vectors = static_cast<double>(divideUp(tile.columns, problem.lanes)), rows = static_cast<double>(tile.rows);
  double fmas = rows * vectors;
  double units = fmas / 2;
  // Rows of an operand that is not packed lie far apart: in pages of their own, and often in the same few cache sets.
  double loads = rows / 2 + vectors * (packed ? 0.5 : 2);
  double latency = 5.5; // of a chain's step
  // What limits most hides the others, but not quite.
  double cycles = std::sqrt(std::sqrt(std::pow(units, 4) + std::pow(loads, 4) + std::pow(latency, 4)));
  // Each row has a pointer, and there are registers for about 12.
  cycles += 3.5 * std::max(0.0, rows - 12);
  // What does not fit into vector registers goes through memory.
  cycles += 2 * std::max(0.0, fmas + vectors + 1 - static_cast<double>(cpu.vectorRegisters));
  // Narrow elements are converted after they are loaded.
  if (problem.operandBytes < 4)
    cycles += (rows + (packed ? 0 : vectors)) / 2;
  return cycles / fmas;
}

// The time of the slowest worker, in cycles, as far as tiles decide it.
static double cost(const TileConfig &config, const Extents &problem, const CpuShape &cpu) {
  auto real = [](int64_t value) { return static_cast<double>(value); };
  bool packed = config.packB || problem.stridedRhs;
  int64_t rows = std::max<int64_t>(1, config.rows), columns = std::max<int64_t>(1, config.columns);
  int64_t depthBlocks = divideUp(problem.k, config.k);
  // Rounded up to whole register tiles, and to whole vectors.
  double paddedRows = real(roundUp(config.m, rows)), paddedColumns = real(roundUp(config.n, problem.lanes));
  double fmas = paddedRows * paddedColumns / real(problem.lanes) * real(problem.k);
  RegisterTile tile{rows, columns};
  double cycles = fmas * cyclesPerFma(tile, problem, cpu, packed);

  int64_t bytes = packed ? 4 : problem.operandBytes;
  // A panel of B is used by all rows of the tile and should stay in L1; all panels of a block, in L2.
  double panel = real(config.k * columns * bytes) / real(cpu.l1Bytes);
  double block = real(config.k * (config.n * bytes + config.m * problem.operandBytes)) / real(cpu.l2Bytes);
  cycles *= 1 + 0.15 * std::max(0.0, panel - 0.8) + 0.3 * std::max(0.0, block - 0.7);
  // Between blocks of the reduction the result is loaded and stored.
  cycles += real(depthBlocks) * paddedRows * paddedColumns / real(problem.lanes) * 1.5;
  if (packed)
    cycles += real(problem.k) * paddedColumns / real(problem.lanes) * (problem.stridedRhs ? 6 : 2.5);
  // Both operands of a tile come from beyond L2, at about 8 bytes a cycle.
  cycles += real(problem.k * (config.m + config.n) * problem.operandBytes) / 8;

  int64_t workgroups = problem.batch * divideUp(problem.m, config.m) * divideUp(problem.n, config.n);
  double start = 1500; // a workgroup's start, in cycles
  // Workers share whole workgroups; the last ones leave some of them idle.
  return (cycles + start) * real(divideUp(workgroups, cpu.workers));
}

//===--- The space ------------------------------------------------------------------------------------------------===//

static std::vector<RegisterTile> registerTiles(const Extents &problem, const CpuShape &cpu) {
  static constexpr int64_t mostRows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24};
  static constexpr int64_t vectorCounts[] = {1, 2, 3, 4, 6, 8};
  std::vector<RegisterTile> tiles;
  std::set<std::pair<int64_t, int64_t>> known;
  for (int64_t most : mostRows)
    for (int64_t vectors : vectorCounts) {
      // Rows are shared evenly among the tiles, so that the last is not much smaller.
      int64_t rows = divideUp(problem.m, divideUp(problem.m, most));
      int64_t columns = std::min(vectors * problem.lanes, roundUp(problem.n, problem.lanes));
      bool fits = rows * vectors + vectors < cpu.vectorRegisters;
      if (fits && known.insert({rows, columns}).second)
        tiles.push_back({rows, columns});
    }
  return tiles;
}

std::vector<RatedConfig> cpuConfigurationSpace(const MatmulSpec &spec, const CpuShape &cpu) {
  static constexpr std::array<int64_t, 8> rowTiles = {16, 32, 64, 96, 128, 192, 256, 512};
  static constexpr std::array<int64_t, 8> columnTiles = {32, 64, 96, 128, 256, 512, 1024, 2048};
  static constexpr std::array<int64_t, 5> depths = {64, 128, 256, 512, 1024};
  Extents problem = describe(spec, cpu);
  std::vector<RatedConfig> space;
  for (const RegisterTile &tile : registerTiles(problem, cpu))
    for (int64_t m : tilesOf(problem.m, rowTiles, tile.rows))
      for (int64_t n : tilesOf(problem.n, columnTiles, tile.columns))
        for (int64_t k : tilesOf(problem.k, depths, problem.lanes))
          for (bool pack : {false, true}) {
            // Panels need several rows that use them. What is strided is packed anyway; one spelling is enough.
            if (pack ? (tile.rows == 1 || problem.m < 8) : (problem.stridedRhs && problem.m >= 8 && tile.rows > 1))
              continue;
            TileConfig config;
            config.m = m, config.n = n, config.k = k;
            config.instructions = "fma";
            config.rows = tile.rows, config.columns = tile.columns;
            config.packB = pack;
            if (verifyCpuConfiguration(config).ok())
              space.push_back({config, cost(config, problem, cpu)});
          }
  // Equal ones in the order of their names, so that the order is the same everywhere.
  std::ranges::sort(space, [](const RatedConfig &a, const RatedConfig &b) {
    return a.cost != b.cost ? a.cost < b.cost : a.config.name() < b.config.name();
  });
  return space;
}

std::vector<std::string> cpuConfigurations(const MatmulSpec &spec, const CpuShape &cpu, size_t count) {
  std::vector<RatedConfig> space = cpuConfigurationSpace(spec, cpu);
  // In turn from each register tile, the better tiles first, and from each its best cache tiles.
  std::map<std::pair<int64_t, int64_t>, size_t> taken;
  std::vector<std::pair<size_t, size_t>> order; // turn, place in the space
  for (size_t place = 0; place < space.size(); ++place) {
    const TileConfig &config = space[place].config;
    order.emplace_back(taken[{config.rows, config.columns}]++, place);
  }
  // A third of the places goes to the register tiles' best, the rest to whatever is best.
  std::ranges::sort(order);
  std::set<size_t> chosen;
  for (auto [turn, place] : order) {
    if (turn > 0 || chosen.size() >= count / 3)
      break;
    chosen.insert(place);
  }
  for (size_t place = 0; place < space.size() && chosen.size() < count; ++place)
    chosen.insert(place);
  std::vector<std::string> names;
  for (size_t place : chosen)
    names.push_back(space[place].config.name());
  return names;
}

} // namespace kiln::families
