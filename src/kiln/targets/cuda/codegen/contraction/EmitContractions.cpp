#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/Codegen/DispatchRoot.h"
#include "kiln/compiler/Codegen/TuningLookup.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/TransformOps/DispatchBufferization.h"
#include "kiln/compiler/TransformOps/WorkgroupDistribution.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/KernelInterface.h"
#include "kiln/targets/cuda/codegen/SimpleTile.h"
#include "kiln/targets/cuda/codegen/contraction/ContractionConfig.h"
#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CUDAEMITCONTRACTIONS
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

namespace {

class ContractionEmitter {
public:
  ContractionEmitter(func::FuncOp function, const ContractionGroup &group, const TileConfig &config,
                     int64_t multiprocessors)
      : function(function), group(group), config(config), multiprocessors(multiprocessors),
        rewriter(function.getContext()) {}

  // A block for each tile, or as many as there are parts of k, beside each other.
  LogicalResult emit(int64_t sharedBytes, llvm::function_ref<void(const TileKernel &)> emitTile) {
    ImplicitLocOpBuilder b(group.root->getLoc(), rewriter);
    auto forall = begin(b, sharedBytes);
    b.setInsertionPointToStart(forall.getBody());
    TileKernel kernel = makeKernel(b);
    SmallVector<Value> ids(forall.getInductionVars());
    if (config.clusterK != 1) {
      kernel.part = NVVM::ClusterId::create(b, b.getI32Type());
      ids.back() = arith::DivUIOp::create(b, ids.back(), arith::ConstantIndexOp::create(b, config.clusterK));
    }
    kernel.origin = originOf(b, ids);
    Value isAligned = rowsAreAligned(b);
    if (!isAligned) {
      emitTile(kernel);
      return end(forall);
    }
    // Once for each way to copy.
    auto branch = scf::IfOp::create(b, isAligned, /*withElseRegion=*/true);
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(block);
      kernel.isAligned = block == branch.thenBlock();
      emitTile(kernel);
    }
    return end(forall);
  }

  // Blocks that stay, and go over the tiles themselves.
  LogicalResult emitPersistent(int64_t sharedBytes, int64_t blocksPerMultiprocessor, const WgmmaKind &kind) {
    ImplicitLocOpBuilder b(group.root->getLoc(), rewriter);
    auto forall = begin(b, sharedBytes);
    b.setInsertionPoint(forall);
    SmallVector<Value> sizes;
    Value total = arith::ConstantIndexOp::create(b, 1);
    for (OpFoldResult count : counts) {
      sizes.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), count));
      total = arith::MulIOp::create(b, total, sizes.back());
    }
    TileKernel kernel = makeKernel(b);
    emitWgmma(kernel, kind, function, total, [&](Value number) {
      SmallVector<Value> ids(sizes.size());
      for (size_t i = sizes.size(); i-- > 1; number = arith::DivUIOp::create(b, number, sizes[i]))
        ids[i] = arith::RemUIOp::create(b, number, sizes[i]);
      ids[0] = number;
      return originOf(b, ids);
    });
    function->setAttr(blocksPerMultiprocessorAttr, rewriter.getI32IntegerAttr(blocksPerMultiprocessor));
    return end(forall);
  }

