#include "kiln/tools/compiler_main.h"

#include <algorithm>

#include "kiln/base/flags.h"
#include "kiln/compiler/Interfaces/OptionBinder.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/help_text.h"
#include "kiln/tools/version.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#ifdef __GLIBC__
// MLIR takes it for granted that there is memory for an operation, and writes to where there is none.
extern "C" void *__libc_malloc(size_t size); // NOLINT(bugprone-reserved-identifier)
extern "C" __attribute__((visibility("default"))) void *malloc(size_t size) noexcept {
  void *memory = __libc_malloc(size);
  if (!memory && size > 0)
    kiln::endForLackOfMemory();
  return memory;
}
#endif

namespace kiln {

namespace cl = llvm::cl;

// LLVM ends the process where it cannot go on.
static void endForLlvm(void *, const char *reason, bool) {
  llvm::StringRef text = reason;
  // A file of a temporary name that LLVM itself has made goes away.
  llvm::sys::RunInterruptHandlers();
  if (text.consume_front("pthread_create failed: "))
    endForLackOfThreads(text.str().c_str());
  llvm::errs() << "LLVM ERROR: " << reason << "\n";
}

void nameWhatLlvmExhausts(const char *tool) {
  nameWhatIsExhausted(tool);
  llvm::install_fatal_error_handler(endForLlvm);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endForLackOfMemory(); });
}

CommandLine::CommandLine(std::string tool, int argc, char **argv)
    : tool(std::move(tool)), original(argv, argv + argc), expanded(original.begin() + 1, original.end()) {
  if (Result<std::vector<std::string>> whole = expandFlagFiles(expanded); whole.ok())
    expanded = *std::move(whole);
  else
    fail(std::string(whole.status().message()));
  texts = canonicalArguments(expanded);
  texts.insert(texts.begin(), original.front());
  expanded.insert(expanded.begin(), original.front());
}

char **CommandLine::argv() {
  pointers.clear();
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers.data();
}

bool CommandLine::has(std::initializer_list<std::string_view> flags) const {
  return std::ranges::any_of(texts,
                             [&](const std::string &text) { return std::ranges::find(flags, text) != flags.end(); });
}

bool CommandLine::fail(const std::string &message) {
  reportFailure(tool, invalidArgument("{}", message));
  valid = false;
  return false;
}

static std::string_view withoutDashes(std::string_view argument) {
  return argument.substr(std::min(argument.find_first_not_of('-'), argument.size()));
}

static std::string_view nameOf(std::string_view argument) {
  std::string_view name = withoutDashes(argument);
  return name.substr(0, name.find('='));
}

bool CommandLine::gives(std::string_view name) const {
  return std::ranges::any_of(texts,
                             [&](std::string_view text) { return text.starts_with('-') && nameOf(text) == name; });
}

std::string_view CommandLine::valueOf(std::string_view name) const {
  std::string_view value;
  for (std::string_view text : texts)
    if (text.starts_with('-') && nameOf(text) == name && text.find('=') != text.npos)
      value = text.substr(text.find('=') + 1);
  return value;
}

void CommandLine::prepend(std::string flag) {
  expanded.insert(expanded.begin() + 1, flag);
  texts.insert(texts.begin() + 1, std::move(flag));
}

bool CommandLine::acceptFlag(size_t &i) {
  std::string_view name = nameOf(texts[i]);
  bool isAlone = texts[i].find('=') == std::string::npos;
  if (name == "o") { // which kiln-opt registers only when it parses
    i += isAlone;
    return true;
  }
  auto &options = cl::getRegisteredOptions();
  if (auto found = options.find(name); found != options.end()) {
    i += isAlone && found->second->getValueExpectedFlag() == cl::ValueRequired;
    return true;
  }
  for (auto &[known, option] : options)
    if ((option->getFormattingFlag() == cl::Prefix || option->getFormattingFlag() == cl::AlwaysPrefix) &&
        name.starts_with(std::string_view(known)))
      return true;
  return false;
}

bool CommandLine::rejectUnknown(size_t i, const OptionBinder &binder) {
  std::vector<std::string> own = {"help", "version", "flagfile"}, all;
  for (const OptionBinder::Entry &entry : binder.entries())
    own.push_back(entry.name);
  for (auto &[name, option] : cl::getRegisteredOptions())
    (name.starts_with("kiln-") ? own : all).push_back(name.str());
  // A map has no order of its own, and of equally near names the first is suggested.
  std::ranges::sort(own);
  std::ranges::sort(all);
  std::string name(nameOf(texts[i]));
  bool isOwn = !nearestName(name, own).empty();
  // -ofile, unless it is more likely a misspelt flag with one dash.
  if (!isOwn && texts[i].starts_with("-o")) {
    texts[i].insert(2, "=");
    return true;
  }
  return fail(unknownFlagMessage(expanded[i], isOwn ? own : all));
}

bool CommandLine::check(const OptionBinder &binder) {
  std::vector<std::string> files;
  bool onlyFiles = false;
  for (size_t i = 1; i < texts.size(); ++i) {
    const std::string &text = texts[i];
    if (onlyFiles || text == "-" || !text.starts_with('-')) {
      if (!text.starts_with('@')) // a file of arguments, which llvm::cl reads
        files.push_back(text);
    } else if (text == "--") {
      onlyFiles = true;
    } else if (!acceptFlag(i) && !rejectUnknown(i, binder)) {
      return false;
    }
  }
  if (files.size() > 1)
    return fail(fmt::format("one input file is read, and {} are named: '{}', '{}'{}", files.size(), files[0], files[1],
                            files.size() > 2 ? ", ..." : ""));
  return true;
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

int printText(std::string_view tool, std::string_view text) {
  print(text);
  return finishOutput(tool, 0);
}

int printVersion(std::string_view tool) {
  return printText(tool, fmt::format("{} (Kiln) {}\nLLVM {}\n", tool, kVersion, LLVM_VERSION_STRING));
}

int printOptionDocs(std::string_view tool, const OptionBinder &binder) {
  std::string text = fmt::format("# Flags of {}\n", tool);
  std::string group;
  for (const OptionBinder::Entry &entry : binder.entries()) {
    if (entry.group != group) {
      group = entry.group;
      text += fmt::format("\n## {}\n\n| flag | default | meaning |\n| --- | --- | --- |\n", group);
    }
    std::string value = valueOf(entry);
    for (size_t at = 0; (at = value.find('|', at)) != std::string::npos; at += 2)
      value.replace(at, 1, "\\|");
    text += fmt::format("| `{}{}{}` | {} | {} |\n", dashes(entry), entry.name, value, entry.initial, entry.description);
  }
  return printText(tool, text);
}

} // namespace kiln
