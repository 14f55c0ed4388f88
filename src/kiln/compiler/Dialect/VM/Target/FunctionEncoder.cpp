#include "kiln/compiler/Dialect/VM/Target/FunctionEncoder.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using kiln::schema::Label;
using kiln::schema::Move;
using kiln::schema::Opcode;

namespace kiln::VM {

static bool isRef(Type type) {
  return isa<RefType>(type);
}

static unsigned widthOf(Value value) {
  return value.getType().getIntOrFloatBitWidth();
}

FailureOr<std::string> signatureOf(Operation *op, FunctionType type) {
  std::string text;
  auto append = [&](ArrayRef<Type> types) -> LogicalResult {
    for (Type type : types) {
      if (isRef(type))
        text += 'r';
      else if (type.isInteger(32))
        text += 'i';
      else if (type.isInteger(64))
        text += 'I';
      else if (type.isF32())
        text += 'f';
      else if (type.isF64())
        text += 'F';
      else
        return op->emitError() << "has the type " << type << " at its boundary, which the VM does not have";
    }
    return success();
  };
  if (failed(append(type.getInputs())))
    return failure();
  text += '_';
  if (failed(append(type.getResults())))
    return failure();
  return text;
}

//===--- Registers -----------------------------------------------------------------------------------------------===//

void FunctionEncoder::findLastUses(Block &block) {
  auto consider = [&](Value value) {
    Operation *last = nullptr;
    for (Operation *user : value.getUsers()) {
      if (user->getBlock() != &block) {
        shared.insert(value);
        return;
      }
      if (!last || last->isBeforeInBlock(user))
        last = user;
    }
    if (!last)
      last = value.getDefiningOp();
    if (last)
      dyingAt[last].push_back(value);
  };
  if (block.isEntryBlock())
    for (BlockArgument arg : block.getArguments())
      consider(arg);
  for (Operation &op : block)
    for (Value result : op.getResults())
      consider(result);
}

FunctionEncoder::Register FunctionEncoder::assign(Value value) {
  bool ref = isRef(value.getType());
  SmallVector<uint32_t> &pool = ref ? freeRefs : freeValues;
  bool isFresh = pool.empty() || isa<BlockArgument>(value) || shared.contains(value);
  uint32_t number = isFresh ? (ref ? refCount : valueCount)++ : pool.pop_back_val();
  Register reg = ref ? Register::ref(number) : Register::value(number);
  registers.insert({value, reg});
  return reg;
}

uint32_t FunctionEncoder::temporary() {
  uint32_t number = freeValues.empty() ? valueCount++ : freeValues.pop_back_val();
  temporaries.push_back(number);
  return number;
}

void FunctionEncoder::release(Operation &op) {
  freeValues.append(temporaries);
  temporaries.clear();
  bool isTerminator = op.hasTrait<OpTrait::IsTerminator>();
  SmallVector<Register> refs;
  for (Value value : dyingAt.lookup(&op)) {
    Register reg = of(value);
    if (reg.isRef()) {
      // What a branch or a return leaves behind is overwritten later or dropped with the frame.
      if (!isTerminator)
        refs.push_back(reg);
      freeRefs.push_back(reg.index());
    } else {
      freeValues.push_back(reg.index());
    }
  }
  if (!refs.empty())
    code.discard(refs);
}

//===--- Functions and control flow ------------------------------------------------------------------------------===//

FailureOr<schema::FunctionDesc> FunctionEncoder::encode() {
  FailureOr<std::string> signature = signatureOf(func, func.getFunctionType());
  if (failed(signature))
    return failure();
  for (Block &block : func.getBody()) {
    labels[&block] = code.newLabel();
    findLastUses(block);
  }
  // Block arguments have registers before any branch names them; the entry's come first, as the convention says.
  for (Block &block : func.getBody())
    for (BlockArgument arg : block.getArguments())
      assign(arg);
  for (Block &block : func.getBody()) {
    code.bind(labels[&block]);
    for (Operation &op : block) {
      for (Value result : op.getResults())
        assign(result);
      if (failed(encodeOp(op)))
        return failure();
      release(op);
    }
  }
  schema::FunctionDesc desc;
  desc.name = func.getSymName().str();
  desc.signature = *signature;
  desc.valueRegisters = valueCount;
  desc.refRegisters = refCount;
  if (valueCount > schema::kMaxRegisters || refCount > schema::kMaxRegisters)
    return func.emitError() << "needs " << std::max(valueCount, refCount) << " registers; a VM function has at most "
                            << schema::kMaxRegisters;
  Result<std::vector<uint16_t>> units = code.finish();
  if (!units.ok())
    return func.emitError() << "cannot be encoded: " << units.status().message();
  desc.code = *std::move(units);
  return desc;
}

LogicalResult FunctionEncoder::unsupported(Operation &op) {
  InFlightDiagnostic error = op.emitError() << "'" << op.getName() << "' is not supported on the host";
  if (op.getNumResults() > 0)
    error << " with the type " << op.getResult(0).getType();
  return error;
}

LogicalResult FunctionEncoder::encodeOp(Operation &op) {
  auto globalOf = [&](const llvm::StringMap<uint32_t> &map, StringRef name) { return map.lookup(name); };
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<arith::ConstantOp>([&](auto op) { return encodeConstant(op); })
      .Case<CallOp>([&](auto op) { return encodeCall(op); })
      .Case<CheckOp>([&](auto op) {
        Label holds = code.newLabel(), fails = code.newLabel();
        uint32_t status = temporary();
        code.condBranch(of(op.getCondition()).index(), holds, fails);
        code.bind(fails);
        code.constant(status, op.getCode());
        code.emit(Opcode::Fail, {status, index.rodata.lookup(op.getMessage())});
        code.bind(holds);
        return success();
      })
      .Case<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp>([&](auto op) { return encodeBranches(*op); })
      .Case<ReturnOp>([&](auto op) {
        SmallVector<Register> results = llvm::map_to_vector(op.getOperands(), [&](Value v) { return of(v); });
        code.ret(std::span<const Register>(results));
        return success();
      })
      .Case<GlobalLoadOp>([&](auto op) {
        if (isRef(op.getType()))
          code.emit(Opcode::GlobalLoadRef, {of(op).index(), globalOf(index.refGlobals, op.getGlobal())});
        else
          code.emit(Opcode::GlobalLoad, {of(op).index(), globalOf(index.valueGlobals, op.getGlobal())});
        return success();
      })
      .Case<GlobalStoreOp>([&](auto op) {
        if (isRef(op.getValue().getType()))
          code.emit(Opcode::GlobalStoreRef, {globalOf(index.refGlobals, op.getGlobal()), of(op.getValue()).index()});
        else
          code.emit(Opcode::GlobalStore, {globalOf(index.valueGlobals, op.getGlobal()), of(op.getValue()).index()});
        return success();
      })
      .Case<ConstRodataOp>([&](auto op) {
        code.emit(Opcode::ConstRodata, {of(op).index(), index.rodata.lookup(op.getRodata())});
        return success();
      })
      .Case<ConstExecutableOp>([&](auto op) {
        code.emit(Opcode::ConstExecutable, {of(op).index(), index.executables.lookup(op.getExecutable())});
        return success();
      })
      .Case<NullOp>([&](auto op) {
        code.emit(Opcode::ConstNull, {of(op).index()});
        return success();
      })
      .Case<BarrierOp>([&](auto op) {
        code.emit(isRef(op.getType()) ? Opcode::MoveRef : Opcode::Move, {of(op).index(), of(op.getValue()).index()});
        return success();
      })
      .Case<arith::SelectOp>([&](auto op) {
        code.emit(isRef(op.getType()) ? Opcode::SelectRef : Opcode::Select,
                  {of(op.getResult()).index(), of(op.getCondition()).index(), of(op.getTrueValue()).index(),
                   of(op.getFalseValue()).index()});
        return success();
      })
      .Case([&](arith::CmpIOp op) { return encodeIntCompare(op); })
      .Case([&](arith::CmpFOp op) { return encodeFloatCompare(op); })
      .Case<arith::TruncIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncFOp, arith::ExtFOp, arith::SIToFPOp,
            arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::BitcastOp>(
          [&](auto op) { return encodeCast(*op); })
      .Default([&](Operation *op) { return encodeArithmetic(*op); });
}

LogicalResult FunctionEncoder::encodeConstant(arith::ConstantOp op) {
  Attribute value = op.getValue();
  uint64_t bits;
  if (auto integer = dyn_cast<IntegerAttr>(value))
    bits = integer.getValue().getZExtValue();
  else if (auto real = dyn_cast<FloatAttr>(value))
    bits = real.getValue().bitcastToAPInt().getZExtValue();
  else
    return unsupported(*op);
  code.constant(of(op).index(), bits);
  return success();
}

LogicalResult FunctionEncoder::encodeCall(CallOp op) {
  SmallVector<Register> arguments = llvm::map_to_vector(op.getOperands(), [&](Value v) { return of(v); });
  SmallVector<Register> results = llvm::map_to_vector(op.getResults(), [&](Value v) { return of(v); });
  StringRef callee = op.getCallee();
  if (auto it = index.imports.find(callee); it != index.imports.end())
    code.callImport(it->second, std::span<const Register>(arguments), std::span<const Register>(results));
  else
    code.call(index.functions.lookup(callee), std::span<const Register>(arguments), std::span<const Register>(results));
  return success();
}

SmallVector<Move> FunctionEncoder::movesTo(Block *block, ValueRange operands) {
  SmallVector<Move> moves;
  for (auto [arg, operand] : llvm::zip(block->getArguments(), operands))
    if (!(of(arg) == of(operand)))
      moves.push_back({of(operand), of(arg)});
  return moves;
}

LogicalResult FunctionEncoder::encodeBranches(Operation &op) {
  if (auto branch = dyn_cast<cf::BranchOp>(op)) {
    SmallVector<Move> moves = movesTo(branch.getDest(), branch.getDestOperands());
    code.branch(labels[branch.getDest()], std::span<const Move>(moves));
    return success();
  }
  if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
    SmallVector<Move> trueMoves = movesTo(branch.getTrueDest(), branch.getTrueDestOperands());
    SmallVector<Move> falseMoves = movesTo(branch.getFalseDest(), branch.getFalseDestOperands());
    code.condBranch(of(branch.getCondition()).index(), labels[branch.getTrueDest()], std::span<const Move>(trueMoves),
                    labels[branch.getFalseDest()], std::span<const Move>(falseMoves));
    return success();
  }
  if (auto select = dyn_cast<cf::SwitchOp>(op)) {
    // A chain of comparisons; the last falls to the default.
    uint32_t expected = temporary(), equal = temporary();
    if (std::optional<DenseIntElementsAttr> values = select.getCaseValues()) {
      for (auto [i, value] : llvm::enumerate(values->getValues<APInt>())) {
        Block *block = select.getCaseDestinations()[i];
        SmallVector<Move> moves = movesTo(block, select.getCaseOperands(i));
        Label next = code.newLabel();
        code.constant(expected, value.getZExtValue());
        binary(Opcode::CmpEqI64, equal, of(select.getFlag()).index(), expected);
        code.condBranch(equal, labels[block], std::span<const Move>(moves), next, std::span<const Move>());
        code.bind(next);
      }
    }
    SmallVector<Move> moves = movesTo(select.getDefaultDestination(), select.getDefaultOperands());
    code.branch(labels[select.getDefaultDestination()], std::span<const Move>(moves));
    return success();
  }
  return unsupported(op);
}

