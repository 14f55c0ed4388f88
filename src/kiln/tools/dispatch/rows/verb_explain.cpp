// `kiln-dispatch explain`: what was found of one row, in words and pictures.
#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/method.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/rows/stored_row.h"
#include "kiln/tools/printing.h"

namespace kiln {

using Json = nlohmann::json;

static std::string textOf(const Json &details, const char *member) {
  auto found = details.find(member);
  return found != details.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The output as a matrix of characters, in a frame.
static std::string picture(const std::string &pattern) {
  if (pattern.empty())
    return {};
  std::string text, line;
  size_t width = 0;
  for (size_t at = 0; at <= pattern.size();) {
    size_t end = std::min(pattern.find('\n', at), pattern.size());
    width = std::max(width, end - at);
    text += fmt::format("  |{}|\n", std::string_view(pattern).substr(at, end - at));
    at = end + 1;
  }
  line = fmt::format("  +{}+\n", std::string(width, '-'));
  return "Where (x: something is wrong in that part of the output):\n" + line + text + line;
}

// "1-2: 14  2-4: 3" as a bar each.
static std::string histogram(const std::string &counts) {
  std::vector<std::pair<std::string, uint64_t>> bars;
  uint64_t most = 1;
  size_t width = 0;
  for (size_t at = 0; at < counts.size();) {
    size_t end = std::min(counts.find("  ", at), counts.size()), colon = counts.find(": ", at);
    if (colon >= end)
      return fmt::format("Distance in ULP: {}\n", counts);
    uint64_t count = 0;
    std::from_chars(counts.data() + colon + 2, counts.data() + end, count);
    bars.emplace_back(counts.substr(at, colon - at), count);
    most = std::max(most, count);
    width = std::max(width, colon - at);
    at = end + 2;
  }
  constexpr uint64_t longest = 40;
  std::string text;
  for (const auto &[range, count] : bars)
    text += fmt::format("  {:>{}}  {:<{}}  {}\n", range, width,
                        std::string(count ? std::max<uint64_t>(count * longest / most, 1) : 0, '#'), longest, count);
  return text.empty() ? text : "Distance from the right value, in ULP of the output's type, and how many:\n" + text;
}

static std::string examples(const Json &details) {
  auto list = details.find("examples");
  if (list == details.end() || !list->is_array() || list->empty())
    return {};
  std::string text = "Elements:\n";
  constexpr size_t shown = 8;
  for (size_t i = 0; i < list->size() && i < shown; ++i) {
    const Json &one = (*list)[i];
    if (!one.is_object())
      continue;
    std::string index;
    if (auto found = one.find("index"); found != one.end() && found->is_array())
      for (const Json &part : *found)
        index += (index.empty() ? "" : ", ") + part.dump();
    text += fmt::format("  [{}]: {} instead of {} ({} ULP)\n", index, textOf(one, "actual"), textOf(one, "expected"),
                        textOf(one, "ulps"));
  }
  return text;
}

static std::string verificationText(const store::Verification &verification) {
  Json details = Json::parse(verification.details, nullptr, /*allow_exceptions=*/false);
  if (!details.is_object())
    return {};
  std::string text;
  if (!verification.method.empty()) {
    text = report::methodText(verification);
    if (auto passes = details.find("passes");
        passes != details.end() && passes->is_number_unsigned() && details.contains("checks"))
      text += fmt::format(", {} pass{}", passes->get<uint64_t>(), passes->get<uint64_t>() == 1 ? "" : "es");
    bool told = verification.method.find("escapes") != std::string::npos;
    // Within a tolerance there is no such number.
    if (!told && verification.escapeProbability > 0)
      text += fmt::format("; an error escapes with probability {:.0e}", verification.escapeProbability);
    constexpr std::string_view kLabel = "Checked by    : ";
    text = hangingText(kLabel, plainText(text), consoleWidth(), kLabel.size()) + "\n";
  }
  if (auto compared = details.find("timedCompared"); compared != details.end() && compared->is_number_unsigned())
    text += fmt::format("Timed calls   : {}\n", compared->get<uint64_t>() == 0
                                                    ? "none compared: their right outputs are not known"
                                                    : fmt::format("{} compared", compared->get<uint64_t>()));
  auto number = [&](const char *member) {
    auto found = details.find(member);
    return found != details.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
  };
  // Stores of earlier versions count the blocks of timed calls there.
  auto checks = details.find("checks");
  bool timed = checks != details.end() && checks->is_array() && !checks->empty() && checks->back().is_object() &&
               textOf(checks->back(), "pass") == "timed calls";
  if (number("total") && !timed)
    text += fmt::format("Wrong         : {} of {} elements\n", number("wrong"), number("total"));
  return text + picture(textOf(details, "tilePattern")) + histogram(textOf(details, "ulpHistogram")) +
         examples(details);
}

Result<int> verbs::explain(const Lab &lab, const ReportFlags &flags) {
  KILN_RETURN_IF_ERROR(checkOneRow(flags.arguments, "explain <row>"));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, openStore(lab, flags));
  KILN_ASSIGN_OR_RETURN(report::Filter filter, flags.filter());
  KILN_ASSIGN_OR_RETURN(StoredRow found, findStoredRow(*reader, filter, flags.arguments.front()));
  const report::Row &row = *found.row;
  const store::CandidateResult &result = *row.result;
  std::string text = report::blockOf(row, consoleWidth());
  text += fmt::format("Run           : {} of {} UTC, row {}\n", row.run->key().substr(0, 8), timeText(row.run->started),
                      row.name());
  if (!row.failed() && result.outcome != Outcome::Unsupported) // else the block has it
    text += fmt::format("Outcome       : {}\n", outcomeName(result.outcome));
  print(plainText(text + verificationText(result.verification)));
  return 0;
}

} // namespace kiln
