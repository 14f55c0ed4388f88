#include "kiln/compiler/Pipeline/Compiler.h"

#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/Dialect/Check/IR/CheckOps.h"
#include "kiln/compiler/Dialect/Encoding/IR/EncodingOps.h"
#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"
#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtOps.h"
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOOps.h"
#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Dialect/VM/IR/VMOps.h"
#include "kiln/compiler/Dialect/VM/Transforms/VMPasses.h"
#include "kiln/compiler/Pipeline/ForeignAttributes.h"
#include "kiln/compiler/Pipeline/Phases.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace kiln {

Compiler::Compiler(void (*registerBackends)(TargetBackendRegistry &)) {
  registerBackends(shared.backends);
  for (const auto &backend : shared.backends.backends())
    backend->shareTuning(shared.options.tuning);
}

void Compiler::bindOptions(OptionBinder &binder) {
  CompilerOptions &options = shared.options;
  binder.group("Targets");
  binder.flag("kiln-hal-target-backends", &options.targetBackends, "name,...",
              "Targets to compile for; kiln-compile --kiln-hal-list-target-backends lists them");
  binder.flag(
      "kiln-hal-target-device", &options.targetDevices, "name,...",
      "Devices to compile for, in place of targets: local, local-sync, local-task, or a target's name. NAME=DEVICE "
      "is taken as DEVICE");
  binder.flag("kiln-hal-local-target-device-backends", &options.localTargetDeviceBackends, "name,...",
              "Which targets to compile for where a device is local; all that there are for it where none is named");
  binder.group("Compilation");
  binder.choice("kiln-opt-level", &options.optimizationLevel, {"O0", "O1", "O2", "O3"}, "",
                "How hard to optimize device code, from O0, nothing beyond what is needed, to O3");
  binder.flag("kiln-preprocessing-pass-pipeline", &options.preprocessingPassPipeline, "pipeline",
              "Passes to run in the preprocessing phase, as in kiln-opt's --pass-pipeline");
  binder.flag(
      "kiln-preprocessing-transform-spec-filename", &options.preprocessingSpec, "<file>",
      "A transform-dialect file whose @__transform_main is applied to the program in the preprocessing phase: it may "
      "replace parts by functions of its own (docs/specs.md)");
  binder.flag(
      "kiln-codegen-transform-dialect-library", &options.configurationSpec, "<file>",
      "A transform-dialect file whose @__kernel_config, or what FILE@NAME says, is applied to each dispatch before "
      "its strategy is chosen: it may give operations a configuration (docs/specs.md)");
  binder.flag("kiln-hal-benchmark-dispatch-repeat-count", &options.dispatchRepeatCount, "n",
              "Launch each dispatch this many times; kiln-benchmark-module counts each");
  binder.flag("kiln-vm-bytecode-module-optimize", &options.optimizeBytecodeModule,
              "Optimize the host program before it is encoded");
  binder.flag("kiln-compute-in-f64", &options.widenFloats,
              "Compute in f64 whatever floats the program has, between arguments and results of their own types: what "
              "kiln-dispatch compares programs of a corpus with");
  binder.flag("kiln-opt-channels-last", &options.channelsLast,
              "Let the images of convolutions lie with their channels last, where filters are constant");
  binder.flag("kiln-global-opt-enable-fuse-horizontal-contractions", &options.joinProducts,
              "Make one product of several that multiply the same rows by constant weights");
  binder.flag("kiln-opt-data-tiling", &options.dataTiling,
              "Lay weights out as kernels read them, when the module is loaded");
  binder.flag(
      "kiln-opt-winograd", &options.winograd,
      "Compute convolutions with filters of 3x3 constants in f32 with fewer multiplications, where results stay "
      "within three times the error of sums of all products");
  binder.flag(
      "kiln-opt-const-eval", &options.evaluateConstants,
      "Compute what depends on constants and parameters alone once, when the module is loaded, and not in each call");
  binder.group("Parameters");
  binder.flag("kiln-parameter-export", &options.parameterExport, "[scope=]file",
              "Write large constants to an archive of parameters (.irpa), which programs are then run with: "
              "--parameters=[scope=]file");
  binder.flag("kiln-parameter-export-minimum-size", &options.parameterExportMinimumSize, "bytes",
              "How large a constant is at least that is written there");
  binder.flag("kiln-util-zero-fill-elided-attrs", &options.zeroFillElided,
              "Take constants whose elements were left out of the text, dense_resource<__elided__>, as zeros");
  binder.group("Tuning");
  binder.flag(
      "tuning-db", &options.tuning.database, "<file>",
      "Tuning database of `kiln-dispatch tune`: dispatches that it knows are compiled with the configuration that "
      "was measured to be the fastest. What the program or a transform-dialect file says goes before it");
  binder.flag("tuning-threads", &options.tuning.threads, "<count>",
              "Takes from the tuning database what was measured with so many threads of a CPU; 0: with the most");
  binder.flag("dump-tuning-keys-to", &options.tuning.keys, "<folder>",
              "Writes a file for each dispatch, with what tuning databases know it by, and the configuration that was "
              "chosen");
  binder.group("Dumps of executables");
  DumpOptions &dump = options.dump;
  binder.flag("kiln-hal-dump-executable-sources-to", &dump.sources, "folder",
              "Write each executable as code generation gets it: <module>_<executable>.mlir");
  binder.flag("kiln-hal-dump-executable-configurations-to", &dump.configurations, "folder",
              "Write each executable with its configuration chosen: configured_<module>_<executable>.mlir");
  binder.flag("kiln-hal-dump-executable-benchmarks-to", &dump.benchmarks, "folder",
              "Write a program for each dispatch that compiles and runs alone: "
              "<module>_<executable>_<target>_benchmark.mlir");
  binder.flag("kiln-hal-dump-executable-intermediates-to", &dump.intermediates, "folder",
              "Write the steps of code generation: .ll, .bc, .s, .o");
  binder.flag("kiln-hal-dump-executable-binaries-to", &dump.binaries, "folder",
              "Write what goes into the module: .so, and of GPUs .ptx or .cubin");
  binder.flag("kiln-hal-dump-executable-files-to", &dump.files, "folder", "All of these");
  foreign.bind(binder);
  for (const auto &backend : shared.backends.backends()) {
    binder.group(("Target " + backend->name()).str());
    backend->bindOptions(binder);
  }
}

