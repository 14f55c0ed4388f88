// What the runtime does for functions that are machine code: kiln_runtime_t of kiln_compiled.h. Such a function has a
// frame as any other, which holds its references; so limits, backtraces and cleaning up are the interpreter's.
#include <bit>
#include <cmath>
#include <cxxabi.h>
#include <pthread.h>

#include "kiln/base/call_limit.h"
#include "kiln/base/narrow_float.h"
#include "kiln/runtime/vm/arithmetic.h"
#include "kiln/runtime/vm/interpreter.h"
#include "kiln/runtime/vm/program_objects.h"
#include "kiln/schema/kiln_compiled.h"
#include "kiln/schema/vm_code.h"

namespace kiln::vm {

using schema::Opcode;

// What is left of a thread's stack for what machine code calls, and for a call's own variables for each register: a
// compiler that does not optimize takes a few words.
static constexpr size_t kStackReserve = size_t(128) << 10;
static constexpr size_t kStackBytesPerRegister = 32;

// Machine code has C's frames between the runtime's: nothing is thrown through them but what ends the thread.
template <typename Body> static int guarded(Status &failure, std::exception_ptr &thrown, const Body &body) {
  try {
    Status status = body();
    if (status.ok()) [[likely]]
      return 0;
    failure = std::move(status);
  } catch (const abi::__forced_unwind &) {
    throw;
  } catch (...) {
    thrown = std::current_exception();
  }
  return 1;
}

struct CompiledCalls {
  static Frame *frameOf(kiln_frame_t *frame) { return reinterpret_cast<Frame *>(frame); }
  static Interpreter &interpreterOf(Frame *frame) { return *frame->instance->interpreter; }
  template <typename Body> static int guardedAt(Frame *frame, uint32_t position, const Body &body) {
    Interpreter &interpreter = interpreterOf(frame);
    frame->instruction = position;
    return guarded(interpreter.failure, interpreter.thrown, [&] { return body(interpreter); });
  }
  static int failAt(Frame *frame, uint32_t position, const Status &status) {
    return guardedAt(frame, position,
                     [&](Interpreter &interpreter) { return interpreter.addBacktrace(status, frame, nullptr); });
  }

