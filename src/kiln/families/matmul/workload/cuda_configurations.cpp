#include "kiln/families/matmul/workload/cuda_configurations.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>
#include <tuple>

#include "kiln/measure/tiles.h"
#include "kiln/targets/cuda/wgmma_cost.h"

namespace kiln::families {

static constexpr std::string_view kSimtFfma = "simt_ffma", kMmaSync = "tensorcore_mmasync", kWmma = "tensorcore_wmma",
                                  kWgmma = "tensorcore_wgmma";

std::optional<CudaShape> CudaShape::of(std::string_view target) {
  constexpr std::string_view kPrefix = "cuda:sm_";
  if (!target.starts_with(kPrefix))
    return std::nullopt;
  target.remove_prefix(kPrefix.size());
  CudaShape gpu;
  auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), gpu.generation);
  if (error != std::errc())
    return std::nullopt;
  gpu.hasWgmma = gpu.generation == 90 && end != target.data() + target.size();
  switch (gpu.generation) {
  case 80:
  case 87: break;
  case 90: gpu.sharedBytes = 227 * 1024, gpu.multiprocessors = 132; break;
  case 100: gpu.sharedBytes = 227 * 1024, gpu.multiprocessors = 148; break;
  default: gpu.sharedBytes = 99 * 1024, gpu.multiprocessors = 84;
  }
  return gpu;
}

namespace {

// What the choice of tiles knows of a problem.
struct Product {
  int64_t batch, m, n, k;
  int64_t bytes; // of an operand's element
  bool lhsKInner, rhsKInner;
  bool isFloat;
  bool isHalf; // f16
  bool hasMma, hasWmma, hasWgmma;
  bool isHeld = false; // an input of wgmma goes through registers

  static Product of(const MatmulSpec &spec, const CudaShape &gpu) {
    Product product{.batch = static_cast<int64_t>(spec.batch),
                    .m = static_cast<int64_t>(spec.m),
                    .n = static_cast<int64_t>(spec.n),
                    .k = static_cast<int64_t>(spec.k),
                    .bytes = static_cast<int64_t>(hal::elementTypeByteSize(spec.lhs.type)),
                    .lhsKInner = !spec.lhs.columnMajor,
                    .rhsKInner = spec.rhs.columnMajor,
                    .isFloat = spec.lhs.type != ElementType::I8,
                    .isHalf = spec.lhs.type == ElementType::F16,
                    .hasMma = false,
                    .hasWmma = false,
                    .hasWgmma = false};
    const bool kInner = product.lhsKInner && product.rhsKInner;
    switch (spec.lhs.type) {
    case ElementType::F16:
    case ElementType::BF16:
    case ElementType::F32: product.hasMma = product.hasWmma = spec.accumulator == ElementType::F32; break;
    case ElementType::I8:
      product.hasMma = kInner; // nothing but wmma turns bytes on their way
      product.hasWmma = true;
      break;
    default: break;
    }
    // Boxes are copied where rows are whole 16 bytes. wgmma turns elements of two bytes, and one input of four bytes
    // may be turned on its way into registers.
    const int64_t lhsRow = product.lhsKInner ? static_cast<int64_t>(spec.k) : product.m;
    const int64_t rhsRow = product.rhsKInner ? static_cast<int64_t>(spec.k) : product.n;
    product.isHeld = product.bytes == 4 && !kInner;
    product.hasWgmma = product.hasMma && gpu.hasWgmma &&
                       (product.bytes != 4 || product.lhsKInner || product.rhsKInner) &&
                       lhsRow * product.bytes % 16 == 0 && rhsRow * product.bytes % 16 == 0;
    return product;
  }

  // Whether a tile of `most` is none that a smaller one would cover.
  static bool isWorth(int64_t tile, int64_t extent, int64_t least) {
    return tile <= std::max(least, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent))));
  }
};

// Blocks of 32 to 1024 threads.
constexpr int64_t kMostThreads = 1024;

