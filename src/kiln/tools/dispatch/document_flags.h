// Flags of the documents' scripts that have no work to do here. They are accepted, so that commands in documents run as
// they stand, and a line says what happens instead. docs/compat.md lists them.
#ifndef KILN_TOOLS_DISPATCH_DOCUMENT_FLAGS_H
#define KILN_TOOLS_DISPATCH_DOCUMENT_FLAGS_H

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/tools/dispatch/dispatch_flags.h"

namespace kiln {

// What a verb does, which says what it accepts.
struct DocumentVerb {
  bool compiles = false, measures = false;
  VerbOutput output = {.table = true, .tags = true, .commands = true};
};

class DocumentFlags {
public:
  // Other names of flags that do work are added here, too; these are written to `flags`.
  void add(FlagParser &parser, DispatchFlags &flags, DocumentVerb verb);
  // Writes the others that do work. Comes before `flags` are checked.
  void apply(DispatchFlags &flags) const;
  // A line for each that was given, and does not do what it says.
  std::vector<std::string> notes(const DispatchFlags &flags) const;

private:
  // By name; those with a value, and those without.
  std::map<std::string, std::string> values, architectures;
  std::map<std::string, std::optional<std::string>> switches;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_DOCUMENT_FLAGS_H
