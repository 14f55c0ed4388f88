#include "kiln/targets/cpu/codegen/Serialization.h"

#include "kiln/compiler/Codegen/LineTables.h"
#include "kiln/compiler/Interfaces/DumpFiles.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"
#include "kiln/targets/cpu/codegen/DispatchInterface.h"
#include "kiln/targets/cpu/codegen/ElfLinker.h"
#include "kiln/targets/cpu/codegen/LibraryTable.h"
#include "kiln/targets/cpu/codegen/NativeCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <atomic>
#include <mutex>

using namespace mlir;

namespace kiln {

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

// The functions of the variant's modules, of which no two may have one name.
static LogicalResult checkExports(HAL::ExecutableVariantOp variant, SmallVectorImpl<LibraryExport> &exports) {
  SymbolTable exportOps(variant);
  llvm::DenseMap<Attribute, LLVM::LLVMFuncOp> functions;
  for (ModuleOp module : variant.getBody().getOps<ModuleOp>())
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal())
        functions.insert({function.getSymNameAttr(), function});
  for (auto [index, entry] : llvm::enumerate(exports)) {
    auto op = exportOps.lookup<HAL::ExecutableExportOp>(entry.name);
    if (op.getOrdinal() != index)
      return op.emitOpError("must have ordinal ") << index << ", since ordinals count the exports of a variant";
    LLVM::LLVMFuncOp function = functions.lookup(op.getSymNameAttr());
    if (!function)
      return op.emitOpError("has no function of its name in the variant's module; was the variant translated?");
    if (auto local = function->getAttrOfType<IntegerAttr>(localMemoryBytesAttr))
      entry.localMemoryBytes = local.getInt();
    if (auto messages = function->getAttrOfType<ArrayAttr>(assertMessagesAttr))
      for (auto message : messages.getAsRange<StringAttr>())
        entry.messages.push_back(message.str());
  }
  return success();
}

namespace {

using Object = SmallVector<char, 0>;

// The target machines of one variant: as many as there are threads that use one at a time. To make one and its tables
// of the CPU's instructions takes as long as half a small kernel's machine code.
class TargetMachines {
public:
  TargetMachines(CpuTarget target, int optimizationLevel)
      : target(std::move(target)), optimizationLevel(optimizationLevel) {}

  // Nobody else uses it until it is given back.
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> take() {
    std::lock_guard lock(mutex);
    return idle.empty() ? createTargetMachine(target, optimizationLevel) : idle.pop_back_val();
  }

  void giveBack(std::unique_ptr<llvm::TargetMachine> machine) {
    std::lock_guard lock(mutex);
    idle.push_back(std::move(machine));
  }

private:
  CpuTarget target;
  int optimizationLevel;
  std::mutex mutex;
  SmallVector<std::unique_ptr<llvm::TargetMachine>> idle;
};

// Makes object files of one variant. Each has its own LLVM context, so that several threads may make one each.
class ObjectCompiler {
public:
  ObjectCompiler(HAL::ExecutableVariantOp variant, const SerializationOptions &options, StringRef soname,
                 ArrayRef<LibraryExport> exports)
      : variant(variant), options(options), soname(soname), exports(exports),
        target(CpuTarget::fromAttr(variant.getTarget())), machines(target, options.optimizationLevel) {
    for (const LibraryExport &entry : exports)
      exportNames.insert(entry.name);
  }

  // The code of some of the variant's modules.
  LogicalResult compileModules(ArrayRef<ModuleOp> sources, StringRef baseName, Object &object) const {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module;
    LogicalResult result = success();
    for (ModuleOp source : sources) {
      llvm::TimeTraceScope scope("kiln: translate to LLVM IR");
      std::unique_ptr<llvm::Module> translated =
          translateModuleToLLVMIR(source, context, soname, /*disableVerification=*/true);
      if (!translated) {
        result = failure();
        continue;
      }
      hideFunctions(*translated);
      // LLVM says why on standard error; of two modules of a variant no names meet.
      if (!module)
        module = std::move(translated);
      else if (llvm::Linker::linkModules(*module, std::move(translated)))
        result = source.emitError("cannot be joined with the modules before it; this is a bug of the compiler");
    }
    return failed(result) ? failure()
                          : emit(*module, ExecutableDump(variant, options.intermediatesPath, baseName), object);
  }

  // What the driver finds the exports by.
  LogicalResult compileTable(Object &object) const {
    llvm::LLVMContext context;
    llvm::Module module(soname, context);
    addLibraryTable(module, exports);
    return emit(module, ExecutableDump(variant, "", ""), object);
  }

