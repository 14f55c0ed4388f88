#include "kiln/targets/cpu/codegen/strategy/ConfigFitting.h"

#include "kiln/compiler/Codegen/KeyBlocks.h"
#include "kiln/compiler/Interfaces/RowMemory.h"
#include "kiln/targets/cpu/codegen/strategy/Convolutions.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

// What an extent that is not known is taken for.
static constexpr int64_t unknownExtent = 512;

// What a tile may keep of its rows between the operations of a group, so that it stays in a core's own cache; of longer
// rows there is one in a tile.
static constexpr int64_t keptBytes = int64_t(1) << 21;

// Workgroups beyond these numbers help nobody; below them, tiles are cut as long as each keeps this many operations,
// and of products so many of the rows and columns that it copies.
struct Parallelism {
  int64_t workgroups;
  double operations;
  int64_t rows, columns;
};
static constexpr Parallelism parallelism[] = {{16, 1e6, 64, 128}, {64, 4e6, 48, 64}};

// So many rows share a panel of columns, or fewer that are long: they stay in a core's own cache while one panel after
// another is read.
static constexpr int64_t rowsOfPanel = 256, fewestRowsOfPanel = 48, elementsOfRows = int64_t(1) << 16;

// Filters with so many columns are copied, so many of their rows at a time but of no fewer channels, for so many rows.
static constexpr int64_t farApart = 256, rowsInCache = 1152, fewestChannels = 32, rowsOfFilters = 48;

// So many rows of scores use what is loaded, and laid out in panels, for them.
static constexpr int64_t rowsOfScores = 64;

// So few rows use a vector that is loaded too seldom to hide how long loading it takes.
static constexpr int64_t fewRows = 8;
// An input of fewer elements stays in a cache that several cores share; shorter rows are no long runs.
static constexpr int64_t leastStreamed = int64_t(1) << 20, fewestStreamed = 512;
// Rows of no more elements lie in few pages.
static constexpr int64_t narrowColumns = 64;
// Sums of so few products are stored nearly as often as they are added to.
static constexpr int64_t shortSums = 128, rowsOfShortSums = 4;
// Of so few products, rows of results are stored while little else is done: as long as registers allow.
static constexpr int64_t shortestSums = 33, rowsOfShortestSums = 2;

namespace {
// The loops of a root by their part in a configuration.
struct Problem {
  int64_t n = 1;     // extent of the result's innermost loop
  int64_t m = 1;     // product of the others
  int64_t inner = 1; // extent of the innermost of the others, in a convolution of the one that has rows
  int64_t k = 1;     // product of the reductions
  // Of a convolution: the product of the known loops between n's and `inner`, and the input channels.
  int64_t between = 1;
  std::optional<int64_t> channels;
  int64_t outer = 1;          // extent of the loop around `inner` that has rows as well
  bool hasOwnFilters = false; // of a channel each
  bool readsFilters = false;  // filters, whose columns are those of the result
  bool readsRows = false;     // an input whose rows are columns of the result
  bool isStreamed = false;    // such a one, large, for few rows

  bool isOfFewRows() const { return readsRows && inner > 0 && inner <= fewRows; }
};
} // namespace

static int64_t multiply(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) ? ShapedType::kDynamic : a * b;
}
static int64_t known(int64_t extent) {
  return ShapedType::isDynamic(extent) ? unknownExtent : extent;
}

// Whether what `op` reads for each column of its result lies along these.
static bool readsColumns(linalg::LinalgOp op, unsigned columns) {
  bool found = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isFunctionOfDim(columns) || map.getNumResults() < 2)
      continue;
    if (map.getResults().back() != getAffineDimExpr(columns, op.getContext()))
      return false;
    found = true;
  }
  return found;
}

