#include "kiln/tools/dispatch/document_flags.h"

#include <algorithm>
#include <string_view>

namespace kiln {

namespace {

struct Accepted {
  const char *name;
  const char *value;                               // as in FlagText; null: a flag without one
  const char *instead;                             // what happens
  bool (*belongs)(const DocumentVerb &) = nullptr; // to the flags of a verb; null: to those of all
  const char *fine = "";                           // the value that is what happens, of which there is nothing to say
  bool DispatchFlags::*onGpu = nullptr;            // what it sets where the device is a GPU
  const char *gpuHelp = "";                        // and what happens there
};

bool measures(const DocumentVerb &verb) {
  return verb.measures;
}
bool hasNoTable(const DocumentVerb &verb) {
  return !verb.output.table;
}
bool hasNoTags(const DocumentVerb &verb) {
  return !verb.output.tags;
}
bool hasNoCommands(const DocumentVerb &verb) {
  return !verb.output.commands;
}

constexpr const char *kGpuInstructions = "it has no effect; these are instructions of NVIDIA GPUs";
constexpr const char *kOnlyMmaSync = "On a GPU, configurations of tensorcore_mmasync alone. ";
constexpr const char *kOnlyWmma = "On a GPU, configurations of tensorcore_wmma alone. ";

// As in other tools, "iree-" at the start of a flag is "kiln-".
constexpr Accepted kAccepted[] = {
    {"build-dir", "DIR", "the compiler and the tools are those beside kiln-dispatch"},
    {"kiln-bin-dir", "DIR", "the compiler and the tools are those beside kiln-dispatch"},
    {"mlir-dialect", "NAME", "programs are in linalg", nullptr, "linalg"},
    {"batch-size", "N", "calls are timed in batches that are as long as the clock needs"},
    {"kiln-hal-benchmark-dispatch-repeat-count", "N", "calls are timed in batches that are as long as the clock needs"},
    {"use-mma-sync", nullptr, kGpuInstructions, nullptr, "", &DispatchFlags::usesMmaSync, kOnlyMmaSync},
    {"kiln-codegen-llvmgpu-use-mma-sync", nullptr, kGpuInstructions, nullptr, "", &DispatchFlags::usesMmaSync,
     kOnlyMmaSync},
    {"use-wmma", nullptr, kGpuInstructions, nullptr, "", &DispatchFlags::usesWmma, kOnlyWmma},
    {"kiln-codegen-llvmgpu-use-wmma", nullptr, kGpuInstructions, nullptr, "", &DispatchFlags::usesWmma, kOnlyWmma},
    {"print-ir-after-all", nullptr, "`kiln-compile --mlir-print-ir-after-all FILE.mlir` prints it, of one file"},
    {"mlir-print-ir-after-all", nullptr, "`kiln-compile --mlir-print-ir-after-all FILE.mlir` prints it, of one file"},
    {"verification-providers", "NAME", "results are checked exactly, which needs no other program", measures},
    {"output", "FILE", "`profile` and `sweep` write tables", hasNoTable},
    {"append", nullptr, "`profile` and `sweep` write tables", hasNoTable},
    {"tags", "KEY:VALUE,...", "`profile` and `sweep` store results, which have tags", hasNoTags},
    {"save-cmds", nullptr, "`compile` and `sweep` write the commands", hasNoCommands},
};

constexpr const char *kArchitecture[] = {"cuda-arch", "kiln-hal-cuda-llvm-target-arch"};

} // namespace

void DocumentFlags::add(FlagParser &parser, DispatchFlags &flags, DocumentVerb verb) {
  parser.group("Other names, as in the documents");
  parser.add({"dispatch", "REGEX,...", "--dispatches."}, flags.dispatches);
  parser.add({"kiln-hal-target-backends", "NAME", "--device."}, flags.device);
  if (auto slices = flags.problemSizes.find("slices"); slices != flags.problemSizes.end())
    parser.add({"kiln-flow-split-matmul-reduction", "SIZES", "--problem-slices."}, slices->second.text);
  for (const char *name : kArchitecture)
    parser.add({name, "ARCH",
                "The GPU to compile for, such as sm_90a, or a product such as h100; without it, that of --device."},
               architectures[name]);
  if (!verb.compiles)
    parser.add({"device", "NAME", "Accepted as by the other verbs."}, flags.device);
  parser.group("Accepted, with a note");
  for (const Accepted &accepted : kAccepted) {
    if (accepted.belongs && !accepted.belongs(verb))
      continue;
    std::string help = accepted.onGpu ? std::string(accepted.gpuHelp) + "Elsewhere " : "";
    help += accepted.instead;
    help[0] = help[0] == '`' ? help[0] : static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
    if (accepted.value)
      parser.add({accepted.name, accepted.value, help + "."}, values[accepted.name]);
    else
      parser.addOptionalValue({accepted.name, "true|false", help + "."}, switches[accepted.name]);
  }
}

void DocumentFlags::apply(DispatchFlags &flags) const {
  for (const auto &[name, architecture] : architectures)
    if (!architecture.empty())
      flags.cudaArchitecture = architecture;
  for (const Accepted &accepted : kAccepted)
    if (auto found = switches.find(accepted.name); accepted.onGpu && found != switches.end() && found->second)
      flags.*accepted.onGpu = flags.*accepted.onGpu || *found->second != "false";
}

std::vector<std::string> DocumentFlags::notes(const DispatchFlags &flags) const {
  std::vector<std::string> lines;
  for (const auto &[name, architecture] : architectures)
    if (!architecture.empty() && flags.labDevice.isCpu())
      lines.push_back(fmt::format("--{}={}: it has no effect; the device is the CPU", name, architecture));
  for (const Accepted &accepted : kAccepted) {
    std::string given;
    if (auto value = values.find(accepted.name); value != values.end() && !value->second.empty()) {
      if (value->second == accepted.fine)
        continue;
      given = fmt::format("--{}={}", accepted.name, value->second);
    } else if (auto found = switches.find(accepted.name); found != switches.end() && found->second) {
      if (*found->second == "false" || (accepted.onGpu && flags.labDevice.isGpu()))
        continue;
      given = fmt::format("--{}", accepted.name);
    } else {
      continue;
    }
    lines.push_back(fmt::format("{}: {}", given, accepted.instead));
  }
  return lines;
}

} // namespace kiln
