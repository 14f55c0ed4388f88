#include "kiln/tools/dispatch/rows/mca.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kiln/tools/dispatch/rows/run_program.h"

namespace kiln {

using Json = nlohmann::json;

static constexpr int kIterations = 500; // so many that the first ones' latencies do not show

static const Json *regionOf(const Json &report, std::string_view name) {
  auto regions = report.find("CodeRegions");
  if (regions == report.end() || !regions->is_array())
    return nullptr;
  for (const Json &region : *regions)
    if (auto called = region.is_object() ? region.find("Name") : region.end();
        called != region.end() && called->is_string() && called->get_ref<const std::string &>() == name)
      return &region;
  return nullptr;
}

static double number(const Json &object, const char *member) {
  auto found = object.find(member);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

// A member that is an object; an empty one where it is not.
static const Json &child(const Json &object, const char *member) {
  static const Json empty = Json::object();
  auto found = object.find(member);
  return found != object.end() && found->is_object() ? *found : empty;
}

static std::string busiestResource(const Json &analysis) {
  std::string name;
  double most = 0;
  if (auto pressure = analysis.find("ResourcePressure"); pressure != analysis.end() && pressure->is_array())
    for (const Json &entry : *pressure)
      if (entry.is_object())
        for (const auto &[resource, cycles] : entry.items())
          if (cycles.is_number() && cycles.get<double>() > most) {
            most = cycles.get<double>();
            name = resource;
          }
  return name;
}

static std::string bottleneckOf(const Json &analysis, const Json &summary) {
  double total = std::max(number(analysis, "TotalCycles"), 1.0);
  double resources = number(analysis, "ResourcePressureCycles") / total;
  double registers = number(analysis, "RegisterDependencyCycles") / total;
  double memory = number(analysis, "MemoryDependencyCycles") / total;
  constexpr double least = 0.05;
  if (std::max({resources, registers, memory}) < least)
    return fmt::format("none in the back end; {:.1f} of at most {:g} micro-ops a cycle are dispatched",
                       number(summary, "uOpsPerCycle"), number(summary, "DispatchWidth"));
  if (resources >= registers && resources >= memory)
    return fmt::format("units ({}, in {:.0f} % of cycles)", busiestResource(analysis), resources * 100);
  if (registers >= memory)
    return fmt::format("one result waits for another, in {:.0f} % of cycles", registers * 100);
  return fmt::format("loads wait for stores, in {:.0f} % of cycles", memory * 100);
}

static std::vector<McaInstruction> instructionsOf(const Json &region) {
  std::vector<McaInstruction> instructions;
  auto texts = region.find("Instructions");
  const Json &view = child(region, "InstructionInfoView");
  auto infos = view.find("InstructionList");
  if (texts == region.end() || !texts->is_array() || infos == view.end() || !infos->is_array())
    return instructions;
  for (const Json &text : *texts)
    instructions.push_back({text.is_string() ? text.get<std::string>() : "", 0, 0});
  for (const Json &info : *infos) {
    auto index = static_cast<size_t>(info.is_object() ? number(info, "Instruction") : -1);
    if (index < instructions.size()) {
      instructions[index].throughput = number(info, "RThroughput");
      instructions[index].latency = number(info, "Latency");
    }
  }
  return instructions;
}

Result<McaReport> parseMca(std::string_view text, const HotLoop &loop) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const Json *region = json.is_object() ? regionOf(json, "loop") : nullptr;
  if (!region)
    return dataLoss("llvm-mca's report says nothing of the loop; it starts with: {}", text.substr(0, 200));
  const Json &summary = child(*region, "SummaryView");
  McaReport report;
  double iterations = number(summary, "Iterations");
  if (iterations <= 0 || number(summary, "TotalCycles") <= 0)
    return dataLoss("llvm-mca's report has no count of cycles");
  report.cycles = number(summary, "TotalCycles") / iterations;
  report.blockThroughput = number(summary, "BlockRThroughput");
  report.bottleneck = bottleneckOf(child(*region, "BottleneckAnalysis"), summary);
  report.instructions = instructionsOf(*region);
  if (const Json *peak = regionOf(json, "peak")) {
    double cycles = number(child(*peak, "SummaryView"), "BlockRThroughput");
    if (cycles > 0 && loop.peakFlops > 0)
      report.peakPercent = 100 * (loop.flops / report.cycles) / (loop.peakFlops / cycles);
  }
  return report;
}

Result<McaReport> analyzeLoop(const HotLoop &loop, std::string_view cpu, std::string_view triple) {
  KILN_ASSIGN_OR_RETURN(std::string tool, findProgram({"llvm-mca-22", "llvm-mca"}, "llvm-22"));
  bool arm = triple.starts_with("aarch64");
  std::string_view comment = arm ? "//" : "#";
  std::string text = fmt::format("{} LLVM-MCA-BEGIN loop\n", comment);
  for (const std::string &line : loop.lines)
    text += line + "\n";
  text += fmt::format("{} LLVM-MCA-END loop\n", comment);
  if (!loop.peakInstruction.empty())
    text += fmt::format("{0} LLVM-MCA-BEGIN peak\n{1}\n{0} LLVM-MCA-END peak\n", comment, loop.peakInstruction);
  std::vector<std::string> command = {tool,
                                      fmt::format("-mtriple={}", triple),
                                      fmt::format("-iterations={}", kIterations),
                                      "-bottleneck-analysis",
                                      "-skip-unsupported-instructions=lack-sched",
                                      "-json",
                                      "-"};
  if (!cpu.empty())
    command.push_back(fmt::format("-mcpu={}", cpu));
  KILN_ASSIGN_OR_RETURN(ProgramOutput output, runProgram(command, text));
  if (output.exitCode != 0)
    return unknownError("'{}' failed: {}", tool, output.error);
  return parseMca(output.out, loop);
}

} // namespace kiln
