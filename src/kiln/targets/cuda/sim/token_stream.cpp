#include "kiln/targets/cuda/sim/token_stream.h"

#include "kiln/base/narrow_float.h"

#include <algorithm>
#include <bit>

namespace kiln::cudasim {

bool TokenStream::accept(std::string_view text) {
  if (!peek().is(text))
    return false;
  next();
  return true;
}

Status TokenStream::expect(std::string_view text) {
  return accept(text) ? okStatus() : error(fmt::format("'{}' is expected", text));
}

Status TokenStream::error(std::string_view what) const {
  const Token &token = peek();
  if (token.kind == Token::Kind::End)
    return invalidArgument("line {}: {}, and the text ends", token.line, what);
  return invalidArgument("line {}: {}, at '{}'", token.line, what, token.text);
}

Result<const Token *> TokenStream::word() {
  if (peek().kind != Token::Kind::Word)
    return error("a name is expected");
  return &next();
}

Result<Type> TokenStream::type() {
  Type type = Type::None;
  if (peek().kind == Token::Kind::Word && peek().text.starts_with('.'))
    type = typeFromName(peek().text.substr(1));
  if (type == Type::None)
    return error("a type is expected");
  next();
  return type;
}

uint64_t bitsOfDecimal(uint64_t doubleBits, Type type) {
  const auto value = std::bit_cast<double>(doubleBits);
  switch (type) {
  case Type::F16: return kF16.encode(value);
  case Type::BF16: return kBF16.encode(value);
  case Type::F32: return std::bit_cast<uint32_t>(float(value));
  default: return doubleBits;
  }
}

Result<uint64_t> TokenStream::value(Type type) {
  const bool isMinus = peek().is("-");
  const Token &number = peek(isMinus ? 1 : 0);
  if (number.kind == Token::Kind::Float32 || number.kind == Token::Kind::Float64) {
    const bool isDouble = number.kind == Token::Kind::Float64;
    uint64_t bits = number.bits ^ (isMinus ? uint64_t(1) << (isDouble ? 63 : 31) : 0);
    if (number.isDecimal)
      bits = bitsOfDecimal(bits, type);
    if (isMinus)
      next();
    next();
    return bits;
  }
  return constant();
}

Status TokenStream::skipParentheses() {
  KILN_RETURN_IF_ERROR(expect("("));
  while (!accept(")")) {
    if (atEnd())
      return error("')' is expected");
    next();
  }
  return okStatus();
}

Status TokenStream::skipStatement() {
  while (!accept(";")) {
    if (atEnd())
      return error("';' is expected");
    next();
  }
  return okStatus();
}

Result<uint64_t> TokenStream::unary(int depth) {
  if (depth > 50)
    return error("a constant is nested too deeply");
  if (accept("-")) {
    KILN_ASSIGN_OR_RETURN(uint64_t value, unary(depth + 1));
    return 0 - value;
  }
  if (accept("+"))
    return unary(depth + 1);
  if (accept("~")) {
    KILN_ASSIGN_OR_RETURN(uint64_t value, unary(depth + 1));
    return ~value;
  }
  if (accept("!")) {
    KILN_ASSIGN_OR_RETURN(uint64_t value, unary(depth + 1));
    return uint64_t(value == 0);
  }
  if (accept("(")) {
    if (peek().is(".s64") || peek().is(".u64")) { // a cast, which changes no bit
      next();
      KILN_RETURN_IF_ERROR(expect(")"));
      return unary(depth + 1);
    }
    KILN_ASSIGN_OR_RETURN(uint64_t value, binary(0, depth + 1));
    KILN_RETURN_IF_ERROR(expect(")"));
    return value;
  }
  if (peek().kind != Token::Kind::Integer)
    return error("a number is expected");
  return next().bits;
}

// Levels bind tighter as they rise: | ^ & then << >> then + - then * / %.
Result<uint64_t> TokenStream::binary(int level, int depth) {
  static constexpr std::string_view kMarks[] = {"|", "^", "&", "<>", "+-", "*/%"};
  if (level == std::ssize(kMarks))
    return unary(depth);
  KILN_ASSIGN_OR_RETURN(uint64_t left, binary(level + 1, depth));
  while (peek().kind == Token::Kind::Mark && kMarks[level].find(peek().text) != std::string_view::npos) {
    const char mark = peek().text[0];
    const bool isShift = mark == '<' || mark == '>';
    if (isShift && peek(1).text != peek().text) // the end of a range of registers
      break;
    next();
    if (isShift)
      next();
    KILN_ASSIGN_OR_RETURN(uint64_t right, binary(level + 1, depth));
    if ((mark == '/' || mark == '%') && right == 0)
      return error("a constant is divided by zero");
    switch (mark) {
    case '|': left |= right; break;
    case '^': left ^= right; break;
    case '&': left &= right; break;
    case '<': left = right < 64 ? left << right : 0; break;
    case '>': left = right < 64 ? left >> right : 0; break;
    case '+': left += right; break;
    case '-': left -= right; break;
    case '*': left *= right; break;
    case '/': left /= right; break;
    default: left %= right; break;
    }
  }
  return left;
}

} // namespace kiln::cudasim
