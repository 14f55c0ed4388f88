// The tokens of a text in order, and the small things that are read from them in one way everywhere.
#ifndef KILN_TARGETS_CUDA_SIM_TOKEN_STREAM_H
#define KILN_TARGETS_CUDA_SIM_TOKEN_STREAM_H

#include "kiln/targets/cuda/sim/ptx_lexer.h"
#include "kiln/targets/cuda/sim/ptx_module.h"

#include <string_view>
#include <utility>
#include <vector>

namespace kiln::cudasim {

class TokenStream {
public:
  explicit TokenStream(std::vector<Token> tokens) : tokens(std::move(tokens)) {}

  const Token &peek(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
  const Token &next() { return tokens[at + 1 < tokens.size() ? at++ : at]; }
  bool atEnd() const { return peek().kind == Token::Kind::End; }

  bool accept(std::string_view text);
  Status expect(std::string_view text);
  // An error at the next token.
  Status error(std::string_view what) const;

  Result<const Token *> word();
  Result<Type> type();
  // A constant expression of integers.
  Result<uint64_t> constant() { return binary(0, 0); }
  // A number as a value of that type.
  Result<uint64_t> value(Type type);
  Status skipParentheses();
  // Up to and with the next semicolon.
  Status skipStatement();

private:
  Result<uint64_t> unary(int depth);
  Result<uint64_t> binary(int level, int depth);

  std::vector<Token> tokens;
  size_t at = 0;
};

// The bits of a double as a value of a type of floats, or truncated to an integer.
uint64_t bitsOfDecimal(uint64_t doubleBits, Type type);

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_TOKEN_STREAM_H