static Problem describe(TilingInterface op) {
  LoopShape shape = LoopShape::of(op);
  Problem problem;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op.getOperation());
  if (std::optional<ConvolutionLoops> convolution = linalgOp ? ConvolutionLoops::of(linalgOp) : std::nullopt) {
    problem.channels = convolution->channels ? shape.extents[*convolution->channels] : 1;
    problem.hasOwnFilters = !convolution->channels;
    problem.readsFilters = convolution->channels && !shape.resultLoops.empty() &&
                           vectorsAreFilters(linalgOp, shape.resultLoops[0]) &&
                           readsColumns(linalgOp, shape.resultLoops[0]);
  }
  // Heads that share keys are rows as well, and the only ones where each has one row.
  size_t rowPlace = shape.rowPlace;
  while (rowPlace < shape.rowCount && shape.extents[shape.resultLoops[rowPlace]] == 1)
    ++rowPlace;
  for (auto [place, loop] : llvm::enumerate(shape.resultLoops)) {
    int64_t extent = shape.extents[loop];
    if (place == 0)
      problem.n = extent;
    else
      problem.m = multiply(problem.m, extent);
    if (place == rowPlace)
      problem.inner = extent;
    else if (place != 0 && place < shape.rowPlace && ShapedType::isStatic(extent))
      problem.between *= extent;
    if (place == rowPlace + 1 && rowPlace < shape.rowCount)
      problem.outer = extent;
  }
  for (auto [extent, parallel] : llvm::zip(shape.extents, shape.parallel))
    if (!parallel)
      problem.k = multiply(problem.k, extent);
  problem.readsRows = linalgOp && !problem.channels && problem.m == problem.inner && !shape.resultLoops.empty() &&
                      linalgOp.getNumReductionLoops() == 1 && readsColumns(linalgOp, shape.resultLoops[0]);
  problem.isStreamed = problem.isOfFewRows() && known(problem.n) >= fewestStreamed &&
                       known(multiply(problem.n, problem.k)) >= leastStreamed;
  return problem;
}

TuningKey tuningKey(const DispatchRoot &root) {
  Problem problem = describe(root.op);
  TuningKey key;
  key.strategy = root.strategy;
  key.n = problem.n;
  key.m = root.strategy == "contraction" ? problem.inner : problem.m;
  key.k = problem.k;
  if (auto op = dyn_cast<linalg::LinalgOp>(TilingInterface(root.op).getOperation())) {
    for (Value input : op.getDpsInputs())
      key.types.push_back(getElementTypeOrSelf(input.getType()));
    key.types.push_back(getElementTypeOrSelf(op.getDpsInits()[0].getType()));
  }
  return key;
}

// A tile of at most `most`, in multiples of `unit`, that cuts the extent into parts of nearly the same size.
static int64_t shareEvenly(int64_t extent, int64_t most, int64_t unit) {
  if (most == 0 || ShapedType::isDynamic(extent) || extent == 0)
    return most;
  int64_t parts = llvm::divideCeil(extent, most);
  int64_t part = llvm::alignTo(llvm::divideCeil(extent, parts), unit);
  return std::min(part, extent);
}

// As many vectors as have room in registers beside sums of so many rows: one of them is a broadcast.
static int64_t widestVectors(int64_t rows, int64_t registers) {
  return std::max<int64_t>(1, (registers - 1) / (rows + 1));
}

// As many rows as share an extent evenly, at most so many at a time.
static int64_t rowsEvenly(int64_t extent, int64_t most) {
  return llvm::divideCeil(extent, llvm::divideCeil(extent, std::max<int64_t>(1, most)));
}

// Cuts a tile until there is work for every worker. What is cut keeps `least` rows and columns, and rows in multiples
// of `line`; rows go first where `isLong` says that columns are to stay together.
namespace {
struct Cutting {
  int64_t rows, columns, line;
  bool isLong;
};
} // namespace

static void cutTile(TileConfig &config, const Problem &problem, const Parallelism &wanted, const Cutting &least) {
  const int64_t rows = std::max<int64_t>(1, config.rows), columns = std::max<int64_t>(1, config.columns);
  while (config.m != 0 && config.n != 0) {
    double workgroups = double(llvm::divideCeil(known(problem.n), config.n)) *
                        std::max<double>(1, double(known(problem.m)) / (problem.between * config.m));
    // What is loaded for each of them takes longer than they do.
    double cost = problem.hasOwnFilters ? 8.0 : 2.0;
    double operations = cost * problem.between * config.m * config.n * known(problem.k);
    bool splitColumns = config.n > least.columns && ((config.n >= config.m && !least.isLong) || config.m <= least.rows);
    int64_t &longer = splitColumns ? config.n : config.m;
    int64_t unit = splitColumns ? columns : config.m > least.line ? std::max(least.line, rows) : rows;
    int64_t half = llvm::alignTo(llvm::divideCeil(longer, 2), unit);
    if (workgroups >= wanted.workgroups || operations / 2 < wanted.operations || 4 * half > 3 * longer ||
        half < (splitColumns ? least.columns : least.rows))
      return;
    longer = half;
  }
}

