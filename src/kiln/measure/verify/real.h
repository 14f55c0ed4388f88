// The pass `real` of a contraction: normally distributed numbers, whose rows and columns are scaled by powers of two,
// against extended precision. See docs/verification.md.
#ifndef KILN_MEASURE_VERIFY_REAL_H
#define KILN_MEASURE_VERIFY_REAL_H

#include <span>

#include "kiln/measure/verify/contraction.h"
#include "kiln/measure/verify/operand.h"
#include "kiln/measure/verify/verdict.h"

namespace kiln::measure::verify {

inline constexpr const char *kRealPass = "real";

// Integers have no rounding to look at.
bool hasRealPass(const Contraction &contraction);

// Rows of lhs and columns of rhs are scaled by 2^-e to 2^e, for e as large as results, sums and operands of so many
// products allow.
int realScaleRange(const Contraction &contraction);

// Dense rows x columns, each row (or column) scaled by a power of two of its own.
void fillScaled(ElementType type, int64_t rows, int64_t columns, bool scalesRows, int range, uint64_t key,
                std::span<uint8_t> bytes);
// Operands that are dense matrices, row-major or column-major, one batch after the other.
Status fillReal(const Contraction &contraction, uint64_t seed, std::span<uint8_t> lhsBytes,
                std::span<uint8_t> rhsBytes);

// Errors of a sample of elements, their maximum and their root mean square. Of the contraction's layouts only the
// output's counts.
Verdict checkReal(const Contraction &contraction, uint64_t seed, const RealOperand &lhs, const RealOperand &rhs,
                  std::span<const uint8_t> outBytes);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_REAL_H
