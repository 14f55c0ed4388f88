#include "kiln/base/flags.h"

#include <algorithm>

#include "kiln/base/file.h"
#include "kiln/base/split.h"

namespace kiln {

namespace {

size_t countDashes(std::string_view argument) {
  size_t dashes = 0;
  while (dashes < argument.size() && dashes < 2 && argument[dashes] == '-')
    ++dashes;
  return dashes;
}

// Flags whose value is a pipeline or a list of pass names.
bool takesPipeline(std::string_view canonical) {
  return canonical.ends_with("pass-pipeline") || canonical == "mlir-print-ir-before" ||
         canonical == "mlir-print-ir-after";
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view space = " \t\r\n\f\v";
  size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

// `open` holds the files that are being expanded, outermost first.
Status expandInto(std::span<const std::string> arguments, std::vector<std::string> &open,
                  std::vector<std::string> &expanded) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (argument == "--") {
      expanded.insert(expanded.end(), arguments.begin() + i, arguments.end());
      return okStatus();
    }
    size_t dashes = countDashes(argument);
    std::string_view name = argument.substr(dashes);
    if (dashes == 0 || !(name == "flagfile" || name.starts_with("flagfile="))) {
      expanded.push_back(arguments[i]);
      continue;
    }
    std::string path;
    if (name == "flagfile") {
      if (i + 1 == arguments.size())
        return invalidArgument("--flagfile needs the name of a file: --flagfile=FILE");
      path = arguments[++i];
    } else {
      path = name.substr(std::string_view("flagfile=").size());
    }
    if (std::find(open.begin(), open.end(), path) != open.end())
      return invalidArgument("the flag file '{}' includes itself", path);
    Result<Ref<FileContents>> file = FileContents::open(path);
    if (!file.ok())
      return std::move(file).status().withContext("--flagfile");
    std::vector<std::string> lines;
    for (std::string_view line : split((*file)->text(), '\n'))
      if (line = trim(line); !line.empty() && line.front() != '#')
        lines.emplace_back(line);
    open.push_back(std::move(path));
    KILN_RETURN_IF_ERROR(expandInto(lines, open, expanded));
    open.pop_back();
  }
  return okStatus();
}

// Optimal string alignment distance of names in which '-' and '_' are one character.
unsigned editDistance(std::string_view a, std::string_view b) {
  auto fold = [](char c) { return c == '_' ? '-' : c; };
  std::vector<unsigned> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      unsigned replace = last[j - 1] + (fold(a[i - 1]) != fold(b[j - 1]));
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

} // namespace

std::string canonicalName(std::string_view name) {
  if (name.starts_with("iree-") || name.starts_with("iree_"))
    return "kiln" + std::string(name.substr(4));
  return std::string(name);
}

std::string canonicalPipeline(std::string_view pipeline) {
  std::string result;
  result.reserve(pipeline.size());
  unsigned braces = 0;
  bool atName = true; // the next character starts the name of a pass or of an anchor operation
  for (size_t i = 0; i < pipeline.size(); ++i) {
    char c = pipeline[i];
    if (c == '{') {
      ++braces;
    } else if (c == '}') {
      braces -= braces > 0;
    } else if (braces == 0) {
      if (atName && (pipeline.substr(i).starts_with("iree-") || pipeline.substr(i).starts_with("iree_"))) {
        result += "kiln";
        i += 3;
        atName = false;
        continue;
      }
      atName = c == ',' || c == '(' || (atName && (c == ' ' || c == '\t' || c == '\n'));
    }
    result += c;
  }
  return result;
}

std::vector<std::string> canonicalArguments(std::span<const std::string> arguments) {
  std::vector<std::string> result;
  result.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (argument == "--") {
      result.insert(result.end(), arguments.begin() + i, arguments.end());
      break;
    }
    size_t dashes = countDashes(argument);
    if (dashes == 0) {
      result.push_back(arguments[i]);
      continue;
    }
    std::string_view body = argument.substr(dashes);
    size_t equals = body.find('=');
    std::string name = canonicalName(body.substr(0, equals));
    std::string prefix(argument.substr(0, dashes));
    bool hasNext = i + 1 < arguments.size();
    if (equals != std::string_view::npos) {
      std::string_view value = body.substr(equals + 1);
      result.push_back(prefix + name + "=" + (takesPipeline(name) ? canonicalPipeline(value) : std::string(value)));
      continue;
    }
    bool pipelineFollows = takesPipeline(name) && hasNext;
    bool pathFollows = name == "o" && hasNext;
    result.push_back(prefix + name);
    if (pipelineFollows)
      result.push_back(canonicalPipeline(arguments[++i]));
    else if (pathFollows)
      result.push_back(arguments[++i]);
  }
  return result;
}

Result<std::vector<std::string>> expandFlagFiles(std::span<const std::string> arguments) {
  std::vector<std::string> open, expanded;
  KILN_RETURN_IF_ERROR(expandInto(arguments, open, expanded));
  return expanded;
}

std::string_view nearestName(std::string_view name, std::span<const std::string> known) {
  std::string_view nearest;
  // A third of the name may be wrong, and a short one by one letter.
  unsigned best = std::max<size_t>(name.size() / 3, 1) + 1;
  for (const std::string &candidate : known) {
    unsigned distance = editDistance(name, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string unknownFlagMessage(std::string_view argument, std::span<const std::string> known) {
  size_t dashes = countDashes(argument);
  std::string_view written = argument.substr(dashes, argument.find('=', dashes) - dashes);
  std::string_view nearest = nearestName(canonicalName(written), known);
  std::string message = fmt::format("unknown flag '{}{}'; ", argument.substr(0, dashes), written);
  if (nearest.empty())
    return message + "--help lists the flags";
  // In the spelling of whoever asks.
  std::string suggestion(nearest);
  if (canonicalName(written) != written && nearest.starts_with("kiln"))
    suggestion.replace(0, 4, "iree");
  return message + fmt::format("did you mean '{}{}'?", suggestion.size() == 1 ? "-" : "--", suggestion);
}

} // namespace kiln