//===--- Arithmetic ----------------------------------------------------------------------------------------------===//

uint32_t FunctionEncoder::signExtended(Value value) {
  uint32_t reg = of(value).index();
  unsigned width = widthOf(value);
  if (width == 64)
    return reg;
  uint32_t extended = temporary();
  Opcode opcode = width == 1    ? Opcode::ExtSI1
                  : width == 8  ? Opcode::ExtSI8
                  : width == 16 ? Opcode::ExtSI16
                                : Opcode::ExtSI32;
  unary(opcode, extended, reg);
  return extended;
}

static bool isVMFloat(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}
static bool isNarrowFloat(Type type) {
  return type.isF16() || type.isBF16();
}

uint32_t FunctionEncoder::asF64(Value value) {
  Type type = value.getType();
  uint32_t reg = of(value).index();
  if (type.isF64())
    return reg;
  uint32_t extended = temporary();
  unary(type.isF32() ? Opcode::ExtF32F64 : type.isF16() ? Opcode::ExtF16F64 : Opcode::ExtBF16F64, extended, reg);
  return extended;
}

void FunctionEncoder::truncateF64(Type type, uint32_t target, uint32_t source) {
  unary(type.isF32()    ? Opcode::TruncF64F32
        : type.isF16()  ? Opcode::TruncF64F16
        : type.isBF16() ? Opcode::TruncF64BF16
                        : Opcode::Move,
        target, source);
}

