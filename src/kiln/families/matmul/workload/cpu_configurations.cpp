#include "kiln/families/matmul/workload/cpu_configurations.h"

#include <algorithm>
#include <array>

#include "kiln/measure/tiles.h"

namespace kiln::families {

//===--- What the compiler takes ----------------------------------------------------------------------------------===//

// The limits of llvm-cpu on register tiles.
static constexpr int64_t kMostRows = 32;
static constexpr int64_t kMostVectorsInTile = 256;
static constexpr int64_t kNarrowestVector = 4; // what columns count as where the lanes are left to the compiler

using measure::divideUp, measure::RegisterTile, measure::roundUp, measure::tilesOf;

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
} // namespace

static Extents describe(const MatmulSpec &spec, const CpuShape &cpu) {
  // Slices are a batch of shorter products, at once or one after the other.
  return {.batch = static_cast<int64_t>(spec.batch * (spec.split == SplitK::Parallel ? spec.slices : 1)),
          .m = static_cast<int64_t>(spec.m),
          .n = static_cast<int64_t>(spec.n),
          .k = static_cast<int64_t>(spec.sliceLength()),
          .operandBytes = static_cast<int64_t>(hal::elementTypeByteSize(spec.lhs.type)),
          .stridedRhs = spec.rhs.columnMajor,
          .lanes = cpu.lanes()};
}

// Cycles for one vector FMA in the innermost loop, 0.5 at best. The numbers are fitted to measurements of a Zen 5.
static double cyclesPerFma(const RegisterTile &tile, const Extents &problem, const CpuShape &cpu, bool packed) {
  double vectors = static_cast<double>(divideUp(tile.columns, problem.lanes)), rows = static_cast<double>(tile.rows);
  // Rows of an operand that is not packed lie far apart: in pages of their own, and often in the same few cache sets.
  double loads = rows / 2 + vectors * (packed ? 0.5 : 2);
  double cycles = measure::cyclesPerStep(rows, vectors, loads, /*latency=*/5.5, cpu);
  // Each row has a pointer, and there are registers for about 12.
  cycles += 3.5 * std::max(0.0, rows - 12);
  // Narrow elements are converted after they are loaded.
  if (problem.operandBytes < 4)
    cycles += (rows + (packed ? 0 : vectors)) / 2;
  return cycles / (rows * vectors);
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

std::vector<RatedConfig> cpuConfigurationSpace(const MatmulSpec &spec, const CpuShape &cpu) {
  static constexpr std::array<int64_t, 8> rowTiles = {16, 32, 64, 96, 128, 192, 256, 512};
  static constexpr std::array<int64_t, 8> columnTiles = {32, 64, 96, 128, 256, 512, 1024, 2048};
  static constexpr std::array<int64_t, 5> depths = {64, 128, 256, 512, 1024};
  Extents problem = describe(spec, cpu);
  std::vector<RatedConfig> space;
  for (const RegisterTile &tile : measure::registerTiles(problem.m, problem.n, cpu))
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
  measure::sortByCost(space);
  return space;
}

std::vector<std::string> cpuConfigurations(const MatmulSpec &spec, const CpuShape &cpu, size_t count) {
  return measure::worthTrying(cpuConfigurationSpace(spec, cpu), count);
}

} // namespace kiln::families
