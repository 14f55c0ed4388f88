#include "kiln/targets/cuda/sim/ptx_parser.h"

#include "kiln/targets/cuda/sim/ptx_lexer.h"
#include "kiln/targets/cuda/sim/token_stream.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kiln::cudasim {

namespace {

// What a name stands for within a pair of braces.
struct Scope {
  struct Entity {
    bool isRegister;
    uint32_t index;
    Type type;
  };
  // %r<10>
  struct Range {
    uint32_t first, count;
    Type type;
  };
  std::unordered_map<std::string_view, Entity> names;
  std::unordered_map<std::string_view, Range> ranges;
  // Of a pair of braces within a function's: its labels, under the names that they have in the function, and its first
  // instruction.
  std::unordered_map<std::string, std::string> labels;
  size_t firstInstruction = 0;
};

class Parser {
public:
  Parser(Module &module, std::vector<Token> tokens) : module(module), in(std::move(tokens)) { scopes.emplace_back(); }

  Status run() {
    while (!in.atEnd())
      KILN_RETURN_IF_ERROR(parseTopLevel());
    if (module.versionMajor == 0)
      return invalidArgument("it does not start with .version");
    if (module.target.empty())
      return invalidArgument("it has no .target");
    return okStatus();
  }

private:
  // Limits that no code of a compiler comes near: what is damaged must not take all memory.
  // The module's, a function's parameters' and its body's.
  static constexpr size_t kFunctionScopes = 3;
  static constexpr uint64_t kMostRegisters = 1 << 16, kMostBytes = uint64_t(1) << 32, kMostScopes = 200;

  Status parseTopLevel();
  Status parseVersion();
  Status parseTarget();
  Status parseFile();
  Status parseLocation();
  Status skipSection();
  Status parseVariables(Space space, bool isExtern);
  Status parseInitializer(Variable &variable);
  Status parseFunction(bool isEntry);
  Status parseParameters(std::vector<uint32_t> &into, std::string_view end);
  Status parseFunctionDirective();
  Status parseThree(std::array<uint32_t, 3> &values);
  Status parseBody();
  Status parseStatement();
  Status parseRegisters();
  Status parseLabel();
  void endLabels(const Scope &scope);
  Status parseInstruction();
  Result<Operand> parseOperand(int depth);
  Result<Operand> parseList(std::string_view end, int depth);
  Result<Operand> parseAddress(int depth);
  Result<Operand> parseName(int depth);
  // [+ constant]
  Status parseOffset(Operand &operand);

  bool findRegister(std::string_view name, uint32_t &index, Type &type) const;
  const Scope::Entity *findEntity(std::string_view name) const;
  Status declare(const Token &name, Scope::Entity entity);
  Status addRegister(const Token &name, Type type);
  Result<uint32_t> addVariable(Variable variable, const Token &name);