  LogicalResult report(llvm::Error error) const {
    return variant->emitError() << "compiling to machine code failed: " << llvm::toString(std::move(error));
  }

private:
  // The table of another object names the exports; nothing else leaves this one.
  void hideFunctions(llvm::Module &module) const {
    for (llvm::Function &function : module) {
      if (function.isDeclaration())
        continue;
      bool isExport = exportNames.contains(function.getName());
      function.setLinkage(isExport ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage);
      if (isExport)
        function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
  }

  LogicalResult emit(llvm::Module &module, ExecutableDump intermediates, Object &object) const {
    auto machineOrError = machines.take();
    if (!machineOrError)
      return report(machineOrError.takeError());
    std::unique_ptr<llvm::TargetMachine> taken = std::move(*machineOrError);
    LogicalResult result = emit(module, *taken, intermediates, object);
    machines.giveBack(std::move(taken));
    return result;
  }

  LogicalResult emit(llvm::Module &module, llvm::TargetMachine &machine, ExecutableDump intermediates,
                     Object &object) const {
    // Names that do not depend on where or how the compiler was called.
    module.setSourceFileName(soname);
    annotateModule(module, target, machine);

    auto printModule = [&](llvm::raw_ostream &os) { module.print(os, nullptr); };
    if (failed(intermediates.write(".codegen.ll", printModule)))
      return failure();
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (llvm::verifyModule(module, &stream))
      return variant->emitError() << "LLVM rejects the code that was generated: " << text
                                  << "; this is a bug of the compiler. To report it, add the module that "
                                     "--kiln-hal-dump-executable-intermediates-to=<folder> leaves in *.codegen.ll";

    optimizeModule(module, machine, options.optimizationLevel);
    storeSingleElements(module);
    if (failed(intermediates.write(".optimized.ll", printModule)) ||
        failed(
            intermediates.write(".optimized.bc", [&](llvm::raw_ostream &os) { llvm::WriteBitcodeToFile(module, os); })))
      return failure();
    auto printObject = [&](llvm::raw_ostream &os) { os.write(object.data(), object.size()); };
    if (intermediates.wanted()) {
      std::unique_ptr<llvm::Module> clone = llvm::CloneModule(module);
      if (llvm::Error error = emitNativeCode(*clone, machine, /*assembly=*/true, object))
        return report(std::move(error));
      if (failed(intermediates.write(".s", printObject)))
        return failure();
    }
    if (llvm::Error error = emitNativeCode(module, machine, /*assembly=*/false, object))
      return report(std::move(error));
    return intermediates.write(".o", printObject);
  }

  HAL::ExecutableVariantOp variant;
  const SerializationOptions &options;
  StringRef soname;
  ArrayRef<LibraryExport> exports;
  CpuTarget target;
  mutable TargetMachines machines;
  llvm::StringSet<> exportNames;
};

} // namespace

// How many of a variant's modules one object has. A seventh of what LLVM takes for a small kernel it takes for each
// object, whatever is in it. All threads get work, and the number of threads changes nothing in the objects.
static size_t modulesOfObject(size_t moduleCount) {
  return std::min<size_t>(8, 1 + moduleCount / 32);
}

// Where there are several modules, the names of their files say which dispatch is in them.
static std::string baseNameOf(ModuleOp module, StringRef baseName, bool isOnly) {
  auto functions = module.getOps<LLVM::LLVMFuncOp>();
  auto exported = llvm::find_if(functions, [](LLVM::LLVMFuncOp function) { return !function.isExternal(); });
  return isOnly || exported == functions.end() ? baseName.str() : (baseName + "_" + (*exported).getSymName()).str();
}

LogicalResult serializeCpuVariant(HAL::ExecutableVariantOp variant, const SerializationOptions &options, bool debugInfo,
                                  SmallVectorImpl<char> &bytes) {
  SmallVector<ModuleOp> modules(variant.getBody().getOps<ModuleOp>());
  if (modules.empty())
    return variant.emitOpError("has no module to compile");
  SmallVector<LibraryExport> exports = collectExports(variant);
  if (failed(checkExports(variant, exports)))
    return failure();
  for (ModuleOp module : modules)
    if (debugInfo && failed(addLineTables(module, LLVM::DIEmissionKind::LineTablesOnly)))
      return failure();

  std::string soname =
      (options.baseName.empty() ? variant->getParentOfType<HAL::ExecutableOp>().getSymName().str() : options.baseName) +
      ".so";
  ObjectCompiler compiler(variant, options, soname, exports);
  // All are compiled, whichever fails, and errors are told in the order of the modules.
  size_t count = options.intermediatesPath.empty() ? modulesOfObject(modules.size()) : 1;
  std::vector<Object> objects(llvm::divideCeil(modules.size(), count) + 1);
  std::atomic<bool> hasFailed = failed(compiler.compileTable(objects.back()));
  parallelFor(variant.getContext(), 0, objects.size() - 1, [&](size_t i) {
    ArrayRef<ModuleOp> some = ArrayRef(modules).drop_front(i * count).take_front(count);
    std::string baseName = baseNameOf(some.front(), options.baseName, /*isOnly=*/modules.size() == 1);
    if (failed(compiler.compileModules(some, baseName, objects[i])))
      hasFailed = true;
  });
  if (hasFailed)
    return failure();
  llvm::TimeTraceScope scope("kiln: link");
  if (llvm::Error error = linkSharedObject(objects, soname, bytes))
    return compiler.report(std::move(error));
  return ExecutableDump(variant, options.binariesPath, options.baseName).write(".so", [&](llvm::raw_ostream &os) {
    os.write(bytes.data(), bytes.size());
  });
}

} // namespace kiln
