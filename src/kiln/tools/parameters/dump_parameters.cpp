// kiln-dump-parameters: shows what files of parameters hold.
#include "kiln/base/file.h"
#include "kiln/base/flags.h"
#include "kiln/base/watched_pages.h"
#include "kiln/runtime/parameters/parameter_set.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/parameters/parameter_options.h"

#include "nlohmann/json.hpp"

#include <algorithm>

using namespace kiln;

namespace {

struct Options {
  std::vector<std::string> parameters, extracted;
  std::string format = "text";
};

// One line of the table. What is repeated has no place in the file.
std::string lineOf(const Parameter &parameter) {
  const std::string start = parameter.isSplat() ? "-" : fmt::format("{}", parameter.offset);
  const std::string end = parameter.isSplat() ? "-" : fmt::format("{}", parameter.offset + parameter.length);
  std::string text = fmt::format("{:>16} | {:>16} | {:>16} | `{}`", start, end, parameter.length, parameter.key);
  if (!parameter.type.empty())
    text += " " + parameter.type;
  return text + "\n";
}

std::string tableOf(const std::string &scope, const std::vector<std::shared_ptr<const ParameterFile>> &files) {
  size_t entries = 0;
  uint64_t bytes = 0;
  for (const auto &file : files)
    for (const Parameter &parameter : file->parameters()) {
      ++entries;
      bytes += parameter.length;
    }
  const std::string rule(76, '-');
  std::string text = fmt::format("//{}//\n// Parameter scope {} ({} entries, {} total bytes)\n", rule,
                                 scope.empty() ? "<global>" : fmt::format("`{}`", scope), entries, bytes);
  for (const auto &file : files) {
    if (files.size() > 1)
      text += fmt::format("// {}\n", file->path());
    text += fmt::format("//{:-<15}+{:-<18}+{:-<18}+{:-<22}//\n", "", "", "", "");
    text += fmt::format("{:>16} | {:>16} | {:>16} | {}\n", "Start", "End", "Length", "Key");
    text += fmt::format("{:-<17}+{:-<18}+{:-<18}+{:-<24}\n", "", "", "", "");
    for (const Parameter &parameter : file->parameters())
      text += lineOf(parameter);
  }
  return text + "\n";
}

std::string jsonOf(const std::string &scope, const ParameterFile &file) {
  std::string text;
  for (const Parameter &parameter : file.parameters()) {
    nlohmann::ordered_json json = {{"scope", scope},
                                   {"key", parameter.key},
                                   {"file", file.path()},
                                   {"format", file.format()},
                                   {"length", parameter.length}};
    if (parameter.isSplat()) {
      std::string digits;
      for (std::byte byte : parameter.splat)
        digits += fmt::format("{:02x}", uint8_t(byte));
      json["splat"] = digits;
    } else {
      json["offset"] = parameter.offset;
    }
    if (!parameter.type.empty())
      json["type"] = parameter.type;
    // Keys are bytes that somebody else chose.
    text += json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  return text;
}

// "[scope::]key=file"
Status extract(const ScopedFiles &scopes, const std::string &text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return invalidArgument("--extract={}: what it takes is [SCOPE::]KEY=FILE", text);
  const std::string name = text.substr(0, equals), path = text.substr(equals + 1);
  std::vector<std::string> known;
  for (const auto &[scope, files] : scopes)
    for (const auto &file : files)
      if (isSameFile(path, file->path()))
        return invalidArgument("--extract={}: '{}' is read, and would be replaced", text, path);
  for (const auto &[scope, files] : scopes)
    for (const auto &file : files)
      for (const Parameter &parameter : file->parameters()) {
        known.push_back(fullParameterName(scope, parameter.key));
        if (known.back() != name)
          continue;
        if (!parameter.isSplat()) {
          KILN_RETURN_IF_ERROR(writeFile(path, file->bytesOf(parameter)));
        } else {
          KILN_ASSIGN_OR_RETURN(OutputFile out, OutputFile::open(path));
          for (uint64_t at = 0; at < parameter.length; at += parameter.splat.size())
            KILN_RETURN_IF_ERROR(out.write(std::span<const std::byte>(parameter.splat)));
          KILN_RETURN_IF_ERROR(out.commit());
        }
        KILN_RETURN_IF_ERROR(file->checkReadable());
        print(fmt::format("wrote {} bytes of {} to {}\n", parameter.length, name, path));
        return okStatus();
      }
  const std::string_view nearest = nearestName(name, known);
  return notFound("--extract={}: there is no parameter '{}'{}", text, name,
                  nearest.empty() ? "" : fmt::format("; there is '{}'", nearest));
}

Status dump(const Options &options) {
  if (options.parameters.empty())
    return invalidArgument("no file of parameters is named; --parameters=FILE says what to show");
  KILN_RETURN_IF_ERROR(installPageLossHandler());
  KILN_ASSIGN_OR_RETURN(ScopedFiles scopes, openParameters(options.parameters));
  for (const std::string &text : options.extracted)
    KILN_RETURN_IF_ERROR(extract(scopes, text));
  if (!options.extracted.empty())
    return okStatus();
  for (const auto &[scope, files] : scopes) {
    if (options.format == "text")
      print(tableOf(scope, files));
    else
      for (const auto &file : files)
        print(jsonOf(scope, *file));
  }
  return okStatus();
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-dump-parameters");
  Options options;
  FlagParser parser("kiln-dump-parameters",
                    "Shows what files of parameters hold: for each parameter where it lies in the file, how many bytes "
                    "it has, its key and, as far as the file tells, its type.");
  addParametersFlag(parser, options.parameters);
  parser.addChoice({"format", "text|jsonl", "A table, or a line of JSON for each parameter."}, options.format);
  parser.add({"extract", "[SCOPE::]KEY=FILE", "Writes the bytes of a parameter to a file, and shows no table."},
             options.extracted);
  parser.example("kiln-dump-parameters --parameters=model.safetensors");
  parser.example("kiln-dump-parameters --parameters=model=model.irpa --extract=model::bias=bias.bin");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  if (Status status = dump(options); !status.ok())
    return reportFailure(parser.tool(), status);
  return finishOutput(parser.tool(), 0);
}
