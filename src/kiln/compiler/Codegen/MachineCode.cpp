#include "kiln/compiler/Codegen/MachineCode.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace kiln {

CodeGenOptLevel codeGenLevel(int optimizationLevel) {
  return optimizationLevel >= 3   ? CodeGenOptLevel::Aggressive
         : optimizationLevel == 2 ? CodeGenOptLevel::Default
         : optimizationLevel == 1 ? CodeGenOptLevel::Less
                                  : CodeGenOptLevel::None;
}

void optimizeModule(Module &module, TargetMachine &machine, int optimizationLevel) {
  TimeTraceScope scope("kiln: optimize");
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = optimizationLevel >= 2;
  tuning.LoopUnrolling = optimizationLevel >= 2;
  PassBuilder builder(&machine, tuning);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraphs;
  ModuleAnalysisManager modules;
  TargetLibraryInfoImpl libraries(machine.getTargetTriple());
  functions.registerPass([&] { return TargetLibraryAnalysis(libraries); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraphs, modules);

  const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2,
                                      OptimizationLevel::O3};
  OptimizationLevel level = levels[std::clamp(optimizationLevel, 0, 3)];
  ModulePassManager passes = level == OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(level)
                                                            : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

Error emitNativeCode(Module &module, TargetMachine &machine, bool assembly, SmallVectorImpl<char> &bytes) {
  TimeTraceScope scope("kiln: emit");
  bytes.clear();
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  assembly ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile,
                                  /*DisableVerify=*/true))
    return createStringError("LLVM cannot emit %s for %s", assembly ? "assembly" : "an object file",
                             machine.getTargetTriple().str().c_str());
  passes.run(module);
  return Error::success();
}

} // namespace kiln
