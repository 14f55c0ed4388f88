// A program that is initialized once and that any number of sessions run.
//
//   KILN_ASSIGN_OR_RETURN(Ref<Program> program, Program::create({{module}}, {{hal}}));
//   KILN_ASSIGN_OR_RETURN(auto session, program->createSession());                    // for each thread
#ifndef KILN_RUNTIME_VM_PROGRAM_H
#define KILN_RUNTIME_VM_PROGRAM_H

#include <memory>
#include <span>

#include "kiln/runtime/vm/session.h"

namespace kiln::vm {

// Modules that were loaded and initialized on their devices. Immutable; all functions may be called on any thread.
class Program final : public RefCounted {
public:
  // As Session::create.
  static Result<Ref<Program>> create(std::span<const Ref<Module>> modules, std::span<const Ref<NativeModule>> natives,
                                     const SessionOptions &options = {});

  // A session that shares executables, constants and recordings with the others of this program. Its variables are its
  // own, and are what initialization left in them: the memory of a tensor that the program may write to is copied.
  // Fails where a variable holds what can be neither shared nor copied. The session may outlive the program. The names
  // of the modules are those of the program.
  Result<std::unique_ptr<Session>> createSession(const SessionOptions &options = {}) const;

private:
  explicit Program(std::unique_ptr<Session> initialized) : initialized(std::move(initialized)) {}

  const std::unique_ptr<Session> initialized; // never called after its initializers
};

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_PROGRAM_H
