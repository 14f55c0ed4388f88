// The documents' CSV: names and order are theirs, so that what reads it still does.
#include <cctype>

#include "kiln/report/columns/columns.h"

namespace kiln::report {

static constexpr std::string_view kNotThere = "N/A";

std::string documentProvider(const Row &row) {
  return row.candidate->provider == "kiln" ? "Kiln Codegen" : row.provider();
}

std::string operationKind(const Row &row) {
  std::string kind = "OperationKind.";
  if (row.problem->family == "matmul_splitk")
    return kind + "SplitkMatmul";
  bool start = true;
  for (char c : row.problem->family) {
    if (c != '_')
      kind += start ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    start = c == '_';
  }
  return kind;
}

std::string_view documentVerification(const Row &row) {
  if (row.result->outcome == Outcome::Wrong)
    return "FAILED";
  // What was right before it was timed, and rejected then, counts as little as what nobody looked at.
  if (row.failed())
    return "Not verified";
  const store::Verification &verification = row.result->verification;
  std::string_view selfComparison = verification.selfComparison();
  return verification.method.empty() ? "Not verified" : selfComparison.empty() ? "SUCCESS" : selfComparison;
}

Value gigaflops(const Row &row) {
  if (!row.estimate || row.estimate->median <= 0 || row.problem->flops <= 0)
    return {};
  double value = row.problem->flops / row.estimate->median;
  return Number{value, value * relativeError(*row.estimate)};
}

static Value field(const Row &row, std::string_view name, std::string_view otherwise = {}) {
  std::string_view value = row.field(name);
  return textOrNothing(value.empty() ? otherwise : value);
}

// The configuration without its prefix and its instruction class: "128x128_64x4".
static Value tileConfig(const Row &row) {
  if (!row.configuration)
    return textOrNothing(row.candidate->configuration);
  const TileConfig &c = *row.configuration;
  return fmt::format("{}x{}_{}x{}", c.m, c.n, c.k, c.stages);
}

// "tensorcore_mmasync" is class tensorcore, instruction mmasync; of one word, the class is not there.
static Value coreClass(const Row &row) {
  if (!row.configuration)
    return std::string(kNotThere);
  const std::string &words = row.configuration->instructions;
  size_t end = words.find('_');
  return end == std::string::npos ? std::string(kNotThere) : words.substr(0, end);
}
static Value instructionClass(const Row &row) {
  if (!row.configuration)
    return std::string(kNotThere);
  const std::string &words = row.configuration->instructions;
  size_t end = words.find('_');
  return end == std::string::npos ? words : words.substr(end + 1);
}

static Value runtime(const Row &row) {
  if (!row.estimate)
    return {};
  return Number{row.estimate->median / 1e6, row.estimate->median / 1e6 * relativeError(*row.estimate)};
}

static constexpr Column kColumns[] = {
    {"Provider", "Provider", Unit::Text, [](const Row &row) -> Value { return documentProvider(row); }, 12, 0, Page::No,
     "Who computes, as the documents name it."},
    {"op_kind", "Kind", Unit::Text, [](const Row &row) -> Value { return operationKind(row); }, 20, 0, Page::No,
     "The operation family."},
    {"Operation", "Operation", Unit::Text, [](const Row &row) -> Value { return row.problem->name; }, 34, 0, Page::No,
     "The problem's name."},
    {"bytes", "Bytes", Unit::Bytes, [](const Row &row) -> Value { return Number{row.problem->bytes, 0}; }, 8, 0,
     Page::No, "Bytes that must move at least: each input and output once."},
    {"flops", "FLOPs", Unit::Flops,
     [](const Row &row) { return row.problem->flops > 0 ? Value(Number{row.problem->flops, 0}) : Value(); }, 8, 0,
     Page::No, "Arithmetic that the operation's definition asks for; empty where it is not known."},
    {"batch_count", "Batch", Unit::Text, [](const Row &row) { return field(row, "batch_count", "1"); }, 5, 0, Page::No,
     "Problems in a batch; 1 where the family has no batch."},
    {"m", "m", Unit::Text, [](const Row &row) { return field(row, "m"); }, 5, 0, Page::No, "Rows of the result."},
    {"n", "n", Unit::Text, [](const Row &row) { return field(row, "n"); }, 5, 0, Page::No, "Columns of the result."},
    {"k", "k", Unit::Text, [](const Row &row) { return field(row, "k"); }, 5, 0, Page::No, "Length of the reduction."},
    {"lhs", "lhs", Unit::Text, [](const Row &row) { return field(row, "lhs"); }, 5, 0, Page::No,
     "Element type and layout of the left operand."},
    {"rhs", "rhs", Unit::Text, [](const Row &row) { return field(row, "rhs"); }, 5, 0, Page::No,
     "Element type and layout of the right operand."},
    {"result", "result", Unit::Text, [](const Row &row) { return field(row, "result"); }, 6, 0, Page::No,
     "Element type and layout of the result."},
    {"split_k_mode", "Split-k mode", Unit::Text, [](const Row &row) { return field(row, "split_k_mode", kNotThere); },
     8, 0, Page::No, "How the parts of a split reduction are summed: serial or parallel."},
    {"split_k_slices", "Split-k slices", Unit::Text,
     [](const Row &row) { return field(row, "split_k_slices", kNotThere); }, 6, 0, Page::No,
     "Into how many parts the reduction is split."},
    {"Tile config", "Tile", Unit::Text, tileConfig, 14, 0, Page::No, "Tile and stages of the configuration."},
    {"Core class", "Core class", Unit::Text, coreClass, 10, 0, Page::No,
     "What computes: the first word of the configuration's instruction class, where it has several."},
    {"Instruction class", "Instruction", Unit::Text, instructionClass, 10, 0, Page::No,
     "The instructions that the configuration uses."},
    {"Verification", "Verification", Unit::Text,
     [](const Row &row) -> Value { return std::string(documentVerification(row)); }, 12, 0, Page::No,
     "SUCCESS, FAILED, Not verified, as are rows that were rejected while they were timed; or self-consistent or f64 "
     "golden: compared with nothing but another build of the same compiler, or one that computes in f64."},
    {"Runtime(ms)", "Runtime", Unit::Milliseconds, runtime, 9, 0, Page::No,
     "Median time of a call in milliseconds; empty where it was not profiled, or rejected."},
    {"GFLOPs", "GFLOP/s", Unit::Gigaflops, gigaflops, 7, 3, Page::Shown,
     "Arithmetic of a second, from the median time; empty where the arithmetic is not known, or the row was rejected."},
};

std::span<const Column> documentColumns() {
  return kColumns;
}

} // namespace kiln::report