  // The lowest address of the calling thread's stack; 0 where it runs on another one.
  static uintptr_t findStackLimit() {
    struct Stack {
      uintptr_t lowest, end;
    };
    thread_local constinit Stack stack = {};
    if (stack.end == 0) [[unlikely]] {
      pthread_attr_t attributes;
      void *lowest = nullptr;
      size_t size = 0;
      if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &lowest, &size);
        pthread_attr_destroy(&attributes);
      }
      stack = {reinterpret_cast<uintptr_t>(lowest), std::max<uintptr_t>(1, reinterpret_cast<uintptr_t>(lowest) + size)};
    }
    auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return here > stack.lowest && here < stack.end ? stack.lowest : 0;
  }
  static bool hasStackFor(const Interpreter &interpreter, const FunctionInfo &function) {
    size_t needed = kStackReserve + (size_t(function.valueRegisters) + function.valueScratch) * kStackBytesPerRegister;
    return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - interpreter.stackLimit > needed;
  }
  static Status stackExhausted(const FunctionInfo &function) {
    return resourceExhausted(
        "the call of @{} needs more than the thread has left of its stack: does the program recurse "
        "without end?",
        function.name);
  }

  static kiln_frame_t *enter(kiln_frame_t *handle, uint32_t position, uint32_t index, const uint16_t *references) {
    Frame *caller = frameOf(handle);
    Interpreter &interpreter = interpreterOf(caller);
    const FunctionInfo &function = caller->instance->module->functions()[index];
    // Without loops, calls alone can multiply.
    if (++interpreter.jumps >= kJumpsPerAsking) [[unlikely]] {
      interpreter.jumps = 0;
      if (isOver(handle, position))
        return nullptr;
    }
    caller->instruction = position;
    if (!hasStackFor(interpreter, function)) [[unlikely]] {
      guardedAt(caller, position,
                [&](Interpreter &) { return interpreter.addBacktrace(stackExhausted(function), caller, nullptr); });
      return nullptr;
    }
    Frame *frame = interpreter.push(caller, caller->instance, &function);
    if (!frame) [[unlikely]] {
      guardedAt(caller, position, [&](Interpreter &) {
        return interpreter.addBacktrace(interpreter.exhausted(function), caller, nullptr);
      });
      return nullptr;
    }
    for (uint32_t i = 0; i < function.refArguments; ++i)
      frame->refs[i] = caller->refs[references[i]];
    caller->pc = references + function.refArguments;
    return reinterpret_cast<kiln_frame_t *>(frame);
  }

  static int leave(kiln_frame_t *handle, uint32_t count, const uint16_t *references) {
    Frame *frame = frameOf(handle), *caller = frame->caller;
    // Where the call comes from outside, runCompiled fetches the results.
    AnyRef *scratch = frame->refs + frame->function->refRegisters;
    auto target = [&](uint32_t i) -> AnyRef & { return caller ? caller->refs[caller->pc[i]] : scratch[i]; };
    if (count == 1) {
      target(0) = std::move(frame->refs[references[0]]);
    } else {
      for (uint32_t i = 0; i < count; ++i) // one may be returned twice
        target(i) = frame->refs[references[i]];
    }
    if (caller)
      interpreterOf(frame).pop(frame);
    return 0;
  }

  // Results go behind the arguments, references to the registers that are named behind those of the arguments.
  static int callImport(kiln_frame_t *handle, uint32_t position, uint32_t index, uint64_t *values, uint32_t valueCount,
                        const uint16_t *references, uint32_t referenceCount) {
    Frame *frame = frameOf(handle);
    const ResolvedImport &import = frame->instance->imports[index];
    if (!import.native) [[unlikely]]
      return callFunction(frame, position, import, values, valueCount, references);
    frame->instruction = position;
    Interpreter &interpreter = interpreterOf(frame);
    const NativeFunction &native = *import.native;
    auto **refs = reinterpret_cast<const AnyRef **>(frame->values + frame->function->valueRegisters);
    for (uint32_t i = 0; i < referenceCount; ++i)
      refs[i] = &frame->refs[references[i]];
    int failed = guarded(interpreter.failure, interpreter.thrown, [&] {
      Status status =
          interpreter.callNative(frame, native, {values, valueCount}, {refs, referenceCount}, values + valueCount);
      if (!status.ok()) [[unlikely]]
        status = interpreter.addBacktrace(status, frame, &native);
      return status;
    });
    if (failed) [[unlikely]]
      return failed;
    AnyRef *ref = frame->refs + frame->function->refRegisters;
    const uint16_t *target = references + referenceCount;
    for (char kind : native.signature.results)
      if (schema::isRefKind(kind))
        frame->refs[*target++] = std::move(*ref++);
    return 0;
  }
  [[gnu::noinline]] static int callFunction(Frame *frame, uint32_t position, const ResolvedImport &import,
                                            uint64_t *values, uint32_t valueCount, const uint16_t *references) {
    if (isOver(reinterpret_cast<kiln_frame_t *>(frame), position))
      return 1;
    return guardedAt(frame, position, [&](Interpreter &interpreter) {
      Status status = callFunction(interpreter, frame, import, {values, valueCount}, references);
      return status.ok() ? okStatus() : interpreter.addBacktrace(status, frame, nullptr);
    });
  }
  static Status callFunction(Interpreter &interpreter, Frame *frame, const ResolvedImport &import,
                             std::span<uint64_t> values, const uint16_t *reference) {
    const schema::Signature &signature = import.function->signature;
    std::vector<Value> arguments, results(signature.results.size());
    const uint64_t *value = values.data();
    for (char kind : signature.arguments)
      arguments.push_back(schema::isRefKind(kind) ? Value(frame->refs[*reference++])
                                                  : Value::scalar(static_cast<ValueKind>(kind), *value++));
    KILN_RETURN_IF_ERROR(interpreter.call(*import.instance, *import.function, arguments, results));
    uint64_t *target = values.data() + values.size();
    for (Value &result : results) {
      if (result.isRef())
        frame->refs[*reference++] = result.takeRef();
      else
        *target++ = result.bits();
    }
    return okStatus();
  }

  static int isOver(kiln_frame_t *handle, uint32_t position) {
    const CallLimit *limit = CallLimit::current();
    return limit && limit->isOver() ? failAt(frameOf(handle), position, limit->status()) : 0;
  }
  static int fail(kiln_frame_t *handle, uint32_t position, uint64_t code, uint32_t constant) {
    Frame *frame = frameOf(handle);
    return guardedAt(frame, position, [&](Interpreter &interpreter) {
      const Rodata *message = frame->instance->rodata[constant].as<Rodata>();
      return interpreter.addBacktrace(Status(statusCodeOf(code), std::string(message->bytes())), frame, nullptr);
    });
  }
  static int failDivision(kiln_frame_t *handle, uint32_t position, int byZero) {
    return failAt(frameOf(handle), position, invalidArgument("{}", byZero ? kDivisionByZero : kDivisionOverflow));
  }

  static uint64_t *globals(kiln_frame_t *frame) { return frameOf(frame)->instance->valueGlobals.data(); }
  static void loadGlobal(kiln_frame_t *frame, uint16_t target, uint32_t global) {
    frameOf(frame)->refs[target] = frameOf(frame)->instance->refGlobals[global];
  }
  static void storeGlobal(kiln_frame_t *frame, uint32_t global, uint16_t source) {
    frameOf(frame)->instance->refGlobals[global] = frameOf(frame)->refs[source];
  }
  static void loadConstant(kiln_frame_t *frame, uint16_t target, uint32_t constant) {
    frameOf(frame)->refs[target] = frameOf(frame)->instance->rodata[constant];
  }
  static void loadExecutable(kiln_frame_t *frame, uint16_t target, uint32_t executable) {
    frameOf(frame)->refs[target] = frameOf(frame)->instance->executables[executable];
  }
  static void copy(kiln_frame_t *handle, uint32_t count, const uint16_t *pairs) {
    Frame *frame = frameOf(handle);
    if (count == 1) {
      frame->refs[pairs[1]] = frame->refs[pairs[0]];
      return;
    }
    AnyRef *scratch = frame->refs + frame->function->refRegisters;
    for (uint32_t i = 0; i < count; ++i)
      scratch[i] = frame->refs[pairs[2 * i]];
    for (uint32_t i = 0; i < count; ++i)
      frame->refs[pairs[2 * i + 1]] = std::move(scratch[i]);
  }
  static void discard(kiln_frame_t *frame, uint32_t count, const uint16_t *references) {
    for (uint32_t i = 0; i < count; ++i)
      frameOf(frame)->refs[references[i]].reset();
  }
  static int isNull(kiln_frame_t *frame, uint16_t reference) { return !frameOf(frame)->refs[reference]; }

  static uint64_t compute(uint32_t operation, uint64_t a, uint64_t b) {
    auto f32 = [](uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); };
    auto f64 = [](uint64_t bits) { return std::bit_cast<double>(bits); };
    switch (static_cast<Opcode>(operation)) {
#define KILN_UNARY(Name, function)                                                                                     \
  case Opcode::Name##F32: return std::bit_cast<uint32_t>(function(f32(a)));                                            \
  case Opcode::Name##F64: return std::bit_cast<uint64_t>(function(f64(a)));
#define KILN_BINARY(Name, function)                                                                                    \
  case Opcode::Name##F32: return std::bit_cast<uint32_t>(function(f32(a), f32(b)));                                    \
  case Opcode::Name##F64: return std::bit_cast<uint64_t>(function(f64(a), f64(b)));
      KILN_VM_UNARY_MATH(KILN_UNARY)
      KILN_VM_BINARY_MATH(KILN_BINARY)
    case Opcode::ExtF16F64: return std::bit_cast<uint64_t>(kF16.decode(static_cast<uint16_t>(a)));
    case Opcode::ExtBF16F64: return std::bit_cast<uint64_t>(kBF16.decode(static_cast<uint16_t>(a)));
    case Opcode::TruncF64F16: return kF16.encode(f64(a));
    case Opcode::TruncF64BF16: return kBF16.encode(f64(a));
    default: return 0; // the compiler writes no other
    }
  }
};

