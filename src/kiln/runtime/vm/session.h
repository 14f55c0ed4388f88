// A session runs programs: modules that were loaded, instantiated with the native modules they import from, and their
// globals.
//
//   KILN_ASSIGN_OR_RETURN(Ref<Module> module, Module::loadFile("abs.vmfb"));
//   KILN_ASSIGN_OR_RETURN(Ref<NativeModule> hal, createHalModule({device}));          // hal_module.h
//   KILN_ASSIGN_OR_RETURN(auto session, Session::create({{module}}, {{hal}}));
//   KILN_ASSIGN_OR_RETURN(Function abs, session->lookup("abs"));
//   Value arguments[] = {Ref<hal::BufferView>(...)};
//   Value results[1];
//   KILN_RETURN_IF_ERROR(session->call(abs, arguments, results));
//   hal::BufferView *view = results[0].as<hal::BufferView>();                         // hal_types.h
#ifndef KILN_RUNTIME_VM_SESSION_H
#define KILN_RUNTIME_VM_SESSION_H

#include <cstdio>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/module/module.h"
#include "kiln/runtime/vm/native_module.h"
#include "kiln/runtime/vm/value.h"

namespace kiln::vm {

struct SessionOptions {
  // Each instruction that runs is printed here; stays the caller's. Null: nothing is printed.
  FILE *trace = nullptr;
  // How many functions may be active at a time, and how many bytes their registers may take, before a call fails with
  // RESOURCE_EXHAUSTED.
  uint32_t maxCallDepth = 1024;
  size_t stackBytes = size_t(1) << 20;
  // Whose objects native functions may give the session: NativeCall::owner.
  uint64_t owner = 0;
  // What the modules are called in the session, by the others and in messages; one name for each. None: as they were
  // compiled.
  std::vector<std::string> names;
};

// An exported function of a session. A small value; valid as long as the session is.
class Function {
public:
  std::string_view name() const { return entry->name; }
  std::string_view signature() const { return info->signatureText; }
  // Kinds of arguments and results, one letter each.
  std::string_view argumentKinds() const { return info->signature.arguments; }
  std::string_view resultKinds() const { return info->signature.results; }
  size_t argumentCount() const { return info->signature.arguments.size(); }
  size_t resultCount() const { return info->signature.results.size(); }
  // Empty where there is no such attribute. "kiln.abi.declaration" is the function as its author wrote it.
  std::string_view attribute(std::string_view key) const { return entry->attribute(key); }
  std::span<const AttributeInfo> attributes() const { return entry->attributes; }

private:
  friend class Session;
  const ExportInfo *entry = nullptr;
  const FunctionInfo *info = nullptr;
  struct Instance *instance = nullptr;
};

// Calls of one session may come from any thread, but one that comes while another thread is in a call fails: use a
// session for each thread; program.h makes many of one program. A native function may call back into the session that
// called it.
class Session {
public:
  // Modules in order: each may import what native modules provide and what modules before it export, under
  // "<module>.<function>". Runs their initializers. Fails where an import is missing or has another signature, and
  // where a native module that one requires is missing or has another version.
  static Result<std::unique_ptr<Session>> create(std::span<const Ref<Module>> modules,
                                                 std::span<const Ref<NativeModule>> natives,
                                                 const SessionOptions &options = {});
  static Result<std::unique_ptr<Session>> create(std::initializer_list<Ref<Module>> modules,
                                                 std::initializer_list<Ref<NativeModule>> natives,
                                                 const SessionOptions &options = {});
  ~Session();

  // An export of the last module, or "<module>.<function>" of any. The error lists what there is.
  Result<Function> lookup(std::string_view name) const;
  // All exports of the last module, in its order.
  std::vector<Function> exports() const;

  // Counts must be those of the function; kinds of arguments are checked. Results are overwritten, and hold nothing of
  // interest after an error. The error's message ends in a backtrace of the program's functions. Fails where the file
  // that constants of a module are mapped from is not what it was when the module was loaded.
  Status call(const Function &function, std::span<const Value> arguments, std::span<Value> results);
  // The same, but where another thread is in a call, it is awaited.
  Status callInTurn(const Function &function, std::span<const Value> arguments, std::span<Value> results);
  // Whether a call takes and gives so many.
  static Status checkCounts(const Function &function, size_t argumentCount, size_t resultCount);

private:
  friend class Program;
  Session();
  // A session of the same program in the state in which this one is, which no thread may be changing.
  Result<std::unique_ptr<Session>> copy(const SessionOptions &options) const;
  struct State;
  std::unique_ptr<State> state;
};

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_SESSION_H
