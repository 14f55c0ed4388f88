#include "kiln/tools/compile_main.h"

#include <unistd.h>

#include "kiln/base/watched_pages.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/Dialect/VM/Target/BytecodeEncoder.h"
#include "kiln/compiler/Input/Onnx/OnnxImport.h"
#include "kiln/compiler/Pipeline/Fingerprint.h"
#include "kiln/compiler/Pipeline/GuardVerifier.h"
#include "kiln/compiler/Pipeline/Phases.h"
#include "kiln/schema/parameters/parameter_file.h"
#include "kiln/tools/compile_server.h"
#include "kiln/tools/compiler_main.h"
#include "kiln/tools/diagnostic_stream.h"
#include "kiln/tools/help_text.h"
#include "kiln/tools/save_temps.h"
#include "kiln/tools/tool_output.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace kiln;

namespace {

// Passes and specs of the user's may leave anything, and may name any pass.
bool runsUsersPasses(const Compiler &compiler) {
  const CompilerOptions &options = compiler.context().options;
  return !options.preprocessingPassPipeline.empty() || !options.preprocessingSpec.empty() ||
         !options.configurationSpec.empty();
}

enum OutputFormat { kBytecode, kC, kAssembly, kFingerprints };

struct ToolOptions {
  std::string input = "-";
  std::string output = "-";
  std::string inputType = "auto";
  onnx::ImportOptions import;
  std::string dumpPhasesTo;
  std::string remarksTo;
  bool remarks = false;
  bool verifyEach = false;
  bool serve = false;
  int compileFrom = 0;
  int compileTo = 0;
  int outputFormat = kBytecode;
};

void bindToolOptions(OptionBinder &binder, ToolOptions &options, const Compiler &compiler) {
  std::vector<std::string> words;
  for (const Phase &phase : phases())
    words.emplace_back(phase.name);
  options.compileTo = words.size() - 1;
  binder.group("kiln-compile");
  binder.flag("o", &options.output, "file", "Where to write; - is standard output");
  binder.choice(
      "output-format", &options.outputFormat, {"vm-bytecode", "vm-c", "vm-asm", "fingerprints"}, "",
      "What to write: a module file; the module as a file of C, for programs to link; the VM's program as MLIR text, "
      "without the bytes of executables; or a "
      "line for each public function: 32 digits that other spellings of the same operation have too, or -; the "
      "narrowest float that it computes in, or -; and its name");
  binder.choice("compile-to", &options.compileTo, words, "<phase>",
                "Stop after this phase and write the program as MLIR text");
  binder.choice("compile-from", &options.compileFrom, words, "<phase>",
                "The input is the output of this phase; start with the next one. `input` starts at the beginning");
  binder.flag("dump-compilation-phases-to", &options.dumpPhasesTo, "folder",
              "Write the program after each phase: <module>.<index>.<phase>.mlir");
  binder.flag(
      "kiln-remarks", &options.remarks,
      "Say on standard error what costs the program time: one_workgroup (work that is not shared), scalar_loop, "
      "copy, repack (of an operand, in each call), not_fused; of a GPU's kernels one_thread, and spill and serialized, "
      "which ptxas tells. kiln-dump-module shows how many there are of each");
  binder.flag("kiln-remarks-to", &options.remarksTo, "file", "Write the same to a file, as LLVM's YAML remarks");
  binder.flag("kiln-verify-each", &options.verifyEach,
              "Verify the program after each pass, and not only after each phase, to find the pass that breaks it");
  binder.flag("serve", &options.serve,
              "Compile many programs in one process: a JSON object on each line of standard input names one, "
              "{\"input\": \"x.mlir\", \"output\": \"x.vmfb\"}, and a line of standard output answers");
  binder.flag(
      "kiln-input-type", &options.inputType, "name",
      "auto, none, tosa, stablehlo or onnx: Kiln reads linalg on tensors, and TOSA and StableHLO where a program has "
      "them; a file that starts as an ONNX model does is imported first");
  binder.flag("kiln-onnx-donate", &options.import.donated, "names",
              "Inputs of an ONNX model whose memory a call takes, to update it, as --donate of kiln-import-onnx says");
  binder.action(
      "kiln-hal-list-target-backends",
      [&compiler] {
        std::string text = "Target backends of this build:\n";
        for (const auto &backend : compiler.context().backends.backends())
          text += ("  " + backend->name() + ": " + backend->description() + "\n").str();
        std::exit(printText("kiln-compile", text));
      },
      "List the target backends and exit");
}

int printHelp(const OptionBinder &binder) {
  HelpText help;
  help.paragraph("Usage: kiln-compile [flags] FILE");
  help.paragraph("");
  help.paragraph(
      "Compiles a tensor program (MLIR: func, linalg on tensors, arith, math, scf) or an ONNX model to a module file. "
      "FILE may be -, standard input. A flag kiln-x may be written iree-x as well.");
  appendOptions(help, binder);
  help.heading("Phases, in their order");
  for (const Phase &phase : phases())
    help.item(phase.name, phase.summary);
  help.heading("General");
  help.item("--flagfile=FILE", "Reads flags from a file, one on each line; # starts a comment.");
  help.item("--mlir-print-ir-after-all", "Shows what each pass does, on standard error.");
  help.item("--mlir-timing", "Shows how long each pass took, on standard error.");
  help.item("--help-hidden", "All flags, with those of MLIR and LLVM.");
  help.item("--version", "Prints the version.");
  help.item("--help", "Prints this.");
  help.heading("Examples");
  help.command("kiln-compile --kiln-hal-target-backends=llvm-cpu matmul.mlir -o matmul.vmfb");
  help.command("kiln-compile --kiln-hal-target-backends=llvm-cpu model.onnx -o model.vmfb");
  help.command("kiln-compile --compile-to=flow matmul.mlir");
  return printText("kiln-compile", help.text());
}

// One compilation, from the parsed program on.
class Compilation {
public:
  Compilation(Compiler &compiler, const ToolOptions &options, MLIRContext &context)
      : compiler(compiler), options(options), context(context) {}

