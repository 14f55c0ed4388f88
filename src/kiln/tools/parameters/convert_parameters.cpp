// kiln-convert-parameters: makes one archive of files of parameters.
#include "kiln/base/flags.h"
#include "kiln/base/watched_pages.h"
#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/parameters/parameter_set.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/parameters/parameter_options.h"

#include <algorithm>
#include <set>

using namespace kiln;

namespace {

struct Options {
  std::vector<std::string> parameters, excluded, renamed, splats;
  bool strip = false;
  ArchiveFlags archive;
};

// What is changed on the way, by key.
class Changes {
public:
  static Result<Changes> read(const Options &options) {
    Changes changes;
    changes.strip = options.strip;
    for (const std::string &key : options.excluded)
      changes.excluded.insert(key);
    for (const std::string &text : options.renamed) {
      KILN_ASSIGN_OR_RETURN(auto names, splitName("rename", text));
      if (names.second.empty())
        return invalidArgument("--rename={}: the new name is missing", text);
      changes.names[names.first] = names.second;
    }
    for (const std::string &text : options.splats) {
      const size_t equals = text.find('=');
      Result<std::vector<std::byte>> pattern = equals == std::string::npos
                                                   ? std::vector<std::byte>(1)
                                                   : patternOf(std::string_view(text).substr(equals + 1));
      if (!pattern.ok())
        return std::move(pattern).status().withContext(fmt::format("--splat={}", text));
      changes.splats[text.substr(0, equals)] = *std::move(pattern);
    }
    return changes;
  }

  // What is to be written of a parameter; nothing where it is left out.
  Result<std::optional<ParameterContents>> of(const ParameterFile &file, const Parameter &parameter) {
    used.insert(parameter.key);
    if (excluded.contains(parameter.key))
      return std::optional<ParameterContents>();
    auto name = names.find(parameter.key);
    ParameterContents contents;
    contents.key = name == names.end() ? parameter.key : name->second;
    contents.metadata = parameter.metadata;
    contents.length = parameter.length;
    auto splat = splats.find(parameter.key);
    if (splat != splats.end() || strip || parameter.isSplat()) {
      contents.isStored = false;
      contents.pattern = splat != splats.end() ? splat->second : strip ? std::vector<std::byte>(1) : parameter.splat;
      if (!contents.pattern.empty() && contents.length % contents.pattern.size() != 0)
        return invalidArgument("--splat={}: {} bytes are no multiple of {}", parameter.key, contents.length,
                               contents.pattern.size());
    } else {
      contents.bytes = file.bytesOf(parameter);
    }
    return std::optional(std::move(contents));
  }

  // Whoever names what is not there has misspelt it.
  Status checkAllUsed() const {
    const std::vector<std::string> known(used.begin(), used.end());
    const auto check = [&](std::string_view flag, const std::string &key) {
      if (used.contains(key))
        return okStatus();
      const std::string_view nearest = nearestName(key, known);
      return notFound("--{}={}: no file has this parameter{}", flag, key,
                      nearest.empty() ? "" : fmt::format("; there is '{}'", nearest));
    };
    for (const std::string &key : excluded)
      KILN_RETURN_IF_ERROR(check("exclude", key));
    for (const auto &[key, name] : names)
      KILN_RETURN_IF_ERROR(check("rename", key));
    for (const auto &[key, pattern] : splats)
      KILN_RETURN_IF_ERROR(check("splat", key));
    return okStatus();
  }

private:
  // "i8=123", "f32=4.5", or "x32=CAFEF00D" as bits.
  static Result<std::vector<std::byte>> patternOf(std::string_view text) {
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos)
      return invalidArgument("the value is missing, as in f32=4.5");
    std::string type(text.substr(0, equals)), value(text.substr(equals + 1));
    if (type.starts_with('x')) {
      type[0] = 'i';
      value.insert(0, "0x");
    }
    const std::optional<hal::ElementType> element = hal::parseElementType(type);
    if (!element || hal::isPacked(*element))
      return invalidArgument("'{}' is no type of 8 bits or more", type);
    std::vector<std::byte> pattern(hal::elementTypeByteSize(*element));
    KILN_RETURN_IF_ERROR(io::parseElement(*element, value, reinterpret_cast<uint8_t *>(pattern.data())));
    return pattern;
  }

  bool strip = false;
  std::set<std::string, std::less<>> excluded;
  std::map<std::string, std::string> names;
  std::map<std::string, std::vector<std::byte>> splats;
  std::set<std::string> used;
};

Status convert(std::string_view tool, const Options &options) {
  if (options.parameters.empty())
    return invalidArgument("no file of parameters is named; --parameters=FILE says what to convert");
  KILN_RETURN_IF_ERROR(installPageLossHandler());
  KILN_ASSIGN_OR_RETURN(ScopedFiles scopes, openParameters(options.parameters));
  KILN_ASSIGN_OR_RETURN(Changes changes, Changes::read(options));
  std::vector<ParameterContents> contents;
  for (const auto &[scope, files] : scopes)
    for (const auto &file : files)
      for (const Parameter &parameter : file->parameters()) {
        KILN_ASSIGN_OR_RETURN(std::optional<ParameterContents> made, changes.of(*file, parameter));
        if (made)
          contents.push_back(*std::move(made));
      }
  KILN_RETURN_IF_ERROR(changes.checkAllUsed());
  return options.archive.write(tool, contents, [&] {
    for (const auto &[scope, files] : scopes)
      for (const auto &file : files)
        KILN_RETURN_IF_ERROR(file->checkReadable());
    return okStatus();
  });
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-convert-parameters");
  Options options;
  FlagParser parser("kiln-convert-parameters",
                    "Makes one parameter archive (.irpa) of files of parameters, in which each starts where devices "
                    "can use it in place.");
  parser.group("What it holds");
  addParametersFlag(parser, options.parameters);
  parser.add({"exclude", "KEY", "Leaves a parameter out."}, options.excluded);
  parser.add({"rename", "OLD=NEW", "Gives a parameter another key."}, options.renamed);
  parser.add({"strip", "", "Makes all parameters zeros, which take no room."}, options.strip);
  parser.add({"splat", "KEY[=TYPE=VALUE]",
              "Makes a parameter one value everywhere, which takes no room: f32=4.5, i8=123, bits as x32=CAFEF00D; "
              "zero where none is given."},
             options.splats);
  parser.group("Output");
  options.archive.add(parser);
  parser.example("kiln-convert-parameters --parameters=model.safetensors --output=model.irpa");
  parser.example("kiln-convert-parameters --parameters=a.gguf --parameters=b.safetensors --exclude=unused "
                 "--rename=old=new --output=ab.irpa");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  if (Status status = convert(parser.tool(), options); !status.ok())
    return reportFailure(parser.tool(), status);
  return finishOutput(parser.tool(), 0);
}
