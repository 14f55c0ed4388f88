#include "kiln/targets/cuda/codegen/contraction/ContractionConfig.h"

#include "kiln/compiler/Codegen/ContractionGroup.h"
#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

bool isTiledKernel(const TileConfig &config) {
  return config.instructions == kSimtFfma || multipliesByWarps(config) || config.instructions == kWgmma;
}

bool multipliesByWarps(const TileConfig &config) {
  return config.instructions == kMmaSync || config.instructions == kWmma;
}

int64_t threadsOf(const TileConfig &config) {
  int64_t parts = takesTurns(config) ? 2 : (config.m / config.rows) * (config.n / config.columns);
  if (config.instructions == kWgmma)
    return (parts + 1) * 128; // Groups of four warps, and one that copies.
  return multipliesByWarps(config) ? parts * 32 : parts;
}

int64_t blocksOfCluster(const TileConfig &config) {
  return config.clusterM * config.clusterN * config.clusterK;
}

void completeContractionConfig(TileConfig &config) {
  bool isMma = multipliesByWarps(config);
  if (config.instructions == kWgmma) {
    const bool swaps = config.rows == 0 && config.columns == 0 && config.m % 64 != 0 && config.n % 64 == 0;
    if (config.rows == 0)
      config.rows = swaps ? config.m : 64;
    if (config.columns == 0)
      config.columns = swaps ? 64 : config.n;
    return;
  }
  int64_t most = isMma ? 64 : 8;
  if (config.rows == 0)
    config.rows = std::min(config.m, most);
  if (config.columns == 0)
    config.columns = std::min(config.n, most);
  // What divides no tile is an error, and no other one is made of it.
  if (config.m % config.rows || config.n % config.columns)
    return;
  // At least four warps, which four schedulers can take.
  while (isMma && threadsOf(config) < 128 && std::max(config.rows, config.columns) > 16)
    (config.rows >= config.columns ? config.rows : config.columns) /= 2;
  while (!isMma && threadsOf(config) < 64 && std::max(config.rows, config.columns) > 1)
    (config.rows >= config.columns ? config.rows : config.columns) /= 2;
}

