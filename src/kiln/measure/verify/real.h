// The pass `real` of a contraction: normally distributed numbers, whose rows and columns are scaled by powers of two,
// against extended precision. See docs/verification.md.
#ifndef KILN_MEASURE_VERIFY_REAL_H
#define KILN_MEASURE_VERIFY_REAL_H

#include <span>
#include <vector>

#include "kiln/measure/verify/contraction.h"
#include "kiln/measure/verify/operand.h"
#include "kiln/measure/verify/tolerance.h"
#include "kiln/measure/verify/verdict.h"

namespace kiln::measure::verify {

inline constexpr const char *kRealPass = "real";

// Integers have no rounding to look at.
bool hasRealPass(const Contraction &contraction);

// Rows of lhs and columns of rhs are scaled by 2^-e to 2^e, for e as large as results, sums and operands of so many
// products allow.
int realScaleRange(const Contraction &contraction);

// Cuts f32 numbers off to those that tf32 has.
void keepTF32(std::span<uint8_t> bytes);
// Operands that are dense matrices, row-major or column-major, one batch after the other.
Status fillReal(const Contraction &contraction, uint64_t seed, std::span<uint8_t> lhsBytes,
                std::span<uint8_t> rhsBytes);

// A dense operand as `fillReal` makes it: matrices in memory, one after the other, of rows that lie together. Each row,
// or each column, is scaled by a power of two of its own.
struct ScaledOperand {
  ElementType type;
  int64_t batch = 1, rows = 0, columns = 0, batchStride = 0;
  bool scalesRows = true; // in memory
  int range = 0;
  uint64_t key = 0;
  bool tf32 = false;
};
struct ScaledOperands {
  ScaledOperand lhs, rhs;
};
void fillScaled(const ScaledOperand &operand, std::span<uint8_t> bytes);
ScaledOperands realOperands(const Contraction &contraction, uint64_t seed);
// One element of matrix b.
void storeScaled(const ScaledOperand &operand, int64_t b, int64_t element, uint8_t *out);

// What numbers are made from on a device. Of f32 the ends of kNormalParts equally likely parts of the normal
// distribution, as f64, within each of which 2^53 numbers lie; of other types for each exponent, from -range on,
// kNarrowNumbers numbers, one of which is taken.
inline constexpr int kNormalPartBits = 10, kNormalParts = 1 << kNormalPartBits, kNarrowNumbers = 4096;
inline constexpr uint64_t kScalesKey = 0x5343414C; // of a matrix's exponents, beside its key
std::vector<uint8_t> scaledNumbers(ElementType type, int range);

// Which elements `checkReal` looks at.
SampleOptions realSamples(const Contraction &contraction, uint64_t seed);
// What it says of an output that is right, but for how far off that is.
Verdict rightRealVerdict(const Contraction &contraction, uint64_t seed);

// Errors of a sample of elements, their maximum and their root mean square. Of the contraction's layouts only the
// output's counts.
Verdict checkReal(const Contraction &contraction, uint64_t seed, const RealOperand &lhs, const RealOperand &rhs,
                  std::span<const uint8_t> outBytes);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_REAL_H
