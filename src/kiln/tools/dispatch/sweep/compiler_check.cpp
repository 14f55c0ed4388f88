#include "kiln/tools/dispatch/sweep/compiler_check.h"

#include <cerrno>
#include <filesystem>
#include <unistd.h>

#include "kiln/tools/dispatch/rows/run_program.h"

namespace kiln {

Status checkCompiler(std::string_view flag, const std::string &path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return invalidArgument("{}: '{}' is a folder; name the kiln-compile in it", flag, path);
  if (access(path.c_str(), X_OK) != 0)
    return errnoStatus(errno, fmt::format("{}: '{}' cannot be run", flag, path));
  Result<ProgramOutput> output = runProgram({path, "--version"});
  if (!output.ok())
    return std::move(output).status().withContext(std::string(flag));
  std::string_view line = std::string_view(output->out).substr(0, output->out.find('\n'));
  if (output->exitCode == 0 && line.find("compile (Kiln) ") != std::string_view::npos)
    return okStatus();
  return invalidArgument("{}: '{}' is no kiln-compile: asked for its --version, it says '{}'", flag, path,
                         line.empty() ? "nothing" : line.substr(0, 60));
}

Status checkCompilers(const DispatchFlags &flags) {
  if (!flags.compiler.empty())
    KILN_RETURN_IF_ERROR(checkCompiler("--compiler", flags.compiler));
  KILN_ASSIGN_OR_RETURN(std::vector<CompilerBuild> variants, flags.parsedVariants());
  for (const CompilerBuild &variant : variants)
    if (!variant.compiler.empty() && variant.compiler != flags.compiler)
      KILN_RETURN_IF_ERROR(checkCompiler("--compiler-variant=" + variant.variant, variant.compiler));
  return okStatus();
}

} // namespace kiln
