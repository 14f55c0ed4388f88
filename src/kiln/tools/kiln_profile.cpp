// kiln-profile: records programs, and says where the time of a recording went.
#include <filesystem>
#include <string>
#include <string_view>

#include "kiln/tools/exhaustion.h"
#include "kiln/tools/printing.h"
#include "kiln/tools/profile/profile_verbs.h"
#include "kiln/tools/version.h"

using namespace kiln;

namespace {

struct Verb {
  const char *name, *summary;
  int (*run)(int argc, const char *const *argv);
};

constexpr Verb kVerbs[] = {
    {"record", "run a command, and record what of Kiln runs below it", profileRecord},
    {"summary", "who was busy, and with what", profileSummary},
    {"dispatch", "what devices were busy with", profileDispatch},
    {"export", "write a recording for other viewers", profileExport},
};

std::string helpText() {
  std::string text = "Usage: kiln-profile VERB [flags]\n       kiln-profile -- COMMAND\n\n"
                     "Records what programs do, and says where the time went. Every tool that runs\n"
                     "modules records itself with --trace=FILE, or where KILN_TRACE=FILE is set.\n\nVerbs:\n";
  for (const Verb &verb : kVerbs)
    text += fmt::format("  {:<12}{}\n", verb.name, verb.summary);
  return text + "\nkiln-profile VERB --help shows the flags of a verb.\n";
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted(kProfileTool);
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--help" || first == "-h" || first == "help") {
    print(helpText());
    return finishOutput(kProfileTool, 0);
  }
  if (first == "--version") {
    print(fmt::format("{} {}\n", kProfileTool, kVersion));
    return finishOutput(kProfileTool, 0);
  }
  if (first == "--")
    return profileRecord(argc, argv);
  for (const Verb &verb : kVerbs)
    if (first == verb.name)
      return verb.run(argc - 1, argv + 1);
  if (first.empty())
    return reportFailure(kProfileTool, invalidArgument("no verb is given; --help lists what there is"));
  std::string hint = "--help lists what there is";
  if (std::error_code error; std::filesystem::is_regular_file(first, error))
    hint = fmt::format("to read a recording: kiln-profile summary {}", first);
  else if (first.starts_with("-"))
    hint = "a verb comes first; the lab's step of this name is kiln-dispatch profile";
  return reportFailure(kProfileTool, invalidArgument("unknown verb '{}'; {}", first, hint));
}