// How a comparison of floats is one that the VM has: with operands swapped, with the result negated. An unordered
// comparison is true where the opposite ordered one is false.
namespace {
enum class FloatTest { Equal, Less, LessOrEqual, Unordered };
struct FloatCompare {
  FloatTest test;
  bool swapped = false, negated = false;
};
} // namespace

static FloatCompare floatCompareOf(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::OEQ: return {FloatTest::Equal};
  case P::OLT: return {FloatTest::Less};
  case P::OLE: return {FloatTest::LessOrEqual};
  case P::OGT: return {FloatTest::Less, true};
  case P::OGE: return {FloatTest::LessOrEqual, true};
  case P::UNO: return {FloatTest::Unordered};
  case P::UNE: return {FloatTest::Equal, false, true};
  case P::UGE: return {FloatTest::Less, false, true};
  case P::UGT: return {FloatTest::LessOrEqual, false, true};
  case P::ULE: return {FloatTest::Less, true, true};
  case P::ULT: return {FloatTest::LessOrEqual, true, true};
  case P::ORD: return {FloatTest::Unordered, false, true};
  case P::AlwaysFalse:
  case P::AlwaysTrue:
  case P::ONE:
  case P::UEQ: break; // not one instruction
  }
  llvm_unreachable("encoded by encodeFloatCompare itself");
}

