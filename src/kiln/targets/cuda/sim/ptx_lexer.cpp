#include "kiln/targets/cuda/sim/ptx_lexer.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace kiln::cudasim {

static bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool isInWord(char c) {
  return isDigit(c) || isLetter(c) || c == '_' || c == '$' || c == '.';
}

namespace {

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  Result<std::vector<Token>> run() {
    while (true) {
      KILN_RETURN_IF_ERROR(skipSpace());
      Token token;
      token.line = line;
      if (at < text.size())
        KILN_RETURN_IF_ERROR(read(token));
      tokens.push_back(token);
      if (token.kind == Token::Kind::End)
        return std::move(tokens);
    }
  }

private:
  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  Status skipSpace() {
    while (at < text.size()) {
      if (peek() == '\n')
        ++line;
      if (std::strchr(" \t\r\n\f\v", peek()) && peek()) {
        ++at;
      } else if (peek() == '/' && peek(1) == '/') {
        at = std::min(text.find('\n', at), text.size());
      } else if (peek() == '/' && peek(1) == '*') {
        size_t end = text.find("*/", at + 2);
        if (end == text.npos)
          return invalidArgument("line {}: a comment has no end", line);
        line += uint32_t(std::count(text.begin() + long(at), text.begin() + long(end), '\n'));
        at = end + 2;
      } else {
        break;
      }
    }
    return okStatus();
  }

  Status read(Token &token) {
    const size_t begin = at;
    const char first = peek();
    if (isDigit(first))
      return readNumber(token);
    if (first == '"') {
      size_t end = text.find_first_of("\"\n", at + 1);
      if (end == text.npos || text[end] == '\n')
        return invalidArgument("line {}: a string has no end", line);
      token.kind = Token::Kind::String;
      token.text = text.substr(at + 1, end - at - 1);
      at = end + 1;
      return okStatus();
    }
    const bool startsWord = isLetter(first) || first == '_' || first == '$' || first == '%' || first == '.';
    if (startsWord && (first != '%' || isInWord(peek(1)))) {
      ++at;
      while (isInWord(peek()) || (peek() == ':' && peek(1) == ':')) {
        at += peek() == ':' ? 2 : 1;
      }
      token.kind = Token::Kind::Word;
    } else if (static_cast<unsigned char>(first) < 0x20 || static_cast<unsigned char>(first) > 0x7e) {
      return invalidArgument("line {}: the byte {:#04x} is no text of PTX", line, static_cast<unsigned char>(first));
    } else {
      ++at;
      token.kind = Token::Kind::Mark;
    }
    token.text = text.substr(begin, at - begin);
    return okStatus();
  }

  Status readNumber(Token &token) {
    const size_t begin = at;
    const char second = peek(1);
    auto wrong = [&] {
      while (isInWord(peek()))
        ++at;
      return invalidArgument("line {}: '{}' is no number", line, text.substr(begin, at - begin));
    };
    const size_t hexDigits = second == 'f' || second == 'F' ? 8 : second == 'd' || second == 'D' ? 16 : 0;
    if (peek() == '0' && hexDigits) {
      at += 2;
      if (!readDigits(16, token.bits, hexDigits) || isInWord(peek()))
        return wrong();
      token.kind = hexDigits == 8 ? Token::Kind::Float32 : Token::Kind::Float64;
      token.text = text.substr(begin, at - begin);
      return okStatus();
    }
    size_t end = begin;
    while (end < text.size() && isDigit(text[end]))
      ++end;
    const bool isReal = end < text.size() && (text[end] == '.' || text[end] == 'e' || text[end] == 'E');
    if (isReal) {
      double value = 0;
      auto [last, error] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
      at = size_t(last - text.data());
      if (error != std::errc() || isInWord(peek()))
        return wrong();
      token.kind = Token::Kind::Float64;
      token.isDecimal = true;
      token.bits = std::bit_cast<uint64_t>(value);
    } else {
      int base = 10;
      if (peek() == '0' && (second == 'x' || second == 'X'))
        base = 16, at += 2;
      else if (peek() == '0' && (second == 'b' || second == 'B'))
        base = 2, at += 2;
      else if (peek() == '0' && isDigit(second))
        base = 8;
      if (!readDigits(base, token.bits, 0))
        return wrong();
      if (peek() == 'U')
        ++at;
      if (isInWord(peek()) && peek() != '.')
        return wrong();
      token.kind = Token::Kind::Integer;
    }
    token.text = text.substr(begin, at - begin);
    return okStatus();
  }

  // `count` digits, or where it is 0 all that follow, at least one.
  bool readDigits(int base, uint64_t &value, size_t count) {
    const char *begin = text.data() + at,
               *limit = text.data() + (count ? std::min(text.size(), at + count) : text.size());
    auto [last, error] = std::from_chars(begin, limit, value, base);
    at = size_t(last - text.data());
    return error == std::errc() && (!count || last == begin + count);
  }

  std::string_view text;
  size_t at = 0;
  uint32_t line = 1;
  std::vector<Token> tokens;
};

} // namespace

Result<std::vector<Token>> tokenize(std::string_view text) {
  return Lexer(text).run();
}

} // namespace kiln::cudasim
