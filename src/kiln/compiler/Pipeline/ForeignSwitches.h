// Switches of IREE's that Kiln takes and decides otherwise: what commands of documents have, with what happens instead.
#ifndef KILN_COMPILER_PIPELINE_FOREIGNSWITCHES_H
#define KILN_COMPILER_PIPELINE_FOREIGNSWITCHES_H

#include "kiln/compiler/Interfaces/CompilerContext.h"
#include "kiln/compiler/Interfaces/OptionBinder.h"

#include <deque>
#include <string>
#include <vector>

namespace kiln {

class ForeignSwitches {
public:
  void bind(OptionBinder &binder);
  // A sentence for each that was given and asks for something else than what is done.
  std::vector<std::string> notes(const CompilerOptions &options) const;

private:
  std::deque<bool> values;
  std::string executionModel = "async-internal";
};

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_FOREIGNSWITCHES_H