LogicalResult FunctionEncoder::encodeIntCompare(arith::CmpIOp compare) {
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  uint32_t target = of(compare.getResult()).index();
  bool isSigned = llvm::is_contained({P::slt, P::sle, P::sgt, P::sge}, predicate);
  uint32_t a = isSigned ? signExtended(compare.getLhs()) : of(compare.getLhs()).index();
  uint32_t b = isSigned ? signExtended(compare.getRhs()) : of(compare.getRhs()).index();
  switch (predicate) {
  case P::eq: binary(Opcode::CmpEqI64, target, a, b); break;
  case P::ne: binary(Opcode::CmpNeI64, target, a, b); break;
  case P::slt: binary(Opcode::CmpLtSI64, target, a, b); break;
  case P::sle: binary(Opcode::CmpLeSI64, target, a, b); break;
  case P::sgt: binary(Opcode::CmpLtSI64, target, b, a); break;
  case P::sge: binary(Opcode::CmpLeSI64, target, b, a); break;
  case P::ult: binary(Opcode::CmpLtUI64, target, a, b); break;
  case P::ule: binary(Opcode::CmpLeUI64, target, a, b); break;
  case P::ugt: binary(Opcode::CmpLtUI64, target, b, a); break;
  case P::uge: binary(Opcode::CmpLeUI64, target, b, a); break;
  }
  return success();
}

LogicalResult FunctionEncoder::encodeFloatCompare(arith::CmpFOp compare) {
  using P = arith::CmpFPredicate;
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  P predicate = compare.getPredicate();
  uint32_t target = of(compare.getResult()).index();
  bool is32 = lhs.getType().isF32(), isNarrow = isNarrowFloat(lhs.getType());
  if (!is32 && !isNarrow && !lhs.getType().isF64())
    return unsupported(*compare.getOperation());
  uint32_t a = isNarrow ? asF64(lhs) : of(lhs).index(), b = isNarrow ? asF64(rhs) : of(rhs).index();
  auto opcodeOf = [&](FloatTest test) {
    switch (test) {
    case FloatTest::Equal: return is32 ? Opcode::CmpEqF32 : Opcode::CmpEqF64;
    case FloatTest::Less: return is32 ? Opcode::CmpLtF32 : Opcode::CmpLtF64;
    case FloatTest::LessOrEqual: return is32 ? Opcode::CmpLeF32 : Opcode::CmpLeF64;
    case FloatTest::Unordered: return is32 ? Opcode::CmpUnoF32 : Opcode::CmpUnoF64;
    }
    llvm_unreachable("all tests are listed");
  };
  bool negated = predicate == P::UEQ;
  if (predicate == P::AlwaysFalse || predicate == P::AlwaysTrue) {
    code.constant(target, predicate == P::AlwaysTrue);
  } else if (predicate == P::ONE || predicate == P::UEQ) {
    uint32_t less = temporary(), greater = temporary();
    binary(opcodeOf(FloatTest::Less), less, a, b);
    binary(opcodeOf(FloatTest::Less), greater, b, a);
    binary(Opcode::OrI32, target, less, greater);
  } else {
    FloatCompare as = floatCompareOf(predicate);
    binary(opcodeOf(as.test), target, as.swapped ? b : a, as.swapped ? a : b);
    negated = as.negated;
  }
  if (negated) {
    uint32_t one = temporary();
    code.constant(one, 1);
    binary(Opcode::XorI32, target, target, one);
  }
  return success();
}

