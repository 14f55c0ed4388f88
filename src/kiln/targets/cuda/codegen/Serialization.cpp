#include "kiln/targets/cuda/codegen/Serialization.h"

#include "kiln/compiler/Codegen/LineTables.h"
#include "kiln/compiler/Codegen/MachineCode.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/Interfaces/DumpFiles.h"
#include "kiln/schema/gpu_executable.h"
#include "kiln/schema/gpu_executable_generated.h"
#include "kiln/targets/cuda/codegen/Assembler.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/PtxCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

#include <atomic>

using namespace mlir;

namespace kiln {

namespace {

// The code of one module. `assembled` is empty where ptxas is not asked.
struct DeviceCode {
  SmallString<0> ptx;
  AssembledCode assembled;
};

// Makes the code of the modules of one variant. Each has its own LLVM context, so that several threads may make one
// each.
class PtxCompiler {
public:
  PtxCompiler(HAL::ExecutableVariantOp variant, const SerializationOptions &options, bool debugSymbols)
      : variant(variant), options(options), target(CudaTarget::of(variant)), debugSymbols(debugSymbols) {}

  // Code for other GPUs than the one that is asked for stays PTX.
  LogicalResult useAssembler(StringRef name) {
    if (name.empty() || target.isFallback)
      return success();
    llvm::Expected<std::string> found = findAssembler(name);
    if (!found)
      return variant->emitError() << "--kiln-cuda-ptxas: " << llvm::toString(found.takeError());
    ptxas = *found;
    return success();
  }
  bool hasAssembler() const { return !ptxas.empty(); }

