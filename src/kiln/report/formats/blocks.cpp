// The documents' blocks. Their labels and words are fixed, because people's scripts look for them.
#include "kiln/report/columns/columns.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/text.h"

namespace kiln::report {

static constexpr size_t kArgumentsWidth = 84; // the documents'

// The problem's fields as flags that give it again, in lines; a matmul's in the documents' order.
static std::string argumentsOf(const Row &row, size_t width) {
  std::vector<std::string> flags;
  bool contraction = !row.field("m").empty();
  if (contraction) {
    std::string_view batch = row.field("batch_count");
    flags.push_back(fmt::format("--batch_count={}", batch.empty() ? "1" : batch));
  }
  for (const auto &[name, value] : row.problem->fields)
    if (name != "batch_count" && !name.starts_with("split_k_"))
      flags.push_back(fmt::format("--{}={}", name, value));
  if (contraction)
    for (std::string_view name : {"split_k_mode", "split_k_slices"})
      flags.push_back(fmt::format("--{}={}", name, row.field(name).empty() ? "N/A" : row.field(name)));
  std::string text;
  size_t length = 0;
  for (const std::string &flag : flags) {
    // The documents break before the split.
    bool split = flag.starts_with("--split_k_mode=");
    if (!text.empty() && (split || length + 1 + flag.size() > width)) {
      text += "\n                ";
      length = 0;
    } else if (!text.empty()) {
      text += ' ';
      ++length;
    }
    text += flag;
    length += flag.size();
  }
  return text;
}

static std::string verificationOf(const Row &row) {
  if (row.result->outcome != Outcome::Wrong)
    return std::string(documentVerification(row));
  const store::Verification &verification = row.result->verification;
  std::string text = "FAILED";
  const std::string &cause = verification.cause, &said = verification.explanation;
  const bool repeats = said.starts_with(cause); // also where there is no cause
  if (!repeats)
    text += ": " + cause;
  if (!said.empty())
    text += (repeats ? ": " : "; ") + said;
  return text;
}

std::string blockOf(const Row &row, size_t width) {
  constexpr size_t indent = 16, least = 20;
  std::string text;
  auto line = [&](std::string_view label, std::string_view value) {
    text += fmt::format("{:<14}: {}\n", label, value);
  };
  // What programs wrote; further lines stand below the first.
  auto lines = [&](std::string_view label, std::string_view value) {
    size_t room = width == 0 ? SIZE_MAX : std::max(width, indent + least) - indent;
    std::string wrapped;
    for (const std::string &part : wrapText(plainText(value), room, LongWords::Break))
      wrapped += (wrapped.empty() ? "" : "\n" + std::string(indent, ' ')) + part;
    line(label, wrapped);
  };
  line("Dispatch", row.dispatch());
  line("Provider", documentProvider(row));
  line("OpKind", operationKind(row));
  line("Operation", row.problem->name);
  line("Configuration", row.candidate->configuration.empty() ? "N/A" : row.candidate->configuration);
  line("Arguments", argumentsOf(row, width == 0 ? kArgumentsWidth : std::max(width, indent + least) - indent));
  lines("Verification", verificationOf(row));
  if (row.failed() || row.result->outcome == Outcome::Unsupported) {
    const std::string &error = row.result->error, &said = row.result->verification.explanation;
    bool repeats = error.empty() ||
                   (row.result->outcome == Outcome::Wrong && !said.empty() && error.find(said) != std::string::npos);
    std::string outcome = outcomeName(row.result->outcome);
    lines("Outcome", repeats ? outcome : fmt::format("{}: {}", outcome, error));
  }
  if (row.estimate && row.estimate->median > 0) {
    line("Runtime(ms)", fmt::format("{:.6g}", row.estimate->median / 1e6));
    line("GFLOPs", row.problem->flops > 0 ? fmt::format("{:.2f}", row.problem->flops / row.estimate->median) : "n/a");
  } else {
    std::string_view instead = row.failed() ? outcomeName(row.result->outcome) : "Not profiled";
    line("Runtime(ms)", instead);
    line("GFLOPs", instead);
  }
  return plainText(text); // names, too, are what a store says
}

Result<std::string> formatBlocks(const Table &table, const FormatOptions &options) {
  std::string text;
  for (const Row &row : table.rows)
    text.append(kBlockSeparator).append(blockOf(row));
  return text.append(kBlockSeparator);
}

} // namespace kiln::report