class Space {
public:
  Space(const Product &product, const CudaShape &gpu) : product(product), gpu(gpu) {}

  void addWgmma() {
    for (int64_t m : {64, 128, 192, 256})
      for (int64_t n : {64, 96, 128, 160, 192, 256})
        if (m * n <= (m == 192 ? 192 * 192 : 128 * 256) && isWorth(m, n, 64)) {
          // Groups of four warps that multiply: as many as 64 fit into the rows, which may be the columns of B.
          const bool turnsRhs = product.isHeld && product.lhsKInner;
          const int64_t groups = (turnsRhs ? n : m) / 64;
          if (product.isHeld && (groups > 2 || (turnsRhs && n % 64 != 0)))
            continue;
          addWgmma(m, n, groups, 0, 0);
          // Two groups that take turns at whole tiles.
          if (m == 128 && n >= 96 && n <= 160 && !product.isHeld)
            addWgmma(m, n, 2, m, n);
        }
    // Of other numbers of rows, columns are wgmma's rows: for few rows, and for what 64 and 128 would leave unused.
    if (product.isHeld && !product.lhsKInner)
      return;
    for (int64_t m : {16, 32, 48, 80, 96, 112, 144, 160})
      for (int64_t n : {64, 128, 192, 256})
        if (m * n <= 128 * 256 && (m >= 64 || product.m <= m) && isWorth(m, n, 64) && !(product.isHeld && n > 128))
          addWgmma(m, n, n / 64, 0, 0);
  }

  void addMmaSync() {
    // On sm_90a a part of the multiprocessor's rate.
    const double rate = gpu.hasWgmma ? 0.6 : 1;
    for (int64_t m : {16, 32, 64, 128, 256})
      for (int64_t n : {16, 32, 64, 128, 256})
        if (m * n <= 256 * 128 && m * n >= 32 * 32 && isWorth(m, n, 32))
          for (int64_t row : {64, 128})
            for (int64_t stages : {2, 3, 4, 5, 6, 8, 10})
              if (stages * (m + n) * row <= gpu.sharedBytes)
                for (auto [rows, columns] : warpTiles(m, n))
                  for (int64_t parts : depthParts(m, n, row / product.bytes))
                    add(kMmaSync, m, n, row / product.bytes, stages, rows, columns, rate, 1, 1, parts);
  }

  // Beside mma.sync, which can be told more: with the compiler's choice of what a warp has.
  void addWmma() {
    const double rate = gpu.hasWgmma ? 0.5 : 0.8;
    for (int64_t m : {16, 32, 64, 128, 256})
      for (int64_t n : {16, 32, 64, 128, 256})
        if (m * n <= 256 * 128 && m * n >= 32 * 32 && isWorth(m, n, 32))
          for (int64_t row : {64, 128})
            for (int64_t stages : {2, 3, 4})
              if (stages * (wmmaBytes(m, row, product.lhsKInner) + wmmaBytes(n, row, product.rhsKInner)) <=
                  gpu.sharedBytes)
                add(kWmma, m, n, row / product.bytes, stages, 0, 0, rate);
  }

  void addSimt() {
    // Scalars, beside tensor cores.
    const double rate = product.hasWmma ? 0.05 : 1;
    for (int64_t m : {16, 32, 64, 96, 112, 128})
      for (int64_t n : {16, 32, 64, 128})
        if (m * n >= 16 * 32 && (std::has_single_bit(static_cast<uint64_t>(m)) || n == 128) && isWorth(m, n, 16))
          for (int64_t k : {8, 16, 32})
            for (int64_t stages : {2, 3, 4})
              for (auto [rows, columns] : threadTiles(m, n)) {
                // What is turned on its way has padding.
                int64_t padding = (product.lhsKInner ? 16 : 0) + (product.rhsKInner ? 16 : 0);
                if (stages * k * ((m + n) * product.bytes + padding) <= gpu.sharedBytes)
                  for (int64_t parts : depthParts(m, n, k))
                    add(kSimtFfma, m, n, k, stages, rows, columns, rate, 1, 1, parts);
              }
  }

