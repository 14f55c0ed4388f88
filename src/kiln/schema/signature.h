// Signatures of VM functions and imports: argument kinds, '_', result kinds. See vm_opcodes.def.
#ifndef KILN_SCHEMA_SIGNATURE_H
#define KILN_SCHEMA_SIGNATURE_H

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/base/status.h"

namespace kiln::schema {

// The letters of a signature. Int32 and F32 live in the low half of a 64-bit value register.
enum class ValueKind : char {
  I32 = 'i',
  I64 = 'I',
  F32 = 'f',
  F64 = 'F',
  Ref = 'r',
};

inline bool isValueKind(char kind) {
  return kind == 'i' || kind == 'I' || kind == 'f' || kind == 'F' || kind == 'r';
}
inline bool isRefKind(char kind) {
  return kind == 'r';
}

// "rI*_" has arguments "r", repeated "I" and no results; each string holds kinds only.
struct Signature {
  std::string arguments;
  std::string repeated; // the group that may follow the arguments any number of times; empty where there is none
  std::string results;

  // How many times `repeated` occurs in a call with `count` arguments; -1 where no such call exists.
  int64_t repeatCount(uint64_t count) const;
  // The kind of argument `index` of a call, the repeated group unrolled. Needs a call that repeatCount accepts.
  char argumentKind(uint64_t index) const;
};

// Fails with a message that quotes the signature and says what is wrong with it. A repeated group is allowed only where
// `allowRepeated` is set: for imports.
Result<Signature> parseSignature(std::string_view text, bool allowRepeated);

} // namespace kiln::schema

#endif // KILN_SCHEMA_SIGNATURE_H
