#include "kiln/tools/compiler_main.h"

#include <cstdio>

#include "kiln/base/flags.h"

namespace kiln {

CommandLine::CommandLine(int argc, char **argv) {
  std::vector<std::string> given(argv + 1, argv + argc);
  Result<std::vector<std::string>> expanded = expandFlagFiles(given);
  if (!expanded.ok()) {
    std::fprintf(stderr, "%s: %s\n", argv[0], expanded.status().toString().c_str());
    valid = false;
  } else {
    given = *std::move(expanded);
  }
  texts.push_back(argv[0]);
  for (std::string &argument : canonicalArguments(given))
    texts.push_back(std::move(argument));
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
}

} // namespace kiln