  std::vector<RatedConfig> configs;

private:
  using Tile = std::pair<int64_t, int64_t>;

  // As many stages as fit, and less.
  void addWgmma(int64_t m, int64_t n, int64_t groups, int64_t rows, int64_t columns) {
    const int64_t depth = 128 / product.bytes;
    auto fits = [&](int64_t stages, int64_t parts) {
      const int64_t boxed = measure::roundUp(m, 64) + measure::roundUp(n, 64), sums = parts == 1 ? 0 : 4 * m * n;
      const int64_t output = m % 64 != 0 && groups > 2 ? 4096 : 8192;
      return 1024 + std::max(stages * boxed * 128, sums) + groups * 2 * output <= gpu.sharedBytes;
    };
    auto most = [&](int64_t parts) {
      int64_t stages = 1;
      while (stages < 16 && fits(stages + 1, parts))
        ++stages;
      return stages;
    };
    for (int64_t stages : std::set<int64_t>{2, 3, 4, 6, most(1)})
      if (fits(stages, 1))
        for (auto [clusterM, clusterN] : rows == 0 ? clusters(m, n) : std::vector<Tile>{{1, 1}})
          add(kWgmma, m, n, depth, stages, rows, columns, 1, clusterM, clusterN);
    for (int64_t parts : depthParts(m, n, depth))
      if (parts != 1 && rows == 0 && most(parts) >= 2)
        add(kWgmma, m, n, depth, most(parts), rows, columns, 1, 1, 1, parts);
    // What whole rounds of tiles leave may be cut, where there is a round.
    const int64_t tiles = tilesOf(m, n);
    for (int64_t parts : {2, 3, 4})
      if (tiles > gpu.multiprocessors && tiles % gpu.multiprocessors != 0 && tiles < 8 * gpu.multiprocessors &&
          measure::divideUp(product.k, depth) >= 2 * parts && rows == 0 && most(parts) >= 3)
        add(kWgmma, m, n, depth, most(parts), rows, columns, 1, 1, 1, parts, /*streamK=*/true);
  }

  bool isWorth(int64_t m, int64_t n, int64_t least) const {
    return Product::isWorth(m, product.m, least) && Product::isWorth(n, product.n, least);
  }

  // Of an operand's tile, whose rows are padded.
  int64_t wmmaBytes(int64_t outer, int64_t depthBytes, bool isKInner) const {
    const int64_t padding = product.isHalf ? 32 : 16, depth = depthBytes / product.bytes;
    return isKInner ? outer * (depthBytes + padding) : depth * (outer * product.bytes + padding);
  }

  // Of blocks, each of which has a tile of the result.
  std::vector<Tile> clusters(int64_t m, int64_t n) const {
    if (product.isHeld)
      return {{1, 1}};
    // Blocks share equal parts of a tile.
    if (!std::has_single_bit(static_cast<uint64_t>(m)) || !std::has_single_bit(static_cast<uint64_t>(n)))
      return {{1, 1}};
    std::vector<Tile> all;
    for (auto [rows, columns] : {Tile(1, 1), Tile(2, 1), Tile(1, 2), Tile(2, 2), Tile(4, 1)})
      if (rows <= measure::divideUp(product.m, m) && columns <= measure::divideUp(product.n, n))
        all.emplace_back(rows, columns);
    return all;
  }

  int64_t tilesOf(int64_t m, int64_t n) const {
    return product.batch * measure::divideUp(product.m, m) * measure::divideUp(product.n, n);
  }

  // Into how many parts the blocks of a cluster may cut k, where one tile for each leaves multiprocessors without work.
  std::vector<int64_t> depthParts(int64_t m, int64_t n, int64_t k) const {
    const int64_t tiles = tilesOf(m, n);
    std::vector<int64_t> all = {1};
    for (int64_t parts : {2, 3, 4, 5, 6, 8})
      if (gpu.generation >= 90 && tiles * parts <= gpu.multiprocessors && measure::divideUp(product.k, k) >= 2 * parts)
        all.push_back(parts);
    return all;
  }

