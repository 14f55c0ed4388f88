// What kernels.cpp is told, which the host copies to the device byte by byte.
#ifndef KILN_MEASURE_VERIFY_DEVICE_TASKS_H
#define KILN_MEASURE_VERIFY_DEVICE_TASKS_H

#include "kiln/measure/verify/input_numbers.h"
#include "kiln/measure/verify/layout.h"
#include "kiln/measure/verify/row_numbers.h"
#include "kiln/measure/verify/row_results.h"

namespace kiln::measure::verify {

inline constexpr int32_t kCheckThreads = 256; // of a block

// Elements of a tensor: integers, or a sign, an exponent and a fraction.
struct DeviceFormat {
  int32_t bytes = 0;
  bool isFloat = false;
  bool isSigned = false;     // of integers
  bool hasInfinity = true;   // otherwise only the largest fraction of the largest exponent is no number
  int32_t exponentBits = 0;  // of floats
  int32_t fractionBits = 0;  // likewise, without the leading one
  int32_t exponentOfOne = 0; // as it is stored
};

// An operand's inputs: a number for each line, a row of the layout, and position.
struct FillTask {
  InputNumbers numbers;
  DeviceFormat format;
  bool isLhs = false;
  bool linesAreInner = false; // neighbours in memory are of different lines
  int64_t batch = 0, lines = 0, positions = 0;
  Layout layout;
  // A position of rhs stands for a place in the reduction and one of so many taps, which may be side by side.
  int64_t taps = 1;
  bool tapsAreInner = false;

  // A thread makes a few positions of one line, and a warp what lies together.
  static constexpr int64_t kPositions = 8;
  int64_t linesOfBlock() const { return linesAreInner ? kCheckThreads : 1; }
  int64_t positionsOfBlock() const { return linesAreInner ? kPositions : kPositions * kCheckThreads; }
  int64_t lineBlocks() const { return (lines + linesOfBlock() - 1) / linesOfBlock(); }
  int64_t positionBlocks() const { return (positions + positionsOfBlock() - 1) / positionsOfBlock(); }
  int64_t blocks() const { return batch * lineBlocks() * positionBlocks(); }

  int32_t rhsAt(uint64_t line, int64_t position) const {
    int64_t tap = 0, inReduction = position;
    if (taps > 1) {
      const int64_t inside = tapsAreInner ? taps : positions / taps;
      tap = tapsAreInner ? position % inside : position / inside;
      inReduction = tapsAreInner ? position / inside : position % inside;
    }
    return numbers.rhsOf(line, tap, inReduction);
  }
};

// What an output holds before a run, or an operand before its few elements are put into it.
struct PrefillTask {
  DeviceFormat format;
  bool allBits = false; // all of them are set
  bool zeros = false;
  int64_t elements = 0;

  static constexpr int64_t kElements = 8; // of a thread
  int64_t blocks() const { return (elements + kElements * kCheckThreads - 1) / (kElements * kCheckThreads); }
};

// Matrices, of which those of patches read zero in the padding.
struct DeviceMatrix {
  DeviceFormat format;
  bool isPatches = false;
  Layout layout;
  PatchLayout patches = {};

  // -1 in the padding.
  int64_t offset(int64_t b, int64_t row, int64_t column) const {
    return isPatches ? patches.offset(b, row, column) : layout.offset(b, row, column);
  }
};

// Matrices times vectors in the field of 2^61-1 elements: element (b, row) of the result is the sum over columns of the
// matrix's integer times element b * vectorStride + column of the vector. kBad where the row holds something that is no
// integer.
struct ProjectTask {
  static constexpr int32_t kRowsOfThread = 2; // but for patches
  static constexpr int64_t kBad = -1, kUnwritten = -2;
  DeviceMatrix matrix;
  // Of the block's threads, a power of two, each of which has kRowsOfThread as far apart; the others share rows'
  // columns.
  int32_t rowsPerBlock = 1;
  int64_t batch = 0, rows = 0, columns = 0;
  int64_t vectorStride = 0;

  int64_t blocksPerMatrix() const { return (rows + rowsOfBlock() - 1) / rowsOfBlock(); }
  int64_t rowsOfBlock() const { return int64_t(rowsPerBlock) * (matrix.isPatches ? 1 : kRowsOfThread); }
  int64_t blocks() const { return batch * blocksPerMatrix(); }
};

// Real numbers of matrices that lie one after the other: see ScaledOperand in real.h.
struct ScaledFillTask {
  DeviceFormat format;
  bool scalesRows = false;
  bool isNarrow = false;   // numbers are taken from a list, and not made of the normal distribution
  uint32_t keptBits = ~0u; // of a f32 number
  int32_t range = 0;
  int32_t narrowNumbers = 1; // of each exponent
  int32_t partBits = 0;      // of the normal distribution
  uint64_t key = 0, scalesKey = 0;
  int64_t batch = 0, rows = 0, columns = 0, batchStride = 0;

