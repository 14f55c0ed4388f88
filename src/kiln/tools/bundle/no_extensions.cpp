// LLD's link-time optimization asks for the extensions that LLVM was built with. Kiln links machine code, never LLVM's
// IR: the bundle has none of them.
#include "llvm/Plugins/PassPlugin.h"

#define HANDLE_EXTENSION(name)                                                                                         \
  llvm::PassPluginLibraryInfo get##name##PluginInfo() {                                                                \
    return {LLVM_PLUGIN_API_VERSION, #name, "", [](llvm::PassBuilder &) {}};                                           \
  }
#include "llvm/Support/Extension.def"