  // The compiler's own choice, 0x0, and others.
  static std::vector<Tile> warpTiles(int64_t m, int64_t n) {
    int64_t rows = std::min<int64_t>(m, 64), columns = std::min<int64_t>(n, 64);
    auto warps = [&](int64_t r, int64_t c) { return (m / r) * (n / c); };
    while (warps(rows, columns) < 4 && std::max(rows, columns) > 16)
      (rows >= columns ? rows : columns) /= 2;
    std::vector<Tile> tiles = {{0, 0}};
    for (int64_t r : {16, 32, 64})
      for (int64_t c : {16, 32, 64})
        if (r <= m && c <= n && r * c >= 32 * 16 && Tile(r, c) != Tile(rows, columns) && warps(r, c) >= 4 &&
            warps(r, c) <= 16)
          tiles.emplace_back(r, c);
    return tiles;
  }
  static std::vector<Tile> threadTiles(int64_t m, int64_t n) {
    int64_t rows = std::min<int64_t>(m, 8), columns = std::min<int64_t>(n, 8);
    auto threads = [&](int64_t r, int64_t c) { return (m / r) * (n / c); };
    while (threads(rows, columns) < 64 && std::max(rows, columns) > 1)
      (rows >= columns ? rows : columns) /= 2;
    std::vector<Tile> tiles = {{0, 0}};
    for (int64_t r : {4, 8})
      for (int64_t c : {4, 8, 16})
        if (r <= m && c <= n && Tile(r, c) != Tile(rows, columns) && threads(r, c) >= 64 && threads(r, c) % 32 == 0 &&
            threads(r, c) <= kMostThreads)
          tiles.emplace_back(r, c);
    return tiles;
  }

  void add(std::string_view instructions, int64_t m, int64_t n, int64_t k, int64_t stages, int64_t rows,
           int64_t columns, double rate, int64_t clusterM = 1, int64_t clusterN = 1, int64_t clusterK = 1,
           bool streamK = false) {
    TileConfig config;
    config.m = m, config.n = n, config.k = k;
    config.stages = stages;
    config.instructions = instructions;
    config.rows = rows, config.columns = columns;
    config.clusterM = clusterM, config.clusterN = clusterN, config.clusterK = clusterK;
    config.streamK = streamK;
    configs.push_back({config, costOf(config) / rate});
  }

  // The time of the multiprocessor that has the most tiles, as far as tiles decide it. But for wgmma the numbers stand
  // for nothing that was measured: larger tiles read less, more stages hide more, and a register tile of the compiler's
  // choice is as good as any.
  double costOf(const TileConfig &config) const {
    auto real = [](int64_t value) { return static_cast<double>(value); };
    auto along = [](int64_t extent, int64_t tile, int64_t cluster) {
      return measure::roundUp(measure::divideUp(extent, tile), cluster);
    };
    int64_t tiles = product.batch * along(product.m, config.m, config.clusterM) *
                    along(product.n, config.n, config.clusterN) * config.clusterK;
    double read = 60 * (1 / real(config.m) + 1 / real(config.n));
    double wait = 0.25 / real(config.stages - 1);
    // Each block of a cluster that cuts k reads a part of the others' sums, which is as a tile of k for each.
    double depth = real(measure::roundUp(measure::divideUp(product.k, config.clusterK), config.k) +
                        (config.clusterK - 1) * config.k);
    double registers = config.rows == 0 ? 1 : 1 + 0.02 * real(64 * 64) / real(config.rows * config.columns * 4);
    // What a multiprocessor multiplies in a microsecond.
    constexpr double kRate = 2048 * 1755;
    if (config.instructions == kWgmma)
      return kRate *
             wgmmaMicroseconds({product.m, product.n, measure::divideUp(product.k * product.bytes, 128), product.batch,
                                0, gpu.multiprocessors},
                               config) *
             (1 + wait);
    const int64_t rounds = measure::divideUp(tiles, gpu.multiprocessors);
    // A launch, the way of the first tile, and sums that are read from other blocks' memory.
    const double around =
        0.9 + real(rounds) * (0.5 + (config.clusterK == 1 ? 0 : 1.35 + 2.35e-4 * real(config.m * config.n)));
    return real(rounds * config.m * config.n) * depth * (1 + read + wait) * registers + kRate * around;
  }