  Module &module;
  TokenStream in;
  std::vector<Scope> scopes;
  Function *function = nullptr;
  uint32_t sourceFile = 0, sourceLine = 0;
};

Status Parser::parseTopLevel() {
  const Token &token = in.peek();
  if (token.is(".version"))
    return parseVersion();
  if (token.is(".target"))
    return parseTarget();
  if (token.is(".address_size")) {
    in.next();
    KILN_ASSIGN_OR_RETURN(uint64_t size, in.constant());
    return size == 64 ? okStatus() : in.error("only addresses of 64 bits are simulated");
  }
  if (token.is(".file"))
    return parseFile();
  if (token.is(".loc"))
    return parseLocation();
  if (token.is(".section"))
    return skipSection();
  if (token.is(".pragma")) {
    in.next();
    return in.skipStatement();
  }
  bool isExtern = false;
  while (in.peek().is(".visible") || in.peek().is(".extern") || in.peek().is(".weak") || in.peek().is(".common"))
    isExtern |= in.next().is(".extern");
  if (in.accept(".entry"))
    return parseFunction(true);
  if (in.accept(".func"))
    return parseFunction(false);
  for (auto [word, space] : {std::pair{".global", Space::Global}, {".const", Space::Const}, {".shared", Space::Shared}})
    if (in.accept(word))
      return parseVariables(space, isExtern);
  return in.error("a directive of a module is expected");
}

Status Parser::parseVersion() {
  in.next();
  std::string_view text = in.next().text;
  size_t dot = text.find('.');
  auto number = [](std::string_view digits) {
    uint32_t value = 0;
    for (char c : digits)
      value = c >= '0' && c <= '9' && value < 10000 ? value * 10 + uint32_t(c - '0') : 100000;
    return digits.empty() ? 100000 : value;
  };
  module.versionMajor = number(text.substr(0, dot));
  module.versionMinor = dot == text.npos ? 100000 : number(text.substr(dot + 1));
  if (module.versionMajor > 1000 || module.versionMinor > 1000 || module.versionMajor == 0)
    return in.error("a version such as 7.0 is expected before this");
  return okStatus();
}

Status Parser::parseTarget() {
  in.next();
  do {
    KILN_ASSIGN_OR_RETURN(const Token *name, in.word());
    if (name->text.starts_with("sm_"))
      module.target = name->text;
  } while (in.accept(","));
  return okStatus();
}

Status Parser::parseFile() {
  in.next();
  KILN_ASSIGN_OR_RETURN(uint64_t number, in.constant());
  if (in.peek().kind != Token::Kind::String)
    return in.error("a file's name is expected");
  module.files[uint32_t(number)] = in.next().text;
  while (in.accept(","))
    KILN_RETURN_IF_ERROR(in.constant().status());
  return okStatus();
}

Status Parser::parseLocation() {
  in.next();
  KILN_ASSIGN_OR_RETURN(uint64_t file, in.constant());
  KILN_ASSIGN_OR_RETURN(uint64_t line, in.constant());
  KILN_RETURN_IF_ERROR(in.constant().status());
  sourceFile = uint32_t(file);
  sourceLine = uint32_t(line);
  while (in.accept(",")) {
    KILN_ASSIGN_OR_RETURN(const Token *attribute, in.word());
    if (attribute->is("function_name")) {
      KILN_RETURN_IF_ERROR(in.word().status());
      if (in.accept("+"))
        KILN_RETURN_IF_ERROR(in.constant().status());
    } else if (attribute->is("inlined_at")) {
      for (int i = 0; i < 3; ++i)
        KILN_RETURN_IF_ERROR(in.constant().status());
    } else {
      return in.error("function_name or inlined_at is expected before this");
    }
  }
  return okStatus();
}

Status Parser::skipSection() {
  while (!in.atEnd() && !in.peek().is("{"))
    in.next();
  KILN_RETURN_IF_ERROR(in.expect("{"));
  for (int depth = 1; depth > 0;) {
    if (in.atEnd())
      return in.error("a section has no end");
    const Token &token = in.next();
    depth += token.is("{") ? 1 : token.is("}") ? -1 : 0;
  }
  return okStatus();
}

Result<uint32_t> Parser::addVariable(Variable variable, const Token &name) {
  if (variable.type == Type::None || variable.type == Type::Pred || typeBits(variable.type) % 8 != 0)
    return in.error("a variable of memory cannot have this type");
  if (variable.bytes > kMostBytes)
    return in.error("a variable is too large");
  if (!std::has_single_bit(variable.align) || variable.align > (1 << 20))
    return in.error("an alignment must be a power of two");
  auto index = uint32_t(module.variables.size());
  KILN_RETURN_IF_ERROR(declare(name, {false, index, variable.type}));
  module.variables.push_back(std::move(variable));
  if (function)
    function->localVariables.push_back(index);
  return index;
}

// [.align n] [.v2|.v4] type name [n][m] [= value], ...;
Status Parser::parseVariables(Space space, bool isExtern) {
  Variable shape;
  shape.space = space;
  shape.isExtern = isExtern;
  uint64_t lanes = 1, align = 0;
  while (true) {
    if (in.accept(".align")) {
      KILN_ASSIGN_OR_RETURN(align, in.constant());
    } else if (in.accept(".v2")) {
      lanes = 2;
    } else if (in.accept(".v4")) {
      lanes = 4;
    } else if (in.accept(".attribute")) {
      KILN_RETURN_IF_ERROR(in.skipParentheses());
    } else {
      break;
    }
  }
  KILN_ASSIGN_OR_RETURN(shape.type, in.type());
  const uint32_t elementBytes = typeBytes(shape.type) * uint32_t(lanes);
  if (in.peek().is(".ptr")) { // of a parameter
    in.next();
    while (in.peek().kind == Token::Kind::Word && in.peek().text.starts_with('.'))
      if (in.next().is(".align"))
        KILN_RETURN_IF_ERROR(in.constant().status());
  }
  shape.align = align ? uint32_t(std::min<uint64_t>(align, UINT32_MAX)) : std::max<uint32_t>(elementBytes, 1);
  do {
    Variable variable = shape;
    KILN_ASSIGN_OR_RETURN(const Token *name, in.word());
    variable.name = name->text;
    uint64_t count = 1;
    bool isOpen = false;
    while (in.accept("[")) {
      if (in.accept("]")) {
        isOpen = true;
        continue;
      }
      KILN_ASSIGN_OR_RETURN(uint64_t extent, in.constant());
      KILN_RETURN_IF_ERROR(in.expect("]"));
      if (extent > kMostBytes || (count *= extent) > kMostBytes)
        return in.error("a variable is too large");
    }
    variable.bytes = count * elementBytes;
    if (in.accept("="))
      KILN_RETURN_IF_ERROR(parseInitializer(variable));
    if (isOpen && variable.contents.empty()) {
      variable.bytes = 0;
      variable.isDynamic = space == Space::Shared && isExtern;
      if (!isExtern)
        return in.error("a variable has no size");
    } else if (isOpen) {
      variable.bytes = variable.contents.size();
    }
    if (variable.contents.size() > variable.bytes)
      return in.error("there are more initial values than elements");
    KILN_RETURN_IF_ERROR(addVariable(std::move(variable), *name).status());
  } while (space != Space::Param && in.accept(","));
  if (space == Space::Param && !in.peek().is(";"))
    return okStatus();
  return in.expect(";");
}

Status Parser::parseInitializer(Variable &variable) {
  int depth = 0;
  const uint32_t bytes = typeBytes(variable.type);
  do {
    while (in.accept("{"))
      ++depth;
    if (depth > 8)
      return in.error("initial values are nested too deeply");
    uint64_t bits = 0;
    const bool isGeneric = in.accept("generic");
    if (isGeneric)
      KILN_RETURN_IF_ERROR(in.expect("("));
    const Scope::Entity *entity = in.peek().kind == Token::Kind::Word ? findEntity(in.peek().text) : nullptr;
    if (entity && !entity->isRegister) {
      in.next();
      if (isGeneric)
        KILN_RETURN_IF_ERROR(in.expect(")"));
      int64_t offset = 0;
      if (in.accept("+")) {
        KILN_ASSIGN_OR_RETURN(offset, in.constant());
      }
      if (bytes != 8)
        return in.error("an address as an initial value needs 64 bits");
      variable.addresses.push_back({variable.contents.size(), entity->index, offset});
    } else if (!in.peek().is("}")) {
      KILN_ASSIGN_OR_RETURN(bits, in.value(variable.type));
    } else {
      break;
    }
    if (variable.contents.size() + bytes > kMostBytes)
      return in.error("there are too many initial values");
    const auto *first = reinterpret_cast<const uint8_t *>(&bits);
    variable.contents.insert(variable.contents.end(), first, first + std::min<uint32_t>(bytes, 8));
    variable.contents.resize(variable.contents.size() + (bytes > 8 ? bytes - 8 : 0));
    while (depth && in.accept("}"))
      --depth;
  } while (in.accept(",") && depth >= 0);
  while (depth && in.accept("}"))
    --depth;
  return depth ? in.error("'}}' is expected") : okStatus();
}

Status Parser::parseParameters(std::vector<uint32_t> &into, std::string_view end) {
  KILN_RETURN_IF_ERROR(in.expect("("));
  while (!in.accept(end)) {
    if (in.accept(".reg")) {
      return in.error("functions with parameters in registers are not simulated");
    }
    KILN_RETURN_IF_ERROR(in.expect(".param"));
    KILN_RETURN_IF_ERROR(parseVariables(Space::Param, false));
    into.push_back(uint32_t(module.variables.size() - 1));
    function->localVariables.pop_back();
    if (!in.accept(",") && !in.peek().is(end))
      return in.error("',' or ')' is expected");
  }
  return okStatus();
}

Status Parser::parseThree(std::array<uint32_t, 3> &values) {
  values = {1, 1, 1};
  size_t i = 0;
  do {
    KILN_ASSIGN_OR_RETURN(uint64_t value, in.constant());
    if (i == 3 || value > UINT32_MAX)
      return in.error("up to three sizes are expected");
    values[i++] = uint32_t(value);
  } while (in.accept(","));
  return okStatus();
}

Status Parser::parseFunctionDirective() {
  const Token directive = in.next();
  std::array<uint32_t, 3> ignored{};
  if (directive.is(".maxntid"))
    return parseThree(function->maxThreads);
  if (directive.is(".reqntid"))
    return parseThree(function->requiredThreads);
  if (directive.is(".reqnctapercluster"))
    return parseThree(function->clusterBlocks);
  if (directive.is(".maxnreg")) {
    KILN_RETURN_IF_ERROR(parseThree(ignored));
    function->maxRegisters = ignored[0];
    return okStatus();
  }
  if (directive.is(".minnctapersm") || directive.is(".maxnctapersm") || directive.is(".maxclusterrank"))
    return parseThree(ignored);
  if (directive.is(".noreturn") || directive.is(".explicitcluster"))
    return okStatus();
  if (directive.is(".pragma"))
    return in.skipStatement();
  if (directive.is(".attribute"))
    return in.skipParentheses();
  return invalidArgument("line {}: '{}' is no directive of a function", directive.line, directive.text);
}

Status Parser::parseFunction(bool isEntry) {
  Function parsed;
  parsed.isEntry = isEntry;
  parsed.line = in.peek().line;
  function = &parsed;
  scopes.emplace_back();
  if (!isEntry && in.peek().is("("))
    KILN_RETURN_IF_ERROR(parseParameters(parsed.results, ")"));
  KILN_ASSIGN_OR_RETURN(const Token *name, in.word());
  parsed.name = name->text;
  if (in.peek().is("("))
    KILN_RETURN_IF_ERROR(parseParameters(parsed.parameters, ")"));
  while (!in.peek().is("{") && !in.peek().is(";")) {
    if (in.atEnd())
      return in.error("a function's body is expected");
    KILN_RETURN_IF_ERROR(parseFunctionDirective());
  }
  if (!in.accept(";")) {
    parsed.hasBody = true;
    sourceFile = sourceLine = 0;
    KILN_RETURN_IF_ERROR(parseBody());
  }
  scopes.pop_back();
  function = nullptr;
  auto found = std::ranges::find(module.functions, parsed.name, &Function::name);
  if (found == module.functions.end())
    module.functions.push_back(std::move(parsed));
  else if (!found->hasBody)
    *found = std::move(parsed);
  else if (parsed.hasBody)
    return invalidArgument("line {}: function '{}' is there already", parsed.line, parsed.name);
  return okStatus();
}

Status Parser::parseBody() {
  KILN_RETURN_IF_ERROR(in.expect("{"));
  const size_t outside = scopes.size();
  scopes.emplace_back();
  while (scopes.size() > outside) {
    if (in.atEnd())
      return in.error("'}}' is expected");
    if (in.accept("}")) {
      endLabels(scopes.back());
      scopes.pop_back();
    } else if (in.accept("{")) {
      if (scopes.size() > kMostScopes)
        return in.error("braces are nested too deeply");
      scopes.emplace_back().firstInstruction = function->body.size();
    } else {
      KILN_RETURN_IF_ERROR(parseStatement());
    }
  }
  return okStatus();
}

// What branches to a label of the scope gets the name that it has in the function.
void Parser::endLabels(const Scope &scope) {
  if (scope.labels.empty())
    return;
  for (size_t i = scope.firstInstruction; i < function->body.size(); ++i)
    for (Operand &operand : function->body[i].operands)
      if (operand.kind == Operand::Kind::Name)
        if (auto found = scope.labels.find(operand.name); found != scope.labels.end())
          operand.name = found->second;
}

Status Parser::parseStatement() {
  const Token &token = in.peek();
  if (in.accept(";"))
    return okStatus();
  if (token.is(".loc"))
    return parseLocation();
  if (token.is(".file"))
    return parseFile();
  if (token.is(".reg"))
    return parseRegisters();
  if (token.is(".pragma")) {
    in.next();
    return in.skipStatement();
  }
  for (auto [word, space] : {std::pair{".param", Space::Param},
                             {".shared", Space::Shared},
                             {".local", Space::Local},
                             {".global", Space::Global},
                             {".const", Space::Const}})
    if (in.accept(word))
      return parseVariables(space, false);
  if (token.kind == Token::Kind::Word && in.peek(1).is(":"))
    return parseLabel();
  return parseInstruction();
}

Status Parser::declare(const Token &name, Scope::Entity entity) {
  if (!scopes.back().names.emplace(name.text, entity).second)
    return invalidArgument("line {}: '{}' is declared twice", name.line, name.text);
  return okStatus();
}

Status Parser::addRegister(const Token &name, Type type) {
  if (function->registerCount >= kMostRegisters)
    return in.error("there are too many registers");
  return declare(name, {true, function->registerCount++, type});
}

Status Parser::parseRegisters() {
  in.next();
  if (in.peek().is(".v2") || in.peek().is(".v4"))
    return in.error("registers that are vectors are not simulated");
  KILN_ASSIGN_OR_RETURN(Type type, in.type());
  do {
    KILN_ASSIGN_OR_RETURN(const Token *name, in.word());
    if (!in.accept("<")) {
      KILN_RETURN_IF_ERROR(addRegister(*name, type));
      continue;
    }
    KILN_ASSIGN_OR_RETURN(uint64_t count, in.constant());
    KILN_RETURN_IF_ERROR(in.expect(">"));
    if (count > kMostRegisters - function->registerCount)
      return in.error("there are too many registers");
    if (!scopes.back().ranges.emplace(name->text, Scope::Range{function->registerCount, uint32_t(count), type}).second)
      return invalidArgument("line {}: '{}' is declared twice", name->line, name->text);
    function->registerCount += uint32_t(count);
  } while (in.accept(","));
  return in.expect(";");
}

Status Parser::parseLabel() {
  const Token name = in.next();
  in.next();
  if (in.accept(".branchtargets")) {
    std::vector<std::string> targets;
    do {
      KILN_ASSIGN_OR_RETURN(const Token *target, in.word());
      targets.emplace_back(target->text);
    } while (in.accept(","));
    if (!function->labelTables.emplace(name.text, std::move(targets)).second)
      return invalidArgument("line {}: label '{}' is there already", name.line, name.text);
    return in.expect(";");
  }
  if (in.peek().is(".callprototype") || in.peek().is(".calltargets"))
    return in.error("calls through pointers are not simulated");
  std::string unique(name.text);
  if (scopes.size() > kFunctionScopes) {
    unique += fmt::format("#{}", function->labels.size());
    if (!scopes.back().labels.emplace(name.text, unique).second)
      return invalidArgument("line {}: label '{}' is there already", name.line, name.text);
  }
  if (!function->labels.emplace(unique, uint32_t(function->body.size())).second)
    return invalidArgument("line {}: label '{}' is there already", name.line, name.text);
  return okStatus();
}

Status Parser::parseInstruction() {
  Instruction instruction;
  const char *begin = in.peek().text.data();
  instruction.line = in.peek().line;
  instruction.sourceFile = sourceFile;
  instruction.sourceLine = sourceLine;
  if (in.accept("@")) {
    KILN_ASSIGN_OR_RETURN(Operand guard, parseOperand(0));
    if (guard.kind != Operand::Kind::Register || guard.type != Type::Pred || !guard.parts.empty())
      return in.error("a predicate is expected after '@'");
    instruction.guard = std::move(guard);
  }
  KILN_ASSIGN_OR_RETURN(const Token *word, in.word());
  std::string_view rest = word->text;
  for (size_t first = 0; first <= rest.size();) {
    size_t dot = std::min(rest.find('.', first), rest.size());
    std::string part(rest.substr(first, dot - first));
    if (part.empty())
      return invalidArgument("line {}: '{}' is no instruction", word->line, word->text);
    if (first == 0)
      instruction.opcode = std::move(part);
    else
      instruction.modifiers.push_back(std::move(part));
    first = dot + 1;
  }
  if (!in.peek().is(";")) {
    do {
      KILN_ASSIGN_OR_RETURN(Operand operand, parseOperand(0));
      instruction.operands.push_back(std::move(operand));
    } while (in.accept(","));
  }
  const char *end = in.peek().text.data();
  KILN_RETURN_IF_ERROR(in.expect(";"));
  instruction.text = {begin, size_t(end - begin)};
  function->body.push_back(std::move(instruction));
  return okStatus();
}

bool Parser::findRegister(std::string_view name, uint32_t &index, Type &type) const {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  uint64_t number = 0;
  for (char c : name.substr(digits))
    number = std::min<uint64_t>(number * 10 + uint64_t(c - '0'), UINT32_MAX);
  for (size_t i = scopes.size(); i-- > 0;) {
    if (auto found = scopes[i].names.find(name); found != scopes[i].names.end()) {
      index = found->second.index;
      type = found->second.type;
      return found->second.isRegister;
    }
    auto range = digits < name.size() ? scopes[i].ranges.find(name.substr(0, digits)) : scopes[i].ranges.end();
    if (range != scopes[i].ranges.end() && number < range->second.count) {
      index = range->second.first + uint32_t(number);
      type = range->second.type;
      return true;
    }
  }
  return false;
}

const Scope::Entity *Parser::findEntity(std::string_view name) const {
  for (size_t i = scopes.size(); i-- > 0;)
    if (auto found = scopes[i].names.find(name); found != scopes[i].names.end())
      return &found->second;
  return nullptr;
}

Result<Operand> Parser::parseList(std::string_view end, int depth) {
  Operand list;
  list.kind = Operand::Kind::List;
  in.next();
  if (in.accept(end))
    return list;
  do {
    KILN_ASSIGN_OR_RETURN(Operand part, parseOperand(depth + 1));
    list.parts.push_back(std::move(part));
  } while (in.accept(","));
  KILN_RETURN_IF_ERROR(in.expect(end));
  return list;
}

Result<Operand> Parser::parseAddress(int depth) {
  Operand address;
  in.next();
  KILN_ASSIGN_OR_RETURN(Operand base, parseOperand(depth + 1));
  address.kind = Operand::Kind::Address;
  address.bits = base.bits;
  if (base.kind == Operand::Kind::Register)
    KILN_RETURN_IF_ERROR(parseOffset(address));
  else if (base.kind != Operand::Kind::Variable && base.kind != Operand::Kind::Integer)
    return in.error("an address is a register, a variable or a number");
  if (base.kind != Operand::Kind::Integer)
    base.bits = 0;
  else
    address.bits = 0;
  address.parts.push_back(std::move(base));
  while (in.accept(",")) {
    KILN_ASSIGN_OR_RETURN(Operand part, parseOperand(depth + 1));
    address.parts.push_back(std::move(part));
  }
  KILN_RETURN_IF_ERROR(in.expect("]"));
  return address;
}

Status Parser::parseOffset(Operand &operand) {
  const bool isMinus = in.peek().is("-");
  if (!isMinus && !in.peek().is("+"))
    return okStatus();
  in.next();
  KILN_ASSIGN_OR_RETURN(uint64_t offset, in.constant());
  operand.bits += isMinus ? 0 - offset : offset;
  return okStatus();
}

Result<Operand> Parser::parseName(int depth) {
  const Token name = in.next();
  Operand operand;
  const bool isSink = name.is("_");
  if (isSink || findRegister(name.text, operand.index, operand.type)) {
    operand.kind = isSink ? Operand::Kind::Sink : Operand::Kind::Register;
    if (in.accept("|")) {
      KILN_ASSIGN_OR_RETURN(Operand second, parseOperand(depth + 1));
      operand.parts.push_back(std::move(second));
    }
    return operand;
  }
  if (const Scope::Entity *entity = findEntity(name.text)) {
    operand.kind = Operand::Kind::Variable;
    operand.index = entity->index;
    KILN_RETURN_IF_ERROR(parseOffset(operand));
    return operand;
  }
  operand.kind = Operand::Kind::Name;
  if (name.text.starts_with('%') || name.is("WARP_SZ"))
    operand.kind = Operand::Kind::Special;
  operand.name = name.text;
  return operand;
}

Result<Operand> Parser::parseOperand(int depth) {
  if (depth > 6)
    return in.error("operands are nested too deeply");
  const Token &token = in.peek();
  if (token.is("{"))
    return parseList("}", depth);
  if (token.is("["))
    return parseAddress(depth);
  if (token.is("!")) {
    in.next();
    if (in.peek().kind == Token::Kind::Word) {
      KILN_ASSIGN_OR_RETURN(Operand operand, parseName(depth));
      if (operand.kind != Operand::Kind::Register)
        return in.error("a register is expected after '!'");
      operand.negated = true;
      return operand;
    }
    return in.error("a register is expected after '!'");
  }
  if (token.kind == Token::Kind::Word)
    return parseName(depth);
  // "(" starts a list of a call's arguments, or a constant.
  if (token.is("(") && (in.peek(1).kind == Token::Kind::Word || in.peek(1).is(")")))
    return parseList(")", depth);
  Operand operand;
  const Token &number = token.is("-") ? in.peek(1) : token;
  if (number.kind == Token::Kind::Float32 || number.kind == Token::Kind::Float64) {
    operand.kind = Operand::Kind::Float;
    operand.isDouble = number.kind == Token::Kind::Float64;
    operand.isDecimal = number.isDecimal;
    operand.bits = number.bits ^ (token.is("-") ? uint64_t(1) << (operand.isDouble ? 63 : 31) : 0);
    if (token.is("-"))
      in.next();
    in.next();
    return operand;
  }
  operand.kind = Operand::Kind::Integer;
  KILN_ASSIGN_OR_RETURN(operand.bits, in.constant());
  return operand;
}

} // namespace

Result<std::unique_ptr<Module>> parsePtx(std::string text) {
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  KILN_ASSIGN_OR_RETURN(std::vector<Token> tokens, tokenize(module->text));
  KILN_RETURN_IF_ERROR(Parser(*module, std::move(tokens)).run());
  return module;
}

} // namespace kiln::cudasim
