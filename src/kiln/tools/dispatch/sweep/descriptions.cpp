#include "kiln/tools/dispatch/sweep/descriptions.h"

#include <map>

#include "kiln/base/file.h"
#include "kiln/base/split.h"
#include "kiln/measure/verify/number.h"
#include "kiln/tools/dispatch/sweep/generated.h"

namespace kiln {

namespace {

using measure::Problem;

// What the compiler tells of a function; "-" for what there is not.
struct Described {
  std::string fingerprint, narrowestFloat;
};
using Descriptions = std::map<std::string, Described, std::less<>>; // by the function's name

// The compiler's lines: "d01b249f0c2d3716c7bedaa5248bf26d f32 main".
Result<Descriptions> readDescriptions(const std::string &path) {
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(path));
  Descriptions functions;
  for (std::string_view line : split(file->text(), '\n')) {
    size_t first = line.find(' '), second = line.find(' ', first + 1);
    if (first != line.npos && second != line.npos)
      functions.emplace(line.substr(second + 1), Described{std::string(line.substr(0, first)),
                                                           std::string(line.substr(first + 1, second - first - 1))});
  }
  return functions;
}

// What a program may be, and the text of one module with a function for each of these, named as the problem.
struct Guesses {
  std::vector<measure::Problems> ofPrograms;
  std::string text;
};

Guesses guess(const measure::FamilyRegistry &families, std::span<const DescribedProgram> programs) {
  Guesses guesses;
  std::map<std::string, std::string> functions;
  for (const DescribedProgram &program : programs) {
    const measure::corpus::CorpusProblem &problem = *program.problem;
    measure::Problems &own = guesses.ofPrograms.emplace_back();
    if (problem.obstacle().ok())
      own = families.problemsWith(problem.inputs(), problem.outputs());
    for (const std::unique_ptr<Problem> &one : own)
      functions.try_emplace(one->name(), one->mlir(one->name(), ""));
  }
  for (const auto &[name, function] : functions)
    guesses.text += function;
  return guesses;
}

} // namespace

Status describePrograms(const measure::FamilyRegistry &families, const CompileSettings &settings,
                        std::span<const DescribedProgram> programs) {
  if (programs.empty())
    return okStatus();
  Guesses guesses = guess(families, programs);
  KILN_RETURN_IF_ERROR(makeFolder(settings.cache));
  const std::string known = fmt::format("{}/operations.mlir", settings.cache);
  // A file without a function is an error of the compiler.
  KILN_RETURN_IF_ERROR(writeFile(known, guesses.text.empty() ? "module {}\n" : guesses.text));
  std::vector<CompileJob> jobs = {{known, {}}};
  for (const DescribedProgram &program : programs)
    if (jobs.back().source != program.path) // functions of one file follow each other
      jobs.push_back({program.path, {}});
  CompileSettings describing = settings;
  describing.compiler.clear(); // the one beside this tool, which knows these families
  describing.flags = {"--output-format=fingerprints"};
  KILN_ASSIGN_OR_RETURN(std::vector<CompileResult> results,
                        compileAll(jobs, describing, [](size_t, const CompileResult &) {}));
  if (!results[0].ok())
    return internalError("the families' own programs do not compile: {}", results[0].error);
  std::map<std::string, Descriptions, std::less<>> files;
  for (size_t i = 0; i < jobs.size(); ++i)
    if (results[i].ok()) {
      KILN_ASSIGN_OR_RETURN(files[jobs[i].source],
                            readDescriptions(fmt::format("{}/{}.vmfb", settings.cache, results[i].key)));
    }
  const Descriptions &operations = files[known];
  for (size_t i = 0; i < programs.size(); ++i) {
    const Descriptions &own = files[programs[i].path];
    auto described = own.find(programs[i].problem->ownFunction().value_or(""));
    if (described == own.end())
      continue;
    const auto &[fingerprint, narrowest] = described->second;
    if (std::optional<hal::ElementType> type = measure::verify::parseMeasuredType(narrowest))
      programs[i].problem->setNarrowestFloat(*type);
    for (std::unique_ptr<Problem> &one : guesses.ofPrograms[i])
      if (auto operation = operations.find(one->name());
          fingerprint != "-" && operation != operations.end() && operation->second.fingerprint == fingerprint) {
        programs[i].problem->setOperation(std::move(one));
        break;
      }
  }
  return okStatus();
}

} // namespace kiln
