#include "kiln/targets/cpu/codegen/CpuTarget.h"

#include "kiln/targets/cpu/codegen/CpuOptions.h"
#include "kiln/targets/cpu/codegen/ElfLinker.h"
#include "kiln/targets/cpu/codegen/NativeCode.h"
#include "kiln/targets/cpu/codegen/test/CompiledKernel.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

#include <thread>

using namespace mlir;

namespace kiln {
namespace {

struct Resolved {
  FailureOr<CpuTarget> target;
  std::string error;
};

Resolved resolve(const CpuOptions &options) {
  MLIRContext context;
  Resolved resolved{failure(), ""};
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    resolved.error += diagnostic.str();
    return success();
  });
  resolved.target = CpuTarget::resolve(options, UnknownLoc::get(&context));
  return resolved;
}

CpuOptions named(const char *cpu, const char *features = "") {
  CpuOptions options;
  options.targetTriple = "x86_64-linux";
  options.targetCpu = cpu;
  options.targetFeatures = features;
  return options;
}

TEST(CpuTarget, knowsCpusByName) {
  CpuTarget zen4 = *resolve(named("znver4")).target;
  EXPECT_EQ(zen4.triple, "x86_64-unknown-linux-gnu");
  EXPECT_EQ(zen4.format(), "elf-x86_64");
  EXPECT_EQ(zen4.nativeVectorBits, 512);
  EXPECT_TRUE(zen4.has("avx512bf16"));
  EXPECT_FALSE(zen4.has("avx512")) << "a name counts as a whole";
  EXPECT_FALSE(zen4.has("aes")) << "kernels use no cryptography";
  EXPECT_EQ(resolve(named("haswell")).target->nativeVectorBits, 256);
  CpuTarget generic = *resolve(named("generic")).target;
  EXPECT_EQ(generic.features, "");
  EXPECT_EQ(generic.nativeVectorBits, 128);
}

TEST(CpuTarget, changesFeaturesAndWhatTheyImply) {
  CpuTarget without = *resolve(named("znver4", "-avx512f")).target;
  EXPECT_FALSE(without.has("avx512bf16"));
  EXPECT_TRUE(without.has("avx2"));
  EXPECT_EQ(without.nativeVectorBits, 256);
  CpuTarget with = *resolve(named("generic", "+avx2, +fma")).target;
  EXPECT_TRUE(with.has("sse4.2"));
  EXPECT_TRUE(with.has("fma"));
}

TEST(CpuTarget, describesOtherArchitectures) {
  CpuOptions options;
  options.targetTriple = "aarch64-linux";
  options.targetCpu = "neoverse-v2";
  CpuTarget arm = *resolve(options).target;
  EXPECT_EQ(arm.format(), "elf-aarch64");
  EXPECT_EQ(arm.nativeVectorBits, 128);
  EXPECT_TRUE(arm.has("fullfp16"));
}

TEST(CpuTarget, saysWhatIsWrongWithAnOption) {
  EXPECT_EQ(resolve(named("znver44")).error,
            "--kiln-llvmcpu-target-cpu: 'znver44' is no x86_64 CPU that this compiler knows. Did you mean 'znver4', "
            "'znver1', 'znver2' or 'znver3'?");
  EXPECT_EQ(resolve(named("generic", "avx2")).error,
            "--kiln-llvmcpu-target-cpu-features: 'avx2' must start with + (use it) or - (do not use it)");
  EXPECT_EQ(resolve(named("generic", "+avx513f")).error,
            "--kiln-llvmcpu-target-cpu-features: 'avx513f' is no feature of x86_64 that code generation uses. Did you "
            "mean 'avx512f' or 'avx'?");
  CpuOptions options;
  options.targetTriple = "riscv64-linux";
  EXPECT_NE(resolve(options).error.find("x86_64 and aarch64, not for 'riscv64-linux'"), std::string::npos);
  options.targetTriple = "x86_64-windows";
  EXPECT_NE(resolve(options).error.find("is no Linux target"), std::string::npos);
}

TEST(CpuTarget, survivesTheAttribute) {
  MLIRContext context;
  context.loadDialect<HAL::HALDialect>();
  CpuTarget target = *resolve(named("znver4")).target;
  CpuTarget again = CpuTarget::fromAttr(target.toAttr(&context));
  EXPECT_EQ(again.triple, target.triple);
  EXPECT_EQ(again.cpu, target.cpu);
  EXPECT_EQ(again.features, target.features);
  EXPECT_EQ(again.dataLayout, target.dataLayout);
  EXPECT_EQ(again.nativeVectorBits, target.nativeVectorBits);
}

llvm::SmallVector<char, 0> objectWith(const char *name) {
  CpuTarget target = hostTarget();
  auto machine = llvm::cantFail(createTargetMachine(target, /*optimizationLevel=*/0));
  llvm::LLVMContext context;
  llvm::Module module(name, context);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                                          llvm::GlobalValue::ExternalLinkage, name, module);
  llvm::ReturnInst::Create(context, llvm::BasicBlock::Create(context, "", function));
  annotateModule(module, target, *machine);
  llvm::SmallVector<char, 0> object;
  llvm::cantFail(emitNativeCode(module, *machine, /*assembly=*/false, object));
  return object;
}

// LLD reports errors and can be used again, from any thread.
TEST(ElfLinker, reportsBadInput) {
  std::vector<llvm::SmallVector<char, 0>> twice(2, objectWith("twice"));
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  for (std::string &error : errors)
    threads.emplace_back([&] {
      llvm::SmallVector<char, 0> bytes;
      error = llvm::toString(linkSharedObject(twice, "x.so", bytes));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    EXPECT_NE(error.find("ld.lld: error: duplicate symbol: twice"), std::string::npos) << error;
  llvm::SmallVector<char, 0> bytes;
  EXPECT_EQ(llvm::toString(linkSharedObject({objectWith("one"), objectWith("other")}, "x.so", bytes)), "");
}

} // namespace
} // namespace kiln
