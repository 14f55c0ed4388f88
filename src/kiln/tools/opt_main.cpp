#include "kiln/tools/opt_main.h"

#include "kiln/compiler/Pipeline/Compiler.h"
#include "kiln/compiler/Pipeline/GuardVerifier.h"
#include "kiln/compiler/Pipeline/Phases.h"
#include "kiln/compiler/TransformOps/SpecUpdater.h"
#include "kiln/compiler/testing/Testing.h"
#include "kiln/tools/compiler_main.h"
#include "kiln/tools/help_text.h"
#include "kiln/tools/tool_output.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

static int printHelp(const kiln::OptionBinder &binder) {
  kiln::HelpText help;
  help.paragraph("Usage: kiln-opt [flags] [FILE]");
  help.paragraph("");
  help.paragraph(
      "Runs passes and Kiln's phases on MLIR and prints what they give. Without FILE it reads standard input. A "
      "flag or a pass kiln-x may be written iree-x as well.");
  help.heading("Phases, in their order; run all up to the one you want");
  for (const kiln::Phase &phase : kiln::phases())
    if (phase.pipeline)
      help.item(std::string("--") + phase.pipeline, phase.summary);
  help.item(
      "--kiln-hal-configuration-pipeline",
      "Up to executables that are configured; code generation is still to do. Runs instead of the hal pipelines.");
  help.heading("Passes");
  help.item("--pass-pipeline=TEXT",
            "Passes with what they run on, as in 'builtin.module(func.func(cse),canonicalize)'.");
  help.item("--<pass>",
            "One pass; flags run in the order in which they are written. docs/generated/passes.md has Kiln's.");
  help.item("--show-dialects", "Lists the dialects and exits.");
  appendOptions(help, binder);
  help.heading("General");
  help.item("-o FILE", "Where to write; - is standard output.");
  help.item("--split-input-file", "Treats the parts of the input between lines of // ----- on their own.");
  help.item("--verify-diagnostics", "Compares errors with the // expected-error comments of the input.");
  help.item("--mlir-print-ir-after-all", "Shows what each pass does, on standard error.");
  help.item("--help-hidden", "All passes and flags, with those of MLIR and LLVM.");
  help.item("--version", "Prints the version.");
  help.item("--help", "Prints this.");
  help.heading("Examples");
  help.command("kiln-opt --kiln-common-input-transformation-pipeline matmul.mlir");
  help.command("kiln-opt --pass-pipeline='builtin.module(canonicalize,cse)' matmul.mlir");
  return kiln::printText("kiln-opt", help.text());
}

namespace {

// The input with spellings of older transform specs brought up to date, so that a document's spec can be read like any
// other file. Lines stay lines. Everything else comes back as it is.
std::unique_ptr<llvm::MemoryBuffer> updateSpellings(std::unique_ptr<llvm::MemoryBuffer> input) {
  llvm::StringRef text = input->getBuffer();
  // Programs may be large, and only specs have what is looked for.
  if (mlir::isBytecode(*input) || !text.contains("transform."))
    return input;
  std::string updated = kiln::updateSpec(text);
  if (updated == text)
    return input;
  return llvm::MemoryBuffer::getMemBufferCopy(updated, input->getBufferIdentifier());
}

// What the parser would do, after what its verifier must not see.
class VerifyInput : public mlir::PassWrapper<VerifyInput, mlir::OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyInput)

  // `then` runs after it.
  explicit VerifyInput(std::optional<mlir::OpPassManager> then = std::nullopt) : then(std::move(then)) {}

  llvm::StringRef getName() const override { return "VerifyInput"; }

private:
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    if (then)
      then->getDependentDialects(registry);
  }
  void runOnOperation() override {
    if (failed(kiln::guardVerifier(getOperation())) || failed(mlir::verify(getOperation())))
      return signalPassFailure();
    if (!then)
      markAllAnalysesPreserved();
    else if (failed(runPipeline(*then, getOperation())))
      signalPassFailure();
  }

  std::optional<mlir::OpPassManager> then;
};

