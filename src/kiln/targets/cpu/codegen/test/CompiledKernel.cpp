#include "kiln/targets/cpu/codegen/test/CompiledKernel.h"

#include "kiln/targets/cpu/codegen/CpuOptions.h"
#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/Serialization.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace kiln {

CpuTarget hostTarget() {
  MLIRContext context;
  FailureOr<CpuTarget> target = CpuTarget::resolve(CpuOptions(), UnknownLoc::get(&context));
  EXPECT_TRUE(succeeded(target));
  return *target;
}

bool hostHas(StringRef features) {
  CpuTarget host = hostTarget();
  SmallVector<StringRef> names;
  features.split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return llvm::all_of(names, [&](StringRef name) { return host.has(name.drop_front()); });
}

static std::string variantText(const KernelSource &source) {
  std::string text = "hal.executable private @kernel {\n  hal.executable.variant public @llvm_cpu "
                     "target(#hal.executable.target<\"llvm-cpu\", \"" +
                     hostTarget().format() + "\", {cpu = \"generic\", cpu_features = \"" + source.features +
                     "\"}>) {\n";
  for (auto [ordinal, entry] : llvm::enumerate(source.exports)) {
    std::vector<std::string> bindings(entry.bindings, "readwrite");
    text += "    hal.executable.export public @" + entry.name + " ordinal(" + std::to_string(ordinal) +
            ") layout(#hal.pipeline.layout<constants = " + std::to_string(entry.constants) + ", bindings = [" +
            llvm::join(bindings, ", ") + "]>)\n";
  }
  return text + "    builtin.module {\n" + source.functions + "\n    }\n  }\n}\n";
}

Compilation compileKernel(const KernelSource &source, const SerializationOptions &options) {
  Compilation result;
  DialectRegistry registry;
  registerCpuTranslationDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      result.errors += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(variantText(source), &context);
  if (!module)
    return result;
  PassManager passes(&context);
  addCpuTranslationPasses(passes.nest<HAL::ExecutableOp>().nest<HAL::ExecutableVariantOp>());
  if (failed(passes.run(*module)))
    return result;
  module->walk([&](HAL::ExecutableVariantOp variant) {
    SmallVector<char, 0> bytes;
    if (succeeded(serializeCpuVariant(variant, options, /*debugInfo=*/false, bytes)))
      result.bytes.assign(bytes.begin(), bytes.end());
  });
  return result;
}

LoadedKernel::LoadedKernel(const std::vector<char> &bytes) {
  int file = memfd_create("kernel", MFD_CLOEXEC);
  EXPECT_NE(dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL), nullptr); // as the driver does
  EXPECT_EQ(write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  EXPECT_NE(handle, nullptr) << (handle ? "" : dlerror());
  auto query = reinterpret_cast<kiln_executable_query_fn_t>(symbol(KILN_EXECUTABLE_QUERY_SYMBOL));
  EXPECT_NE(query, nullptr);
  EXPECT_EQ(query(KILN_EXECUTABLE_ABI_VERSION - 1), nullptr);
  table = query(KILN_EXECUTABLE_ABI_VERSION);
  EXPECT_NE(table, nullptr);
}

LoadedKernel::~LoadedKernel() {
  if (handle)
    dlclose(handle);
}

void *LoadedKernel::symbol(const char *name) const {
  return dlsym(handle, name);
}

void LoadedKernel::run(uint32_t ordinal, const Call &call) const {
  ASSERT_LT(ordinal, table->export_count);
  const kiln_dispatch_info_t &info = table->exports[ordinal];
  ASSERT_EQ(info.binding_count, call.bindings.size());
  ASSERT_EQ(info.constant_count, call.constants.size());
  std::vector<void *> addresses;
  std::vector<uint64_t> lengths;
  for (std::span<std::byte> binding : call.bindings) {
    addresses.push_back(binding.data());
    lengths.push_back(binding.size());
  }
  Binding<std::byte> local(info.local_memory_bytes, std::byte(0xFF));
  kiln_dispatch_state_t dispatch = {addresses.data(),
                                    lengths.data(),
                                    call.constants.data(),
                                    {call.workgroups[0], call.workgroups[1], call.workgroups[2]},
                                    sizeof(dispatch)};
  for (uint32_t z = 0; z < call.workgroups[2]; ++z)
    for (uint32_t y = 0; y < call.workgroups[1]; ++y)
      for (uint32_t x = 0; x < call.workgroups[0]; ++x) {
        kiln_workgroup_state_t workgroup = {{x, y, z}, 0, local.begin(), sizeof(workgroup), 0, nullptr};
        ASSERT_EQ(info.function(&dispatch, &workgroup), 0);
      }
  ASSERT_TRUE(local.guardIsIntact());
}

} // namespace kiln