static constexpr kiln_runtime_t kRuntime = {
    .struct_size = sizeof(kiln_runtime_t),
    .enter = CompiledCalls::enter,
    .leave = CompiledCalls::leave,
    .call_import = CompiledCalls::callImport,
    .is_over = CompiledCalls::isOver,
    .fail = CompiledCalls::fail,
    .fail_division = CompiledCalls::failDivision,
    .globals = CompiledCalls::globals,
    .load_global = CompiledCalls::loadGlobal,
    .store_global = CompiledCalls::storeGlobal,
    .load_constant = CompiledCalls::loadConstant,
    .load_executable = CompiledCalls::loadExecutable,
    .copy = CompiledCalls::copy,
    .discard = CompiledCalls::discard,
    .is_null = CompiledCalls::isNull,
    .compute = CompiledCalls::compute,
};

Status Interpreter::runCompiled(Frame *frame, std::span<Value> results) {
  const FunctionInfo &function = *frame->function;
  stackLimit = CompiledCalls::findStackLimit();
  if (!CompiledCalls::hasStackFor(*this, function))
    return CompiledCalls::stackExhausted(function);
  if (function.compiled(&kRuntime, reinterpret_cast<kiln_frame_t *>(frame), frame->values) != 0) {
    if (thrown)
      std::rethrow_exception(std::exchange(thrown, nullptr));
    return std::exchange(failure, okStatus());
  }
  const uint64_t *value = frame->values + function.valueArguments;
  AnyRef *ref = frame->refs + function.refRegisters;
  for (size_t i = 0; i < results.size(); ++i) {
    char kind = function.signature.results[i];
    results[i] =
        schema::isRefKind(kind) ? Value(std::move(*ref++)) : Value::scalar(static_cast<ValueKind>(kind), *value++);
  }
  return okStatus();
}

Status Interpreter::callAcross(Frame *frame, const ResolvedImport &import, const uint16_t *arguments,
                               const uint16_t *results) {
  using schema::Register;
  const schema::Signature &signature = import.function->signature;
  std::vector<Value> in, out(signature.results.size());
  for (uint32_t i = 0; i < arguments[0]; ++i) {
    Register source{arguments[1 + i]};
    in.push_back(source.isRef()
                     ? Value(frame->refs[source.index()])
                     : Value::scalar(static_cast<ValueKind>(signature.arguments[i]), frame->values[source.index()]));
  }
  KILN_RETURN_IF_ERROR(call(*import.instance, *import.function, in, out));
  for (uint32_t i = 0; i < results[0]; ++i) {
    Register target{results[1 + i]};
    if (target.isRef())
      frame->refs[target.index()] = out[i].takeRef();
    else
      frame->values[target.index()] = out[i].bits();
  }
  return okStatus();
}

} // namespace kiln::vm
