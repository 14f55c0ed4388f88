// The names of flags, in one place for every tool of Kiln.
//
// One rule carries documents over: what they call `iree-X` (a flag, a pass, a pipeline) is `kiln-X` here, and both
// spellings are accepted. The functions are pure but for expandFlagFiles, which reads the files it is told to; they
// know no parser, so that the compiler's tools (llvm::cl) and the runtime's (tools/cli.h) share them:
//
//   expandFlagFiles -> canonicalArguments -> the tool's parser -> unknownFlagMessage for what is left over
#ifndef KILN_BASE_FLAGS_H
#define KILN_BASE_FLAGS_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"

namespace kiln {

// "iree-x" -> "kiln-x", "iree_x" -> "kiln_x"; any other name stays. Not for whole arguments: no leading dashes.
std::string canonicalName(std::string_view name);

// A pass pipeline with its pass names made canonical: "builtin.module(iree-a{x=iree-b},cse)" becomes
// "builtin.module(kiln-a{x=iree-b},cse)". What stands inside braces are values and stays. A bare list of pass names is
// a pipeline too.
std::string canonicalPipeline(std::string_view pipeline);

// Arguments without the program's name, flag names made canonical. Only the name of a flag changes, up to its '=';
// values and positional arguments never do, with one exception: the value of a flag that holds a pipeline or pass names
// (--pass-pipeline, --iree-preprocessing-pass-pipeline, --mlir-print-ir-before and -after), joined with '=' or standing
// as the next argument, goes through canonicalPipeline. The argument after `-o` and all that follow `--` are left
// alone.
std::vector<std::string> canonicalArguments(std::span<const std::string> arguments);

// Replaces each --flagfile=FILE by the lines of that file. A line is one argument, taken as it is but for white space
// at both ends: a shell's quotes around a value are not removed. Empty lines and lines that start with '#' are skipped.
// Files may name further files, relative to the working directory like any path; a file that includes itself is an
// error. What follows `--` is left alone.
Result<std::vector<std::string>> expandFlagFiles(std::span<const std::string> arguments);

// The name in `known` that a person most likely meant by `name`, or "" when none is near. Compares by the number of
// edits (insert, delete, replace, swap neighbours), with '-' and '_' equal; of equally near names the first one.
std::string_view nearestName(std::string_view name, std::span<const std::string> known);

// A sentence about an argument that no flag of the tool matches: "unknown flag '--inptu'; did you mean '--input'?".
// `argument` may carry dashes and a value, `known` are names without dashes. A flag written iree-x gets its suggestion
// in that spelling.
std::string unknownFlagMessage(std::string_view argument, std::span<const std::string> known);

} // namespace kiln

#endif // KILN_BASE_FLAGS_H
