#include "kiln/runtime/vm/value.h"

namespace kiln::vm {

const char *valueKindName(ValueKind kind) {
  switch (kind) {
  case ValueKind::I32: return "i32";
  case ValueKind::I64: return "i64";
  case ValueKind::F32: return "f32";
  case ValueKind::F64: return "f64";
  case ValueKind::Ref: return "ref";
  }
  return "?";
}

} // namespace kiln::vm