private:
  // The loop over tiles, from which the number of workgroups follows.
  scf::ForallOp begin(ImplicitLocOpBuilder &b, int64_t sharedBytes) {
    b.setInsertionPoint(function.getFunctionBody().front().getTerminator());
    for (unsigned loop = 0; loop < group.extents.size(); ++loop)
      extents.push_back(group.extent(b, b.getLoc(), loop));
    for (unsigned loop : group.batch)
      counts.push_back(getAsOpFoldResult(extents[loop]));
    SmallVector<OpFoldResult> blocks(counts);
    for (auto [loop, tile, cluster] :
         {std::tuple(group.m, config.m, config.clusterM), std::tuple(group.n, config.n, config.clusterN)}) {
      AffineExpr clusters = getAffineDimExpr(0, b.getContext()).ceilDiv(tile * cluster);
      OpFoldResult extent = getAsOpFoldResult(extents[loop]);
      counts.push_back(affine::makeComposedFoldedAffineApply(b, b.getLoc(), clusters, {extent}));
      int64_t parts = loop == group.n ? config.clusterK : 1;
      blocks.push_back(affine::makeComposedFoldedAffineApply(b, b.getLoc(), clusters * (cluster * parts), {extent}));
    }
    if (config.hasCluster())
      function->setAttr(clusterBlocksAttr, rewriter.getI32IntegerAttr(blocksOfCluster(config)));
    function->setAttr(threadsAttr, rewriter.getI32IntegerAttr(threadsOf(config)));
    function->setAttr(dynamicSharedBytesAttr, rewriter.getI64IntegerAttr(sharedBytes));
    return scf::ForallOp::create(b, blocks, /*outputs=*/ValueRange(),
                                 b.getArrayAttr(workgroupMapping(b.getContext(), blocks.size())));
  }

  LogicalResult end(scf::ForallOp forall) {
    eraseGroup();
    if (failed(populateWorkgroupCount(rewriter, forall)))
      return failure();
    if (llvm::hasSingleElement(*forall.getBody()))
      rewriter.eraseOp(forall); // It was for its count.
    else if (failed(forallToWorkgroup(rewriter, function)))
      return failure();
    eraseHALDescriptorTypes(function);
    function->setAttr(distributedAttr, rewriter.getUnitAttr());
    return success();
  }

  // Whether rows of the inputs whose length is not known yet are multiples of 16 bytes; null where all is known.
  Value rowsAreAligned(ImplicitLocOpBuilder &b) {
    Value all;
    for (const ContractionGroup::Input *input : {&group.lhs, &group.rhs}) {
      if (!ShapedType::isDynamic(input->type().getShape().back()))
        continue;
      Value unit = arith::ConstantIndexOp::create(b, 128 / input->type().getElementTypeBitWidth());
      Value rest = arith::RemUIOp::create(b, extents[input->innermost()], unit);
      Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, arith::ConstantIndexOp::create(b, 0));
      all = all ? arith::AndIOp::create(b, all, isWhole).getResult() : isWhole;
    }
    return all;
  }

  TileKernel makeKernel(ImplicitLocOpBuilder &b) {
    return {b,
            group,
            config,
            threadsOf(config),
            Integers(b, 32),
            Integers(b, 64),
            dynamicSharedMemory(b, function),
            NVVM::ThreadIdXOp::create(b, b.getI32Type()),
            {},
            extents};
  }

  // Where a tile starts along each loop, by its number along each loop that is cut; of clusters, where the first of a
  // cluster's tiles does.
  SmallVector<Value> originOf(ImplicitLocOpBuilder &b, ArrayRef<Value> ids) {
    SmallVector<Value> origin(extents.size());
    for (auto [loop, id] : llvm::zip(group.batch, ids))
      origin[loop] = id;
    if (group.fixedLoop)
      origin[*group.fixedLoop] = arith::ConstantIndexOp::create(b, group.fixedIndex);
    auto [m, n] = visitInBands(b, ids);
    origin[group.m] = arith::MulIOp::create(b, m, arith::ConstantIndexOp::create(b, config.m * config.clusterM));
    origin[group.n] = arith::MulIOp::create(b, n, arith::ConstantIndexOp::create(b, config.n * config.clusterN));
    return origin;
  }

  // Tiles are visited in bands of rows, so that what runs at one time reads few rows and few columns of the inputs: as
  // many of either where the band is as high as what all multiprocessors have is wide.
  std::pair<Value, Value> visitInBands(ImplicitLocOpBuilder &b, ArrayRef<Value> ids) {
    const double places = double(multiprocessors) / double(blocksOfCluster(config));
    const double shape = double(config.n * config.clusterN) / double(config.m * config.clusterM);
    const auto band = int64_t(llvm::bit_floor(uint64_t(std::max(1.0, 1.2 * std::sqrt(places * shape)))));
    Value m = ids[ids.size() - 2], n = ids[ids.size() - 1];
    std::optional<int64_t> rows = getConstantIntValue(counts[counts.size() - 2]),
                           columns = getConstantIntValue(counts[counts.size() - 1]);
    if ((rows && *rows == 1) || (columns && *columns == 1))
      return {m, n};
    Value rowCount = getValueOrCreateConstantIndexOp(b, b.getLoc(), counts[counts.size() - 2]);
    Value columnCount = getValueOrCreateConstantIndexOp(b, b.getLoc(), counts[counts.size() - 1]);
    Value height = arith::ConstantIndexOp::create(b, band);
    Value first = arith::MulIOp::create(b, arith::DivUIOp::create(b, m, height), height);
    Value number =
        arith::AddIOp::create(b, arith::MulIOp::create(b, arith::SubIOp::create(b, m, first), columnCount), n);
    Value inBand = arith::MinUIOp::create(b, height, arith::SubIOp::create(b, rowCount, first));
    return {arith::AddIOp::create(b, first, arith::RemUIOp::create(b, number, inBand)).getResult(),
            arith::DivUIOp::create(b, number, inBand).getResult()};
  }

  void eraseGroup() {
    SmallVector<Operation *> ops;
    for (Operation &op : function.getFunctionBody().front())
      if (isa<linalg::LinalgOp, bufferization::ToTensorOp, bufferization::MaterializeInDestinationOp, tensor::EmptyOp,
              tensor::DimOp>(op))
        ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops))
      if (auto dim = dyn_cast<tensor::DimOp>(op); !dim || dim->use_empty())
        rewriter.eraseOp(op);
  }

  func::FuncOp function;
  const ContractionGroup &group;
  const TileConfig &config;
  int64_t multiprocessors;
  IRRewriter rewriter;
  SmallVector<Value> extents;       // of the root's loops
  SmallVector<OpFoldResult> counts; // of tiles, or of clusters of them
};

