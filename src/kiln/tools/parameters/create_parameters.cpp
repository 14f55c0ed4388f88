// kiln-create-parameters: writes a parameter archive from values.
#include "kiln/runtime/io/input.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/parameters/parameter_options.h"

#include <deque>

using namespace kiln;

namespace {

struct Options {
  std::vector<std::string> data, splats;
  ArchiveFlags archive;
};

Status create(std::string_view tool, const Options &options) {
  std::vector<ParameterContents> parameters;
  std::deque<std::vector<io::Input>> inputs; // whose bytes are written
  io::InputReader reader;
  for (const std::string &text : options.data) {
    KILN_ASSIGN_OR_RETURN(auto split, splitName("data", text));
    Result<std::optional<ParameterContents>> repeated = readRepeated(split.second);
    if (!repeated.ok())
      return std::move(repeated).status().withContext(fmt::format("--data={}", text));
    ParameterContents contents;
    if (*repeated) {
      contents = **std::move(repeated);
    } else {
      inputs.emplace_back();
      Status status = reader.read(split.second, inputs.back());
      if (!status.ok())
        return std::move(status).withContext(fmt::format("--data={}", text));
      const io::HostTensor *tensor =
          inputs.back().size() == 1 ? std::get_if<io::HostTensor>(&inputs.back().front()) : nullptr;
      if (!tensor)
        return invalidArgument("--data={}: a parameter is one tensor, as 4xf32=[1 2 3 4]", text);
      contents.bytes = std::as_bytes(tensor->bytes());
      contents.length = contents.bytes.size();
    }
    contents.key = split.first;
    parameters.push_back(std::move(contents));
  }
  for (const std::string &text : options.splats) {
    KILN_ASSIGN_OR_RETURN(auto split, splitName("splat", text));
    Result<std::optional<ParameterContents>> repeated = readRepeated(split.second);
    if (!repeated.ok())
      return std::move(repeated).status().withContext(fmt::format("--splat={}", text));
    if (!*repeated)
      return invalidArgument("--splat={}: one value of 8 bits or more is repeated, as in 4096xf32=2.5", text);
    ParameterContents contents = **std::move(repeated);
    contents.key = split.first;
    contents.isStored = false;
    parameters.push_back(std::move(contents));
  }
  return options.archive.write(tool, parameters);
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-create-parameters");
  Options options;
  FlagParser parser("kiln-create-parameters",
                    "Writes a parameter archive (.irpa): tensors that programs are given when they are loaded. A "
                    "program looks at the bytes alone, so that any type of the same size will do.");
  parser.group("What it holds");
  parser.add({"data", "NAME=INPUT",
              "A parameter, with room in the file: NAME=4096xf32 is zeros, which take no room on disk; "
              "NAME=4096xf32=2.5 is one value everywhere; NAME=4xf32=[1 2 3 4], NAME=@x.npy and the other forms of "
              "kiln-run-module's --input."},
             options.data);
  parser.add({"splat", "NAME=TYPE=VALUE",
              "A parameter of one value everywhere that the file has once: as large as it has to be for a program, "
              "where real values are not needed."},
             options.splats);
  parser.group("Output");
  options.archive.add(parser);
  parser.example("kiln-create-parameters --data=weight=@weight.npy --splat=bias=4096xf32=0.5 --output=model.irpa");
  parser.example("kiln-run-module --module=model.vmfb --parameters=model=model.irpa --input=@x.npy");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  if (Status status = create(parser.tool(), options); !status.ok())
    return reportFailure(parser.tool(), status);
  return finishOutput(parser.tool(), 0);
}