// A large input for few rows: of a tile, a few rows of the input are added to the sums at a time, from one end to the
// other: memory is read in long runs. Down each few columns all of the input's pages would be touched, for a line or
// two of each.
static TileConfig fitStream(TileConfig config, const Problem &problem, int64_t lanes, int64_t registers) {
  constexpr int64_t rowsAtATime = 8, page = 1024, workgroups = 16;
  config.m = config.rows = problem.m;
  config.columns = lanes * std::clamp<int64_t>(registers / 4 / std::max<int64_t>(1, problem.m), 1, 4);
  config.k = rowsAtATime;
  const int64_t n = known(problem.n);
  config.n = shareEvenly(problem.n, std::max(n / workgroups, std::min(page, n / 2)), config.columns);
  config.packB = false;
  return config;
}

// A smaller input for few rows: it is read in runs as long as registers allow, and at most three times, of few pages
// at a time.
static TileConfig fitFewRows(TileConfig config, const Problem &problem, int64_t lanes, int64_t registers) {
  constexpr int64_t fewest = 160, fewestOfPages = 64, rowsOfPages = 5, elements = int64_t(48) << 10, fewestShared = 512,
                    workgroups = 16;
  constexpr int64_t leastShared = int64_t(1) << 18; // what is smaller, one core reads as soon as several
  const int64_t n = problem.n;
  const int64_t most = n <= 2 * lanes                             ? config.rows
                       : known(problem.k) <= fewest / 10          ? 1
                       : n <= narrowColumns || problem.inner == 3 ? 3
                       : problem.inner <= 5                       ? 2
                                                                  : rowsOfShortSums;
  config.m = problem.inner;
  config.rows = rowsEvenly(problem.inner, most);
  config.columns = std::min<int64_t>(std::min(widestVectors(config.rows, registers), registers / 4) * lanes,
                                     llvm::alignTo(n, lanes));
  // Each vector of columns reads all of these rows again, of which long ones lie in a page each.
  const bool isLong = registers <= 16 && n >= fewestShared && problem.inner <= rowsOfPages;
  config.k = shareEvenly(problem.k, isLong ? fewestOfPages : std::max(fewest, elements / n), lanes);
  config.n = known(multiply(n, problem.k)) < leastShared
                 ? n
                 : shareEvenly(n, std::max(n / workgroups, std::min<int64_t>(2 * fewestShared, llvm::divideCeil(n, 2))),
                               config.columns);
  config.packB = false;
  for (const Parallelism &wanted : parallelism)
    cutTile(config, problem, wanted, {config.m, std::max(config.columns, fewestShared), 1, false});
  return config;
}

// The rows and columns of a register tile that is taken from a table: a loop of fewer iterations makes it smaller, and
// so do rows that it shares more evenly; where that takes a few more, and registers have room, those.
static void fitRegisters(TileConfig &config, const Problem &problem, int64_t lanes, int64_t registers) {
  if (config.rows && ShapedType::isStatic(problem.inner) && problem.inner > 0) {
    const int64_t vectors = std::max<int64_t>(1, llvm::divideCeil(config.columns, lanes));
    const auto computed = [&](int64_t rows) { return llvm::alignTo(problem.inner, rows); };
    const int64_t fewer = rowsEvenly(problem.inner, config.rows),
                  more = rowsEvenly(problem.inner, std::max(config.rows, (registers - 1) / vectors - 1));
    config.rows = computed(more) <= computed(fewer) ? more : fewer;
  }
  if (config.columns && ShapedType::isStatic(problem.n) && problem.n > 0) {
    // Columns that fill one more vector would take as many as are in all of the tile.
    const int64_t all = llvm::alignTo(problem.n, lanes);
    if (config.rows && all == config.columns + lanes && problem.inner != 0) {
      config.columns = all;
      config.rows = rowsEvenly(known(problem.inner), (registers - 1) / (all / lanes) - 1);
    }
    config.columns = std::min<int64_t>(config.columns, all);
  }
  // Of wider elements a register holds fewer.
  if (config.rows)
    config.columns = std::min(config.columns, widestVectors(config.rows, registers) * lanes);
}