  // Writes what was asked for to `out`. Where a file cannot be written, its status says why, and no diagnostic does.
  LogicalResult run(ModuleOp module, ToolOutput &out) {
    const bool fingerprints = options.outputFormat == kFingerprints;
    int last = fingerprints ? findPhase("input") : options.compileTo;
    int first = options.compileFrom == 0 ? 0 : options.compileFrom + 1;
    if (last + 1 < first)
      return module.emitError() << "--compile-to=" << phases()[last].name
                                << " comes before --compile-from=" << phases()[options.compileFrom].name;
    if (failed(runPhases(module, first, last)) || failed(tellRemarks(module)))
      return failure();
    if (fingerprints)
      return success(out.write(fingerprintsOf(module)).ok());
    bool isEnd = StringRef(phases()[last].name) == "end";
    if (!isEnd || options.outputFormat == kAssembly) {
      std::string text;
      llvm::raw_string_ostream os(text);
      // The VM's program is for reading: executables and large constants are left out of it. --compile-to=vm has them.
      module->print(os, isEnd ? OpPrintingFlags().elideLargeElementsAttrs(64) : OpPrintingFlags());
      os << "\n";
      return success(out.write(text).ok());
    }
    auto vm = module.getOps<VM::ModuleOp>();
    if (vm.empty())
      return module.emitError() << "holds no vm.module to encode; did its compilation skip the vm phase?";
    // What the file has to say is no error of the program at some line.
    ScopedDiagnosticHandler quiet(&context, [&](Diagnostic &) { return success(!out.status().ok()); });
    auto encode = options.outputFormat == kC ? VM::writeModuleAsC : VM::encodeModule;
    return encode(*vm.begin(), [&](std::string_view bytes) { return out.write(bytes); });
  }

  // Of a file beside the output; ok where there was none to fail.
  const Status &status() const { return dumpStatus; }

private:
  static std::string fingerprintsOf(ModuleOp module) {
    std::string text;
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (function.isPublic())
        text += fingerprint(function).value_or("-") + " " + narrowestFloat(function).value_or("-") + " " +
                function.getName().str() + "\n";
    return text;
  }

  LogicalResult runPhases(ModuleOp module, int first, int last) {
    if (options.dumpPhasesTo.empty()) {
      PassManager passes(&context);
      return runPipeline(module, passes, first, last);
    }
    // With the mode that mkdir -p gives.
    if (std::error_code error =
            llvm::sys::fs::create_directories(options.dumpPhasesTo, /*IgnoreExisting=*/true, llvm::sys::fs::all_all)) {
      dumpStatus = errnoStatus(error.value(), fmt::format("cannot make the folder '{}'", options.dumpPhasesTo));
      return failure();
    }
    for (int phase = first; phase <= last; ++phase) {
      if (!phases()[phase].build)
        continue;
      PassManager passes(&context);
      if (failed(runPipeline(module, passes, phase, phase)) || failed(dumpPhase(module, phase)))
        return failure();
    }
    return success();
  }

