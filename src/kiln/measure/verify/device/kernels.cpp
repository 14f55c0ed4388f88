// Inputs of contractions and projections of their results, on a GPU. Clang compiles this to PTX when Kiln is built, and
// Kiln's own compiler has no part in it. device_check.h launches them; executables in schema/gpu_executable.fbs says
// what a kernel's parameters are. Without the standard library, which has no headers for GPUs.
#include "kiln/measure/verify/device/tasks.h"

using namespace kiln::measure::verify;

namespace {

using Int128 = __int128;

constexpr int64_t kPrime = (int64_t(1) << 61) - 1;
constexpr int64_t kLargestInteger = int64_t(1) << 30; // kLargestElement of operand.h
constexpr uint64_t kLimb = (uint64_t(1) << 21) - 1;
// Products of an integer of 32 bits and a limb of 21, so many of which fit into 64 bits.
constexpr int64_t kRun = 256;

__attribute__((address_space(3))) int64_t sums[kCheckThreads];
__attribute__((address_space(3))) uint32_t flags[kCheckThreads];

int64_t threadIndex() {
  return __nvvm_read_ptx_sreg_tid_x();
}
int64_t blockIndex() {
  return __nvvm_read_ptx_sreg_ctaid_x();
}
int64_t blockCount() {
  return __nvvm_read_ptx_sreg_nctaid_x();
}
void awaitBlock() {
  __nvvm_bar_sync(0);
}

uint64_t loadBits(const uint8_t *tensor, const DeviceFormat &format, int64_t element) {
  switch (format.bytes) {
  case 1: return tensor[element];
  case 2: return reinterpret_cast<const uint16_t *>(tensor)[element];
  case 4: return reinterpret_cast<const uint32_t *>(tensor)[element];
  default: return reinterpret_cast<const uint64_t *>(tensor)[element];
  }
}

void storeBits(uint8_t *tensor, const DeviceFormat &format, int64_t element, uint64_t bits) {
  switch (format.bytes) {
  case 1: tensor[element] = uint8_t(bits); break;
  case 2: reinterpret_cast<uint16_t *>(tensor)[element] = uint16_t(bits); break;
  case 4: reinterpret_cast<uint32_t *>(tensor)[element] = uint32_t(bits); break;
  default: reinterpret_cast<uint64_t *>(tensor)[element] = bits;
  }
}

// Of an integer of less than 31 bits, which no format here is too small for; where it has too few bits, the nearest
// number, of two the even one.
uint64_t encode(const DeviceFormat &format, int32_t value) {
  if (!format.isFloat)
    return uint64_t(int64_t(value));
  if (value == 0)
    return 0;
  const uint64_t magnitude = value < 0 ? uint64_t(-int64_t(value)) : uint64_t(value);
  int32_t exponent = 63 - __builtin_clzll(magnitude);
  const int32_t dropped = exponent - format.fractionBits;
  uint64_t significand = 0;
  if (dropped <= 0) {
    significand = magnitude << -dropped;
  } else {
    const uint64_t half = uint64_t(1) << (dropped - 1), rest = magnitude & (2 * half - 1);
    significand = magnitude >> dropped;
    if (rest > half || (rest == half && (significand & 1)))
      ++significand;
    // Its fraction is zero then, and the exponent one more.
    exponent += int32_t(significand >> (format.fractionBits + 1));
  }
  const uint64_t fraction = significand & ((uint64_t(1) << format.fractionBits) - 1);
  const uint64_t sign = value < 0 ? uint64_t(1) << (format.exponentBits + format.fractionBits) : 0;
  return sign | uint64_t(exponent + format.exponentOfOne) << format.fractionBits | fraction;
}

// False where the element is no integer or too large; the value is 0 then. Without branches, but for those that all
// threads take alike.
bool decode(const DeviceFormat &format, uint64_t bits, int32_t &value) {
  if (!format.isFloat) {
    const int32_t unused = 64 - 8 * format.bytes;
    value = format.isSigned ? int32_t(int64_t(bits << unused) >> unused) : int32_t(bits);
    return true;
  }
  const uint64_t fractionMask = (uint64_t(1) << format.fractionBits) - 1, fraction = bits & fractionMask;
  const uint32_t largestExponent = (uint32_t(1) << format.exponentBits) - 1;
  const uint32_t exponentBits = uint32_t(bits >> format.fractionBits) & largestExponent;
  const bool isNumber = exponentBits != largestExponent || (!format.hasInfinity && fraction != fractionMask);
  // Of numbers below 1, beyond the largest one too.
  const uint32_t exponent = exponentBits - uint32_t(format.exponentOfOne);
  const uint64_t significand = fraction | uint64_t(1) << format.fractionBits;
  uint64_t magnitude = 0, dropped = 0;
  if (format.bytes < 8) { // with room for all exponents of integers
    const uint64_t shifted = significand << (exponent & 31);
    magnitude = shifted >> format.fractionBits;
    dropped = shifted & fractionMask;
  } else {
    const uint32_t unused = uint32_t(format.fractionBits) - (exponent & 31);
    magnitude = significand >> unused;
    dropped = significand & ((uint64_t(1) << unused) - 1);
  }
  const bool isInteger = isNumber && exponent <= 30 && dropped == 0 && magnitude <= uint64_t(kLargestInteger);
  const bool isZero = exponentBits == 0 && fraction == 0;
  const bool isNegative = bits >> (format.exponentBits + format.fractionBits) & 1;
  const int32_t number = isInteger ? int32_t(magnitude) : 0;
  value = isNegative ? -number : number;
  return isInteger || isZero;
}

// 2^61 is 1 in the field: what is above the lowest 61 bits is added to them, twice.
int64_t reduce(Int128 sum) {
  sum = (sum & kPrime) + (sum >> 61);
  int64_t element = int64_t(sum & kPrime) + int64_t(sum >> 61);
  if (element < 0)
    element += kPrime;
  return element >= kPrime ? element - kPrime : element;
}

} // namespace