namespace {
// The instruction of an op for each type. Integers narrower than 32 bits are computed in 32 and cut to size; operations
// that look at the sign want their operands sign-extended.
struct ArithmeticRow {
  const char *name;
  Opcode i32, i64, f32, f64;
  bool isSigned;
};
} // namespace

static constexpr Opcode none = Opcode::Nop;
static const ArithmeticRow kArithmetic[] = {
    {"arith.addi", Opcode::AddI32, Opcode::AddI64, none, none, false},
    {"arith.subi", Opcode::SubI32, Opcode::SubI64, none, none, false},
    {"arith.muli", Opcode::MulI32, Opcode::MulI64, none, none, false},
    {"arith.divsi", Opcode::DivSI32, Opcode::DivSI64, none, none, true},
    {"arith.divui", Opcode::DivUI32, Opcode::DivUI64, none, none, false},
    {"arith.remsi", Opcode::RemSI32, Opcode::RemSI64, none, none, true},
    {"arith.remui", Opcode::RemUI32, Opcode::RemUI64, none, none, false},
    {"arith.minsi", Opcode::MinSI32, Opcode::MinSI64, none, none, true},
    {"arith.minui", Opcode::MinUI32, Opcode::MinUI64, none, none, false},
    {"arith.maxsi", Opcode::MaxSI32, Opcode::MaxSI64, none, none, true},
    {"arith.maxui", Opcode::MaxUI32, Opcode::MaxUI64, none, none, false},
    {"arith.andi", Opcode::AndI32, Opcode::AndI64, none, none, false},
    {"arith.ori", Opcode::OrI32, Opcode::OrI64, none, none, false},
    {"arith.xori", Opcode::XorI32, Opcode::XorI64, none, none, false},
    {"arith.shli", Opcode::ShlI32, Opcode::ShlI64, none, none, false},
    {"arith.shrsi", Opcode::ShrSI32, Opcode::ShrSI64, none, none, true},
    {"arith.shrui", Opcode::ShrUI32, Opcode::ShrUI64, none, none, false},
    {"arith.addf", none, none, Opcode::AddF32, Opcode::AddF64, false},
    {"arith.subf", none, none, Opcode::SubF32, Opcode::SubF64, false},
    {"arith.mulf", none, none, Opcode::MulF32, Opcode::MulF64, false},
    {"arith.divf", none, none, Opcode::DivF32, Opcode::DivF64, false},
    {"arith.remf", none, none, Opcode::RemF32, Opcode::RemF64, false},
    {"arith.minimumf", none, none, Opcode::MinF32, Opcode::MinF64, false},
    {"arith.maximumf", none, none, Opcode::MaxF32, Opcode::MaxF64, false},
    {"arith.negf", none, none, Opcode::NegF32, Opcode::NegF64, false},
    {"math.absf", none, none, Opcode::AbsF32, Opcode::AbsF64, false},
    {"math.ceil", none, none, Opcode::CeilF32, Opcode::CeilF64, false},
    {"math.floor", none, none, Opcode::FloorF32, Opcode::FloorF64, false},
    {"math.roundeven", none, none, Opcode::RoundEvenF32, Opcode::RoundEvenF64, false},
    {"math.sqrt", none, none, Opcode::SqrtF32, Opcode::SqrtF64, false},
    {"math.exp", none, none, Opcode::ExpF32, Opcode::ExpF64, false},
    {"math.exp2", none, none, Opcode::Exp2F32, Opcode::Exp2F64, false},
    {"math.log", none, none, Opcode::LogF32, Opcode::LogF64, false},
    {"math.log2", none, none, Opcode::Log2F32, Opcode::Log2F64, false},
    {"math.sin", none, none, Opcode::SinF32, Opcode::SinF64, false},
    {"math.cos", none, none, Opcode::CosF32, Opcode::CosF64, false},
    {"math.tanh", none, none, Opcode::TanhF32, Opcode::TanhF64, false},
    {"math.erf", none, none, Opcode::ErfF32, Opcode::ErfF64, false},
    {"math.powf", none, none, Opcode::PowF32, Opcode::PowF64, false},
};

