#include "kiln/targets/cuda/sim/decoder.h"

#include "kiln/targets/cuda/sim/token_stream.h"

#include <algorithm>
#include <array>
#include <bit>

namespace kiln::cudasim {

static uint64_t alignUp(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

static const Opcode *findOpcode(std::string_view name) {
  static const auto *table = [] {
    auto *all = new std::unordered_map<std::string_view, const Opcode *>();
    for (std::span<const Opcode> opcodes :
         {integerOpcodes(), bitOpcodes(), comparisonOpcodes(), floatOpcodes(), conversionOpcodes(), memoryOpcodes(),
          controlOpcodes(), warpOpcodes(), matrixOpcodes(), copyOpcodes(), mbarrierOpcodes(), warpgroupOpcodes(),
          clusterOpcodes()})
      for (const Opcode &opcode : opcodes)
        (*all)[opcode.name] = &opcode;
    return all;
  }();
  auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

//===--- ProgramBuilder -------------------------------------------------------------------------------------------===//

Result<std::unique_ptr<Program>> ProgramBuilder::build(const Function &kernel) {
  program = std::make_unique<Program>();
  program->module = &module;
  uint64_t bytes = 0;
  for (uint32_t parameter : kernel.parameters) {
    const Variable &variable = module.variables[parameter];
    bytes = alignUp(bytes, variable.align);
    program->parameters.push_back({uint32_t(bytes), uint32_t(variable.bytes)});
    bytes += variable.bytes;
    if (bytes > 32764)
      return invalidArgument("line {}: kernel '{}' has more than 32,764 bytes of parameters", kernel.line, kernel.name);
  }
  program->parameterBytes = uint32_t(bytes);
  codeOf(kernel);
  while (!waiting.empty()) {
    const Function *function = waiting.back();
    waiting.pop_back();
    KILN_RETURN_IF_ERROR(decodeFunction(*function));
  }
  return std::move(program);
}

Status ProgramBuilder::decodeFunction(const Function &function) {
  auto code = std::ranges::find(program->codes, &function, &Code::function);
  return Decoder(*this, *code, function).run();
}

Code *ProgramBuilder::codeOf(const Function &function) {
  auto found = std::ranges::find(program->codes, &function, &Code::function);
  if (found != program->codes.end())
    return &*found;
  waiting.push_back(&function);
  program->codes.emplace_back().function = &function;
  return &program->codes.back();
}

uint64_t ProgramBuilder::sharedOffset(uint32_t index) {
  auto [entry, isNew] = sharedOffsets.emplace(index, 0);
  if (isNew) {
    const Variable &variable = module.variables[index];
    entry->second = alignUp(program->staticSharedBytes, variable.align);
    constexpr uint64_t kMost = uint64_t(1) << 30; // far more than any device has
    program->staticSharedBytes = uint32_t(std::min(entry->second + variable.bytes, kMost));
  }
  return entry->second;
}

//===--- Decoder --------------------------------------------------------------------------------------------------===//

Decoder::Decoder(ProgramBuilder &builder, Code &code, const Function &function)
    : builder(builder), out(code), function(function), registerSlots(function.registerCount) {
  out.frame = {0, 1};
  sink = newSlot(0);
}

uint32_t Decoder::newSlot(uint64_t initial) {
  out.frame.push_back(initial);
  return uint32_t(out.frame.size() - 1);
}

void Decoder::placeParams() {
  uint64_t bytes = 0;
  auto place = [&](uint32_t index) {
    const Variable &variable = builder.module.variables[index];
    bytes = alignUp(bytes, std::max<uint32_t>(variable.align, 1));
    params[index] = {bytes, false};
    bytes += variable.bytes;
    return std::pair(uint32_t(bytes - variable.bytes), uint32_t(variable.bytes));
  };
  if (function.isEntry) {
    for (size_t i = 0; i < function.parameters.size(); ++i)
      params[function.parameters[i]] = {builder.program->parameters[i].offset, true};
  } else {
    for (uint32_t index : function.parameters)
      out.parameters.push_back(place(index));
    for (uint32_t index : function.results)
      out.results.push_back(place(index));
  }
  uint64_t local = 0;
  for (uint32_t index : function.localVariables) {
    const Variable &variable = builder.module.variables[index];
    if (variable.space == Space::Param) {
      place(index);
    } else if (variable.space == Space::Local) {
      local = alignUp(local, variable.align);
      locals[index] = uint32_t(std::min<uint64_t>(local, UINT32_MAX));
      local += variable.bytes;
    }
  }
  constexpr uint64_t kMost = 512 << 10; // of a thread's local memory
  if (local > kMost || bytes > kMost)
    status =
        invalidArgument("line {}: function '{}' has {} bytes of local memory and {} of parameters; {} are simulated",
                        function.line, function.name, local, bytes, kMost);
  out.localBytes = uint32_t(alignUp(local, 16));
  out.paramBytes = uint32_t(alignUp(bytes, 16));
}

Status Decoder::run() {
  placeParams();
  if (failed())
    return status;
  out.insts.resize(function.body.size() + 1);
  const bool hasProducts = std::ranges::find(function.body, "wgmma", &Instruction::opcode) != function.body.end();
  for (size_t i = 0; i < function.body.size(); ++i) {
    touched.clear();
    KILN_RETURN_IF_ERROR(decodeInstruction(function.body[i]));
    out.insts[i] = inst;
    if (hasProducts)
      out.touched.push_back(function.body[i].opcode == "wgmma" ? std::vector<uint32_t>() : touched);
  }
  // What falls off the end returns.
  static const Instruction kEnd = [] {
    Instruction end;
    end.opcode = "ret";
    return end;
  }();
  KILN_RETURN_IF_ERROR(decodeInstruction(kEnd));
  out.insts.back() = inst;
  return okStatus();
}

Status Decoder::decodeInstruction(const Instruction &instruction) {
  current = &instruction;
  inst = Inst();
  inst.line = instruction.line;
  taken.assign(instruction.modifiers.size(), false);
  const Opcode *opcode = findOpcode(instruction.opcode);
  if (!opcode) {
    fail(fmt::format("the instruction '{}' is not one that the simulator knows", instruction.opcode));
    return status;
  }
  if (instruction.guard) {
    inst.guard = registerSlot(*instruction.guard);
    inst.expected = !instruction.guard->negated;
  }
  opcode->decode(*this);
  for (size_t i = 0; i < taken.size(); ++i)
    if (!taken[i])
      fail(fmt::format("the modifier '.{}' is not one that the simulator knows here", instruction.modifiers[i]));
  if (!failed() && !inst.run)
    fail("it is not simulated");
  return status;
}

void Decoder::fail(std::string_view what) {
  if (status.ok())
    status = invalidArgument("line {}: '{}': {}", current->line, current->text, what);
}

bool Decoder::take(std::string_view modifier) {
  for (size_t i = 0; i < taken.size(); ++i)
    if (!taken[i] && current->modifiers[i] == modifier) {
      taken[i] = true;
      return true;
    }
  return false;
}

std::string_view Decoder::takeOneOf(std::initializer_list<std::string_view> modifiers) {
  for (std::string_view modifier : modifiers)
    if (take(modifier))
      return modifier;
  return {};
}

void Decoder::skipModifiers(std::initializer_list<std::string_view> modifiers) {
  for (std::string_view modifier : modifiers)
    take(modifier);
}

Type Decoder::takeType() {
  for (size_t i = 0; i < taken.size(); ++i) {
    const Type type = taken[i] ? Type::None : typeFromName(current->modifiers[i]);
    if (type != Type::None) {
      taken[i] = true;
      return type;
    }
  }
  fail("it has no type that is simulated");
  return Type::B32;
}

Type Decoder::takeTypeOf(std::initializer_list<Type> allowed) {
  const Type type = takeType();
  if (std::ranges::find(allowed, type) == allowed.end())
    fail(fmt::format("the type '.{}' is not one that it has", typeName(type)));
  return type;
}

void Decoder::expectOperands(size_t least, size_t most) {
  if (operandCount() < least || operandCount() > most)
    fail(fmt::format("it has {} operands", operandCount()));
}

const Operand &Decoder::operand(size_t index) {
  static const Operand kNone;
  if (index < operandCount())
    return current->operands[index];
  fail("an operand is missing");
  return kNone;
}

uint32_t Decoder::registerSlot(const Operand &operand) {
  uint32_t &slot = registerSlots[operand.index];
  if (!slot) // what is never written is no number to rely on
    slot =
        newSlot(operand.type == Type::Pred
                    ? 0
                    : 0xdeadbeefdeadbeef &
                          (typeBits(operand.type) >= 64 ? ~uint64_t(0) : (uint64_t(1) << typeBits(operand.type)) - 1));
  touched.push_back(slot);
  return slot;
}

uint32_t Decoder::constant(uint64_t bits) {
  if (bits <= 1)
    return uint32_t(bits);
  uint32_t &slot = constantSlots[bits];
  if (!slot)
    slot = newSlot(bits);
  return slot;
}

uint32_t Decoder::specialSlot(SpecialKind kind, uint64_t offset) {
  uint32_t &slot = specialSlots[uint64_t(kind) << 48 ^ offset];
  if (!slot) {
    slot = newSlot(0);
    out.specials.push_back({slot, kind, offset});
  }
  return slot;
}

uint32_t Decoder::special(const std::string &name) {
  using Entry = std::pair<std::string_view, SpecialKind>;
  static constexpr Entry kSpecials[] = {
      {"%tid.x", SpecialKind::TidX},
      {"%tid.y", SpecialKind::TidY},
      {"%tid.z", SpecialKind::TidZ},
      {"%ntid.x", SpecialKind::NtidX},
      {"%ntid.y", SpecialKind::NtidY},
      {"%ntid.z", SpecialKind::NtidZ},
      {"%ctaid.x", SpecialKind::CtaidX},
      {"%ctaid.y", SpecialKind::CtaidY},
      {"%ctaid.z", SpecialKind::CtaidZ},
      {"%nctaid.x", SpecialKind::NctaidX},
      {"%nctaid.y", SpecialKind::NctaidY},
      {"%nctaid.z", SpecialKind::NctaidZ},
      {"%clusterid.x", SpecialKind::ClusterIdX},
      {"%clusterid.y", SpecialKind::ClusterIdY},
      {"%clusterid.z", SpecialKind::ClusterIdZ},
      {"%nclusterid.x", SpecialKind::NclusterIdX},
      {"%nclusterid.y", SpecialKind::NclusterIdY},
      {"%nclusterid.z", SpecialKind::NclusterIdZ},
      {"%cluster_ctaid.x", SpecialKind::ClusterCtaidX},
      {"%cluster_ctaid.y", SpecialKind::ClusterCtaidY},
      {"%cluster_ctaid.z", SpecialKind::ClusterCtaidZ},
      {"%cluster_nctaid.x", SpecialKind::ClusterNctaidX},
      {"%cluster_nctaid.y", SpecialKind::ClusterNctaidY},
      {"%cluster_nctaid.z", SpecialKind::ClusterNctaidZ},
      {"%cluster_ctarank", SpecialKind::ClusterCtaRank},
      {"%cluster_nctarank", SpecialKind::ClusterNctaRank},
      {"%is_explicit_cluster", SpecialKind::IsExplicitCluster},
      {"%laneid", SpecialKind::LaneId},
      {"%warpid", SpecialKind::WarpId},
      {"%nwarpid", SpecialKind::NWarpId},
      {"%smid", SpecialKind::SmId},
      {"%nsmid", SpecialKind::NSmId},
      {"%gridid", SpecialKind::GridId},
      {"%lanemask_eq", SpecialKind::LaneMaskEq},
      {"%lanemask_le", SpecialKind::LaneMaskLe},
      {"%lanemask_lt", SpecialKind::LaneMaskLt},
      {"%lanemask_ge", SpecialKind::LaneMaskGe},
      {"%lanemask_gt", SpecialKind::LaneMaskGt},
      {"%dynamic_smem_size", SpecialKind::DynamicSharedBytes},
      {"%total_smem_size", SpecialKind::TotalSharedBytes},
  };
  if (name == "WARP_SZ")
    return constant(32);
  const auto *found = std::ranges::find(kSpecials, name, &Entry::first);
  if (found != std::end(kSpecials))
    return specialSlot(found->second, 0);
  fail(fmt::format("'{}' is no register of the function, and no special register that the simulator knows", name));
  return 0;
}

uint32_t Decoder::variableAddress(const Operand &operand) {
  const Variable &variable = builder.module.variables[operand.index];
  switch (variable.space) {
  case Space::Shared:
    if (variable.isDynamic) {
      builder.program->dynamicSharedAlign = std::max(builder.program->dynamicSharedAlign, variable.align);
      return specialSlot(SpecialKind::DynamicSharedAddress, operand.bits);
    }
    return constant(builder.sharedOffset(operand.index) + operand.bits);
  case Space::Local:
    if (auto found = locals.find(operand.index); found != locals.end())
      return specialSlot(SpecialKind::LocalAddress, found->second + operand.bits);
    break;
  case Space::Param:
    if (const ParamPlace *place = paramPlace(operand.index); place && place->isLaunch)
      return constant(place->offset + operand.bits);
    fail("the address of a parameter that is not the kernel's is not simulated");
    return 0;
  default:
    if (uint64_t address = builder.addresses[operand.index])
      return constant(address + operand.bits);
    break;
  }
  fail(fmt::format("variable '{}' has no memory", variable.name));
  return 0;
}

static uint64_t lowBits(uint64_t bits, uint32_t count) {
  return count >= 64 ? bits : bits & ((uint64_t(1) << count) - 1);
}

uint32_t Decoder::source(const Operand &operand, Type type, bool wider) {
  const uint32_t bits = type == Type::Pred ? 1 : typeBits(type);
  switch (operand.kind) {
  case Operand::Kind::Register: {
    const uint32_t has = operand.type == Type::Pred ? 1 : typeBits(operand.type);
    if (operand.negated || !operand.parts.empty() || has < bits || (has > bits && !wider) || (has == 1) != (bits == 1))
      fail(fmt::format("an operand of type '.{}' is in a register of type '.{}'", typeName(type),
                       typeName(operand.type)));
    return registerSlot(operand);
  }
  case Operand::Kind::Special: return special(operand.name);
  case Operand::Kind::Variable: return variableAddress(operand);
  case Operand::Kind::Integer:
    if (bits == 1)
      return constant(operand.bits != 0);
    if (isFloat(type) && typeBits(type) >= 32 && operand.bits != 0 && type != Type::F16x2 && type != Type::BF16x2)
      fail("an integer stands where a float is expected");
    return constant(lowBits(operand.bits, bits));
  case Operand::Kind::Float: {
    if (operand.isDecimal || (operand.isDouble && bits < 64))
      return constant(lowBits(bitsOfDecimal(operand.bits, type), bits));
    return constant(!operand.isDouble && bits == 64 && isFloat(type)
                        ? std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(operand.bits))))
                        : operand.bits);
  }
  default: fail("an operand is no value"); return 0;
  }
}

