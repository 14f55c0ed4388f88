// kiln-dump-module: shows everything in a module file.
#include <algorithm>

#include "kiln/base/file.h"
#include "kiln/base/watched_pages.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/gpu_kernels.h"
#include "kiln/tools/module_text.h"

using namespace kiln;

namespace {

struct Options {
  std::vector<std::string> files;
  std::string output = "all";
  std::string extract;
  std::string executable;
  std::string target;
};

// The one variant that the flags leave to choose from; the error lists what there is.
Result<const vm::VariantInfo *> chooseVariant(const vm::Module &module, const Options &options) {
  const vm::VariantInfo *chosen = nullptr;
  size_t matching = 0;
  std::string all;
  for (const vm::ExecutableInfo &executable : module.executables())
    for (const vm::VariantInfo &variant : executable.variants) {
      // Of one backend there may be several, for machines that differ.
      const bool isAlone = std::ranges::count(executable.variants, variant.target, &vm::VariantInfo::target) == 1;
      all += fmt::format("\n  --executable={} --target={} ({})", executable.name,
                         isAlone ? variant.target : variant.cpu, variant.format);
      if ((!options.executable.empty() && options.executable != executable.name) ||
          (!options.target.empty() && options.target != variant.target && options.target != variant.cpu))
        continue;
      chosen = &variant;
      ++matching;
    }
  if (matching == 1)
    return chosen;
  if (all.empty())
    return notFound("module '{}' holds no executable to extract", module.fileName());
  return invalidArgument("{} executables of module '{}' match; choose one of:{}", matching ? "several" : "no",
                         module.fileName(), all);
}

Status extract(const vm::Module &module, const Options &options) {
  KILN_ASSIGN_OR_RETURN(const vm::VariantInfo *variant, chooseVariant(module, options));
  // What GPUs' drivers compile lies in a table, of which the text is wanted.
  const std::string code = gpuCodeOf(std::as_bytes(std::span(variant->bytes)));
  const std::string_view bytes = code.empty() ? std::string_view(variant->bytes) : code;
  if (options.extract == "-") {
    print(bytes);
    return okStatus();
  }
  KILN_RETURN_IF_ERROR(writeFile(options.extract, bytes));
  std::string line = fmt::format("wrote {} bytes of {} for {} to {}\n", bytes.size(), variant->format,
                                 variant->cpu.empty() ? variant->target : variant->cpu, options.extract);
  print(line);
  return okStatus();
}

std::string render(const vm::Container &container, const vm::Module *module, std::span<const Status> problems,
                   const std::string &output) {
  if (output == "json" || output == "flatbuffer-json")
    return moduleJson(container, module, problems);
  std::string text;
  if (output != "disassembly")
    text += containerText(container);
  if (module && output != "disassembly")
    text += "\n" + metadataText(*module);
  if (module && output == "all")
    text += "\nFunctions\n";
  if (module && output != "metadata")
    text += disassemblyText(*module);
  return text;
}

// Prints what can be printed; the first problem is the error.
Status dump(const Options &options) {
  const std::string &path = options.files.front();
  KILN_RETURN_IF_ERROR(installPageLossHandler());
  KILN_ASSIGN_OR_RETURN(Ref<vm::FileBytes> bytes, vm::openFileBytes(path));
  std::vector<Status> problems;
  vm::Container container = vm::readContainer(path == "-" ? "standard input" : path, std::move(bytes), problems);
  KILN_RETURN_IF_ERROR(container.file->checkReadable());
  // What does not even start like a module has nothing to show.
  if (container.header.version == 0)
    return problems.front();
  Ref<vm::Module> module;
  if (!container.sections.empty())
    module = vm::Module::inspect(container, problems);
  if (options.extract.empty()) {
    std::string text = render(container, module.get(), problems, options.output);
    print(text);
  } else if (module) {
    KILN_RETURN_IF_ERROR(extract(*module, options));
  }
  KILN_RETURN_IF_ERROR(flushStandardOutput());
  if (problems.empty())
    return okStatus();
  std::string message(problems.front().message());
  for (size_t i = 1; i < problems.size(); ++i)
    message += fmt::format("\n  also: {}", problems[i].message());
  return Status(problems.front().code(), std::move(message));
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-dump-module");
  Options options;
  FlagParser parser(
      "kiln-dump-module",
      "Shows what a compiled module holds: the sections of the file and whether their checksums match, the "
      "exported functions and how they were declared, imports, executables with what they need of a "
      "machine, constants, and the code of the host program. Of a damaged module it shows what can still "
      "be read, says what is wrong, and exits with 1.");
  parser.addPositional({"file", "FILE", "The module; `-` reads standard input."}, options.files);
  parser.group("What to show");
  parser.addChoice({"output", "all|metadata|disassembly|json|flatbuffer-json",
                    "metadata is everything but code, disassembly is only code. json is everything, for programs; "
                    "flatbuffer-json is another name of it."},
                   options.output);
  parser.group("Taking an executable out");
  parser.add(
      {"extract", "FILE", "Writes the bytes of an executable to FILE (`-` is standard output) and shows nothing."},
      options.extract);
  parser.add({"executable", "NAME", "Which executable to extract, where the module has several."}, options.executable);
  parser.add({"target", "TARGET",
              "Which of its variants to extract: llvm-cpu, cuda, or sm_90a where there are several for GPUs."},
             options.target);
  parser.example("kiln-dump-module abs.vmfb");
  parser.example("kiln-dump-module abs.vmfb --output=disassembly");
  parser.example("kiln-dump-module abs.vmfb --extract=abs.so && objdump -d abs.so");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  Status status;
  if (options.files.size() != 1)
    status = invalidArgument("one module file is needed; {} are given", options.files.size());
  else
    status = dump(options);
  return status.ok() ? 0 : reportFailure(parser.tool(), status);
}
