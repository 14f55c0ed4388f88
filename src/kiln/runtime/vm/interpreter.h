// The register machine of vm_opcodes.def. Internal to the VM: session.h is its interface.
#ifndef KILN_RUNTIME_VM_INTERPRETER_H
#define KILN_RUNTIME_VM_INTERPRETER_H

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kiln/runtime/module/module.h"
#include "kiln/runtime/vm/native_module.h"
#include "kiln/runtime/vm/value.h"
#include "kiln/trace/zone.h"

namespace kiln::vm {

class Interpreter;
struct Instance;
struct SessionOptions;

// What an import of a module turned out to be: a native function, or a function of another instance.
struct ResolvedImport {
  const NativeFunction *native = nullptr;
  Instance *instance = nullptr;
  const FunctionInfo *function = nullptr;
};

// A module within a session.
struct Instance {
  Ref<Module> module;
  std::string name; // in the session
  std::vector<uint64_t> valueGlobals;
  std::vector<AnyRef> refGlobals;
  std::vector<AnyRef> rodata;      // of Rodata
  std::vector<AnyRef> executables; // of ProgramExecutable
  std::vector<ResolvedImport> imports;
  Interpreter *interpreter = nullptr; // of the session
};

// The registers of an active function. Frames lie one after another in the interpreter's stack, each followed by its
// value registers, its value scratch, its reference registers and its reference scratch. A function that is machine
// code keeps its values itself.
struct Frame {
  Frame *caller; // null for a function that the host called
  Instance *instance;
  const FunctionInfo *function;
  uint64_t *values;
  AnyRef *refs;
  const uint16_t *pc;   // while it calls: the list of registers that take the results (of machine code: the references)
  uint32_t instruction; // while it calls: position of the call, for backtraces
};

// A program asks after so many branches and calls whether its call is over.
inline constexpr uint32_t kJumpsPerAsking = 1024;

// Of a program that fails with this number.
StatusCode statusCodeOf(uint64_t number);

// Runs functions on a stack of bounded size. One thread at a time. A native function may call `call` again.
class Interpreter {
public:
  explicit Interpreter(const SessionOptions &options);

  // Counts and kinds of arguments and results have been checked.
  Status call(Instance &instance, const FunctionInfo &function, std::span<const Value> arguments,
              std::span<Value> results);

private:
  friend struct CompiledCalls; // what kiln_compiled.h offers to functions that are machine code
  // Null where the stack is exhausted.
  Frame *push(Frame *caller, Instance *instance, const FunctionInfo *function);
  Frame *pop(Frame *frame);
  // The frame of a function that the call at `pc` of the caller calls, arguments copied. Null, with the status, where
  // the stack is exhausted.
  Frame *enter(Frame *caller, const uint16_t *pc, Instance *instance, const FunctionInfo &function, Status &status);

  template <bool traced> Status run(Frame *frame, std::span<Value> results);
  Status callNative(Frame *frame, const NativeFunction &native, const uint16_t *arguments, const uint16_t *results);
  // Calls it with these values and references. Value results go to `valueResults`, others to the frame's scratch.
  Status callNative(Frame *frame, const NativeFunction &native, std::span<const uint64_t> values,
                    std::span<const AnyRef *const> refs, uint64_t *valueResults);
  // Calls a function of another module that is code of another sort than the caller's.
  Status callAcross(Frame *frame, const ResolvedImport &import, const uint16_t *arguments, const uint16_t *results);
  // The frame is the innermost; its values are the arguments.
  Status runCompiled(Frame *frame, std::span<Value> results);
  Status exhausted(const FunctionInfo &function) const;
  Status addBacktrace(const Status &status, const Frame *frame, const NativeFunction *native) const;
  void traceInstruction(const Frame *frame, const uint16_t *pc) const;

  std::unique_ptr<std::byte[]> stack;
  std::byte *top;
  std::byte *end;
  Frame *innermost = nullptr; // the frame that was pushed last
  uint32_t depth = 0;         // of frames
  uint32_t nativeDepth = 0;   // of calls from the host, one within the other
  const uint32_t maxDepth;
  const uint64_t owner;      // of the session
  uint32_t jumps = 0;        // calls within machine code since it was asked whether the call is over
  uintptr_t stackLimit = 0;  // the lowest address of the stack of the thread that is in a call, for machine code
  Status failure;            // that machine code was told to return for
  std::exception_ptr thrown; // the same, of an exception
  FILE *trace;
};

// Of each call from a program to the runtime, in the caller.
inline Status Interpreter::callNative(Frame *frame, const NativeFunction &native, std::span<const uint64_t> values,
                                      std::span<const AnyRef *const> refs, uint64_t *valueResults) {
  const trace::Zone zone(trace::isRecording() ? trace::numberOf(native.qualifiedName) : 0);
  const schema::Signature &signature = native.signature;
  uint64_t *valueResult = valueResults;
  for (char kind : signature.results)
    if (!schema::isRefKind(kind))
      *valueResult++ = 0;
  NativeCall call = {};
  call.values = values.data();
  call.refs = refs.data();
  call.valueCount = static_cast<uint32_t>(values.size());
  call.refCount = static_cast<uint32_t>(refs.size());
  call.repeatCount = signature.repeated.empty()
                         ? 0
                         : static_cast<uint32_t>((values.size() + refs.size() - signature.arguments.size()) /
                                                 signature.repeated.size());
  call.owner = owner;
  call.valueResults = valueResults;
  call.refResults = frame->refs + frame->function->refRegisters;
  return native.pointer(native.context, call);
}

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_INTERPRETER_H
