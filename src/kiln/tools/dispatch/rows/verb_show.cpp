// `kiln-dispatch show`: the IR of a row's dispatch, or its hot loop beside the leader's.
#include <algorithm>

#include "kiln/report/formats/text.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/rows/hot_loop.h"
#include "kiln/tools/dispatch/rows/mca.h"
#include "kiln/tools/dispatch/rows/recompile.h"
#include "kiln/tools/dispatch/rows/stored_row.h"
#include "kiln/tools/printing.h"
#include "kiln/tools/version.h"

namespace kiln {

static constexpr size_t kSideBySide = 160; // columns of a terminal on which two loops stand beside each other
static constexpr const char *kBeforeLlvm = "executable-targets";

void ShowFlags::add(FlagParser &parser) {
  parser.group("What to show");
  parser.add({"ir", "", "The IR of the dispatch as it is before LLVM gets it, or after --stage."}, ir);
  parser.add(
      {"stage", "NAME",
       "With --ir: after this phase of the compiler (flow, stream, executable-sources, ...), or configured, llvm, "
       "llvm-optimized."},
      stage);
  parser.add({"asm", "",
              "The hot loop in assembly, annotated by llvm-mca, beside that of the best of Kiln's rows of its problem; "
              "of a GPU, "
              "all of the PTX."},
             assembly);
  parser.example("kiln-dispatch show matmul_256x256x256_f32t_f32t_f32t_tile_config_default --ir --stage=flow");
  parser.example("kiln-dispatch show 1f09a6c2d35b8e07 --asm");
}

// "kiln 64x32_64x1_fma_11x32 (rank 2=, 5.8 µs, 90 GFLOP/s)"
static std::string headline(const report::Row &row) {
  std::string text = row.shortName();
  if (!row.estimate || row.estimate->median <= 0)
    return fmt::format("{} ({})", text, outcomeName(row.result->outcome));
  const store::CandidateEstimate &estimate = *row.estimate;
  text += " (";
  if (row.ranked())
    text += fmt::format("rank {}, ", report::displayText(report::rankOf(row), report::Unit::Rank));
  text += report::durationText(estimate.median, (estimate.high - estimate.low) / 2);
  if (row.problem->flops > 0)
    text += fmt::format(", {} GFLOP/s", report::roundedText(row.problem->flops / estimate.median, -1));
  return text + ")";
}

static std::vector<std::string> loopText(const report::Row &row, const HotLoop &loop, const McaReport &mca,
                                         const Dumps::Target &target, size_t width) {
  std::vector<std::string> lines;
  auto say = [&](const std::string &text) {
    for (const std::string &line : wrapText(plainText(text), width))
      lines.push_back(report::fitText(line, width));
  };
  say(headline(row));
  say(fmt::format("{} of {}:", loop.label.empty() ? "all, without a loop," : "loop " + loop.label, loop.function));
  say(fmt::format("{} instructions, {} multiply-adds, {:g} FLOP an iteration", loop.instructions, loop.multiplyAdds,
                  loop.flops));
  say(fmt::format("llvm-mca for {}: {:.1f} cycles an iteration (at least {:g} by its busiest unit)", target.cpu,
                  mca.cycles, mca.blockThroughput));
  say(fmt::format("bottleneck: {}", mca.bottleneck));
  if (mca.peakPercent)
    say(fmt::format("bounds it to {:.0f} % of the FMA peak that llvm-mca knows for this CPU", *mca.peakPercent));
  else
    say("no multiply-adds, so no share of the FMA peak");
  lines.emplace_back();
  lines.emplace_back(" every  takes  (cycles)");
  for (const McaInstruction &instruction : mca.instructions) {
    std::string text = instruction.text;
    std::ranges::replace(text, '\t', ' ');
    lines.push_back(
        report::fitText(fmt::format("{:6.2f} {:6g}  {}", instruction.throughput, instruction.latency, text), width));
  }
  return lines;
}

static Result<std::vector<std::string>> hotLoopOf(const Lab &lab, const report::Row &row, const std::string &compiler,
                                                  size_t width) {
  KILN_ASSIGN_OR_RETURN(DispatchSource source, sourceOf(lab, row, compiler));
  KILN_ASSIGN_OR_RETURN(Dumps dumps, Dumps::make(source));
  KILN_ASSIGN_OR_RETURN(std::string assembly, dumps.assembly());
  KILN_ASSIGN_OR_RETURN(Dumps::Target target, dumps.target());
  KILN_ASSIGN_OR_RETURN(HotLoop loop, findHotLoop(assembly, source.kernels, target.triple, target.vectorBits));
  KILN_ASSIGN_OR_RETURN(McaReport mca, analyzeLoop(loop, target.cpu, target.triple));
  return loopText(row, loop, mca, target, width);
}

static void printBeside(const std::vector<std::string> &left, const std::vector<std::string> &right, size_t width) {
  static constexpr std::string_view kBetween = " | ";
  size_t half = (width - kBetween.size()) / 2;
  std::string text;
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string line = report::padText(i < left.size() ? left[i] : "", half, false);
    line += std::string(kBetween) + (i < right.size() ? right[i] : "");
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  print(text);
}

// With whom the row is compared, and why it is not the leader of all where it is not.
static const report::Row *rivalOf(const StoredRow &found, std::string &note) {
  const report::Row *leader = found.leader(), *best = found.bestOfKiln();
  if (leader && leader->candidate->provider != "kiln")
    note += fmt::format("the leader is {}, whose code is not Kiln's to show{}\n", headline(*leader),
                        best && best != found.row ? "; beside it the best of Kiln's rows" : "");
  if (!best || best == found.row) {
    note += best ? fmt::format("it is the best of Kiln's rows of {}\n", found.row->problem->name) : "";
    return nullptr;
  }
  return best;
}

// Of GPUs nobody models loops: all of the code as PTX.
static bool isForGpu(const report::Row &row) {
  return row.candidate->compilerFlags.find("-target-backends=cuda") != std::string::npos;
}
static Status showPtx(const Lab &lab, const report::Row &row, const std::string &compiler) {
  KILN_ASSIGN_OR_RETURN(DispatchSource source, sourceOf(lab, row, compiler));
  KILN_ASSIGN_OR_RETURN(Dumps dumps, Dumps::make(source));
  KILN_ASSIGN_OR_RETURN(std::string code, dumps.assembly(".ptx"));
  print(fmt::format("// {}\n{}", plainText(headline(row)), plainText(code)));
  return okStatus();
}

static Status showAssembly(const Lab &lab, const StoredRow &found, const std::string &compiler) {
  if (isForGpu(*found.row))
    return showPtx(lab, *found.row, compiler);
  // Before the compiler, which takes longer.
  KILN_RETURN_IF_ERROR(findProgram({"llvm-mca-22", "llvm-mca"}, "llvm-22").status());
  std::string note;
  const report::Row *rival = rivalOf(found, note);
  size_t width = consoleWidth();
  bool beside = rival && width >= kSideBySide;
  size_t each = beside ? (width - 3) / 2 : width;
  KILN_ASSIGN_OR_RETURN(std::vector<std::string> own, hotLoopOf(lab, *found.row, compiler, each));
  std::vector<std::string> other;
  if (rival) {
    KILN_ASSIGN_OR_RETURN(other, hotLoopOf(lab, *rival, compiler, each));
  }
  print(plainText(note));
  if (beside) {
    printBeside(own, other, width);
    return okStatus();
  }
  for (const std::string &line : own)
    print(line + "\n");
  if (rival)
    print("\n");
  for (const std::string &line : other)
    print(line + "\n");
  return okStatus();
}

Result<int> verbs::show(const Lab &lab, const ReportFlags &flags) {
  const ShowFlags &wanted = flags.show;
  KILN_RETURN_IF_ERROR(checkOneRow(flags.arguments, "show <row> --asm"));
  if (wanted.ir == wanted.assembly)
    return invalidArgument("say what to show, --ir or --asm");
  if (!wanted.stage.empty() && !wanted.ir)
    return invalidArgument("--stage={} belongs to --ir", wanted.stage);
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, openStore(lab, flags));
  KILN_ASSIGN_OR_RETURN(report::Filter filter, flags.filter());
  KILN_ASSIGN_OR_RETURN(StoredRow found, findStoredRow(*reader, filter, flags.arguments.front()));
  const std::string &recorded = found.row->run->kilnVersion;
  if (!recorded.empty() && recorded != kVersion)
    print(fmt::format("// measured with Kiln {}; this is what {} makes of it\n", plainLine(recorded), kVersion));
  if (wanted.assembly) {
    KILN_RETURN_IF_ERROR(showAssembly(lab, found, flags.compiler));
    return 0;
  }
  KILN_ASSIGN_OR_RETURN(DispatchSource source, sourceOf(lab, *found.row, flags.compiler));
  KILN_ASSIGN_OR_RETURN(Dumps dumps, Dumps::make(source));
  KILN_ASSIGN_OR_RETURN(std::string ir, dumps.ir(wanted.stage.empty() ? kBeforeLlvm : wanted.stage));
  print(ir);
  return 0;
}

} // namespace kiln