  LogicalResult compile(ModuleOp inner, StringRef baseName, DeviceCode &code) const {
    if (failed(compile(inner, baseName, code.ptx)))
      return failure();
    if (!hasAssembler())
      return success();
    SmallVector<StringRef> kernels;
    for (auto function : inner.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        kernels.push_back(function.getSymName());
    llvm::Expected<AssembledCode> assembled = assemble(ptxas, target.architecture, code.ptx, kernels,
                                                       /*keepLines=*/debugSymbols);
    if (!assembled)
      return variant->emitError() << "assembling PTX failed: " << llvm::toString(assembled.takeError());
    code.assembled = std::move(*assembled);
    return ExecutableDump(variant, options.binariesPath, baseName).write(".cubin", [&](llvm::raw_ostream &os) {
      os << code.assembled.cubin;
    });
  }

private:
  LogicalResult compile(ModuleOp inner, StringRef baseName, SmallVectorImpl<char> &ptx) const {
    // More than directives would make ptxas compile for a debugger, without optimizing.
    if (debugSymbols && failed(addLineTables(inner, LLVM::DIEmissionKind::DebugDirectivesOnly)))
      return failure();
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module =
        translateModuleToLLVMIR(inner, context, options.baseName, /*disableVerification=*/true);
    if (!module)
      return failure();
    auto machine = createPtxMachine(target, options.optimizationLevel);
    if (!machine)
      return report(machine.takeError());
    annotatePtxModule(*module, **machine);

    ExecutableDump dump(variant, options.intermediatesPath, baseName);
    auto print = [&](llvm::raw_ostream &os) { module->print(os, nullptr); };
    if (failed(dump.write(".codegen.ll", print)))
      return failure();
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (llvm::verifyModule(*module, &stream))
      return variant->emitError() << "LLVM rejects the code that was generated: " << text
                                  << "; this is a bug of the compiler. To report it, add the module that "
                                     "--kiln-hal-dump-executable-intermediates-to=<folder> leaves in *.codegen.ll";
    optimizeModule(*module, **machine, options.optimizationLevel);
    if (failed(dump.write(".optimized.ll", print)))
      return failure();
    if (llvm::Error error = emitNativeCode(*module, **machine, /*assembly=*/true, ptx))
      return report(std::move(error));
    return ExecutableDump(variant, options.binariesPath, baseName).write(".ptx", [&](llvm::raw_ostream &os) {
      os.write(ptx.data(), ptx.size());
    });
  }

  LogicalResult report(llvm::Error error) const {
    return variant->emitError() << "compiling to PTX failed: " << llvm::toString(std::move(error));
  }

  HAL::ExecutableVariantOp variant;
  const SerializationOptions &options;
  CudaTarget target;
  bool debugSymbols;
  std::string ptxas;
};

} // namespace

static LLVM::LLVMFuncOp findKernel(ModuleOp module, StringRef name) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  return function && !function.isExternal() ? function : LLVM::LLVMFuncOp();
}

// What the code reserves for a block by itself.
static uint32_t staticSharedBytes(LLVM::LLVMFuncOp function) {
  llvm::SmallPtrSet<Operation *, 4> counted;
  uint64_t bytes = 0;
  DataLayout layout = DataLayout::closest(function);
  function.walk([&](LLVM::AddressOfOp op) {
    auto global = function->getParentOfType<ModuleOp>().lookupSymbol<LLVM::GlobalOp>(op.getGlobalName());
    if (global && global.getAddrSpace() == unsigned(NVVM::NVVMMemorySpace::Shared) && counted.insert(global).second)
      bytes += layout.getTypeSize(global.getType()).getFixedValue();
  });
  return bytes;
}

// PTX names have letters, digits and underscores; other characters become underscores, and the ordinal keeps them
// apart.
static std::string symbolOf(StringRef name, uint32_t ordinal) {
  std::string symbol = name.str();
  for (char &c : symbol)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  return symbol == name && !llvm::isDigit(symbol[0]) ? symbol : ("k" + Twine(ordinal) + "_" + symbol).str();
}

static std::vector<flatbuffers::Offset<schema::GpuTensorMap>> makeTensorMaps(flatbuffers::FlatBufferBuilder &builder,
                                                                             LLVM::LLVMFuncOp function) {
  std::vector<flatbuffers::Offset<schema::GpuTensorMap>> maps;
  auto list = function->getAttrOfType<ArrayAttr>(tensorMapsAttr);
  if (!list)
    return maps;
  for (DictionaryAttr fields : list.getAsRange<DictionaryAttr>()) {
    auto number = [&](StringRef name) { return fields.getAs<IntegerAttr>(name).getInt(); };
    auto numbers = [&](StringRef name) { return fields.getAs<DenseI64ArrayAttr>(name).asArrayRef(); };
    std::vector<uint64_t> extents(numbers("extents").begin(), numbers("extents").end());
    std::vector<uint32_t> box(numbers("box").begin(), numbers("box").end());
    maps.push_back(schema::CreateGpuTensorMapDirect(builder, number("binding"), number("data_type"),
                                                    number("element_bytes"), &extents, &box));
  }
  return maps;
}

LogicalResult serializeCudaVariant(HAL::ExecutableVariantOp variant, const SerializationOptions &options,
                                   const CudaOptions &cuda, SmallVectorImpl<char> &bytes) {
  PtxCompiler compiler(variant, options, cuda.debugSymbols);
  if (failed(compiler.useAssembler(cuda.ptxas)))
    return failure();
  SmallVector<ModuleOp> modules(variant.getBody().getOps<ModuleOp>());
  SmallVector<HAL::ExecutableExportOp> exports(variant.getBody().getOps<HAL::ExecutableExportOp>());
  llvm::sort(exports,
             [](HAL::ExecutableExportOp a, HAL::ExecutableExportOp b) { return a.getOrdinal() < b.getOrdinal(); });

  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<schema::GpuKernel>> kernels;
  llvm::StringMap<HAL::ExecutableExportOp> exportOf; // by symbol
  llvm::StringMap<Location> placeOf;
  for (auto [ordinal, op] : llvm::enumerate(exports)) {
    if (op.getOrdinal() != ordinal)
      return op.emitOpError("must have ordinal ") << ordinal << ", since ordinals count the exports of a variant";
    auto module = llvm::find_if(modules, [&](ModuleOp each) { return findKernel(each, op.getSymName()); });
    if (module == modules.end())
      return op.emitOpError("has no function of its name in the variant's module; was the variant translated?");
    LLVM::LLVMFuncOp function = findKernel(*module, op.getSymName());
    auto threads = function->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getMaxntidAttrName());
    auto scratch = function->getAttrOfType<IntegerAttr>(scratchBytesAttr);
    auto shared = function->getAttrOfType<IntegerAttr>(dynamicSharedBytesAttr);
    auto blocks = function->getAttrOfType<IntegerAttr>(blocksPerMultiprocessorAttr);
    auto cluster = function->getAttrOfType<IntegerAttr>(clusterBlocksAttr);
    std::vector<flatbuffers::Offset<schema::GpuTensorMap>> maps = makeTensorMaps(builder, function);
    std::vector<flatbuffers::Offset<flatbuffers::String>> assertions;
    if (auto messages = function->getAttrOfType<ArrayAttr>(assertionsAttr))
      for (StringAttr message : messages.getAsRange<StringAttr>())
        assertions.push_back(builder.CreateString(message.str()));
    std::string name = op.getSymName().str(), symbol = symbolOf(name, ordinal);
    kernels.push_back(schema::CreateGpuKernelDirect(
        builder, name.c_str(), symbol.c_str(), std::distance(modules.begin(), module),
        op.getLayout().getBindings().size(), op.getLayout().getConstants(), threads ? threads[0] : 1, 1, 1,
        shared ? shared.getInt() : 0, scratch ? scratch.getInt() : 0, maps.empty() ? nullptr : &maps,
        blocks ? blocks.getInt() : 0, function->hasAttr(startsEarlyAttr), assertions.empty() ? nullptr : &assertions,
        cluster ? cluster.getInt() : 1, kGpuSubgroupThreads, staticSharedBytes(function)));
    exportOf.try_emplace(symbol, op);
    placeOf.try_emplace(symbol, function.getLoc());
    function.setSymName(symbol);
  }

