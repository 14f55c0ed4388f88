// Tensors as the tools print them.
#ifndef KILN_RUNTIME_IO_TENSOR_TEXT_H
#define KILN_RUNTIME_IO_TENSOR_TEXT_H

#include <cstdint>
#include <string>

#include "kiln/runtime/io/host_tensor.h"

namespace kiln::io {

// "4xf32=3 4 5 6", "2x3xf32=[1 2 3][4 5 6]", "2x2x2xi8=[[1 2][3 4]][[5 6][7 8]]", "f32=2". Elements beyond the first
// `maxElements` are left out; each row that lacks some ends in "...". So does
// the text after 65,536 rows without any element.
std::string formatTensor(const TensorSpan &tensor, uint64_t maxElements);

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_TENSOR_TEXT_H
