// Limits that the compiler and the runtime share.
#ifndef KILN_SCHEMA_TENSOR_LIMITS_H
#define KILN_SCHEMA_TENSOR_LIMITS_H

#include <cstdint>

namespace kiln::schema {

// Dimensions of a tensor that a program takes, gives or checks; inside of a program there may be more.
inline constexpr uint32_t kMaxViewRank = 32;

} // namespace kiln::schema

#endif // KILN_SCHEMA_TENSOR_LIMITS_H
