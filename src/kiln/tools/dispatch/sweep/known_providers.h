// The providers that take part in a sweep. Each one's worker is asked for its version before anything is compiled.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_KNOWN_PROVIDERS_H
#define KILN_TOOLS_DISPATCH_SWEEP_KNOWN_PROVIDERS_H

#include <string>
#include <vector>

#include "kiln/tools/dispatch/dispatch_flags.h"

namespace kiln {

// A provider as its own worker describes it.
struct KnownProvider {
  std::string name, variant, version;
  std::vector<std::string> command;
  double startSeconds = 0;   // until it has answered hello
  uint64_t cacheBytes = 0;   // of the device's last-level cache, where it tells
  bool isSimulated = false;  // the device's clock tells no time
  std::string obstacle = {}; // why it does not work; empty where it does
  std::string program = {};  // which one it is, of a command of the user's: see programHash
};

// Whether the provider is one of the lab's own that knows operations by their names and no files.
bool isLibrary(std::string_view provider);

// Kiln itself; an error where it does not work.
Result<KnownProvider> findKiln(const DispatchFlags &flags);

// Those that were asked for, all of which must work; without a wish, those that do. One external program at least must
// work, where there are no other providers. `withTF32`: also libraries' products in tf32.
Result<std::vector<KnownProvider>> findProviders(const DispatchFlags &flags, bool withTF32 = false);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_KNOWN_PROVIDERS_H