#define KILN_KERNEL extern "C" [[clang::nvptx_kernel]] void
// Workgroup counts and scratch memory, which no kernel needs here.
#define KILN_OTHER_PARAMETERS uint64_t, uint64_t, uint64_t, uint64_t

KILN_KERNEL fill_operand(const FillTask *task, uint8_t *tensor, KILN_OTHER_PARAMETERS) {
  const FillTask &fill = *task;
  const int64_t positionBlocks = fill.positionBlocks(), lineBlocks = fill.lineBlocks();
  const int64_t step = fill.linesAreInner ? 1 : kCheckThreads;
  for (int64_t block = blockIndex(); block < fill.blocks(); block += blockCount()) {
    const int64_t lineBlock = block / positionBlocks, b = lineBlock / lineBlocks;
    const int64_t firstLine = lineBlock % lineBlocks * fill.linesOfBlock();
    const int64_t firstPosition = block % positionBlocks * fill.positionsOfBlock();
    const int64_t line = firstLine + (fill.linesAreInner ? threadIndex() : 0);
    if (line >= fill.lines)
      continue;
    const uint64_t ofLine = fill.isLhs ? fill.numbers.lhsLine(b, line) : fill.numbers.rhsLine(b, line);
    int64_t position = firstPosition + (fill.linesAreInner ? 0 : threadIndex());
    for (int64_t i = 0; i < FillTask::kPositions && position < fill.positions; ++i, position += step) {
      const int32_t value =
          fill.isLhs ? fill.numbers.lhsOf(ofLine, position) : fill.numbers.rhsOf(ofLine, /*tap=*/0, position);
      storeBits(tensor, fill.format, b * fill.batchStride + line * fill.lineStride + position * fill.positionStride,
                encode(fill.format, value));
    }
  }
}

KILN_KERNEL prefill_output(const PrefillTask *task, uint8_t *tensor, KILN_OTHER_PARAMETERS) {
  const int64_t step = blockCount() * kCheckThreads;
  for (int64_t element = blockIndex() * kCheckThreads + threadIndex(); element < task->elements; element += step)
    storeBits(tensor, task->format, element,
              task->allBits ? ~uint64_t(0) : encode(task->format, InputNumbers::prefill(uint64_t(element))));
}

// `bad` says of each row whether it holds something that is no integer.
KILN_KERNEL project(const ProjectTask *task, const uint8_t *tensor, const int64_t *vector, int64_t *result,
                    uint32_t *bad, KILN_OTHER_PARAMETERS) {
  const ProjectTask &matrix = *task;
  const DeviceFormat format = matrix.format;
  const int64_t blocks = matrix.blocksPerMatrix(), rowsPerBlock = matrix.rowsPerBlock;
  const int64_t lanes = kCheckThreads / rowsPerBlock;
  const int64_t lane = threadIndex() / rowsPerBlock;
  for (int64_t block = blockIndex(); block < matrix.blocks(); block += blockCount()) {
    const int64_t b = block / blocks, row = block % blocks * rowsPerBlock + threadIndex() % rowsPerBlock;
    int64_t element = 0;
    bool good = true;
    if (row < matrix.rows) {
      const int64_t start = b * matrix.batchStride + row * matrix.rowStride;
      const int64_t *weights = vector + b * matrix.vectorStride;
      for (int64_t column = lane; column < matrix.columns;) {
        // An element of the field as three limbs, the products with each of which are added up by themselves.
        int64_t low = 0, middle = 0, high = 0;
        for (int64_t i = 0; i < kRun && column < matrix.columns; ++i, column += lanes) {
          int32_t value = 0;
          good &= decode(format, loadBits(tensor, format, start + column * matrix.columnStride), value);
          const auto weight = uint64_t(weights[column]);
          low += int64_t(value) * int32_t(weight & kLimb);
          middle += int64_t(value) * int32_t(weight >> 21 & kLimb);
          high += int64_t(value) * int32_t(weight >> 42);
        }
        element = reduce(Int128(element) + low + (Int128(middle) << 21) + (Int128(high) << 42));
      }
    }
    sums[threadIndex()] = element;
    flags[threadIndex()] = good ? 0 : 1;
    for (int64_t half = lanes / 2; half > 0; half /= 2) {
      awaitBlock();
      if (lane < half) {
        const int64_t other = threadIndex() + half * rowsPerBlock;
        sums[threadIndex()] = reduce(Int128(sums[threadIndex()]) + sums[other]);
        flags[threadIndex()] = flags[threadIndex()] | flags[other];
      }
    }
    if (lane == 0 && row < matrix.rows) {
      result[b * matrix.rows + row] = sums[threadIndex()];
      bad[b * matrix.rows + row] = flags[threadIndex()];
    }
    // The next row's numbers come where these are.
    awaitBlock();
  }
}
