// Where the elements of matrices lie in memory. The host and GPUs compile the same source, which therefore needs no
// standard library.
#ifndef KILN_MEASURE_VERIFY_LAYOUT_H
#define KILN_MEASURE_VERIFY_LAYOUT_H

#include <stdint.h>

namespace kiln::measure::verify {

// Where an element of a matrix lies, in elements from the tensor's start. 0 repeats the same elements. A batch index b
// stands for (b / groups, b % groups), so that a convolution's images and groups each have a stride.
struct Layout {
  int64_t batch = 0, row = 0, column = 0;
  int64_t group = 0, groups = 1;

  int64_t offset(int64_t b, int64_t i, int64_t j) const {
    return b / groups * batch + b % groups * group + i * row + j * column;
  }
  // Dense matrices of `rows` x `columns`, one after the other.
  static Layout rowMajor(int64_t rows, int64_t columns) { return {rows * columns, columns, 1}; }
  static Layout columnMajor(int64_t rows, int64_t columns) { return {rows * columns, 1, rows}; }
  // The same memory, each matrix read with its indices swapped.
  Layout transposed() const { return {batch, column, row, group, groups}; }

  bool operator==(const Layout &) const = default;
};

// A convolution's input as the matrix that it multiplies: a row for each output pixel, a column for each weight of a
// filter, in the order (ky, kx, channel) or (channel, ky, kx). Padding reads as zero.
struct PatchLayout {
  int64_t height = 1, width = 1, channels = 1; // of one group of the input
  int64_t filterHeight = 1, filterWidth = 1;
  int64_t outputWidth = 1; // pixels are counted row by row
  int64_t strideY = 1, strideX = 1, dilationY = 1, dilationX = 1, padTop = 0, padLeft = 0;
  bool channelsFirst = false; // the order of columns
  // Elements between neighbours; a batch index is an image and a group, as in Layout.
  int64_t imageStride = 0, groupStride = 0, groups = 1, rowStride = 0, columnStride = 0, channelStride = 0;

  int64_t taps() const { return filterHeight * filterWidth; }
  // Where the element lies; -1 in the padding.
  int64_t offset(int64_t b, int64_t row, int64_t column) const {
    const int64_t tap = channelsFirst ? column % taps() : column / channels;
    const int64_t channel = channelsFirst ? column / taps() : column % channels;
    const int64_t y = row / outputWidth * strideY + tap / filterWidth * dilationY - padTop;
    const int64_t x = row % outputWidth * strideX + tap % filterWidth * dilationX - padLeft;
    if (y < 0 || y >= height || x < 0 || x >= width)
      return -1;
    return b / groups * imageStride + b % groups * groupStride + y * rowStride + x * columnStride +
           channel * channelStride;
  }
  // The image itself: a row for each of its pixels, a column for each channel.
  Layout pixels() const { return {imageStride, columnStride, channelStride, groupStride, groups}; }
};

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_LAYOUT_H
