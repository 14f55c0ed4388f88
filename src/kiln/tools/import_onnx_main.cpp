#include "kiln/tools/import_onnx_main.h"

#include "kiln/base/watched_pages.h"
#include "kiln/compiler/Input/Onnx/OnnxImport.h"
#include "kiln/compiler/Interfaces/OptionBinder.h"
#include "kiln/tools/compiler_main.h"
#include "kiln/tools/diagnostic_stream.h"
#include "kiln/tools/help_text.h"
#include "kiln/tools/tool_output.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace kiln;

namespace {

constexpr const char *kTool = "kiln-import-onnx";

struct ToolOptions {
  std::string output = "-";
  onnx::ImportOptions import;
};

void bindToolOptions(OptionBinder &binder, ToolOptions &options) {
  binder.group(kTool);
  binder.flag("o", &options.output, "file", "Where to write; - is standard output");
  binder.flag("entry-point-name", &options.import.entryPoint, "name",
              "What the program's function is called; the graph's name where it is not given");
}

int printHelp(const OptionBinder &binder) {
  HelpText help;
  help.paragraph("Usage: kiln-import-onnx [flags] MODEL.onnx");
  help.paragraph("");
  help.paragraph("Writes an ONNX model as a tensor program (MLIR: func, linalg on tensors, arith, math), which "
                 "kiln-compile takes; that imports models by itself, too. Nodes that are not supported are listed, all "
                 "of them, and nothing is written then.");
  appendOptions(help, binder);
  help.heading("General");
  help.item("--flagfile=FILE", "Reads flags from a file, one on each line; # starts a comment.");
  help.item("--mlir-print-debuginfo", "Writes the names of nodes as locations.");
  help.item("--version", "Prints the version.");
  help.item("--help", "Prints this.");
  help.heading("Examples");
  help.command("kiln-import-onnx resnet50.onnx -o resnet50.mlir");
  return printText(kTool, help.text());
}

// What is wrong with a model is at no line of a text.
void tellOn(mlir::MLIRContext &context, llvm::raw_ostream &errors) {
  context.getDiagEngine().registerHandler([&errors](mlir::Diagnostic &diagnostic) {
    errors << kTool << ": " << (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error ? "error: " : "warning: ")
           << diagnostic << "\n";
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      errors << kTool << ": note: " << note << "\n";
    return mlir::success();
  });
}

} // namespace

int kiln::importOnnxMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  nameWhatLlvmExhausts(kTool);
  CommandLine commandLine(kTool, argc, argv);
  if (!commandLine.ok())
    return 1;
  ToolOptions options;
  OptionBinder binder;
  bindToolOptions(binder, options);
  llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::desc("<model>"));
  mlir::registerAsmPrinterCLOptions();
  if (commandLine.wantsDocs())
    return printOptionDocs(kTool, binder);
  if (commandLine.wantsHelp())
    return printHelp(binder);
  if (commandLine.wantsVersion())
    return printVersion(kTool);
  if (!commandLine.check(binder))
    return 1;
  binder.hideOthers();
  llvm::cl::ParseCommandLineOptions(commandLine.argc(), commandLine.argv(), "");
  auto report = [](const Status &status) { return reportFailure(kTool, status); };
  if (input.empty())
    return report(invalidArgument("which model? kiln-import-onnx MODEL.onnx -o MODEL.mlir; --help says more"));
  if (Status status = installPageLossHandler(); !status.ok())
    return report(status);
  Result<std::unique_ptr<onnx::Model>> model = onnx::readModel(input);
  if (!model.ok())
    return report(model.status());
  ToolOutput out(options.output);
  if (Status status = out.open(); !status.ok())
    return report(status);
  mlir::MLIRContext context;
  context.printOpOnDiagnostic(false);
  DiagnosticStream errors;
  tellOn(context, errors);
  mlir::OwningOpRef<mlir::ModuleOp> module = onnx::importModel(**model, options.import, context);
  if (!module)
    return 1;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  Status status = (*model)->isWhole() ? out.write(text)
                                      : dataLoss("'{}', or a file beside it, was cut off while it was read", input);
  if (status.ok())
    status = out.commit();
  return status.ok() ? 0 : report(status);
}
