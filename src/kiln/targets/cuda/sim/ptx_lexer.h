// PTX's text as tokens. Comments and white space are gone; a token knows its line.
#ifndef KILN_TARGETS_CUDA_SIM_PTX_LEXER_H
#define KILN_TARGETS_CUDA_SIM_PTX_LEXER_H

#include "kiln/base/status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kiln::cudasim {

struct Token {
  enum class Kind : uint8_t {
    Word,    // an identifier, a directive or an instruction with its modifiers: "ld.global.b32", ".reg", "%tid.x"
    Integer, // in `bits`
    Float32, // 0f3F800000
    Float64, // 0d..., or a decimal number: then `isDecimal`
    String,  // without its quotes
    Mark,    // one character
    End,
  };
  Kind kind = Kind::End;
  bool isDecimal = false;
  uint32_t line = 0;
  std::string_view text;
  uint64_t bits = 0;

  bool is(std::string_view expected) const { return (kind == Kind::Word || kind == Kind::Mark) && text == expected; }
};

// The last token is an End. Tokens refer to the text.
Result<std::vector<Token>> tokenize(std::string_view text);

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_PTX_LEXER_H