uint32_t Decoder::target(const Operand &operand, Type type, bool wider) {
  if (operand.kind == Operand::Kind::Sink)
    return sink;
  if (operand.kind != Operand::Kind::Register || operand.negated) {
    fail("the result is no register");
    return sink;
  }
  const uint32_t bits = type == Type::Pred ? 1 : typeBits(type);
  const uint32_t has = operand.type == Type::Pred ? 1 : typeBits(operand.type);
  if (has < bits || (has > bits && !wider) || (has == 1) != (bits == 1))
    fail(fmt::format("a result of type '.{}' is in a register of type '.{}'", typeName(type), typeName(operand.type)));
  return registerSlot(operand);
}

uint32_t Decoder::predicate(const Operand &operand, bool &negated) {
  negated = false;
  if (operand.kind == Operand::Kind::Register && operand.type == Type::Pred && operand.parts.empty()) {
    negated = operand.negated;
    return registerSlot(operand);
  }
  return source(operand, Type::Pred);
}

uint32_t Decoder::address(const Operand &operand, uint64_t &offset) {
  offset = 0;
  if (operand.kind != Operand::Kind::Address || operand.parts.empty()) {
    fail("an address in brackets is expected");
    return 0;
  }
  const Operand &base = operand.parts[0];
  if (base.kind == Operand::Kind::Register) {
    if (typeBits(base.type) < 32 || base.type == Type::Pred)
      fail("an address is in a register that is too small");
    offset = operand.bits;
    return registerSlot(base);
  }
  if (base.kind == Operand::Kind::Variable) {
    Operand variable = base;
    variable.bits = operand.bits;
    return variableAddress(variable);
  }
  return constant(base.bits);
}