std::string checkContractionConfig(const TileConfig &config, const CudaTarget &target) {
  bool isMma = multipliesByWarps(config), isGrouped = config.instructions == kWgmma;
  bool isSimt = config.instructions == kSimtFfma, sharesCopies = config.clusterM != 1 || config.clusterN != 1;
  if (isGrouped && target.architecture != "sm_90a")
    return llvm::formatv("asks for {0}, which {1} does not have; sm_90a has it alone", config.instructions,
                         target.architecture);
  if (target.generation() < 80)
    return llvm::formatv("asks for {0}, whose asynchronous copies {1} does not have; sm_80 and newer do",
                         config.instructions, target.architecture);
  // Groups of four warps have 64 rows each, and threads share rows of B that are powers of two.
  for (int64_t number : {config.k, isGrouped ? 1 : config.n, isGrouped || isSimt ? 1 : config.m,
                         isGrouped || isSimt ? 1 : config.rows, isGrouped ? 1 : config.columns})
    if (!llvm::isPowerOf2_64(number))
      return llvm::formatv("has {0} in it; tiles of {1} are powers of two{2}", number, config.instructions,
                           isSimt ? " along N and K" : "");
  // The side of which four warps have 64, and the other one.
  const bool isSwapped = swapsSides(config);
  const int64_t grouped = isSwapped ? config.n : config.m, other = isSwapped ? config.m : config.n;
  if (isGrouped && (grouped % 64 || other % (isSwapped ? 16 : 32)))
    return llvm::formatv("has a tile of {0}x{1}; of tensorcore_wgmma rows are multiples of 64 and columns of 32, or "
                         "rows of 16 and columns of 64",
                         config.m, config.n);
  if (config.m % config.rows || config.n % config.columns)
    return llvm::formatv("has a register tile of {0}x{1} that does not divide its tile of {2}x{3}", config.rows,
                         config.columns, config.m, config.n);
  if (isGrouped && (std::min(config.m, config.n) < (isSwapped ? 16 : 64) || std::max(config.m, config.n) > 256 ||
                    config.m * config.n > (grouped == 192 ? 192 * 192 : 128 * 256)))
    return llvm::formatv("has a tile of {0}x{1}; tensorcore_wgmma has {2} to 256 rows and 64 to 256 columns, and "
                         "128x256 or 192x192 at most",
                         config.m, config.n, isSwapped ? 16 : 64);
  if (isGrouped && sharesCopies && !(llvm::isPowerOf2_64(config.m) && llvm::isPowerOf2_64(config.n)))
    return llvm::formatv("has a tile of {0}x{1}, of which blocks of a cluster cannot copy equal parts", config.m,
                         config.n);
  if (takesTurns(config) && config.m * config.n > 128 * 160)
    return llvm::formatv("gives four warps {0}x{1}; their registers hold 128x160", config.rows, config.columns);
  if (takesTurns(config) && config.hasCluster())
    return "gives four warps a whole tile, which those of clusters do not have";
  if (isGrouped && !takesTurns(config) && (config.rows != 64 || config.columns != config.n) &&
      (config.rows != config.m || config.columns != 64))
    return llvm::formatv(
        "gives four warps {0}x{1}; of tensorcore_wgmma they compute 64 rows of the tile, 64 columns where B is "
        "turned, or all of it in turn with four others",
        config.rows, config.columns);
  if (isMma && (config.rows < 16 || config.columns < 16 || config.rows * config.columns > 64 * 128))
    return llvm::formatv("gives a warp {0}x{1}; {2} wants 16x16 at least, and registers hold 64x128", config.rows,
                         config.columns, config.instructions);
  if (!isMma && !isGrouped && config.rows * config.columns > 128)
    return llvm::formatv("gives a thread {0}x{1}; its registers hold 128 sums", config.rows, config.columns);
  if (config.stages < 2 || config.stages > 16)
    return llvm::formatv("has {0} stages; copies to shared memory run 1 to 15 tiles ahead, which is 2 to 16",
                         config.stages);
  if (isSimt && threadsOf(config) % 32 != 0)
    return llvm::formatv("makes blocks of {0} threads; of {1} they are multiples of 32", threadsOf(config),
                         config.instructions);
  if (int64_t threads = threadsOf(config); threads < 32 || threads > 1024)
    return llvm::formatv("makes blocks of {0} threads; there are 32 to 1024 in a block", threads);
  if (config.hasCluster() && target.generation() < 90)
    return llvm::formatv("has clusters, which {0} does not; sm_90 and newer do", target.architecture);
  if (sharesCopies && !isGrouped)
    return llvm::formatv("has clusters, in which blocks share what {0} copies; {1} does not", kWgmma,
                         config.instructions);
  if (config.streamK && !isGrouped)
    return llvm::formatv("computes what whole rounds of tiles leave in parts of K; blocks of {0} alone stay for that",
                         kWgmma);
  if (config.clusterK != 1 && config.instructions == kWmma)
    return llvm::formatv("cuts K into parts for the blocks of a cluster; {0} does not, {1}, {2} and {3} do",
                         config.instructions, kMmaSync, kWgmma, kSimtFfma);
  if (config.clusterK != 1 && sharesCopies)
    return "has clusters whose blocks share copies and compute parts of K; they do one of both";
  if (!llvm::isPowerOf2_64(config.clusterM) || !llvm::isPowerOf2_64(config.clusterN) || blocksOfCluster(config) > 8)
    return llvm::formatv("has {0}{1}; there are 8 blocks at most, and powers of two along M and N",
                         config.streamK ? "" : "clusters of ", config.clusterName());
  if (config.packA || config.packB)
    return "packs an operand; kernels for GPUs pack none";
  return "";
}

namespace {
struct Candidate {
  int64_t m, n, rows, columns;
  double rate; // of the arithmetic, where the whole device has such tiles
};
} // namespace

// Made for f16 and f32; other types take the same.
static constexpr Candidate mmaTiles[] = {{128, 256, 64, 64, 1.0}, {128, 128, 64, 64, 0.95}, {128, 64, 64, 32, 0.75},
                                         {64, 64, 32, 32, 0.6},   {32, 64, 16, 32, 0.4},    {32, 32, 16, 16, 0.25}};

