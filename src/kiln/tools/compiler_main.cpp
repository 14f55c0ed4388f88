#include "kiln/tools/compiler_main.h"

#include <cstdio>

#include "kiln/base/flags.h"
#include "kiln/compiler/Interfaces/OptionBinder.h"
#include "kiln/tools/help_text.h"

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
    help |= argument == "--help" || argument == "-help" || argument == "-h";
    texts.push_back(std::move(argument));
  }
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
}

// "=<file>"
static std::string valueOf(const OptionBinder::Entry &entry) {
  if (entry.value.empty())
    return "";
  bool isName = entry.value.find('|') == std::string::npos && entry.value.front() != '<';
  return isName ? "=<" + entry.value + ">" : "=" + entry.value;
}

static const char *dashes(const OptionBinder::Entry &entry) {
  return entry.name.size() == 1 ? "-" : "--";
}

void appendOptions(HelpText &help, const OptionBinder &binder) {
  std::string group;
  for (const OptionBinder::Entry &entry : binder.entries()) {
    if (entry.group != group)
      help.heading(group = entry.group);
    help.item(dashes(entry) + entry.name + valueOf(entry),
              entry.description + "." + (entry.initial.empty() ? "" : " Default: " + entry.initial + "."));
  }
}

int printText(const HelpText &help) {
  std::fwrite(help.text().data(), 1, help.text().size(), stdout);
  if (std::fflush(stdout) == 0)
    return 0;
  std::perror("cannot write the help");
  return 1;
}

int printOptionDocs(const char *tool, const OptionBinder &binder) {
  std::printf("# Flags of %s\n", tool);
  std::string group;
  for (const OptionBinder::Entry &entry : binder.entries()) {
    if (entry.group != group) {
      group = entry.group;
      std::printf("\n## %s\n\n| flag | default | meaning |\n| --- | --- | --- |\n", group.c_str());
    }
    std::string value = valueOf(entry);
    for (size_t at = 0; (at = value.find('|', at)) != std::string::npos; at += 2)
      value.replace(at, 1, "\\|");
    std::printf("| `%s%s%s` | %s | %s |\n", dashes(entry), entry.name.c_str(), value.c_str(), entry.initial.c_str(),
                entry.description.c_str());
  }
  return 0;
}

} // namespace kiln