  // All are compiled, whichever fails.
  std::vector<DeviceCode> codes(modules.size());
  std::atomic<bool> hasFailed = false;
  parallelFor(variant.getContext(), 0, modules.size(), [&](size_t i) {
    std::string baseName = options.baseName;
    auto functions = modules[i].getOps<LLVM::LLVMFuncOp>();
    if (modules.size() > 1 && !functions.empty())
      baseName += "_" + (*functions.begin()).getSymName().str();
    if (failed(compiler.compile(modules[i], baseName, codes[i])))
      hasFailed = true;
  });
  if (hasFailed)
    return failure();
  std::vector<flatbuffers::Offset<flatbuffers::String>> texts;
  std::vector<flatbuffers::Offset<schema::GpuCubin>> cubins;
  for (const DeviceCode &code : codes) {
    texts.push_back(builder.CreateString(code.ptx.data(), code.ptx.size()));
    for (const AssemblerRemark &remark : code.assembled.remarks)
      if (auto found = exportOf.find(remark.symbol); found != exportOf.end())
        Util::addRemark(variant->getParentOp(), remark.cost, placeOf.at(remark.symbol), found->second.getSymName(),
                        remark.text);
    if (!compiler.hasAssembler())
      continue;
    auto *first = reinterpret_cast<const uint8_t *>(code.assembled.cubin.data());
    cubins.push_back(schema::CreateGpuCubin(builder, builder.CreateVector(first, code.assembled.cubin.size())));
  }
  schema::FinishGpuExecutableBuffer(builder,
                                    schema::CreateGpuExecutableDirect(builder, kGpuExecutableVersion, &kernels, &texts,
                                                                      cubins.empty() ? nullptr : &cubins));
  const char *data = reinterpret_cast<const char *>(builder.GetBufferPointer());
  bytes.assign(data, data + builder.GetSize());
  return success();
}

} // namespace kiln