// Whether panels of columns pay: where enough rows use them.
static bool hasRowsForPanels(const Problem &problem, int64_t rows) {
  constexpr int64_t fewest = 12, enough = 16;
  return ShapedType::isDynamic(problem.inner) || problem.inner >= std::clamp(3 * rows, fewest, enough);
}

// A product of two matrices, the second of which has rows of columns.
static TileConfig fitProduct(TileConfig config, const Problem &problem, int64_t lanes, int64_t registers) {
  // Of either side so many elements, rows and columns stay in a core's own cache, and what so few rows use in the
  // nearest one.
  constexpr int64_t elements = int64_t(1) << 16, longest = 512, longestOfShort = 4096;
  constexpr int64_t nearest = int64_t(12) << 10, fewestNearest = 128, rowsOfNearest = 96;
  const bool isStatic = problem.n > 0 && problem.inner > 0;
  // Sums that are stored nearly as often as they are added to are stored in long rows.
  const bool isShort = ShapedType::isStatic(problem.k) && problem.k <= shortSums;
  // Its rows are a panel as they lie.
  const int64_t widest = widestVectors(rowsOfShortSums, registers) * lanes;
  const bool isPanel = isStatic && problem.n % lanes == 0 && problem.n <= widest;
  // Where registers are many, so few rows are worth panels already, in two or three register tiles of them.
  const bool isFew = registers > 16 && isStatic && problem.inner > fewRows && problem.inner < 2 * fewRows;
  if (isStatic && (problem.inner >= 3 * rowsOfShortSums || isFew) && (isShort || isPanel)) {
    const bool isShortest = registers > 16 && known(problem.k) <= shortestSums && problem.n > 2 * narrowColumns;
    const int64_t atOnce = isShortest ? rowsOfShortestSums : rowsOfShortSums;
    config.columns = std::min<int64_t>(std::min(widestVectors(atOnce, registers), registers / 4) * lanes,
                                       llvm::alignTo(problem.n, lanes));
    const int64_t room = (registers - 1) / (config.columns / lanes) - 1;
    const int64_t most = std::max(atOnce, std::min<int64_t>({room, config.rows, 2 * atOnce}));
    config.rows = rowsEvenly(problem.inner, most);
  } else {
    if (isFew && config.rows)
      config.rows = std::min(config.rows, fewRows - 1);
    fitRegisters(config, problem, lanes, registers);
    if (isFew && config.rows)
      config.rows = rowsEvenly(problem.inner, std::min(config.rows, fewRows - 1));
  }
  const int64_t rows = std::max<int64_t>(1, config.rows), columns = std::max<int64_t>(1, config.columns);
  config.packB &= !isPanel && (isFew || hasRowsForPanels(problem, rows));
  if (isStatic) {
    const bool staysNearest = registers > 16 && problem.inner <= rowsOfNearest;
    config.k = std::max(staysNearest ? fewestNearest : config.k, (registers > 16 ? nearest : elements) / problem.n);
  }
  const int64_t side = elements / std::clamp<int64_t>(known(problem.k), 1, std::max<int64_t>(1, config.k));
  config.m = std::max(config.m, known(problem.n) <= columns ? longest : std::min(side, longest));
  config.n = std::max(config.n, std::min(side, isShort ? longestOfShort : longest));
  config.m = shareEvenly(problem.inner, config.m, rows);
  config.n = shareEvenly(problem.n, config.n, columns);
  config.k = shareEvenly(problem.k, config.k, lanes);
  // What a workgroup copies into panels takes as long as some of its rows.
  for (const Parallelism &wanted : parallelism)
    cutTile(config, problem, wanted,
            {config.packB ? std::max(rows, wanted.rows) : rows,
             config.packB ? std::max(columns, wanted.columns) : columns, 1, isShort});
  return config;
}

