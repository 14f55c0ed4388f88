// Modules that were written as C, compiled with the C compiler of this build and loaded. Needs KILN_CC and
// KILN_SCHEMA_DIR.
#ifndef KILN_RUNTIME_VM_TESTING_COMPILED_C_H
#define KILN_RUNTIME_VM_TESTING_COMPILED_C_H

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kiln/runtime/module/module.h"
#include "kiln/schema/c_writer.h"
#include "kiln/schema/kiln_compiled.h"

namespace kiln::vm::testing {

// What each description's text registers; their names differ. The code stays loaded.
inline Result<std::vector<const kiln_compiled_module_t *>> compileC(std::span<const schema::ModuleDesc> descs,
                                                                    const std::string &flags = "-O1") {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "kiln-c-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    return internalError("cannot make {}", folder);
  std::string command =
      KILN_CC " -std=c11 -Wall -Wextra -pedantic -Werror -shared -fPIC -I" KILN_SCHEMA_DIR " " + flags;
  for (const schema::ModuleDesc &desc : descs) {
    std::string path = folder + "/" + desc.name + ".c";
    KILN_ASSIGN_OR_RETURN(std::string text, schema::writeModuleAsCToString(desc));
    std::ofstream(path) << text;
    command += " " + path;
  }
  command += " -o " + folder + "/all.so";
  // NOLINTNEXTLINE(bugprone-command-processor): a shell is what redirects
  if (std::system(command.c_str()) != 0)
    return internalError("failed: {}", command);
  void *library = dlopen((folder + "/all.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return internalError("{}", dlerror());
  std::vector<const kiln_compiled_module_t *> modules;
  for (const schema::ModuleDesc &desc : descs) {
    auto *registration = reinterpret_cast<const kiln_compiled_module_t *(*)()>(
        dlsym(library, schema::registrationName(desc.name).c_str()));
    if (!registration)
      return internalError("{}", dlerror());
    modules.push_back(registration());
  }
  fs::remove_all(folder);
  return modules;
}

inline Result<Ref<Module>> loadC(const schema::ModuleDesc &desc, const std::string &flags = "-O1") {
  KILN_ASSIGN_OR_RETURN(std::vector<const kiln_compiled_module_t *> modules, compileC({&desc, 1}, flags));
  return Module::fromCompiled(*modules[0]);
}

} // namespace kiln::vm::testing

#endif // KILN_RUNTIME_VM_TESTING_COMPILED_C_H