uint64_t Decoder::immediate(size_t index) {
  const Operand &value = operand(index);
  if (value.kind != Operand::Kind::Integer)
    fail("a number is expected");
  return value.bits;
}

const uint32_t *Decoder::list(std::vector<uint32_t> slots) {
  out.lists.push_back(std::move(slots));
  return out.lists.back().data();
}

const Inst *Decoder::label(const std::string &name) {
  auto found = function.labels.find(name);
  if (found != function.labels.end())
    return out.insts.data() + found->second;
  fail(fmt::format("there is no label '{}'", name));
  return out.insts.data();
}

const Inst *const *Decoder::labelTable(const std::string &name, size_t &count) {
  auto found = function.labelTables.find(name);
  std::vector<const Inst *> places;
  if (found == function.labelTables.end())
    fail(fmt::format("there is no list of labels '{}'", name));
  else
    for (const std::string &target : found->second)
      places.push_back(label(target));
  count = places.size();
  out.tables.push_back(std::move(places));
  return out.tables.back().data();
}

const Code *Decoder::callee(const std::string &name) {
  const Function *found = builder.module.findFunction(name);
  if (!found || !found->hasBody || found->isEntry) {
    fail(fmt::format("there is no function '{}' with a body", name));
    return nullptr;
  }
  return builder.codeOf(*found);
}

const Decoder::ParamPlace *Decoder::paramPlace(uint32_t variable) const {
  auto found = params.find(variable);
  return found == params.end() ? nullptr : &found->second;
}

} // namespace kiln::cudasim