namespace {
// A tile of scalars, of which 16 along k take a block so many microseconds: one that has a multiprocessor to itself,
// and one of several that fill it. Of f32 on an H100 and an H200 (docs/performance.md).
struct ScalarTile {
  int64_t m, n, rows, columns; // 0x0: what completeContractionConfig makes of it
  double alone, among;

  bool isLarge() const { return m * n >= 64 * 128; }
  // Of a product, in microseconds; with parts of k for the blocks of a cluster.
  double cost(int64_t tiles, int64_t k, int64_t parts, int64_t multiprocessors) const {
    const int64_t blocks = tiles * parts;
    // Large ones are few, and the multiprocessor that has the most is the last.
    const double share =
        isLarge() ? double(llvm::divideCeil(blocks, multiprocessors)) : double(blocks) / double(multiprocessors);
    const double time = 1.4 + double(llvm::divideCeil(k, 16 * parts)) * std::max(alone, among * share);
    return parts == 1 ? time : time + 1 + 0.1 * double(parts) + 2.5e-4 * double(m * n);
  }
};
} // namespace
static constexpr ScalarTile scalarTiles[] = {
    {128, 128, 8, 8, 1.6, 1.6}, {112, 128, 7, 8, 1.5, 1.4}, {64, 128, 8, 8, 0.87, 0.77}, {128, 64, 8, 8, 0.95, 0.76},
    {64, 64, 0, 0, 1.0, 0.62},  {32, 64, 0, 0, 0.52, 0.36}, {64, 32, 0, 0, 0.55, 0.38},  {32, 32, 0, 0, 0.36, 0.21},
    {16, 64, 0, 0, 0.36, 0.19}, {16, 32, 0, 0, 0.25, 0.12}, {32, 16, 0, 0, 0.27, 0.14}};

// Into how many parts the blocks of a cluster cut k, of whose tiles there are `steps`: as many as leave two steps for
// each at least and find a place at once, and no more than that takes. On an H200 two parts gain nothing; with three
// to eight, products with few tiles take half the time.
static int64_t chooseDepthParts(int64_t tiles, int64_t steps, int64_t sharedBytes, const CudaTarget &target) {
  constexpr int64_t kMostParts = 8, kFewestParts = 3, kFewestSteps = 2;
  if (target.generation() < 90 || sharedBytes > target.sharedLimit())
    return 1;
  const int64_t places = target.multiprocessors() * (2 * sharedBytes <= target.sharedLimit() ? 2 : 1);
  int64_t parts = std::min(kMostParts, places / tiles);
  while (parts >= kFewestParts && llvm::divideCeil(steps, parts) < kFewestSteps)
    --parts;
  parts = parts < kFewestParts ? 1 : llvm::divideCeil(steps, llvm::divideCeil(steps, parts));
  return parts < kFewestParts ? 1 : parts;
}

// With parts of k for the blocks of a cluster where they may be.
static TileConfig chooseScalarTile(int64_t m, int64_t n, int64_t k, int64_t batch, bool mayCutK, int64_t bytes,
                                   const CudaTarget &target) {
  TileConfig best;
  double least = 0;
  for (const ScalarTile &tile : scalarTiles) {
    const int64_t tiles = llvm::divideCeil(m, tile.m) * llvm::divideCeil(n, tile.n) * batch;
    for (int64_t parts : {1, 2, 4, 8}) {
      // More blocks than find a place at once gain nothing. What large tiles gain was not measured.
      if (parts > 1 && (!mayCutK || tile.isLarge() || k < 256 * parts || tiles * parts > 3 * target.multiprocessors()))
        break;
      double time = tile.cost(tiles, k, parts, target.multiprocessors());
      if (least != 0 && time >= least)
        continue;
      least = time;
      best.m = tile.m, best.n = tile.n;
      best.rows = tile.rows, best.columns = tile.columns;
      best.clusterK = parts;
      best.stages = tile.m == 16 || tile.n == 16 ? 4 : 3;
    }
  }
  best.instructions = kSimtFfma.str();
  best.k = 16;
  completeContractionConfig(best);
  while (best.stages > 2 && best.stages * (best.m + best.n + 32) * best.k * bytes > target.sharedLimit())
    --best.stages;
  while ((best.m + best.n + 32) * best.k * bytes * best.stages > target.sharedLimit())
    best.k /= 2;
  return best;
}