// MlirOptMain parses and verifies at once; the first place after it is the pipeline. A round trip prints the program
// before that, and a pipeline that is shown has no passes but the user's: with these the parser verifies.
mlir::MlirOptMainConfig verifyInPipeline(mlir::MlirOptMainConfig config) {
  if (!config.shouldVerifyOnParsing() || config.shouldVerifyRoundtrip() || config.shouldDumpPassPipeline())
    return config;
  mlir::MlirOptMainConfig user = config;
  config.verifyOnParsing(false);
  config.setPassPipelineSetupFn([user = std::move(user)](mlir::PassManager &passes) {
    passes.addPass(std::make_unique<VerifyInput>());
    if (failed(user.setupPassPipeline(passes)))
      return mlir::failure();
    // A pipeline that is written as text takes the place of all that was there.
    if (!passes.empty() && passes.begin()->getName() == "VerifyInput")
      return mlir::success();
    mlir::OpPassManager written = passes;
    passes.clear();
    passes.addPass(std::make_unique<VerifyInput>(std::move(written)));
    return mlir::success();
  });
  return config;
}

// Passes and phases on one file. Diagnostics have said what is wrong where this fails with success.
kiln::Result<bool> run(const std::string &inputPath, const std::string &outputPath, mlir::DialectRegistry &registry,
                       const mlir::MlirOptMainConfig &config) {
  bool isStandardInput = inputPath == "-";
  if (isStandardInput && llvm::sys::Process::StandardInIsUserInput())
    llvm::errs() << "(reading standard input; it ends with ctrl-d)\n";
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> input =
      llvm::MemoryBuffer::getFileOrSTDIN(inputPath, /*IsText=*/false, /*RequiresNullTerminator=*/true);
  if (!input)
    return kiln::errnoStatus(input.getError().value(), isStandardInput ? std::string("cannot read standard input")
                                                                       : fmt::format("cannot read '{}'", inputPath));
  kiln::ToolOutput out(outputPath);
  KILN_RETURN_IF_ERROR(out.open());
  std::string text;
  llvm::raw_string_ostream stream(text);
  bool succeeded = mlir::MlirOptMain(stream, updateSpellings(std::move(*input)), registry, config).succeeded();
  // Parts of a split input that were fine are shown, but never take the place of a file.
  if (succeeded || out.isStandardOutput())
    KILN_RETURN_IF_ERROR(out.write(text));
  if (succeeded)
    KILN_RETURN_IF_ERROR(out.commit());
  return succeeded;
}

} // namespace

int kiln::optMain(int argc, char **argv, void (*registerBackends)(TargetBackendRegistry &)) {
  llvm::InitLLVM init(argc, argv);
  kiln::nameWhatLlvmExhausts("kiln-opt");
  kiln::Compiler compiler(registerBackends);
  kiln::OptionBinder binder;
  compiler.bindOptions(binder);
  compiler.registerPasses();
  kiln::registerTestingPasses();
  mlir::DialectRegistry registry;
  compiler.registerDialects(registry);

  kiln::CommandLine commandLine("kiln-opt", argc, argv);
  if (!commandLine.ok())
    return 1;
  if (commandLine.wantsHelp())
    return printHelp(binder);
  if (commandLine.wantsVersion())
    return kiln::printVersion("kiln-opt");
  std::string header = mlir::registerCLIOptions("kiln-opt: runs passes and Kiln's phases on MLIR\n", registry);
  if (!commandLine.check(binder))
    return 1;
  // A whole program in an error hides the error; who wants it asks for it.
  if (!commandLine.gives("mlir-print-op-on-diagnostic"))
    commandLine.prepend("--mlir-print-op-on-diagnostic=false");
  auto [input, output] = mlir::parseCLIOptions(commandLine.argc(), commandLine.argv(), header);
  mlir::MlirOptMainConfig config = verifyInPipeline(mlir::MlirOptMainConfig::createFromCLOptions());
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(commandLine.argc(), commandLine.argv(), input, output, registry));
  kiln::Result<bool> succeeded = run(input, output, registry, config);
  if (!succeeded.ok())
    return kiln::reportFailure("kiln-opt", succeeded.status());
  return *succeeded ? 0 : 1;
}
