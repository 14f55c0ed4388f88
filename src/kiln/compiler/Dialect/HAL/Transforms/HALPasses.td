// Passes of the phases executable-sources, executable-targets and hal.
#ifndef KILN_COMPILER_DIALECT_HAL_TRANSFORMS_HALPASSES_TD
#define KILN_COMPILER_DIALECT_HAL_TRANSFORMS_HALPASSES_TD

include "mlir/Pass/PassBase.td"

def MaterializeExecutablesPass : Pass<"kiln-hal-materialize-executables", "mlir::ModuleOp"> {
  let summary = "Makes a variant of each executable for each target";
  let description = [{
    The bindings and constants that a function takes as arguments become `hal.interface` ops, and the export says how many
    of each there are. The workgroup count stays open.
  }];
  let dependentDialects = ["::kiln::HAL::HALDialect"];
  let constructor = "kiln::HAL::createMaterializeExecutablesPass(context)";
}

def DumpExecutablesPass : Pass<"kiln-hal-dump-executables", "mlir::ModuleOp"> {
  let summary = "Writes each executable into a folder";
  let description = [{
    As <module>_<executable>.mlir, with `prefix` before it. Does nothing where the folder is empty.
  }];
  let options = [
    Option<"path", "path", "std::string", "", "Folder; it is made where it does not exist">,
    Option<"prefix", "prefix", "std::string", "", "How the files' names start">
  ];
}

def ConfigureBySpecPass : Pass<"kiln-hal-configure-by-spec", "kiln::HAL::ExecutableVariantOp"> {
  let summary = "Applies the user's transform-dialect spec of configurations to each dispatch";
  let description = [{
    The spec is given by --kiln-codegen-transform-dialect-library. What it writes on operations, a `kiln.configuration`
    above all, is there before the target chooses strategy and configuration.
  }];
  let constructor = "kiln::HAL::createConfigureBySpecPass(context)";
}

def ConfigureExecutablePass : Pass<"kiln-hal-configure-executable", "kiln::HAL::ExecutableVariantOp"> {
  let summary = "Lets the target choose strategy and configuration";
  let constructor = "kiln::HAL::createConfigureExecutablePass(context)";
}

def TranslateExecutablePass : Pass<"kiln-hal-translate-executable", "kiln::HAL::ExecutableVariantOp"> {
  let summary = "Lets the target generate code";
  let constructor = "kiln::HAL::createTranslateExecutablePass(context)";
}

def LinkExecutablesPass : Pass<"kiln-hal-link-executables", "mlir::ModuleOp"> {
  let summary = "Merges all executables of a module into one";
  let description = [{
    Where all targets can: one executable with all exports is loaded once and needs one link. Launches are redirected.
    The modules of the executables stay modules of their own, for which code is generated at the same time.
  }];
  let dependentDialects = ["::kiln::HAL::HALDialect"];
  let constructor = "kiln::HAL::createLinkExecutablesPass(context)";
}

def ConvertToHALPass : Pass<"kiln-hal-convert-stream", "mlir::ModuleOp"> {
  let summary = "Turns the schedule into command buffers and calls of the runtime";
  let description = [{
    A submission whose commands are the same at each call is recorded by an initializer and only executed where it stood,
    with the buffers of the call in its binding table; any other is recorded each time. Executables are loaded by an
    initializer.
  }];
  let dependentDialects = ["::kiln::HAL::HALDialect", "::kiln::Util::UtilDialect", "::mlir::arith::ArithDialect"];
  let constructor = "kiln::HAL::createConvertToHALPass(context)";
}

def SerializeExecutablesPass : Pass<"kiln-hal-serialize-executables", "kiln::HAL::ExecutableOp"> {
  let summary = "Compiles each variant to the bytes that a driver loads";
  let constructor = "kiln::HAL::createSerializeExecutablesPass(context)";
}

#endif // KILN_COMPILER_DIALECT_HAL_TRANSFORMS_HALPASSES_TD