  static constexpr int64_t kElements = 8; // of a thread
  int64_t blocks() const {
    return (batch * rows * columns + kElements * kCheckThreads - 1) / (kElements * kCheckThreads);
  }
};

// Units of 2^-fractionBits that are drawn by their place: see DeviceActivation.
struct UnitNumbers {
  uint64_t key = 0, which = 0;
  int32_t fractionBits = 0, largest = 0;

  int32_t unitAt(int64_t place) const {
    return int32_t(randomBits(key, which, uint64_t(place)) % uint64_t(2 * largest)) - largest;
  }
};
struct UnitFillTask {
  UnitNumbers numbers;
  DeviceFormat format;
  int64_t elements = 0;

  int64_t blocks() const { return (elements + kCheckThreads - 1) / kCheckThreads; }
};

// Integers that are stored at places of a tensor.
struct ScatterTask {
  DeviceFormat format;
  int64_t count = 0;

  int64_t blocks() const { return (count + kCheckThreads - 1) / kCheckThreads; }
};

// Elements of matrices at places (b, row, column).
struct DotTask {
  DeviceMatrix lhs, rhs;
  int64_t samples = 0, k = 0;

  int64_t blocks() const { return samples; }
};
struct PickTask {
  DeviceMatrix out;
  int64_t samples = 0;

  int64_t blocks() const { return (samples + kCheckThreads - 1) / kCheckThreads; }
};

// Whether each element of a matrix is in the range of its sum. A block has a row at a time.
struct RangeTask {
  UnitNumbers numbers; // of lhs
  DeviceMatrix lhs, out;
  int64_t rows = 0, columns = 0, terms = 0; // terms of a column

  int64_t blocks() const { return rows; }
};

// Elements that are each a function of others: see DeviceElements. A block counts those of its elements that are wrong.
struct ElementsTask {
  DeviceFormat format;
  int32_t rule = 0; // as DeviceElements::Rule
  int32_t rank = 0;
  int64_t elements = 0;
  int64_t extents[4] = {1, 1, 1, 1}, strides[4] = {0, 0, 0, 0};

  static constexpr int64_t kElements = 16; // of a thread
  int64_t blocks() const { return (elements + kElements * kCheckThreads - 1) / (kElements * kCheckThreads); }
};
// Of a pattern of 16 bits: the ends of a range in the order of numbers, and flags.
struct PatternRange {
  int32_t low = 0, high = -1;
  uint32_t flags = 0;
  static constexpr uint32_t kNan = 1, kZero = 2, kAll = 4;
};

// Elements of rows as they lie in memory: see DeviceRows.
struct RowFillTask {
  RowNumbers numbers;
  DeviceFormat format;
  int64_t elements = 0, inner = 1;

  int64_t blocks() const { return (elements + kCheckThreads - 1) / kCheckThreads; }
};
struct RowsTask {
  // As DeviceRows::Rule.
  static constexpr int32_t kSum = 0, kMean = 1, kLargest = 2, kSmallest = 3, kSoftmax = 4, kLayerNorm = 5, kRmsNorm = 6;
  DeviceFormat format, resultFormat;
  int32_t rule = kSum;
  int32_t rowsPerBlock = 1; // a power of two; the block's other threads share a row's columns
  NumberWidth width;        // of results
  double largest = 0;       // likewise; of integers too
  double epsilon = 0;
  bool mayFlush = false;
  int64_t rows = 0, columns = 0, inner = 1;

  int64_t blocks() const { return (rows + rowsPerBlock - 1) / rowsPerBlock; }
};

// Attention of which the keys of each query that count are known: see DeviceAttention.
struct ValueSumsTask {
  DeviceFormat format;
  int64_t heads = 0, keys = 0, columns = 0; // columns of values

  // A thread has a column of a head.
  int64_t blocks() const { return (heads * columns + kCheckThreads - 1) / kCheckThreads; }
};
struct AttentionTask {
  static constexpr int64_t kMostKeys = 1024; // that a query weighs
  DeviceFormat format;
  bool weighs = false;
  NumberWidth width;
  int64_t heads = 0, queries = 0, keys = 0, depth = 0, columns = 0;
  double scale = 0;

  // A block has a query.
  int64_t blocks() const { return heads * queries; }
};

// The host and the device agree on where fields lie.
static_assert(sizeof(InputNumbers) == 168 && sizeof(DeviceFormat) == 20 && sizeof(FillTask) == 272 &&
              sizeof(PrefillTask) == 32 && sizeof(ProjectTask) == 256 && sizeof(ScaledFillTask) == 88 &&
              sizeof(UnitNumbers) == 24 && sizeof(UnitFillTask) == 56 && sizeof(ScatterTask) == 32 &&
              sizeof(DeviceMatrix) == 216 && sizeof(DotTask) == 448 && sizeof(PickTask) == 224 &&
              sizeof(RangeTask) == 480 && sizeof(ElementsTask) == 104 && sizeof(PatternRange) == 12 &&
              sizeof(RowNumbers) == 72 && sizeof(RowFillTask) == 112 && sizeof(RowsTask) == 112 &&
              sizeof(ValueSumsTask) == 48 && sizeof(AttentionTask) == 88);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVICE_TASKS_H