LogicalResult FunctionEncoder::encodeArithmetic(Operation &op) {
  const ArithmeticRow *row = nullptr;
  for (const ArithmeticRow &candidate : kArithmetic)
    if (op.getName().getStringRef() == candidate.name)
      row = &candidate;
  if (!row)
    return unsupported(op);
  Type type = op.getResult(0).getType();
  bool isNarrow = type.isInteger() && widthOf(op.getResult(0)) < 32;
  Opcode opcode = type.isF32()                          ? row->f32
                  : type.isF64() || isNarrowFloat(type) ? row->f64
                  : type.isInteger(64)                  ? row->i64
                  : type.isInteger(32) || isNarrow      ? row->i32
                                                        : none;
  if (opcode == none)
    return unsupported(op);
  uint32_t target = of(op.getResult(0)).index();
  SmallVector<uint32_t> operands;
  for (Value operand : op.getOperands())
    operands.push_back(isNarrow && row->isSigned ? signExtended(operand)
                       : isNarrowFloat(type)     ? asF64(operand)
                                                 : of(operand).index());
  if (operands.size() == 1)
    unary(opcode, target, operands[0]);
  else
    binary(opcode, target, operands[0], operands[1]);
  if (isNarrowFloat(type))
    truncateF64(type, target, target);
  if (isNarrow) {
    unsigned width = widthOf(op.getResult(0));
    unary(width == 1 ? Opcode::TruncI1 : width == 8 ? Opcode::TruncI8 : Opcode::TruncI16, target, target);
  }
  return success();
}

LogicalResult FunctionEncoder::encodeCast(Operation &op) {
  Value input = op.getOperand(0), result = op.getResult(0);
  Type from = input.getType(), to = result.getType();
  uint32_t target = of(result).index(), source = of(input).index();
  auto cut = [&](unsigned width) {
    if (width < 64)
      unary(width == 1    ? Opcode::TruncI1
            : width == 8  ? Opcode::TruncI8
            : width == 16 ? Opcode::TruncI16
                          : Opcode::TruncI32,
            target, target);
  };
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<arith::TruncIOp>([&](auto) {
        unary(Opcode::Move, target, source);
        cut(widthOf(result));
        return success();
      })
      .Case<arith::ExtUIOp, arith::BitcastOp>([&](auto) {
        unary(Opcode::Move, target, source);
        return success();
      })
      .Case<arith::ExtSIOp>([&](auto) {
        unary(Opcode::Move, target, signExtended(input));
        cut(widthOf(result));
        return success();
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto op) {
        if (!isVMFloat(from) || !isVMFloat(to))
          return unsupported(*op);
        truncateF64(to, target, asF64(input));
        return success();
      })
      .Case<arith::SIToFPOp, arith::UIToFPOp>([&](Operation *op) {
        bool isSigned = isa<arith::SIToFPOp>(op);
        if (!isVMFloat(to))
          return unsupported(*op);
        Opcode opcode = isSigned ? (to.isF32() ? Opcode::SI64ToF32 : Opcode::SI64ToF64)
                                 : (to.isF32() ? Opcode::UI64ToF32 : Opcode::UI64ToF64);
        unary(opcode, target, isSigned ? signExtended(input) : source);
        if (isNarrowFloat(to))
          truncateF64(to, target, target);
        return success();
      })
      .Case<arith::FPToSIOp, arith::FPToUIOp>([&](Operation *op) {
        bool isSigned = isa<arith::FPToSIOp>(op);
        if (!isVMFloat(from))
          return unsupported(*op);
        Opcode opcode = isSigned ? (from.isF32() ? Opcode::F32ToSI64 : Opcode::F64ToSI64)
                                 : (from.isF32() ? Opcode::F32ToUI64 : Opcode::F64ToUI64);
        unary(opcode, target, isNarrowFloat(from) ? asF64(input) : source);
        cut(widthOf(result));
        return success();
      })
      .Default([&](Operation *op) { return unsupported(*op); });
}

} // namespace kiln::VM
