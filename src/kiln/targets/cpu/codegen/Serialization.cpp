#include "kiln/targets/cpu/codegen/Serialization.h"

#include "kiln/compiler/Interfaces/DumpFiles.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"
#include "kiln/targets/cpu/codegen/DispatchInterface.h"
#include "kiln/targets/cpu/codegen/ElfLinker.h"
#include "kiln/targets/cpu/codegen/LibraryTable.h"
#include "kiln/targets/cpu/codegen/NativeCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;

namespace kiln {

namespace {

// Writes the files that a user asked for; an empty folder means none.
class Dump {
public:
  Dump(HAL::ExecutableVariantOp variant, StringRef folder, StringRef baseName)
      : variant(variant), folder(folder), baseName(baseName) {}

  bool wanted() const { return !folder.empty(); }

  LogicalResult write(StringRef suffix, llvm::function_ref<void(llvm::raw_ostream &)> print) {
    if (!wanted())
      return success();
    if (failed(makeDumpFolder(variant, folder)))
      return failure();
    std::string path = dumpPath(folder, baseName + suffix);
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (!error) {
      print(stream);
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
    if (error)
      return variant.emitError() << "cannot write '" << path << "': " << error.message();
    return success();
  }

private:
  HAL::ExecutableVariantOp variant;
  StringRef folder, baseName;
};

} // namespace

static SmallVector<LibraryExport> collectExports(HAL::ExecutableVariantOp variant) {
  SmallVector<HAL::ExecutableExportOp> ops(variant.getBody().getOps<HAL::ExecutableExportOp>());
  llvm::sort(ops, [](HAL::ExecutableExportOp a, HAL::ExecutableExportOp b) { return a.getOrdinal() < b.getOrdinal(); });
  SmallVector<LibraryExport> exports;
  for (HAL::ExecutableExportOp op : ops) {
    LibraryExport entry;
    entry.name = op.getSymName().str();
    entry.bindingCount = op.getLayout().getBindings().size();
    entry.constantCount = op.getLayout().getConstants();
    exports.push_back(std::move(entry));
  }
  return exports;
}

static LogicalResult checkExports(HAL::ExecutableVariantOp variant, SmallVectorImpl<LibraryExport> &exports) {
  ModuleOp module = variant.getInnerModule();
  for (auto [index, entry] : llvm::enumerate(exports)) {
    auto op = cast<HAL::ExecutableExportOp>(variant.lookupSymbol(entry.name));
    if (op.getOrdinal() != index)
      return op.emitOpError("must have ordinal ") << index << ", since ordinals count the exports of a variant";
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(entry.name);
    if (!function || function.isExternal())
      return op.emitOpError("has no function of its name in the variant's module; was the variant translated?");
    if (auto local = function->getAttrOfType<IntegerAttr>(localMemoryBytesAttr))
      entry.localMemoryBytes = local.getInt();
    if (auto messages = function->getAttrOfType<ArrayAttr>(assertMessagesAttr))
      for (auto message : messages.getAsRange<StringAttr>())
        entry.messages.push_back(message.str());
  }
  return success();
}

static LogicalResult addLineTables(ModuleOp module) {
  PassManager passes(module->getContext(), ModuleOp::getOperationName());
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = LLVM::DIEmissionKind::LineTablesOnly;
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(options));
  return passes.run(module);
}

LogicalResult serializeCpuVariant(HAL::ExecutableVariantOp variant, const SerializationOptions &options, bool debugInfo,
                                  SmallVectorImpl<char> &bytes) {
  ModuleOp inner = variant.getInnerModule();
  if (!inner)
    return variant.emitOpError("has no module to compile");
  SmallVector<LibraryExport> exports = collectExports(variant);
  if (failed(checkExports(variant, exports)))
    return failure();
  if (debugInfo && failed(addLineTables(inner)))
    return failure();

  CpuTarget target = CpuTarget::fromAttr(variant.getTarget());
  auto report = [&](llvm::Error error) -> LogicalResult {
    return variant.emitError() << "compiling to machine code failed: " << llvm::toString(std::move(error));
  };
  auto machineOrError = createTargetMachine(target, options.optimizationLevel);
  if (!machineOrError)
    return report(machineOrError.takeError());
  llvm::TargetMachine &machine = **machineOrError;

  std::string soname =
      (options.baseName.empty() ? variant->getParentOfType<HAL::ExecutableOp>().getSymName().str() : options.baseName) +
      ".so";
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  {
    llvm::TimeTraceScope scope("kiln: translate to LLVM IR");
    module = translateModuleToLLVMIR(inner, context, soname, /*disableVerification=*/true);
  }
  if (!module)
    return failure();
  // Names that do not depend on where or how the compiler was called.
  module->setSourceFileName(soname);
  addLibraryTable(*module, exports);
  annotateModule(*module, target, machine);

  Dump intermediates(variant, options.intermediatesPath, options.baseName);
  Dump binaries(variant, options.binariesPath, options.baseName);
  auto printModule = [&](llvm::raw_ostream &os) { module->print(os, nullptr); };
  if (failed(intermediates.write(".codegen.ll", printModule)))
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(*module, &stream))
    return variant.emitError() << "LLVM rejects the code that was generated: " << text
                               << "; this is a bug of the compiler. To report it, add the module that "
                                  "--kiln-hal-dump-executable-intermediates-to=<folder> leaves in *.codegen.ll";

  optimizeModule(*module, machine, options.optimizationLevel);
  if (failed(intermediates.write(".optimized.ll", printModule)) ||
      failed(
          intermediates.write(".optimized.bc", [&](llvm::raw_ostream &os) { llvm::WriteBitcodeToFile(*module, os); })))
    return failure();
  SmallVector<char, 0> emitted;
  auto printEmitted = [&](llvm::raw_ostream &os) { os.write(emitted.data(), emitted.size()); };
  if (intermediates.wanted()) {
    std::unique_ptr<llvm::Module> clone = llvm::CloneModule(*module);
    if (llvm::Error error = emitNativeCode(*clone, machine, /*assembly=*/true, emitted))
      return report(std::move(error));
    if (failed(intermediates.write(".s", printEmitted)))
      return failure();
  }
  if (llvm::Error error = emitNativeCode(*module, machine, /*assembly=*/false, emitted))
    return report(std::move(error));
  if (failed(intermediates.write(".o", printEmitted)))
    return failure();
  llvm::TimeTraceScope scope("kiln: link");
  if (llvm::Error error = linkSharedObject(emitted, soname, bytes))
    return report(std::move(error));
  return binaries.write(".so", [&](llvm::raw_ostream &os) { os.write(bytes.data(), bytes.size()); });
}

} // namespace kiln