class CudaEmitContractionsPass : public impl::CudaEmitContractionsBase<CudaEmitContractionsPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp function) {
      auto lowering = function->getAttrOfType<HAL::LoweringAttr>("lowering");
      if (!function.isExternal() && lowering && isTiledKernel(lowering.getConfiguration()))
        functions.push_back(function);
    });
    CudaTarget target = CudaTarget::of(getOperation());
    for (func::FuncOp function : functions) {
      if (failed(emit(function, target)))
        return signalPassFailure();
      function->removeAttr(tunedByAttr);
    }
  }

  static LogicalResult emit(func::FuncOp function, const CudaTarget &target) {
    TileConfig config = function->getAttrOfType<HAL::LoweringAttr>("lowering").getConfiguration();
    completeContractionConfig(config);
    if (std::string reason = checkContractionConfig(config, target); !reason.empty())
      return function.emitOpError("has the configuration '") << config.name() << "', which " << reason;
    std::optional<ContractionGroup> group = ContractionGroup::of(function);
    if (!group)
      return fallBack(function, "is more than a contraction of bindings and what follows it element by element");
    std::optional<MmaKind> kind;
    std::optional<WgmmaKind> grouped;
    // Tiles of k that reach beyond the inputs have zeros there.
    if (int64_t depth = group->extents[group->k], tile = config.k * config.clusterK;
        config.instructions == kSimtFfma && (ShapedType::isDynamic(depth) || depth % tile != 0) &&
        !isZeroOfZeros(*group))
      return takeAnother(function, group->root, config, target,
                         llvm::formatv("adds up what may not be zero for zeros, and K is no multiple of {0}", tile));
    if (config.instructions != kSimtFfma) {
      kind = MmaKind::of(*group, config.instructions);
      if (!kind)
        return takeAnother(function, group->root, config, target, "multiplies what tensor cores do not");
      // 64 or 128 bytes: a row of a tile in shared memory.
      int64_t most = 128 / kind->elementBytes, least = config.instructions == kWgmma ? most : most / 2;
      if (config.k != most && config.k != least)
        return refuse(function, group->root, config, target,
                      llvm::formatv("has a tile of {0} along K that is not {1}{2}, as {3} wants for these elements",
                                    config.k, least == most ? "" : llvm::formatv("{0} or ", least).str(), most,
                                    config.instructions));
    }
    if (config.instructions == kWgmma) {
      if (group->lhs.type().getLayout().isIdentity() && group->rhs.type().getLayout().isIdentity())
        grouped = WgmmaKind::of(*group, *kind);
      if (!grouped)
        return takeAnother(function, group->root, config, target,
                           "has inputs whose rows are no multiples of 16 bytes, or lie otherwise than wgmma reads");
      const TileConfig given = function->getAttrOfType<HAL::LoweringAttr>("lowering").getConfiguration();
      if (grouped->isHeld) {
        config.rows = grouped->isSwapped ? config.m : 64;
        config.columns = grouped->isSwapped ? 64 : config.n;
      } else {
        grouped->isSwapped = swapsSides(config);
      }
      if (given.rows != 0 && (given.rows != config.rows || given.columns != config.columns))
        return refuse(function, group->root, given, target,
                      llvm::formatv("gives four warps {0}x{1}; of these inputs they compute {2}x{3}", given.rows,
                                    given.columns, config.rows, config.columns));
      if (int64_t rows = grouped->isSwapped ? config.n : config.m; rows % 64 != 0)
        return refuse(function, group->root, given, target,
                      llvm::formatv("has {0} {1} in a tile; of these inputs they are wgmma's rows, and each group "
                                    "of four warps has 64",
                                    rows, grouped->isSwapped ? "columns" : "rows"));
      if (grouped->isHeld && (config.m / config.rows) * (config.n / config.columns) > 2)
        return refuse(function, group->root, given, target,
                      llvm::formatv("has {0} {1} in a tile; of the input that goes through registers there are 128 at "
                                    "most, by two groups of four warps",
                                    grouped->isSwapped ? config.n : config.m, grouped->isSwapped ? "columns" : "rows"));
      if (grouped->isHeld && (config.clusterM != 1 || config.clusterN != 1))
        return refuse(
            function, group->root, given, target,
            "has clusters, whose blocks share what wgmma reads by itself; here an input goes through registers");
    }
    const bool isWmma = config.instructions == kWmma;
    int64_t bytes = grouped  ? sharedBytesOfWgmma(config)
                    : isWmma ? sharedBytesOfWmma(*group, config)
                    : kind   ? sharedBytesOfMmaSync(*group, config)
                             : sharedBytesOfSimt(*group, config);
    if (!grouped)
      bytes = std::max(bytes, TileSums::sharedBytes(config, sumBytesOf(*group, kind)));
    if (bytes > target.sharedLimit())
      return refuse(function, group->root, config, target,
                    llvm::formatv("needs {0} bytes of shared memory; {1} has {2} for a block", bytes,
                                  target.architecture, target.sharedLimit()));
    ContractionEmitter emitter(function, *group, config, target.multiprocessors());
    if (grouped)
      return emitter.emitPersistent(bytes, target.sharedLimit() / bytes >= 2 && fitsTwice(config, *grouped) ? 2 : 1,
                                    *grouped);
    return emitter.emit(bytes, [&](const TileKernel &kernel) {
      isWmma ? emitWmma(kernel, *kind) : kind ? emitMmaSync(kernel, *kind) : emitSimt(kernel);
    });
  }

  // Whether what is added up is known to be zero where both inputs are: a product of them, made wider or negated.
  static bool isZeroOfZeros(const ContractionGroup &group) {
    auto root = group.root;
    Block *body = root.getBlock();
    Operation *sum = group.sum;
    Value sums = body->getArguments().back();
    return isZeroOfZeros(sum->getOperand(0) == sums ? sum->getOperand(1) : sum->getOperand(0), sums);
  }
  static bool isZeroOfZeros(Value value, Value sums) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return value != sums;
    if (isa<arith::MulFOp, arith::MulIOp>(op))
      return isZeroOfZeros(op->getOperand(0), sums) && isZeroOfZeros(op->getOperand(1), sums);
    return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncFOp, arith::TruncIOp, arith::NegFOp,
               arith::SIToFPOp, arith::UIToFPOp>(op) &&
           isZeroOfZeros(op->getOperand(0), sums);
  }

  static int64_t sumBytesOf(const ContractionGroup &group, const std::optional<MmaKind> &kind) {
    auto root = group.root;
    Type type = kind ? kind->accumulator : getElementTypeOrSelf(root->getResult(0).getType());
    return type.getIntOrFloatBitWidth() / 8;
  }

  // Whether the registers of a multiprocessor suffice for two blocks: a thread of a warpgroup that multiplies needs
  // about 40 besides its sums, and those of two stages where it holds rows.
  static bool fitsTwice(const TileConfig &config, const WgmmaKind &kind) {
    constexpr int64_t kRegisters = 65536, kBesides = 40, kHeld = 32, kThreadsOfWarpgroup = 128;
    const int64_t threads = threadsOf(config), sums = config.rows * config.columns / kThreadsOfWarpgroup;
    return threads <= 256 && sums + kBesides + (kind.isHeld ? kHeld : 0) <= kRegisters / (2 * threads);
  }

  // A configuration that was made for another target, or is a tuning database's, makes room for the function's own; any
  // other that does what `reason` says is an error.
  static LogicalResult refuse(func::FuncOp function, linalg::LinalgOp root, const TileConfig &config,
                              const CudaTarget &target, const std::string &reason) {
    auto database = function->getAttrOfType<StringAttr>(tunedByAttr);
    if (!(target.isFallback || database) || !takeOwnConfiguration(function, root, target))
      return function.emitOpError("has the configuration '") << config.name() << "', which " << reason;
    if (database)
      warnOfTuning(function, database.getValue(), config, "it " + reason);
    return emit(function, target);
  }

  // Where instructions do not fit the operation: a tuning database's configuration makes room for the function's own,
  // and any other for the simple form.
  static LogicalResult takeAnother(func::FuncOp function, linalg::LinalgOp root, const TileConfig &config,
                                   const CudaTarget &target, const std::string &reason) {
    auto database = function->getAttrOfType<StringAttr>(tunedByAttr);
    if (!database || !takeOwnConfiguration(function, root, target))
      return fallBack(function, reason);
    warnOfTuning(function, database.getValue(), config, "the operation " + reason);
    return emit(function, target);
  }

  // False where the function has its own already.
  static bool takeOwnConfiguration(func::FuncOp function, linalg::LinalgOp root, const CudaTarget &target) {
    std::optional<TileConfig> own = chooseContractionConfig(root, target);
    if (!own)
      return false;
    auto before = function->getAttrOfType<HAL::LoweringAttr>("lowering");
    auto after = HAL::LoweringAttr::get(function.getContext(), before.getStrategy(), *own);
    function->setAttr("lowering", after);
    return after != before;
  }

  // Takes the simple form of kiln-cuda-map-to-threads.
  static LogicalResult fallBack(func::FuncOp function, const Twine &reason) {
    remarkSimpleContraction(function, reason);
    std::optional<DispatchRoot> root = findRoot(function);
    TileConfig config = root ? chooseSimpleTile(*root) : TileConfig();
    function->setAttr("lowering",
                      HAL::LoweringAttr::get(function.getContext(),
                                             StringAttr::get(function.getContext(), root ? root->strategy : "default"),
                                             config));
    return success();
  }
};

} // namespace
} // namespace kiln
