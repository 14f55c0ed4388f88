#include "kiln/schema/c_function_writer.h"

#include <algorithm>
#include <cctype>

namespace kiln::schema {

namespace {

// What an instruction computes, from its operands {0}, {1}, {2}.
struct Expression {
  Opcode opcode;
  const char *text;
};

#define KILN_INTEGER(bits)                                                                                             \
  {Opcode::AddI##bits, "(uint" #bits "_t){0} + (uint" #bits "_t){1}"},                                                 \
      {Opcode::SubI##bits, "(uint" #bits "_t){0} - (uint" #bits "_t){1}"},                                             \
      {Opcode::MulI##bits, "(uint" #bits "_t){0} * (uint" #bits "_t){1}"},                                             \
      {Opcode::MinSI##bits,                                                                                            \
       "(int" #bits "_t){0} < (int" #bits "_t){1} ? (uint" #bits "_t){0} : (uint" #bits "_t){1}"},                     \
      {Opcode::MinUI##bits,                                                                                            \
       "(uint" #bits "_t){0} < (uint" #bits "_t){1} ? (uint" #bits "_t){0} : (uint" #bits "_t){1}"},                   \
      {Opcode::MaxSI##bits,                                                                                            \
       "(int" #bits "_t){0} < (int" #bits "_t){1} ? (uint" #bits "_t){1} : (uint" #bits "_t){0}"},                     \
      {Opcode::MaxUI##bits,                                                                                            \
       "(uint" #bits "_t){0} < (uint" #bits "_t){1} ? (uint" #bits "_t){1} : (uint" #bits "_t){0}"},                   \
      {Opcode::AndI##bits, "(uint" #bits "_t){0} & (uint" #bits "_t){1}"},                                             \
      {Opcode::OrI##bits, "(uint" #bits "_t){0} | (uint" #bits "_t){1}"},                                              \
      {Opcode::XorI##bits, "(uint" #bits "_t){0} ^ (uint" #bits "_t){1}"},                                             \
      {Opcode::ShlI##bits, "(uint" #bits "_t){0} << ({1} & (" #bits " - 1))"},                                         \
      {Opcode::ShrSI##bits, "(uint" #bits "_t)((int" #bits "_t){0} >> ({1} & (" #bits " - 1)))"},                      \
      {Opcode::ShrUI##bits, "(uint" #bits "_t){0} >> ({1} & (" #bits " - 1))"},                                        \
      {Opcode::CmpEqI##bits, "(uint" #bits "_t){0} == (uint" #bits "_t){1}"},                                          \
      {Opcode::CmpNeI##bits, "(uint" #bits "_t){0} != (uint" #bits "_t){1}"},                                          \
      {Opcode::CmpLtSI##bits, "(int" #bits "_t){0} < (int" #bits "_t){1}"},                                            \
      {Opcode::CmpLeSI##bits, "(int" #bits "_t){0} <= (int" #bits "_t){1}"},                                           \
      {Opcode::CmpLtUI##bits, "(uint" #bits "_t){0} < (uint" #bits "_t){1}"},                                          \
      {Opcode::CmpLeUI##bits, "(uint" #bits "_t){0} <= (uint" #bits "_t){1}"}

#define KILN_FLOAT(Type, type)                                                                                         \
  {Opcode::Add##Type, "kiln_" type "_bits(kiln_" type "({0}) + kiln_" type "({1}))"},                                  \
      {Opcode::Sub##Type, "kiln_" type "_bits(kiln_" type "({0}) - kiln_" type "({1}))"},                              \
      {Opcode::Mul##Type, "kiln_" type "_bits(kiln_" type "({0}) * kiln_" type "({1}))"},                              \
      {Opcode::Div##Type, "kiln_" type "_bits(kiln_" type "({0}) / kiln_" type "({1}))"},                              \
      {Opcode::Min##Type, "kiln_min_" type "({0}, {1})"}, {Opcode::Max##Type, "kiln_max_" type "({0}, {1})"},          \
      {Opcode::Neg##Type, "kiln_" type "_bits(-kiln_" type "({0}))"},                                                  \
      {Opcode::CmpEq##Type, "kiln_" type "({0}) == kiln_" type "({1})"},                                               \
      {Opcode::CmpLt##Type, "kiln_" type "({0}) < kiln_" type "({1})"},                                                \
      {Opcode::CmpLe##Type, "kiln_" type "({0}) <= kiln_" type "({1})"},                                               \
      {Opcode::CmpUno##Type, "kiln_" type "({0}) != kiln_" type "({0}) || kiln_" type "({1}) != kiln_" type "({1})"},  \
      {Opcode::SI64To##Type, "kiln_" type "_bits((kiln_" type "_t)(int64_t){0})"},                                     \
      {Opcode::UI64To##Type, "kiln_" type "_bits((kiln_" type "_t){0})"},                                              \
      {Opcode::Type##ToSI64, "kiln_" type "_to_si64({0})"}, {Opcode::Type##ToUI64, "kiln_" type "_to_ui64({0})"}

constexpr Expression kExpressions[] = {
    {Opcode::Move, "{0}"},
    {Opcode::Select, "{0} != 0 ? {1} : {2}"},
    KILN_INTEGER(32),
    KILN_INTEGER(64),
    {Opcode::TruncI1, "{0} & 1"},
    {Opcode::TruncI8, "(uint8_t){0}"},
    {Opcode::TruncI16, "(uint16_t){0}"},
    {Opcode::TruncI32, "(uint32_t){0}"},
    {Opcode::ExtSI1, "0 - ({0} & 1)"},
    {Opcode::ExtSI8, "(uint64_t)(int64_t)(int8_t){0}"},
    {Opcode::ExtSI16, "(uint64_t)(int64_t)(int16_t){0}"},
    {Opcode::ExtSI32, "(uint64_t)(int64_t)(int32_t){0}"},
    KILN_FLOAT(F32, "f32"),
    KILN_FLOAT(F64, "f64"),
    {Opcode::ExtF32F64, "kiln_f64_bits(kiln_f32({0}))"},
    {Opcode::TruncF64F32, "kiln_f32_bits((float)kiln_f64({0}))"},
};
#undef KILN_INTEGER
#undef KILN_FLOAT

// A list of register numbers as an argument of C.
std::string numbersText(std::span<const uint32_t> numbers) {
  if (numbers.empty())
    return "NULL";
  std::string text;
  for (uint32_t number : numbers)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  return "(const uint16_t[]){" + text + "}";
}

// The reference registers of a list.
std::vector<uint32_t> refsOf(std::span<const uint16_t> list) {
  std::vector<uint32_t> numbers;
  for (uint16_t entry : list)
    if (Register{entry}.isRef())
      numbers.push_back(Register{entry}.index());
  return numbers;
}
std::vector<uint32_t> valuesOf(std::span<const uint16_t> list) {
  std::vector<uint32_t> numbers;
  for (uint16_t entry : list)
    if (!Register{entry}.isRef())
      numbers.push_back(Register{entry}.index());
  return numbers;
}

} // namespace

std::string identifierOf(std::string_view name) {
  std::string text;
  for (unsigned char c : name)
    text += c < 128 && std::isalnum(c) ? static_cast<char>(c) : '_';
  return text;
}

std::string commentText(std::string_view text) {
  std::string clean;
  for (unsigned char c : text)
    clean += c < ' ' || c > '~' || (c == '/' && clean.ends_with('*')) ? '?' : static_cast<char>(c);
  return clean;
}

std::string functionIdentifier(const ModuleDesc &module, uint32_t index) {
  return fmt::format("f{}_{}", index, identifierOf(module.functions[index].name));
}

Status CFunctionWriter::decode() {
  isTarget.resize(function.code.size() + 1);
  isRead.resize(function.valueRegisters);
  isWritten.resize(function.valueRegisters);
  for (uint32_t position = 0; position < function.code.size();) {
    KILN_ASSIGN_OR_RETURN(Instruction instruction, decodeInstruction(function.code, position));
    noteRegisters(instruction);
    for (const Operand &operand : std::span(instruction.operands).first(instruction.operandCount))
      if (operand.kind == 'B') {
        isTarget[operand.number] = true;
        hasLoops |= operand.number <= position;
      }
    position += instruction.units;
    instructions.push_back(instruction);
  }
  return okStatus();
}

void CFunctionWriter::noteRegisters(const Instruction &instruction) {
  if (instruction.opcode == Opcode::Move && instruction.operands[0].number == instruction.operands[1].number)
    return; // not written
  for (const Operand &operand : std::span(instruction.operands).first(instruction.operandCount)) {
    switch (operand.kind) {
    case 'D': isWritten[operand.number] = true; break;
    case 'R': isRead[operand.number] = true; break;
    case 'A':
      for (uint32_t number : valuesOf(operand.list))
        isRead[number] = true;
      break;
    case 'W':
      for (uint32_t number : valuesOf(operand.list))
        isWritten[number] = true;
      break;
    case 'B':
      for (size_t i = 0; i + 1 < operand.list.size(); i += 2)
        if (Register source{operand.list[i]}; !source.isRef() && operand.list[i] != operand.list[i + 1]) {
          isRead[source.index()] = true;
          isWritten[operand.list[i + 1]] = true;
        }
      break;
    default: break;
    }
  }
}

Result<std::string> CFunctionWriter::write() {
  KILN_ASSIGN_OR_RETURN(signature, parseSignature(function.signature, false));
  KILN_RETURN_IF_ERROR(decode());
  for (const Instruction &instruction : instructions) {
    if (isTarget[instruction.position])
      body += fmt::format("L{}:\n", instruction.position);
    writeInstruction(instruction);
  }
  KILN_ASSIGN_OR_RETURN(std::string head, declarations());
  return head + body + "}\n";
}

Result<std::string> CFunctionWriter::declarations() {
  std::string text =
      fmt::format("static int {}(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values) {{\n",
                  functionIdentifier(module, index));
  size_t arguments = std::ranges::count_if(signature.arguments, [](char kind) { return !isRefKind(kind); });
  size_t results = std::ranges::count_if(signature.results, [](char kind) { return !isRefKind(kind); });
  usesValues |= results > 0;
  mostValues = std::max<uint32_t>(mostValues, results);
  mostRefs = std::max<uint32_t>(mostRefs, signature.results.size() - results);
  std::string unread;
  for (size_t i = 0; i < function.valueRegisters; ++i) {
    bool isArgument = i < arguments;
    if (!isRead[i] && !isWritten[i])
      continue; // an argument, perhaps, that nothing looks at
    text += isArgument ? fmt::format("  uint64_t v{0} = values[{0}];\n", i) : fmt::format("  uint64_t v{} = 0;\n", i);
    usesValues |= isArgument;
    if (!isRead[i])
      unread += fmt::format("  (void)v{};\n", i);
  }
  if (hasCalls)
    text += "  kiln_frame_t *callee;\n";
  if (mostPassed > 0)
    text += fmt::format("  uint64_t passed[{}];\n", mostPassed);
  if (hasGlobals)
    text += "  uint64_t *globals = runtime->globals(frame);\n";
  if (hasLoops)
    text += "  unsigned rounds = 0;\n";
  if (!usesValues)
    text += "  (void)values;\n";
  return text + unread;
}

void CFunctionWriter::writeInstruction(const Instruction &instruction) {
  const auto &operands = instruction.operands;
  uint32_t at = instruction.position;
  switch (instruction.opcode) {
  case Opcode::Nop: line(";"); return;
  case Opcode::Const: line("v{} = UINT64_C({});", operands[0].number, operands[1].number); return;
  case Opcode::GlobalLoad:
    hasGlobals = true;
    line("v{} = globals[{}];", operands[0].number, operands[1].number);
    return;
  case Opcode::GlobalStore:
    hasGlobals = true;
    line("globals[{}] = v{};", operands[0].number, operands[1].number);
    return;
  case Opcode::Branch: writeJump(instruction, operands[0], "  "); return;
  case Opcode::CondBranch:
    line("if (v{} != 0) {{", operands[0].number);
    writeJump(instruction, operands[1], "    ");
    line("}}");
    writeJump(instruction, operands[2], "  ");
    return;
  case Opcode::Call:
  case Opcode::CallImport: writeCall(instruction); return;
  case Opcode::Return: writeReturn(instruction); return;
  case Opcode::Fail:
    line("return runtime->fail(frame, {}, v{}, {});", at, operands[0].number, operands[1].number);
    return;
  case Opcode::DivSI32:
    writeDivision(instruction, "kiln_overflows_i32({0}, {1})", "(uint32_t)((int32_t){0} / (int32_t){1})");
    return;
  case Opcode::DivSI64:
    writeDivision(instruction, "kiln_overflows_i64({0}, {1})", "(uint64_t)((int64_t){0} / (int64_t){1})");
    return;
  case Opcode::DivUI32: writeDivision(instruction, "", "(uint32_t){0} / (uint32_t){1}"); return;
  case Opcode::DivUI64: writeDivision(instruction, "", "{0} / {1}"); return;
  case Opcode::RemSI32: writeDivision(instruction, "", "kiln_rem_i32({0}, {1})"); return;
  case Opcode::RemSI64: writeDivision(instruction, "", "kiln_rem_i64({0}, {1})"); return;
  case Opcode::RemUI32: writeDivision(instruction, "", "(uint32_t){0} % (uint32_t){1}"); return;
  case Opcode::RemUI64: writeDivision(instruction, "", "{0} % {1}"); return;
  default: break;
  }
  if (std::string_view("dHK").find(operands[0].kind) != std::string_view::npos ||
      instruction.opcode == Opcode::IsNullRef)
    writeReferences(instruction);
  else if (!writeExpression(instruction))
    line("v{} = runtime->compute({} /* {} */, v{}, {});", operands[0].number, static_cast<unsigned>(instruction.opcode),
         opcodeInfo(instruction.opcode).mnemonic, operands[1].number,
         instruction.operandCount > 2 ? fmt::format("v{}", operands[2].number) : "0");
}

bool CFunctionWriter::writeExpression(const Instruction &instruction) {
  const auto *found = std::ranges::find(kExpressions, instruction.opcode, &Expression::opcode);
  if (found == std::end(kExpressions))
    return false;
  std::array<std::string, 3> operands;
  for (uint32_t i = 1; i < instruction.operandCount; ++i)
    operands[i - 1] = fmt::format("v{}", instruction.operands[i].number);
  std::string text = fmt::format(fmt::runtime(found->text), operands[0], operands[1], operands[2]);
  // Registers have 64 bits.
  for (size_t at; (at = text.find("(uint64_t)v")) != std::string::npos;)
    text.erase(at, std::string_view("(uint64_t)").size());
  std::string target = fmt::format("v{}", instruction.operands[0].number);
  if (text != target)
    line("{} = {};", target, text);
  else
    line(";");
  return true;
}

// Of an instruction that fails where the divisor is zero, and where `failure` holds, if it is given.
void CFunctionWriter::writeDivision(const Instruction &instruction, std::string_view failure, std::string_view value) {
  const auto &operands = instruction.operands;
  std::string a = fmt::format("v{}", operands[1].number), b = fmt::format("v{}", operands[2].number);
  bool is32 = std::string_view(opcodeInfo(instruction.opcode).name).ends_with("32");
  std::string isZero = fmt::format("{}{} == 0", is32 ? "(uint32_t)" : "", b);
  line("if ({}{}{})", isZero, failure.empty() ? "" : " || ", fmt::format(fmt::runtime(failure), a, b));
  line("  return runtime->fail_division(frame, {}, {});", instruction.position, isZero);
  line("v{} = {};", operands[0].number, fmt::format(fmt::runtime(value), a, b));
}

void CFunctionWriter::writeReferences(const Instruction &instruction) {
  const auto &operands = instruction.operands;
  uint64_t a = operands[0].number, b = operands[1].number;
  switch (instruction.opcode) {
  case Opcode::ConstNull: line("runtime->discard(frame, 1, (const uint16_t[]){{{}}});", a); break;
  case Opcode::ConstRodata: line("runtime->load_constant(frame, {}, {});", a, b); break;
  case Opcode::ConstExecutable: line("runtime->load_executable(frame, {}, {});", a, b); break;
  case Opcode::MoveRef: line("runtime->copy(frame, 1, (const uint16_t[]){{{}, {}}});", b, a); break;
  case Opcode::GlobalLoadRef: line("runtime->load_global(frame, {}, {});", a, b); break;
  case Opcode::GlobalStoreRef: line("runtime->store_global(frame, {}, {});", a, b); break;
  case Opcode::IsNullRef: line("v{} = (uint64_t)runtime->is_null(frame, {});", a, b); break;
  case Opcode::SelectRef:
    line("runtime->copy(frame, 1, v{} != 0 ? (const uint16_t[]){{{}, {}}} : (const uint16_t[]){{{}, {}}});", b,
         operands[2].number, a, operands[3].number, a);
    break;
  case Opcode::Discard: {
    std::vector<uint32_t> numbers = refsOf(operands[0].list);
    line("runtime->discard(frame, {}, {});", numbers.size(), numbersText(numbers));
    break;
  }
  default: break;
  }
}

void CFunctionWriter::writeCall(const Instruction &instruction) {
  uint64_t target = instruction.operands[0].number;
  std::span<const uint16_t> in = instruction.operands[1].list, out = instruction.operands[2].list;
  std::vector<uint32_t> values = valuesOf(in), results = valuesOf(out), refs = refsOf(in);
  std::vector<uint32_t> refResults = refsOf(out);
  uint32_t refCount = static_cast<uint32_t>(refs.size());
  mostValues = std::max(mostValues, refCount);
  mostRefs = std::max(mostRefs, static_cast<uint32_t>(refResults.size()));
  mostPassed = std::max(mostPassed, static_cast<uint32_t>(values.size() + results.size()));
  refs.insert(refs.end(), refResults.begin(), refResults.end());
  for (size_t i = 0; i < values.size(); ++i)
    line("passed[{}] = v{};", i, values[i]);
  const char *passed = values.empty() && results.empty() ? "NULL" : "passed";
  if (instruction.opcode == Opcode::Call) {
    hasCalls = true;
    line("callee = runtime->enter(frame, {}, {}, {});", instruction.position, target, numbersText(refs));
    line("if (!callee || {}(runtime, callee, {}))", functionIdentifier(module, static_cast<uint32_t>(target)), passed);
  } else {
    line("if (runtime->call_import(frame, {}, {} /* {} */, {}, {}, {}, {}))", instruction.position, target,
         commentText(module.imports[target].name), passed, values.size(), numbersText(refs), refCount);
  }
  line("  return 1;");
  for (size_t i = 0; i < results.size(); ++i)
    line("v{} = passed[{}];", results[i], values.size() + i);
}

void CFunctionWriter::writeReturn(const Instruction &instruction) {
  std::span<const uint16_t> list = instruction.operands[0].list;
  size_t next = std::ranges::count_if(signature.arguments, [](char kind) { return !isRefKind(kind); });
  for (uint32_t value : valuesOf(list))
    line("values[{}] = v{};", next++, value);
  std::vector<uint32_t> refs = refsOf(list);
  line("return runtime->leave(frame, {}, {});", refs.size(), numbersText(refs));
}

// No loop is without a jump back.
void CFunctionWriter::writeJump(const Instruction &instruction, const Operand &target, std::string_view indent) {
  if (target.number <= instruction.position) {
    body += fmt::format("{}if (++rounds % KILN_ROUNDS_PER_ASKING == 0 && runtime->is_over(frame, {}))\n", indent,
                        instruction.position);
    body += fmt::format("{}  return 1;\n", indent);
  }
  writeMoves(target, indent);
  body += fmt::format("{}goto L{};\n", indent, target.number);
}

// All at once: a source that an earlier move has overwritten is kept in a variable.
void CFunctionWriter::writeMoves(const Operand &target, std::string_view indent) {
  std::vector<uint32_t> refs, sources, targets;
  for (size_t i = 0; i + 1 < target.list.size(); i += 2) {
    Register from{target.list[i]}, to{target.list[i + 1]};
    if (from == to)
      continue;
    if (from.isRef())
      refs.insert(refs.end(), {from.index(), to.index()});
    else
      sources.push_back(from.index()), targets.push_back(to.index());
  }
  mostRefs = std::max(mostRefs, static_cast<uint32_t>(refs.size() / 2));
  if (!refs.empty())
    body += fmt::format("{}runtime->copy(frame, {}, {});\n", indent, refs.size() / 2, numbersText(refs));
  std::vector<bool> isOverwritten(function.valueRegisters);
  bool overlaps = false;
  for (size_t i = 0; i < sources.size(); ++i) {
    overlaps |= isOverwritten[sources[i]];
    isOverwritten[targets[i]] = true;
  }
  if (!overlaps) {
    for (size_t i = 0; i < sources.size(); ++i)
      body += fmt::format("{}v{} = v{};\n", indent, targets[i], sources[i]);
    return;
  }
  body += fmt::format("{}{{\n", indent);
  for (size_t i = 0; i < sources.size(); ++i)
    body += fmt::format("{}  uint64_t t{} = v{};\n", indent, i, sources[i]);
  for (size_t i = 0; i < sources.size(); ++i)
    body += fmt::format("{}  v{} = t{};\n", indent, targets[i], i);
  body += fmt::format("{}}}\n", indent);
}

} // namespace kiln::schema
