#include "kiln/tools/compiler_main.h"

#include <cstdio>

#include "kiln/base/flags.h"
#include "kiln/compiler/Interfaces/OptionBinder.h"

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
  for (std::string &argument : canonicalArguments(given)) {
    docs |= argument == "--print-docs";
    texts.push_back(std::move(argument));
  }
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
}

int printOptionDocs(const char *tool, const OptionBinder &binder) {
  std::printf("# Flags of %s\n", tool);
  std::string group;
  for (const OptionBinder::Entry &entry : binder.entries()) {
    if (entry.group != group) {
      group = entry.group;
      std::printf("\n## %s\n\n| flag | default | meaning |\n| --- | --- | --- |\n", group.c_str());
    }
    std::string value = entry.value.empty() ? "" : "=" + entry.value;
    for (size_t at = 0; (at = value.find('|', at)) != std::string::npos; at += 2)
      value.replace(at, 1, "\\|");
    std::printf("| `%s%s%s` | %s | %s |\n", entry.name.size() == 1 ? "-" : "--", entry.name.c_str(), value.c_str(),
                entry.initial.c_str(), entry.description.c_str());
  }
  return 0;
}

} // namespace kiln
