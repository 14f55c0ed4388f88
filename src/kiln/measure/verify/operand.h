// The tensors of a contraction as matrices of integers, whatever their type and layout.
#ifndef KILN_MEASURE_VERIFY_OPERAND_H
#define KILN_MEASURE_VERIFY_OPERAND_H

#include <cstdint>
#include <span>

#include "kiln/measure/verify/contraction.h"

namespace kiln::measure::verify {

// Elements beyond this magnitude are no integers that verification makes, and count as wrong.
inline constexpr double kLargestElement = 0x1p30;

// A matrix for each batch index. Read by several threads at once.
class Operand {
public:
  virtual ~Operand() = default;
  // `count` integers from (row, column) on along the row, or down the column. False where one is no integer (a
  // fraction, infinity, NaN, beyond kLargestElement in a floating-point type); 0 stands in its place.
  virtual bool loadAlong(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const = 0;
  virtual bool loadDown(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const = 0;
  // Whether loadDown is the fast one.
  virtual bool runsDown() const = 0;
};

// An operand that also gives its elements as the numbers that they are.
class RealOperand : public Operand {
public:
  virtual void numbersAlong(int64_t b, int64_t row, int64_t column, int64_t count, double *out) const = 0;
  virtual void numbersDown(int64_t b, int64_t row, int64_t column, int64_t count, double *out) const = 0;
};

// A tensor in memory that it does not own.
class TensorOperand : public RealOperand {
public:
  TensorOperand(ElementType type, const Layout &layout, std::span<const uint8_t> bytes)
      : type(type), elementBytes(static_cast<int64_t>(hal::elementTypeByteSize(type))), layout(layout),
        bytes(bytes.data()) {}

  bool loadAlong(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const override {
    return load(layout.offset(b, row, column), layout.column, count, out);
  }
  bool loadDown(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const override {
    return load(layout.offset(b, row, column), layout.row, count, out);
  }
  void numbersAlong(int64_t b, int64_t row, int64_t column, int64_t count, double *out) const override {
    loadNumbers(layout.offset(b, row, column), layout.column, count, out);
  }
  void numbersDown(int64_t b, int64_t row, int64_t column, int64_t count, double *out) const override {
    loadNumbers(layout.offset(b, row, column), layout.row, count, out);
  }
  bool runsDown() const override { return layout.column != 1 && layout.row == 1; }

  // The element as the number that it is.
  double number(int64_t b, int64_t row, int64_t column) const;
  // Elements that are `stride` apart, from `offset` in the tensor on.
  bool load(int64_t offset, int64_t stride, int64_t count, int32_t *out) const;
  void loadNumbers(int64_t offset, int64_t stride, int64_t count, double *out) const;

private:
  ElementType type;
  int64_t elementBytes;
  Layout layout;
  const uint8_t *bytes;
};

// A tensor of integers from each of which its zero point is subtracted.
class ShiftedOperand : public RealOperand {
public:
  ShiftedOperand(const TensorOperand &tensor, int32_t zeroPoint) : tensor(tensor), zeroPoint(zeroPoint) {}

  bool loadAlong(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const override {
    return shifted(tensor.loadAlong(b, row, column, count, out), count, out);
  }
  bool loadDown(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const override {
    return shifted(tensor.loadDown(b, row, column, count, out), count, out);
  }
  void numbersAlong(int64_t b, int64_t row, int64_t column, int64_t count, double *out) const override {
    tensor.numbersAlong(b, row, column, count, out);
    shifted(true, count, out);
  }
  void numbersDown(int64_t b, int64_t row, int64_t column, int64_t count, double *out) const override {
    tensor.numbersDown(b, row, column, count, out);
    shifted(true, count, out);
  }
  bool runsDown() const override { return tensor.runsDown(); }

private:
  template <typename T> bool shifted(bool good, int64_t count, T *out) const {
    for (int64_t i = 0; i < count; ++i)
      out[i] -= zeroPoint;
    return good;
  }

  TensorOperand tensor;
  int32_t zeroPoint;
};

// A convolution's input.
class PatchOperand : public RealOperand {
public:
  // `bytes` must reach as far as the layout does.
  PatchOperand(ElementType type, const PatchLayout &layout, std::span<const uint8_t> bytes)
      : tensor(type, {0, 0, 1}, bytes), layout(layout) {}

  bool loadAlong(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const override;
  bool loadDown(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const override;
  void numbersAlong(int64_t b, int64_t row, int64_t column, int64_t count, double *out) const override;
  void numbersDown(int64_t b, int64_t row, int64_t column, int64_t count, double *out) const override;
  bool runsDown() const override { return layout.channelsFirst; }

private:
  template <typename T> bool loadPatch(int64_t b, int64_t row, int64_t column, int64_t count, T *out) const;
  template <typename T> bool loadPixels(int64_t b, int64_t row, int64_t column, int64_t count, T *out) const;
  bool loadRun(int64_t from, int64_t stride, int64_t count, int32_t *out) const {
    return tensor.load(from, stride, count, out);
  }
  bool loadRun(int64_t from, int64_t stride, int64_t count, double *out) const {
    tensor.loadNumbers(from, stride, count, out);
    return true;
  }
  int64_t offset(int64_t b, int64_t row, int64_t column) const { return layout.offset(b, row, column); }

  TensorOperand tensor;
  PatchLayout layout;
};

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_OPERAND_H