static TileConfig fitContraction(TileConfig config, const Problem &problem, int64_t lanes, int64_t registers) {
  fitRegisters(config, problem, lanes, registers);
  // Few rows of panels, or of matrices as narrow: a whole row of these is in registers, as many bytes from memory as
  // one step needs.
  if (ShapedType::isStatic(problem.n) && ShapedType::isStatic(problem.inner) && problem.m != problem.inner &&
      !problem.channels && problem.inner * problem.n <= lanes * registers * 3 / 4 && problem.n % lanes == 0) {
    config.rows = std::max<int64_t>(1, problem.inner);
    config.columns = problem.n;
  }
  const int64_t rows = std::max<int64_t>(1, config.rows), columns = std::max<int64_t>(1, config.columns);
  // A panel of weights, which lie in memory in panels, is read once by all rows that a workgroup can have.
  const bool isPanel = ShapedType::isStatic(problem.n) && problem.n <= columns && problem.m != problem.inner;
  if (isPanel && config.m != 0) {
    const int64_t length = std::max<int64_t>(1, known(problem.channels.value_or(problem.k)));
    config.m = std::max(config.m, std::clamp(elementsOfRows / length, fewestRowsOfPanel, rowsOfPanel));
  }
  config.m = shareEvenly(problem.inner, config.m, rows);
  // Rows of filters of many columns lie so far apart that few of them share a cache: they are copied into panels, for
  // so many rows of the image that this takes a small part of the time.
  const bool areFiltersApart = problem.readsFilters && !isPanel && known(problem.n) >= farApart;
  if (areFiltersApart) {
    const int64_t taps = std::max<int64_t>(1, known(problem.k) / std::max<int64_t>(1, known(*problem.channels)));
    config.k =
        std::min(config.k == 0 ? known(*problem.channels) : config.k, std::max(fewestChannels, rowsInCache / taps));
  }
  // Rows of further lines of an image, of which neighbouring ones read the same.
  int64_t line = 1;
  if ((isPanel || areFiltersApart || problem.hasOwnFilters) && config.m == problem.inner &&
      ShapedType::isStatic(problem.outer) && problem.outer > 1) {
    line = config.m;
    config.m *= shareEvenly(problem.outer, std::max<int64_t>(1, rowsOfPanel / config.m), 1);
  }
  config.n = shareEvenly(problem.n, config.n, columns);
  config.k = shareEvenly(problem.channels.value_or(problem.k), config.k, lanes);
  for (const Parallelism &wanted : parallelism)
    cutTile(config, problem, wanted, {areFiltersApart ? rowsOfFilters : rows, columns, line, false});
  config.packB &= hasRowsForPanels(problem, rows);
  if (problem.channels) // Filters of fewer columns lie together already.
    config.packB = areFiltersApart && config.m >= rowsOfFilters;
  config.m *= problem.between;
  return config;
}

// The bytes that the operations beside the root keep of each element of its result.
static int64_t bytesBeside(const DispatchRoot &root) {
  auto op = dyn_cast<linalg::LinalgOp>(TilingInterface(root.op).getOperation());
  std::optional<unsigned> rows = op ? countRowLoops(op) : std::nullopt;
  int64_t bytes = 0;
  if (!rows)
    return bytes;
  for (Operation &other : *op->getBlock())
    if (auto beside = dyn_cast<linalg::LinalgOp>(other); beside && !isa<linalg::FillOp>(other))
      bytes += bytesOfRow(beside, *rows);
  return bytes;
}

// The bytes that a dispatch of two products keeps of each row: all that is not as long as a row of the second one's
// result. 0 for other dispatches.
static int64_t bytesOfScores(const DispatchRoot &root) {
  auto op = dyn_cast<linalg::LinalgOp>(TilingInterface(root.op).getOperation());
  if (!op || op.getNumReductionLoops() == 0 || op.getNumDpsInputs() == 0)
    return 0;
  Operation *producer = op.getDpsInputs()[0].getDefiningOp();
  if (!isa_and_nonnull<linalg::LinalgOp>(producer) || isa<linalg::FillOp>(producer))
    return 0;
  auto scores = cast<ShapedType>(op.getDpsInputs()[0].getType());
  const int64_t keys = isDoneInBlocks(op) ? keysOfBlock : known(scores.getShape().back());
  int64_t bytes = 0;
  for (auto other : op->getBlock()->getOps<linalg::LinalgOp>())
    if (auto type = dyn_cast<ShapedType>(other->getResult(0).getType());
        type && !isa<linalg::FillOp>(other) && type.getShape() == scores.getShape())
      bytes += bytesOfElement(type.getElementType()) * keys;
  return bytes;
}