void Compiler::registerDialects(DialectRegistry &registry) const {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<Check::CheckDialect, Encoding::EncodingDialect, Flow::FlowDialect, HAL::HALDialect,
                  LinalgExt::LinalgExtDialect, StableHLO::StableHLODialect, Stream::StreamDialect, Util::UtilDialect,
                  VM::VMDialect>();
  registerForeignAttributes(registry);
  for (const auto &backend : shared.backends.backends())
    backend->registerDialects(registry);
}

void Compiler::registerPasses() const {
  registerAllPasses();
  registerTransformsPasses(shared);
  Flow::registerFlowPasses(shared);
  Stream::registerStreamPasses(shared);
  HAL::registerHALPasses(shared);
  VM::registerVMPasses(shared);
  registerCodegenPasses();
  for (const auto &backend : shared.backends.backends())
    backend->registerPasses();

  auto addPipeline = [](StringRef name, StringRef description, std::function<void(OpPassManager &)> build) {
    registerPassPipeline(
        name, description,
        [build = std::move(build)](OpPassManager &passes, StringRef, function_ref<LogicalResult(const Twine &)>) {
          build(passes);
          return success();
        },
        [](function_ref<void(const detail::PassOptions &)>) {});
  };
  for (auto [i, phase] : llvm::enumerate(phases())) {
    if (phase.pipeline)
      addPipeline(phase.pipeline, phase.summary,
                  [this, from = phase.pipelineFrom, to = static_cast<int>(i)](OpPassManager &passes) {
                    buildPhases(passes, shared, from, to);
                  });
  }
  // Those of IREE's that users name in --iree-preprocessing-pass-pipeline.
  addPipeline("kiln-preprocessing-transpose-convolution-pipeline",
              "Lets the images of convolutions lie with their channels last, whatever the targets want.",
              [this](OpPassManager &passes) { passes.addPass(Flow::createChannelsLastPass(shared, /*always=*/true)); });
  addPipeline("kiln-preprocessing-pad-to-intrinsics", "Nothing: kernels pad the tiles that need it themselves.",
              [](OpPassManager &) {});
  addPipeline("kiln-hal-configuration-pipeline", "Executables for each target, configured but not yet lowered.",
              [this](OpPassManager &passes) { buildHALConfigurationPipeline(passes, shared); });
}

} // namespace kiln
