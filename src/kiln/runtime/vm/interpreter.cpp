#include "kiln/runtime/vm/interpreter.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "kiln/base/call_limit.h"
#include "kiln/base/narrow_float.h"
#include "kiln/runtime/module/instruction.h"
#include "kiln/runtime/vm/arithmetic.h"
#include "kiln/runtime/vm/program_objects.h"
#include "kiln/runtime/vm/session.h"
#include "kiln/schema/vm_code.h"
#include "kiln/trace/zone.h"

namespace kiln::vm {

using schema::Register;

// How deep native functions may call back into the VM: this is what bounds the C stack.
static constexpr uint32_t kMaxNativeDepth = 64;
static constexpr uint32_t kMaxBacktraceFrames = 16;

Interpreter::Interpreter(const SessionOptions &options)
    : stack(new std::byte[options.stackBytes]), top(stack.get()), end(stack.get() + options.stackBytes),
      maxDepth(options.maxCallDepth), owner(options.owner), trace(options.trace) {}

Frame *Interpreter::push(Frame *caller, Instance *instance, const FunctionInfo *function) {
  size_t valueBytes = (size_t(function->valueRegisters) + function->valueScratch) * sizeof(uint64_t);
  size_t refBytes = (size_t(function->refRegisters) + function->refScratch) * sizeof(AnyRef);
  size_t size = sizeof(Frame) + valueBytes + refBytes;
  if (depth == maxDepth || size > static_cast<size_t>(end - top)) [[unlikely]]
    return nullptr;
  auto *values = reinterpret_cast<uint64_t *>(top + sizeof(Frame));
  auto *refs = reinterpret_cast<AnyRef *>(top + sizeof(Frame) + valueBytes);
  if (!function->compiled)
    std::memset(values, 0, function->valueRegisters * sizeof(uint64_t));
  std::uninitialized_value_construct_n(refs, function->refRegisters + function->refScratch);
  auto *frame = new (top) Frame{caller, instance, function, values, refs, function->code.data(), 0};
  top += size;
  ++depth;
  innermost = frame;
  return frame;
}

Frame *Interpreter::pop(Frame *frame) {
  std::destroy_n(frame->refs, frame->function->refRegisters + frame->function->refScratch);
  top = reinterpret_cast<std::byte *>(frame);
  --depth;
  return innermost = frame->caller;
}

Frame *Interpreter::enter(Frame *caller, const uint16_t *pc, Instance *instance, const FunctionInfo &function,
                          Status &status) {
  caller->instruction = static_cast<uint32_t>(pc - caller->function->code.data());
  Frame *frame = push(caller, instance, &function);
  if (!frame) [[unlikely]] {
    status = exhausted(function);
    return nullptr;
  }
  uint64_t *value = frame->values;
  AnyRef *ref = frame->refs;
  const uint16_t *list = pc + 2;
  uint32_t count = list[0];
  for (uint32_t i = 1; i <= count; ++i) {
    Register source{list[i]};
    if (source.isRef())
      *ref++ = caller->refs[source.index()];
    else
      *value++ = caller->values[source.index()];
  }
  caller->pc = list + 1 + count;
  return frame;
}

Status Interpreter::call(Instance &instance, const FunctionInfo &function, std::span<const Value> arguments,
                         std::span<Value> results) {
  const trace::Zone zone(trace::isRecording() ? trace::numberOf(function.name) : 0);
  if (nativeDepth == kMaxNativeDepth)
    return resourceExhausted("native functions have called back into the program {} levels deep", nativeDepth);
  Frame *outer = innermost;
  Frame *frame = push(nullptr, &instance, &function);
  if (!frame)
    return exhausted(function);
  uint64_t *value = frame->values;
  AnyRef *ref = frame->refs;
  for (const Value &argument : arguments) {
    if (argument.isRef())
      *ref++ = argument.anyRef();
    else
      *value++ = argument.bits();
  }
  ++nativeDepth;
  // A native function may throw, if only for want of memory: the frames of this call go, and others stay as they are.
  auto leave = [&] {
    while (innermost && innermost != outer)
      pop(innermost);
    innermost = outer;
    --nativeDepth;
  };
  try {
    Status status = function.compiled ? runCompiled(frame, results)
                    : trace           ? run<true>(frame, results)
                                      : run<false>(frame, results);
    leave();
    return status;
  } catch (...) {
    leave();
    throw;
  }
}

Status Interpreter::callNative(Frame *frame, const NativeFunction &native, const uint16_t *arguments,
                               const uint16_t *results) {
  // The verifier made room for this in the frame's scratch: values, pointers to references, results.
  uint32_t count = arguments[0];
  uint64_t *values = frame->values + frame->function->valueRegisters;
  uint64_t *value = values;
  for (uint32_t i = 1; i <= count; ++i)
    if (Register source{arguments[i]}; !source.isRef())
      *value++ = frame->values[source.index()];
  auto **refs = reinterpret_cast<const AnyRef **>(value);
  const AnyRef **ref = refs;
  for (uint32_t i = 1; i <= count; ++i)
    if (Register source{arguments[i]}; source.isRef())
      *ref++ = &frame->refs[source.index()];
  auto *valueResults = reinterpret_cast<uint64_t *>(ref);
  KILN_RETURN_IF_ERROR(callNative(frame, native, {values, value}, {refs, ref}, valueResults));

  AnyRef *refResults = frame->refs + frame->function->refRegisters;
  uint32_t resultCount = results[0];
  for (uint32_t i = 1; i <= resultCount; ++i) {
    Register target{results[i]};
    if (target.isRef())
      frame->refs[target.index()] = std::move(*refResults++);
    else
      frame->values[target.index()] = *valueResults++;
  }
  return okStatus();
}

Status Interpreter::exhausted(const FunctionInfo &function) const {
  return resourceExhausted("the call of @{} needs more than {} active functions or {} bytes of registers: does the "
                           "program recurse without end?",
                           function.name, maxDepth, end - stack.get());
}

static bool isInitializer(const Frame &frame) {
  const Module &module = *frame.instance->module;
  return module.initializer() >= 0 && frame.function == &module.functions()[module.initializer()];
}

Status Interpreter::addBacktrace(const Status &status, const Frame *frame, const NativeFunction *native) const {
  const Frame *outermost = frame;
  while (outermost && outermost->caller)
    outermost = outermost->caller;
  // What a native function refuses while a module is loaded (an executable for another machine) is about the module as
  // a whole, not about a place in its program.
  if (native && outermost && isInitializer(*outermost))
    return status;
  std::string text(status.message());
  if (native)
    text += fmt::format("\n  at native function {}", native->qualifiedName);
  for (uint32_t i = 0; frame; frame = frame->caller, ++i) {
    if (i == kMaxBacktraceFrames) {
      uint32_t more = 0;
      for (; frame; frame = frame->caller)
        ++more;
      text += fmt::format("\n  and {} functions more", more);
      break;
    }
    text +=
        fmt::format("\n  at @{}+{} of module '{}'", frame->function->name, frame->instruction, frame->instance->name);
  }
  return Status(status.code(), std::move(text));
}

void Interpreter::traceInstruction(const Frame *frame, const uint16_t *pc) const {
  Result<Instruction> instruction =
      decodeInstruction(frame->function->code, static_cast<uint32_t>(pc - frame->function->code.data()));
  if (!instruction.ok())
    return;
  std::string line = fmt::format("[{}.{}+{:04}] {}\n", frame->instance->name, frame->function->name,
                                 instruction->position, instructionText(*frame->instance->module, *instruction));
  std::fwrite(line.data(), 1, line.size(), trace);
}

namespace {

uint64_t readImmediate(const uint16_t *units) {
  uint64_t bits;
  std::memcpy(&bits, units, sizeof(bits));
  return bits;
}

uint32_t readTarget(const uint16_t *units) {
  return units[0] | static_cast<uint32_t>(units[1]) << 16;
}

// The moves of a branch operand, all at once: sources are read into scratch before anything is written.
void moveRegisters(Frame *frame, const uint16_t *list) {
  uint32_t count = list[0];
  const uint16_t *pairs = list + 1;
  if (count == 1) {
    Register source{pairs[0]}, target{pairs[1]};
    if (source.isRef())
      frame->refs[target.index()] = frame->refs[source.index()];
    else
      frame->values[target.index()] = frame->values[source.index()];
    return;
  }
  uint64_t *value = frame->values + frame->function->valueRegisters;
  AnyRef *ref = frame->refs + frame->function->refRegisters;
  for (uint32_t i = 0; i < count; ++i) {
    Register source{pairs[2 * i]};
    if (source.isRef())
      *ref++ = frame->refs[source.index()];
    else
      *value++ = frame->values[source.index()];
  }
  value = frame->values + frame->function->valueRegisters;
  ref = frame->refs + frame->function->refRegisters;
  for (uint32_t i = 0; i < count; ++i) {
    Register target{pairs[2 * i + 1]};
    if (target.isRef())
      frame->refs[target.index()] = std::move(*ref++);
    else
      frame->values[target.index()] = *value++;
  }
}

const uint16_t *skipBranch(const uint16_t *operand) {
  return operand + 3 + 2 * operand[2];
}

} // namespace

StatusCode statusCodeOf(uint64_t number) {
  return number == 0 || number > static_cast<uint32_t>(StatusCode::DataLoss) ? StatusCode::Unknown
                                                                             : static_cast<StatusCode>(number);
}

// Registers of the instruction at pc. All operands have been verified when the module was loaded.
#define V(i) values[pc[i]]
#define R(i) frame->refs[pc[i]]
#define I32(i) static_cast<int32_t>(V(i))
#define U32(i) static_cast<uint32_t>(V(i))
#define I64(i) static_cast<int64_t>(V(i))
#define U64(i) V(i)
#define F32(i) std::bit_cast<float>(static_cast<uint32_t>(V(i)))
#define F64(i) std::bit_cast<double>(V(i))
#define SET_I32(value) V(1) = static_cast<uint32_t>(value)
#define SET_I64(value) V(1) = static_cast<uint64_t>(value)
#define SET_F32(value) V(1) = std::bit_cast<uint32_t>(static_cast<float>(value))
#define SET_F64(value) V(1) = std::bit_cast<uint64_t>(static_cast<double>(value))

// Each instruction is a label, and ends by going to the label of the next one: measured at 1.4 times the instructions
// per second of a switch in a loop. An opcode without a label does not compile.
#define OP(Name) op_##Name
#define NEXT(units)                                                                                                    \
  do {                                                                                                                 \
    pc += units;                                                                                                       \
    if constexpr (traced)                                                                                              \
      traceInstruction(frame, pc);                                                                                     \
    goto *labels[pc[0]];                                                                                               \
  } while (false)

// Instructions that only compute.
#define UNARY(Name, statement)                                                                                         \
  OP(Name) : statement;                                                                                                \
  NEXT(3)
#define BINARY(Name, statement)                                                                                        \
  OP(Name) : statement;                                                                                                \
  NEXT(4)
#define DIVISION(Name, failure, statement)                                                                             \
  OP(Name) : if (const char *message = failure) [[unlikely]] {                                                         \
    status = invalidArgument("{}", message);                                                                           \
    goto failed;                                                                                                       \
  }                                                                                                                    \
  statement;                                                                                                           \
  NEXT(4)
#define MATH1(Name, function)                                                                                          \
  UNARY(Name##F32, SET_F32(function(F32(2))));                                                                         \
  UNARY(Name##F64, SET_F64(function(F64(2))));
#define MATH2(Name, function)                                                                                          \
  BINARY(Name##F32, SET_F32(function(F32(2), F32(3))));                                                                \
  BINARY(Name##F64, SET_F64(function(F64(2), F64(3))));

// No loop is without a branch. Without loops, calls alone can multiply.
#define ASK_WHETHER_OVER()                                                                                             \
  do {                                                                                                                 \
    if (++jumps == kJumpsPerAsking) [[unlikely]] {                                                                     \
      jumps = 0;                                                                                                       \
      if (limit && limit->isOver()) {                                                                                  \
        status = limit->status();                                                                                      \
        goto failed;                                                                                                   \
      }                                                                                                                \
    }                                                                                                                  \
  } while (false)

template <typename T> static const char *divisionFailure(T a, T b) {
  if (b == 0)
    return kDivisionByZero;
  if (std::is_signed_v<T> && b == T(-1) && a == std::numeric_limits<T>::min())
    return kDivisionOverflow;
  return nullptr;
}
template <typename T> static const char *remainderFailure(T b) {
  return b == 0 ? kDivisionByZero : nullptr;
}

template <bool traced> Status Interpreter::run(Frame *frame, std::span<Value> hostResults) {
  Status status;
  const NativeFunction *failedNative = nullptr;
  const uint16_t *pc = frame->function->code.data();
  uint64_t *values = frame->values;

  const CallLimit *limit = CallLimit::current();
  uint32_t jumps = 0;
  Frame *callee = nullptr;
  static const void *const labels[] = {
#define KILN_VM_OP(Name, mnemonic, format) &&op_##Name,
#include "kiln/schema/vm_opcodes.def"
  };
  NEXT(0);

  OP(Nop) : NEXT(1);
  OP(Const) : V(1) = readImmediate(pc + 2);
  NEXT(6);
  OP(ConstNull) : R(1).reset();
  NEXT(2);
  UNARY(ConstRodata, R(1) = frame->instance->rodata[pc[2]]);
  UNARY(ConstExecutable, R(1) = frame->instance->executables[pc[2]]);
  UNARY(Move, V(1) = V(2));
  UNARY(MoveRef, R(1) = R(2));
  OP(Discard) : {
    uint32_t count = pc[1];
    for (uint32_t i = 0; i < count; ++i)
      frame->refs[Register{pc[2 + i]}.index()].reset();
    NEXT(2 + count);
  }
  UNARY(GlobalLoad, V(1) = frame->instance->valueGlobals[pc[2]]);
  UNARY(GlobalStore, frame->instance->valueGlobals[pc[1]] = V(2));
  UNARY(GlobalLoadRef, R(1) = frame->instance->refGlobals[pc[2]]);
  UNARY(GlobalStoreRef, frame->instance->refGlobals[pc[1]] = R(2));

  OP(Branch) : {
    ASK_WHETHER_OVER();
    if (pc[3] != 0)
      moveRegisters(frame, pc + 3);
    pc = frame->function->code.data() + readTarget(pc + 1);
    NEXT(0);
  }
  OP(CondBranch) : {
    ASK_WHETHER_OVER();
    const uint16_t *operand = V(1) != 0 ? pc + 2 : skipBranch(pc + 2);
    if (operand[2] != 0)
      moveRegisters(frame, operand + 2);
    pc = frame->function->code.data() + readTarget(operand);
    NEXT(0);
  }
  OP(Call) : ASK_WHETHER_OVER();
  callee = enter(frame, pc, frame->instance, frame->instance->module->functions()[pc[1]], status);
  if (!callee) [[unlikely]]
    goto failed;
  frame = callee;
  values = frame->values;
  pc = frame->pc;
  NEXT(0);
  OP(CallImport) : {
    const ResolvedImport &import = frame->instance->imports[pc[1]];
    if (!import.native) {
      ASK_WHETHER_OVER();
      if (import.function->compiled) {
        frame->instruction = static_cast<uint32_t>(pc - frame->function->code.data());
        const uint16_t *results = pc + 3 + pc[2];
        status = callAcross(frame, import, pc + 2, results);
        if (!status.ok()) [[unlikely]]
          goto failed;
        pc = results + 1 + results[0];
        NEXT(0);
      }
      callee = enter(frame, pc, import.instance, *import.function, status);
      if (!callee) [[unlikely]]
        goto failed;
      frame = callee;
      values = frame->values;
      pc = frame->pc;
      NEXT(0);
    }
    frame->instruction = static_cast<uint32_t>(pc - frame->function->code.data());
    const uint16_t *results = pc + 3 + pc[2];
    status = callNative(frame, *import.native, pc + 2, results);
    if (!status.ok()) [[unlikely]] {
      failedNative = import.native;
      goto failed;
    }
    pc = results + 1 + results[0];
    NEXT(0);
  }
  OP(Return) : {
    Frame *caller = frame->caller;
    uint32_t count = pc[1];
    if (!caller) {
      const std::string &kinds = frame->function->signature.results;
      for (uint32_t i = 0; i < count; ++i) {
        Register source{pc[2 + i]};
        hostResults[i] = source.isRef() ? Value(frame->refs[source.index()])
                                        : Value::scalar(static_cast<ValueKind>(kinds[i]), values[source.index()]);
      }
      pop(frame);
      return okStatus();
    }
    const uint16_t *targets = caller->pc + 1;
    for (uint32_t i = 0; i < count; ++i) {
      Register source{pc[2 + i]}, target{targets[i]};
      if (source.isRef())
        caller->refs[target.index()] = frame->refs[source.index()];
      else
        caller->values[target.index()] = values[source.index()];
    }
    pc = targets + count;
    frame = pop(frame);
    values = frame->values;
    NEXT(0);
  }
  OP(Fail) : {
    const Rodata *message = frame->instance->rodata[pc[2]].as<Rodata>();
    status = Status(statusCodeOf(V(1)), std::string(message->bytes()));
    goto failed;
  }

  OP(Select) : V(1) = V(2) != 0 ? V(3) : V(4);
  NEXT(5);
  OP(SelectRef) : R(1) = V(2) != 0 ? R(3) : R(4);
  NEXT(5);
  UNARY(IsNullRef, V(1) = !R(2));

  BINARY(AddI32, SET_I32(U32(2) + U32(3)));
  BINARY(SubI32, SET_I32(U32(2) - U32(3)));
  BINARY(MulI32, SET_I32(U32(2) * U32(3)));
  DIVISION(DivSI32, divisionFailure(I32(2), I32(3)), SET_I32(I32(2) / I32(3)));
  DIVISION(DivUI32, divisionFailure(U32(2), U32(3)), SET_I32(U32(2) / U32(3)));
  DIVISION(RemSI32, remainderFailure(I32(3)), SET_I32(remainderSigned(I32(2), I32(3))));
  DIVISION(RemUI32, remainderFailure(U32(3)), SET_I32(U32(2) % U32(3)));
  BINARY(MinSI32, SET_I32(std::min(I32(2), I32(3))));
  BINARY(MinUI32, SET_I32(std::min(U32(2), U32(3))));
  BINARY(MaxSI32, SET_I32(std::max(I32(2), I32(3))));
  BINARY(MaxUI32, SET_I32(std::max(U32(2), U32(3))));
  BINARY(AndI32, SET_I32(U32(2) & U32(3)));
  BINARY(OrI32, SET_I32(U32(2) | U32(3)));
  BINARY(XorI32, SET_I32(U32(2) ^ U32(3)));
  BINARY(ShlI32, SET_I32(U32(2) << (U32(3) & 31)));
  BINARY(ShrSI32, SET_I32(I32(2) >> (U32(3) & 31)));
  BINARY(ShrUI32, SET_I32(U32(2) >> (U32(3) & 31)));

  BINARY(AddI64, SET_I64(U64(2) + U64(3)));
  BINARY(SubI64, SET_I64(U64(2) - U64(3)));
  BINARY(MulI64, SET_I64(U64(2) * U64(3)));
  DIVISION(DivSI64, divisionFailure(I64(2), I64(3)), SET_I64(I64(2) / I64(3)));
  DIVISION(DivUI64, divisionFailure(U64(2), U64(3)), SET_I64(U64(2) / U64(3)));
  DIVISION(RemSI64, remainderFailure(I64(3)), SET_I64(remainderSigned(I64(2), I64(3))));
  DIVISION(RemUI64, remainderFailure(U64(3)), SET_I64(U64(2) % U64(3)));
  BINARY(MinSI64, SET_I64(std::min(I64(2), I64(3))));
  BINARY(MinUI64, SET_I64(std::min(U64(2), U64(3))));
  BINARY(MaxSI64, SET_I64(std::max(I64(2), I64(3))));
  BINARY(MaxUI64, SET_I64(std::max(U64(2), U64(3))));
  BINARY(AndI64, SET_I64(U64(2) & U64(3)));
  BINARY(OrI64, SET_I64(U64(2) | U64(3)));
  BINARY(XorI64, SET_I64(U64(2) ^ U64(3)));
  BINARY(ShlI64, SET_I64(U64(2) << (U64(3) & 63)));
  BINARY(ShrSI64, SET_I64(I64(2) >> (U64(3) & 63)));
  BINARY(ShrUI64, SET_I64(U64(2) >> (U64(3) & 63)));

  BINARY(CmpEqI32, V(1) = U32(2) == U32(3));
  BINARY(CmpNeI32, V(1) = U32(2) != U32(3));
  BINARY(CmpLtSI32, V(1) = I32(2) < I32(3));
  BINARY(CmpLeSI32, V(1) = I32(2) <= I32(3));
  BINARY(CmpLtUI32, V(1) = U32(2) < U32(3));
  BINARY(CmpLeUI32, V(1) = U32(2) <= U32(3));
  BINARY(CmpEqI64, V(1) = U64(2) == U64(3));
  BINARY(CmpNeI64, V(1) = U64(2) != U64(3));
  BINARY(CmpLtSI64, V(1) = I64(2) < I64(3));
  BINARY(CmpLeSI64, V(1) = I64(2) <= I64(3));
  BINARY(CmpLtUI64, V(1) = U64(2) < U64(3));
  BINARY(CmpLeUI64, V(1) = U64(2) <= U64(3));

  UNARY(TruncI1, V(1) = V(2) & 1);
  UNARY(TruncI8, V(1) = static_cast<uint8_t>(V(2)));
  UNARY(TruncI16, V(1) = static_cast<uint16_t>(V(2)));
  UNARY(TruncI32, SET_I32(V(2)));
  UNARY(ExtSI1, SET_I64(-(I64(2) & 1)));
  UNARY(ExtSI8, SET_I64(static_cast<int64_t>(static_cast<int8_t>(V(2)))));
  UNARY(ExtSI16, SET_I64(static_cast<int64_t>(static_cast<int16_t>(V(2)))));
  UNARY(ExtSI32, SET_I64(static_cast<int64_t>(I32(2))));

  BINARY(AddF32, SET_F32(F32(2) + F32(3)));
  BINARY(SubF32, SET_F32(F32(2) - F32(3)));
  BINARY(MulF32, SET_F32(F32(2) * F32(3)));
  BINARY(DivF32, SET_F32(F32(2) / F32(3)));
  BINARY(MinF32, SET_F32(minimum(F32(2), F32(3))));
  BINARY(MaxF32, SET_F32(maximum(F32(2), F32(3))));
  UNARY(NegF32, SET_F32(-F32(2)));
  BINARY(AddF64, SET_F64(F64(2) + F64(3)));
  BINARY(SubF64, SET_F64(F64(2) - F64(3)));
  BINARY(MulF64, SET_F64(F64(2) * F64(3)));
  BINARY(DivF64, SET_F64(F64(2) / F64(3)));
  BINARY(MinF64, SET_F64(minimum(F64(2), F64(3))));
  BINARY(MaxF64, SET_F64(maximum(F64(2), F64(3))));
  UNARY(NegF64, SET_F64(-F64(2)));

  BINARY(CmpEqF32, V(1) = F32(2) == F32(3));
  BINARY(CmpLtF32, V(1) = F32(2) < F32(3));
  BINARY(CmpLeF32, V(1) = F32(2) <= F32(3));
  BINARY(CmpUnoF32, V(1) = std::isunordered(F32(2), F32(3)));
  BINARY(CmpEqF64, V(1) = F64(2) == F64(3));
  BINARY(CmpLtF64, V(1) = F64(2) < F64(3));
  BINARY(CmpLeF64, V(1) = F64(2) <= F64(3));
  BINARY(CmpUnoF64, V(1) = std::isunordered(F64(2), F64(3)));

  UNARY(ExtF32F64, SET_F64(F32(2)));
  UNARY(TruncF64F32, SET_F32(F64(2)));
  UNARY(ExtF16F64, SET_F64(kF16.decode(static_cast<uint16_t>(V(2)))));
  UNARY(TruncF64F16, SET_I64(kF16.encode(F64(2))));
  UNARY(ExtBF16F64, SET_F64(kBF16.decode(static_cast<uint16_t>(V(2)))));
  UNARY(TruncF64BF16, SET_I64(kBF16.encode(F64(2))));
  UNARY(SI64ToF32, SET_F32(I64(2)));
  UNARY(UI64ToF32, SET_F32(U64(2)));
  UNARY(SI64ToF64, SET_F64(I64(2)));
  UNARY(UI64ToF64, SET_F64(U64(2)));
  UNARY(F32ToSI64, SET_I64(toSigned(F32(2))));
  UNARY(F32ToUI64, SET_I64(toUnsigned(F32(2))));
  UNARY(F64ToSI64, SET_I64(toSigned(F64(2))));
  UNARY(F64ToUI64, SET_I64(toUnsigned(F64(2))));

  KILN_VM_UNARY_MATH(MATH1)
  KILN_VM_BINARY_MATH(MATH2)

failed:
  frame->instruction = static_cast<uint32_t>(pc - frame->function->code.data());
  status = addBacktrace(status, frame, failedNative);
  while (frame)
    frame = pop(frame);
  return status;
}

} // namespace kiln::vm
