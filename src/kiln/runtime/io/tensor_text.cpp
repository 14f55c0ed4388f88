#include "kiln/runtime/io/tensor_text.h"

#include <algorithm>

#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/io/packed_elements.h"

namespace kiln::io {

namespace {

// Of a tensor with no elements, or with none left to show, there may be more rows than memory holds brackets.
constexpr uint64_t kMostRowsWithoutElements = 1 << 16;

class Formatter {
public:
  Formatter(const TensorSpan &tensor, uint64_t maxElements, std::string &out)
      : tensor(tensor), elements(tensor), left(maxElements), out(out) {}

  // Appends the elements of the dimensions from `dimension` on, and moves on to what follows them.
  void append(size_t dimension) {
    if (dimension == tensor.shape.size()) {
      if (left == 0) {
        out += "...";
        return;
      }
      appendElements(1);
      return;
    }
    uint64_t extent = tensor.shape[dimension];
    if (dimension + 1 == tensor.shape.size()) {
      uint64_t shown = std::min(extent, left);
      appendElements(shown);
      if (shown < extent)
        out += "...";
      next += extent - shown;
      return;
    }
    for (uint64_t i = 0; i < extent; ++i) {
      if ((left == 0 || tensor.bytes.empty()) && rowsWithoutElements++ >= kMostRowsWithoutElements) {
        out += "...";
        return;
      }
      out += '[';
      append(dimension + 1);
      out += ']';
    }
  }

private:
  void appendElements(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      if (i)
        out += ' ';
      appendElement(tensor.type, elements.at(next++), Digits::Six, out);
    }
    left -= count;
  }

  const TensorSpan &tensor;
  WholeElements elements;
  uint64_t left;
  uint64_t next = 0;
  uint64_t rowsWithoutElements = 0;
  std::string &out;
};

} // namespace

std::string formatTensor(const TensorSpan &tensor, uint64_t maxElements) {
  std::string out = tensor.typeText() + "=";
  Formatter(tensor, maxElements, out).append(0);
  return out;
}

} // namespace kiln::io
