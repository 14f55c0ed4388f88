// Declares the compiler's flags, each once: name, the struct member it sets, description. The tool makes one binder,
// gives it to whoever has options, and then parses its command line; the parser, --help and docs/generated/flags.md
// come from what was declared. Names are given without dashes, in Kiln's spelling ("kiln-llvmcpu-target-cpu"); the tool
// accepts iree- as well (base/flags.h).
#ifndef KILN_COMPILER_INTERFACES_OPTIONBINDER_H
#define KILN_COMPILER_INTERFACES_OPTIONBINDER_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace kiln {

class OptionBinder {
public:
  // One flag, for help and docs.
  struct Entry {
    std::string group, name, value, initial, description;
  };

  OptionBinder();
  ~OptionBinder();
  OptionBinder(const OptionBinder &) = delete;
  OptionBinder &operator=(const OptionBinder &) = delete;

  // Flags that are declared from here on belong to this group of --help and of the docs.
  void group(llvm::StringRef title);

  // The member keeps its value where the flag is not given; that value is shown as the default. It must outlive
  // parsing. `value` names the value in help, "<file>".
  void flag(llvm::StringRef name, bool *member, llvm::StringRef description);
  void flag(llvm::StringRef name, int64_t *member, llvm::StringRef value, llvm::StringRef description);
  void flag(llvm::StringRef name, std::string *member, llvm::StringRef value, llvm::StringRef description);
  // May be repeated, and takes several values separated by commas.
  void flag(llvm::StringRef name, std::vector<std::string> *member, llvm::StringRef value, llvm::StringRef description);
  // One of some words, by index into `words`. `value` names them in help, "<phase>", or is empty: then they are listed.
  void choice(llvm::StringRef name, int *member, std::vector<std::string> words, llvm::StringRef value,
              llvm::StringRef description);
  // Does something at once when it is met, such as printing a list and exiting.
  void action(llvm::StringRef name, std::function<void()> run, llvm::StringRef description);

  // Leaves only the declared flags in --help; libraries bring hundreds of their own, which --help-hidden still lists.
  void hideOthers();

  const std::vector<Entry> &entries() const { return declared; }

private:
  struct Storage;
  std::unique_ptr<Storage> storage;
  std::vector<Entry> declared;
};

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_OPTIONBINDER_H