  LogicalResult runPipeline(ModuleOp module, PassManager &passes, int first, int last) {
    if (failed(applyPassManagerCLOptions(passes)))
      return failure();
    applyDefaultTimingPassManagerCLOptions(passes);
    // A pipeline of the user's may leave what the next pass would crash on.
    passes.enableVerifier(options.verifyEach || runsUsersPasses(compiler));
    buildPhases(passes, compiler.context(), first, last);
    return passes.run(module);
  }

  LogicalResult tellRemarks(ModuleOp module) {
    SmallVector<Util::RemarkAttr> remarks = Util::remarksIn(module);
    if (options.remarks)
      for (Util::RemarkAttr remark : remarks)
        emitRemark(Location(remark.getLocation()))
            << Util::stringifyCost(remark.getCost()) << ": " << remark.getFunction().getValue() << " "
            << remark.getText().getValue();
    return options.remarksTo.empty() ? success() : writeBeside(options.remarksTo, Util::remarksAsYaml(remarks));
  }

  LogicalResult dumpPhase(ModuleOp module, int phase) {
    std::string path = (Twine(options.dumpPhasesTo) + "/" + module.getName().value_or("module") + "." +
                        Twine(phase + 1) + "." + phases()[phase].name + ".mlir")
                           .str();
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    os << "\n";
    return writeBeside(path, text);
  }

  LogicalResult writeBeside(const std::string &path, std::string_view text) {
    ToolOutput file(path);
    dumpStatus = file.write(text);
    if (dumpStatus.ok())
      dumpStatus = file.commit();
    return success(dumpStatus.ok());
  }

  Compiler &compiler;
  const ToolOptions &options;
  MLIRContext &context;
  Status dumpStatus;
};

// Whether a text has nothing but white space and comments, from which MLIR would make a module of no functions. What
// comes empty out of a pipe or a full disk is no program that anyone meant.
bool isBlank(StringRef text) {
  while (!(text = text.ltrim()).empty()) {
    if (!text.starts_with("//"))
      return false;
    text = text.drop_until([](char c) { return c == '\n'; });
  }
  return true;
}

// Whether a place is that of the module that MLIR puts around a program, which is line 0 of it: what is said there is
// about flags.
bool isOfWholeProgram(Location location, const llvm::SourceMgr &sources) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  StringRef name = sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier();
  return place && place.getLine() == 0 && place.getFilename() == name;
}

// Whether a file is to be read as an ONNX model: by its name, or as it starts with the number of its format's version,
// which no text does.
bool isOnnx(StringRef inputType, const llvm::MemoryBuffer &file) {
  return inputType == "onnx" || (inputType == "auto" && (file.getBuffer().starts_with("\x08") ||
                                                         file.getBufferIdentifier().ends_with(".onnx")));
}

// Says what is wrong on `errors`.
bool compileProgram(Compiler &compiler, const ToolOptions &options, std::unique_ptr<llvm::MemoryBuffer> source,
                    ToolOutput &out, llvm::raw_ostream &errors, bool isLast) {
  DialectRegistry registry;
  compiler.registerDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false); // a whole program in an error hides the error
  // Shared with the constants of a program in bytecode, which stay where they are in the file.
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(source), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(*sources, &context, errors);
  bool saidWhy = false;
  ScopedDiagnosticHandler listener(&context, [&](Diagnostic &diagnostic) {
    saidWhy |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !isOfWholeProgram(diagnostic.getLocation(), *sources))
      return failure(); // and goes on to the one that prints it
    const StringRef node = Util::nodeOf(diagnostic.getLocation());
    errors << "kiln-compile: error: " << (node.empty() ? "" : "node '" + node.str() + "': ") << diagnostic << "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      errors << "kiln-compile: note: " << note << "\n";
    return success();
  });
  auto report = [&](const Status &status) {
    errors << "kiln-compile: error: " << status.message() << "\n";
    return false;
  };
  if (const llvm::MemoryBuffer *text = sources->getMemoryBuffer(sources->getMainFileID()); isBlank(text->getBuffer()))
    return report(invalidArgument("'{}' {}, so there is no program to compile", text->getBufferIdentifier().str(),
                                  text->getBufferSize() == 0 ? "is empty" : "holds only comments and white space"));
  // Before the program, whose constants lie in it.
  std::unique_ptr<onnx::Model> model;
  OwningOpRef<ModuleOp> module;
  if (const llvm::MemoryBuffer &file = *sources->getMemoryBuffer(sources->getMainFileID());
      isOnnx(options.inputType, file)) {
    Result<std::unique_ptr<onnx::Model>> read = onnx::parseModel(
        std::as_bytes(std::span(file.getBufferStart(), file.getBufferSize())), file.getBufferIdentifier().str());
    if (!read.ok())
      return report(read.status());
    model = std::move(*read);
    module = onnx::importModel(*model, options.import, context);
    if (!module)
      return false;
  } else {
    module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context, /*verifyAfterParse=*/false));
    if (!module || failed(guardVerifier(*module)) || failed(verify(*module)))
      return false;
  }
  Compilation compilation(compiler, options, context);
  bool compiled = succeeded(compilation.run(*module, out));
  if (compiled && model && !model->isWhole())
    return report(dataLoss("a file of weights beside '{}' was cut off while it was read", model->path));
  if (Status status = compiled ? out.commit() : out.status(); !status.ok())
    return report(status);
  if (!compilation.status().ok())
    return report(compilation.status());
  if (!compiled && !saidWhy)
    return report(internalError("the compilation failed, and no pass said why, which is a fault of Kiln; "
                                "--mlir-print-ir-after-failure shows the pass"));
  // The process ends soon; taking the program apart first would only cost time.
  if (compiled && isLast)
    (void)module.release();
  return compiled;
}

} // namespace