  const Product &product;
  const CudaShape &gpu;
};

// The documents' tiles of tensorcore_mmasync: their extents, the bytes of a row of K, and stages.
struct Documented {
  int64_t m, n, rowBytes, stages;
};
constexpr Documented kDocumented[] = {{128, 256, 64, 3}, {128, 128, 128, 4}, {128, 128, 64, 5},
                                      {128, 64, 64, 5},  {64, 64, 128, 5},   {64, 64, 64, 10}};

bool isDocumented(const TileConfig &config, int64_t bytes) {
  return config.instructions == kMmaSync && config.rows == 0 && !config.hasCluster() &&
         std::ranges::any_of(kDocumented, [&](const Documented &one) {
           return config.m == one.m && config.n == one.n && config.k * bytes == one.rowBytes &&
                  config.stages == one.stages;
         });
}

} // namespace

std::vector<RatedConfig> cudaConfigurationSpace(const MatmulSpec &spec, const CudaShape &gpu) {
  // Kernels with tiles copy asynchronously, and slices are no products to them.
  if (gpu.generation < 80 || spec.split != SplitK::None)
    return {};
  const Product product = Product::of(spec, gpu);
  Space space(product, gpu);
  if (product.hasWgmma)
    space.addWgmma();
  if (product.hasMma)
    space.addMmaSync();
  if (product.hasWmma)
    space.addWmma();
  space.addSimt();
  measure::sortByCost(space.configs);
  return std::move(space.configs);
}

std::vector<std::string> cudaConfigurations(const MatmulSpec &spec, const CudaShape &gpu, size_t count) {
  const std::vector<RatedConfig> space = cudaConfigurationSpace(spec, gpu);
  const auto bytes = static_cast<int64_t>(hal::elementTypeByteSize(spec.lhs.type));
  std::set<size_t> chosen;
  auto choose = [&](size_t most, auto &&isWanted) {
    for (size_t place = 0; place < space.size() && chosen.size() < most; ++place)
      if (isWanted(space[place].config))
        chosen.insert(place);
  };
  choose(count, [&](const TileConfig &config) { return isDocumented(config, bytes); });
  // The model knows little of what clusters gain: a few are measured beside what has none.
  std::set<std::tuple<int64_t, int64_t, std::string>> clusters;
  choose(std::min(count, chosen.size() + count / 8), [&](const TileConfig &config) {
    return (config.clusterM * config.clusterN == 2 || config.clusterK != 1) &&
           clusters.insert({config.m, config.n, config.clusterName()}).second;
  });
  // A model that is wrong about a class or a tile costs little where each has its best.
  std::set<std::tuple<std::string, int64_t, int64_t>> tiles;
  std::set<std::string> classes;
  for (const RatedConfig &rated : space)
    classes.insert(rated.config.instructions);
  for (const std::string &one : classes)
    choose(std::min(count, chosen.size() + count / (2 * std::max<size_t>(2, classes.size()))),
           [&](const TileConfig &config) {
             return config.instructions == one && !config.hasCluster() &&
                    tiles.insert({one, config.m, config.n}).second;
           });
  choose(count, [](const TileConfig &config) { return !config.hasCluster(); });
  std::vector<std::string> names;
  for (size_t place : chosen)
    names.push_back(space[place].config.name());
  return names;
}

} // namespace kiln::families
