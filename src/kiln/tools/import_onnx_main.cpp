#include "kiln/tools/import_onnx_main.h"

#include "kiln/base/watched_pages.h"
#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Input/Onnx/OnnxImport.h"
#include "kiln/compiler/Interfaces/OptionBinder.h"
#include "kiln/compiler/Transforms/Parameters.h"
#include "kiln/tools/compiler_main.h"
#include "kiln/tools/diagnostic_stream.h"
#include "kiln/tools/help_text.h"
#include "kiln/tools/tool_output.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

using namespace kiln;

namespace {

constexpr const char *kTool = "kiln-import-onnx";

struct ToolOptions {
  std::string output = "-";
  onnx::ImportOptions import;
  bool externalize = false, save = true;
  std::string parameterScope = "model", parameterFile;
  int64_t leastElements = 100;
};

void bindToolOptions(OptionBinder &binder, ToolOptions &options) {
  binder.group(kTool);
  binder.flag("o", &options.output, "file", "Where to write; - is standard output");
  binder.flag("entry-point-name", &options.import.entryPoint, "name",
              "What the program's function is called; the graph's name where it is not given");
  binder.flag("donate", &options.import.donated, "names",
              "Inputs whose memory a call takes, to update it: results may be in it, and who calls uses it no more. * "
              "stands for any letters, as in past_key_values.*");
  binder.group("Weights beside the program");
  binder.flag(
      "externalize-params", &options.externalize,
      "Make parameters of the model's constants: the program names them, and an archive (.irpa) has their values");
  binder.flag("num-elements-threshold", &options.leastElements, "count",
              "How many elements a constant has at least that becomes a parameter");
  binder.flag("params-scope", &options.parameterScope, "name",
              "The scope of parameters, as in --parameters=model=FILE");
  binder.flag("save-params", &options.save, "Write the archive, too");
  binder.action("no-save-params", [&options] { options.save = false; }, "Write the program alone");
  binder.flag("save-params-to", &options.parameterFile, "file",
              "Where the archive is written: <output>_params.irpa where it is not given");
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
  help.command("kiln-import-onnx --externalize-params resnet50.onnx -o resnet50.mlir");
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

// resnet50.mlir's parameters are in resnet50_params.irpa.
std::string archivePath(const ToolOptions &options) {
  if (!options.parameterFile.empty())
    return options.parameterFile;
  llvm::SmallString<128> path(options.output);
  llvm::sys::path::replace_extension(path, "");
  return (path + "_params.irpa").str();
}

mlir::LogicalResult externalize(mlir::ModuleOp module, const ToolOptions &options) {
  ParameterExport parameters;
  parameters.scope = options.parameterScope;
  if (options.save)
    parameters.path = archivePath(options);
  parameters.minimumElements = options.leastElements;
  parameters.asGlobals = true;
  module.getContext()->loadDialect<Flow::FlowDialect, Util::UtilDialect>();
  return exportParameters(module, parameters);
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
  if (options.externalize && options.save && options.output == "-" && options.parameterFile.empty())
    return report(invalidArgument("--externalize-params writes an archive beside the program; -o names its file, or "
                                  "--save-params-to the archive's"));
  if (input.empty())
    return report(invalidArgument("which model? kiln-import-onnx MODEL.onnx -o MODEL.mlir; --help says more"));
  if (Status status = installPageLossHandler(); !status.ok())
    return report(status);
  if (options.externalize && options.parameterScope.find_first_of("=/") != std::string::npos)
    return report(invalidArgument("--params-scope={}: --parameters=SCOPE=FILE cannot name a scope with '=' or '/'",
                                  options.parameterScope));
  if (const std::string archive = archivePath(options);
      options.externalize && options.save &&
      (archive == options.output || isSameFile(archive, options.output) || isSameFile(archive, input)))
    return report(invalidArgument("'{}' is the model or the program, which the archive would replace; "
                                  "--save-params-to=FILE names another",
                                  archive));
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
  if (options.externalize && mlir::failed(externalize(*module, options)))
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