int kiln::compileMain(int argc, char **argv, void (*registerBackends)(TargetBackendRegistry &),
                      llvm::function_ref<void(Compiler &, OptionBinder &)> extend) {
  llvm::InitLLVM init(argc, argv);
  nameWhatLlvmExhausts("kiln-compile");
  CommandLine commandLine("kiln-compile", argc, argv);
  if (!commandLine.ok())
    return 1;
  if (Status status = installPageLossHandler(); !status.ok()) // of weights that lie in files of their own
    return reportFailure("kiln-compile", status);

  Compiler compiler(registerBackends);
  ToolOptions options;
  OptionBinder binder;
  bindToolOptions(binder, options, compiler);
  compiler.bindOptions(binder);
  if (extend)
    extend(compiler, binder);
  llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::desc("<input file, or - for standard input>"),
                                   llvm::cl::init("-"));
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  if (commandLine.wantsDocs())
    return printOptionDocs("kiln-compile", binder);
  if (commandLine.wantsHelp())
    return printHelp(binder);
  if (commandLine.wantsVersion())
    return printVersion("kiln-compile");
  if (!commandLine.check(binder))
    return 1;
  auto report = [](const Status &status) { return reportFailure("kiln-compile", status); };
  binder.hideOthers();
  llvm::cl::ParseCommandLineOptions(commandLine.argc(), commandLine.argv(),
                                    "kiln-compile, with the flags of MLIR and LLVM\n");
  options.input = input;
  for (const std::string &note : compiler.notes())
    reportNote("kiln-compile", note);
  if (runsUsersPasses(compiler))
    compiler.registerPasses();

  if (!llvm::is_contained({"auto", "none", "tosa", "stablehlo", "onnx"}, options.inputType))
    return report(unimplemented(
        "--iree-input-type={} is not supported; Kiln reads linalg on tensors, TOSA, StableHLO and ONNX (auto)",
        options.inputType));
  if (options.serve)
    return serveCompilations(
        [&](std::unique_ptr<llvm::MemoryBuffer> source, const std::string &output, llvm::raw_ostream &errors) {
          ToolOutput out(output);
          return compileProgram(compiler, options, std::move(source), out, errors, /*isLast=*/false);
        });

  if (const std::string &given = compiler.context().options.parameterExport; !given.empty()) {
    const std::string archive = splitScope(given).second;
    if (archive == options.output || isSameFile(archive, options.output) || isSameFile(archive, options.input))
      return report(invalidArgument(
          "--kiln-parameter-export={}: that is the program or the module, which it would replace", given));
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> source = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!source)
    return report(errnoStatus(source.getError().value(), options.input == "-"
                                                             ? std::string("cannot read standard input")
                                                             : fmt::format("cannot read '{}'", options.input)));
  ToolOutput out(options.output);
  if (Status status = out.open(); !status.ok())
    return report(status);
  SaveTemps temps(commandLine.typed(), (*source)->getBuffer());
  DiagnosticStream errors;
  if (!compileProgram(compiler, options, std::move(*source), out, errors, /*isLast=*/true))
    return 1;
  temps.keepOutput(out);
  llvm::outs().flush();
  return 0;
}
