// Objects that a program gets from its own module: constants and executables, as its reference registers hold them.
#ifndef KILN_RUNTIME_VM_PROGRAM_OBJECTS_H
#define KILN_RUNTIME_VM_PROGRAM_OBJECTS_H

#include <string_view>

#include "kiln/runtime/module/module.h"
#include "kiln/runtime/vm/any_ref.h"

namespace kiln::vm {

// Bytes of a constant. Keeps the module's bytes, and so may outlive session and module.
class Rodata final : public RefCounted {
public:
  Rodata(std::string_view bytes, Ref<FileBytes> file) : view(bytes), file(std::move(file)) {}

  std::string_view bytes() const { return view; }
  // Fails where bytes were lost that the module's file no longer has. `file` may be null: bytes that stay.
  Status checkReadable() const { return file ? file->checkReadable() : okStatus(); }

private:
  std::string_view view;
  Ref<FileBytes> file;
};

// An executable with its variants, none of them loaded.
class ProgramExecutable final : public RefCounted {
public:
  ProgramExecutable(Ref<Module> module, const ExecutableInfo &info) : module(std::move(module)), executable(info) {}

  const ExecutableInfo &info() const { return executable; }

private:
  Ref<Module> module;
  const ExecutableInfo &executable;
};

template <> struct RefTypeOf<Rodata> {
  static constexpr RefType type{"vm.rodata"};
};
template <> struct RefTypeOf<ProgramExecutable> {
  static constexpr RefType type{"vm.executable"};
};

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_PROGRAM_OBJECTS_H