// Whether each element of the result comes from elements that lie side by side, so that no vector holds several
// results.
static bool reducesRows(TilingInterface op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op.getOperation());
  if (!linalgOp || linalgOp.getNumReductionLoops() == 0 || linalgOp.getNumDpsInputs() == 0)
    return false;
  AffineMap map = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInputOperand(0));
  auto last = dyn_cast_or_null<AffineDimExpr>(map.getNumResults() == 0 ? AffineExpr() : map.getResults().back());
  return last && linalgOp.getIteratorTypesArray()[last.getPosition()] == utils::IteratorType::reduction;
}

// The row's tile says how many elements a workgroup reads; a result that sums up many takes as many more. `unit` is how
// many results are computed together.
static TileConfig fitElements(TileConfig config, const Problem &problem, int64_t unit, bool isOfRows) {
  int64_t budget = std::max<int64_t>(1, config.m * config.n / std::max<int64_t>(1, known(problem.k)));
  int64_t narrowest = std::min<int64_t>(config.n, unit == 1 ? 1 : 4 * unit);
  int64_t width = std::clamp<int64_t>(llvm::alignTo(budget, unit), std::min(narrowest, config.n), config.n);
  const Parallelism &wanted = parallelism[0];
  if (isOfRows && problem.m == 1)
    width = budget;
  // Parts of few long columns are narrower, down to a vector.
  else if (problem.k != 1 && problem.m == 1)
    while (width >= 2 * unit && double(known(problem.n)) / width < wanted.workgroups &&
           double(width) * known(problem.k) >= wanted.operations)
      width = llvm::alignTo(width / 2, unit);
  config.n = shareEvenly(problem.n, std::max<int64_t>(1, width), unit);
  config.m = std::max<int64_t>(1, budget / std::max<int64_t>(1, config.n));
  if (ShapedType::isStatic(problem.m))
    config.m = std::clamp<int64_t>(config.m, 1, std::max<int64_t>(1, problem.m));
  return config;
}

// Tiles of so few results that what is kept beside them has room.
static void limitKept(TileConfig &config, const Problem &problem, int64_t bytesBeside) {
  if (bytesBeside == 0)
    return;
  int64_t most = std::max<int64_t>(1, keptBytes / bytesBeside);
  auto tile = [](int64_t size, int64_t extent) { return size == 0 ? known(extent) : size; };
  config.n = std::min(tile(config.n, problem.n), most);
  config.m = std::min(tile(config.m, problem.m), std::max<int64_t>(1, most / std::max<int64_t>(1, config.n)));
}

TileConfig fitConfig(const TileConfig &base, const DispatchRoot &root, const KernelTarget &target) {
  Problem problem = describe(root.op);
  TuningKey key = tuningKey(root);
  // As the kernel computes: narrow floats in f32.
  int64_t bits = 64;
  if (Type result = key.types.empty() ? Type() : key.types.back(); result && result.isIntOrFloat())
    bits = std::max<int64_t>(result.getIntOrFloatBitWidth(), isa<FloatType>(result) ? 32 : 8);
  int64_t lanes = std::max<int64_t>(1, target.vectorBits / bits);
  if (root.strategy == "contraction") {
    auto fit = problem.isStreamed                       ? fitStream
               : problem.isOfFewRows() && problem.n > 0 ? fitFewRows
               : problem.readsRows                      ? fitProduct
                                                        : fitContraction;
    TileConfig config = fit(base, problem, lanes, target.vectorRegisters);
    limitKept(config, problem, bytesBeside(root));
    // Rows that are computed once, for all columns.
    if (const int64_t bytes = bytesOfScores(root); bytes != 0) {
      config.n = known(problem.n);
      config.packB = false; // would take as long as some of the rows
      config.m = shareEvenly(problem.inner, std::clamp<int64_t>(keptBytes / 2 / bytes, config.rows, rowsOfScores),
                             std::max<int64_t>(1, config.rows));
    }
    return config;
  }
  // So few rows, taken as many at a time as a vector has lanes, would leave workers without any.
  constexpr int64_t manyWorkgroups = 16;
  bool isOfRows = reducesRows(root.op);
  bool isFewRows = isOfRows && known(problem.m) * known(problem.n) < manyWorkgroups * lanes;
  TileConfig config = fitElements(base, problem, isFewRows ? 1 : lanes, isOfRows);
  limitKept(config, problem, bytesBeside(root));
  return config;
}

} // namespace kiln