//===--- wgmma ----------------------------------------------------------------------------------------------------===//

// How many operations are computed of each element of the result.
static int64_t countEpilogueOps(linalg::LinalgOp root) {
  int64_t count = 0;
  root->getParentOfType<func::FuncOp>().walk([&](linalg::LinalgOp other) {
    if (other != root && other.getNumReductionLoops() == 0 && !isa<linalg::FillOp>(other.getOperation()))
      count += int64_t(other.getBlock()->getOperations().size()) - 1;
  });
  return count;
}

static TileConfig chooseWgmma(const WgmmaProduct &product, int64_t bytes, const CudaTarget &target) {
  // Tiles of a B that is row-major start at whole rows of 128 bytes: others take twice the requests.
  constexpr std::pair<int64_t, int64_t> tiles[] = {{128, 256}, {256, 128}, {192, 128}, {128, 192},
                                                   {192, 192}, {128, 128}, {64, 256},  {128, 64},
                                                   {64, 128},  {64, 64},   {112, 256}, {96, 256}};
  TileConfig best;
  double least = 0;
  auto consider = [&](TileConfig config) {
    completeContractionConfig(config);
    // As many stages as fit: the more are on their way, the less their time matters.
    config.stages = 1;
    while (config.stages < 16 && sharedBytesOfWgmma(config) <= target.sharedLimit())
      ++config.stages;
    --config.stages;
    if (double time = wgmmaMicroseconds(product, config); config.stages >= 2 && (least == 0 || time < least)) {
      best = config;
      least = time;
    }
  };
  for (auto [m, n] : tiles) {
    TileConfig config;
    config.instructions = kWgmma.str();
    config.m = m;
    config.n = n;
    config.k = 128 / bytes;
    consider(config);
    for (int64_t parts = 2; parts <= 6 && m * n <= 128 * 128; ++parts) {
      config.clusterK = parts;
      consider(config);
    }
    config.clusterK = 1;
    // What is left after a round of whole tiles is cut in two: more parts leave more multiprocessors without a cluster.
    const int64_t tiles = llvm::divideCeil(product.m, m) * llvm::divideCeil(product.n, n) * product.batch;
    if (tiles > product.multiprocessors) {
      config.clusterK = 2;
      config.streamK = true;
      consider(config);
      config.clusterK = 1;
      config.streamK = false;
    }
    // Two blocks share the wider side, where there are two.
    if (m * n == 128 * 256 && (m < n ? product.m > m : product.n > n)) {
      (m < n ? config.clusterM : config.clusterN) = 2;
      consider(config);
      config.clusterM = config.clusterN = 1;
    }
    if (m != 128 || n != 128)
      continue;
    config.rows = m;
    config.columns = n;
    consider(config);
  }
  return best;
}

//===--------------------------------------------------------------------------------------------------------------===//

std::optional<TileConfig> chooseContractionConfig(linalg::LinalgOp op, const CudaTarget &target) {
  std::optional<ContractionLoops> loops = ContractionLoops::of(op);
  if (!loops || target.generation() < 80)
    return std::nullopt;
  auto elementOf = [&](Value value) { return getElementTypeOrSelf(value.getType()); };
  Type lhs = elementOf(op.getDpsInputs()[loops->isSwapped ? 1 : 0]);
  Type rhs = elementOf(op.getDpsInputs()[loops->isSwapped ? 0 : 1]);
  Type result = elementOf(op.getDpsInits()[0]);
  for (Type type : {lhs, rhs, result})
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8 ||
        !llvm::isPowerOf2_32(type.getIntOrFloatBitWidth()) || type.getIntOrFloatBitWidth() > 64)
      return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto extentOf = [&](unsigned loop) { return ShapedType::isDynamic(extents[loop]) ? 1024 : extents[loop]; };
  int64_t m = extentOf(loops->m), n = extentOf(loops->n), k = extentOf(loops->k), batch = 1;
  for (unsigned loop : loops->batch)
    batch *= std::max<int64_t>(1, extentOf(loop));
  if (m < 8 || n < 8 || k < 8)
    return std::nullopt;

  auto isKInner = [&](unsigned input) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(input));
    return map.getResults().back() == getAffineDimExpr(loops->k, op.getContext());
  };
  bool isHalf = lhs == rhs && (lhs.isF16() || lhs.isBF16()) && (result == lhs || result.isF32());
  bool isBytes = lhs.isInteger(8) && rhs.isInteger(8) && result.isInteger(32) && isKInner(0) && isKInner(1);
  bool isMma = isHalf || isBytes;
  // Boxes are copied where rows are multiples of 16 bytes.
  auto areBoxes = [&] {
    if (!loops->areSlicesIndices(op))
      return false;
    return !ShapedType::isDynamicShape(extents) && llvm::all_of(op.getDpsInputs(), [&](Value input) {
      auto type = cast<ShapedType>(input.getType());
      return type.getRank() <= 5 && type.getShape().back() * type.getElementTypeBitWidth() % 128 == 0;
    });
  };
  if (isMma && target.architecture == "sm_90a" && areBoxes()) {
    const int64_t bytes = lhs.getIntOrFloatBitWidth() / 8;
    return chooseWgmma(
        {m, n, int64_t(llvm::divideCeil(k * bytes, 128)), batch, countEpilogueOps(op), target.multiprocessors()}, bytes,
        target);
  }
  bool isHeld = isMma && llvm::any_of(op.getDpsInputs(), [](Value input) {
                  auto type = cast<ShapedType>(input.getType());
                  int64_t innermost = type.getShape().back();
                  return (ShapedType::isDynamic(innermost) ? 1 : innermost) * type.getElementTypeBitWidth() % 32 != 0;
                });
  int64_t bytes = std::max(lhs.getIntOrFloatBitWidth(), rhs.getIntOrFloatBitWidth()) / 8;
  if (!isMma) {
    // Parts may reach beyond k, where a product of zeros is zero, and other bodies may not be.
    bool mayCutK =
        target.generation() >= 90 && !ShapedType::isDynamicShape(extents) && linalg::isaContractionOpInterface(op);
    return chooseScalarTile(m, n, k, batch, mayCutK, bytes, target);
  }
  TileConfig config;
  config.instructions = kMmaSync.str();
  const Candidate *best = nullptr;
  double least = 0;
  for (const Candidate &tile : mmaTiles) {
    if (isHeld && tile.n > 128)
      continue; // Its sums leave no registers.
    int64_t tiles = llvm::divideCeil(m, tile.m) * llvm::divideCeil(n, tile.n) * batch;
    double time = llvm::divideCeil(tiles, target.multiprocessors()) * tile.m * tile.n / tile.rate;
    if (!best || time < least) {
      best = &tile;
      least = time;
    }
  }
  config.m = best->m;
  config.n = best->n;
  config.rows = best->rows;
  config.columns = isHeld ? std::min<int64_t>(best->columns, 32) : best->columns;
  // Rows of 128 bytes where three tiles of them fit: barriers are half as many.
  config.k = 128 / bytes;
  if (3 * (config.m + config.n) * config.k * bytes > target.sharedLimit())
    config.k /= 2;
  if (isHeld && (config.m + config.n) * config.k > kMostHeld * threadsOf(config))
    config.k = 64 / bytes;
  config.stages = 4;
  while (config.stages > 2 && config.stages * (config.m + config.n + 32) * config.k * bytes > target.sharedLimit())
    --config.stages;
  while ((config.m + config.n + 32) * config.k * bytes * config.stages > target.sharedLimit())
    config.k /= 2;
  if (!ShapedType::isDynamicShape(extents)) {
    const int64_t shared = (config.m + config.n + 32) * config.k * bytes * config.stages + config.m * config.n * 4;
    const int64_t tiles = llvm::divideCeil(m, config.m) * llvm::divideCeil(n, config.n) * batch;
    config.clusterK = chooseDepthParts(tiles, llvm::divideCeil(k, config.k), shared, target);
  }
  return config;
}

} // namespace kiln
