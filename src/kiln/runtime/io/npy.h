// NumPy's .npy files: versions 1, 2 and 3, any number of arrays one after the other in a file.
//
// Types: b1 = i1; i1, i2, i4, i8 = i8 to i64 (signless, as programs take them); u1 to u8 = ui8 to ui64; f2, f4, f8.
// NumPy has no bf16 and no 8-bit floats: ml_dtypes stores bf16 as '<V2' and f8E4M3FN as '|V1', and so do we, with
// f8E5M2 as '|V1' too (ml_dtypes' own '<f1' is read). In Python such an array is seen with
// `a.view(ml_dtypes.bfloat16)`. Since V1 does not say which 8-bit float it holds, reading one needs `wanted`.
// Big-endian files, structured types, objects and complex numbers are refused with a message. Arrays in Fortran order
// are transposed while they are read.
#ifndef KILN_RUNTIME_IO_NPY_H
#define KILN_RUNTIME_IO_NPY_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/file.h"
#include "kiln/base/status.h"
#include "kiln/runtime/io/file.h"
#include "kiln/runtime/io/host_tensor.h"

namespace kiln::io {

struct NpyHeader {
  ElementType type;
  std::vector<uint64_t> shape;
  bool fortranOrder = false;
};

// The dictionary of a header: "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }".
Result<NpyHeader> parseNpyHeader(std::string_view dictionary, std::optional<ElementType> wanted = std::nullopt);
// Everything that stands before an array's data, in version 1, or 2 where it is too long for 1.
std::string formatNpyHeader(ElementType type, std::span<const uint64_t> shape);

// The array at the file's position; the position is behind it afterwards. `wanted` tells apart what the file does not,
// and does not convert: an array of another type comes back as it is.
Result<HostTensor> readNpy(InputFile &file, std::optional<ElementType> wanted = std::nullopt);
// Writes one array; several calls write several.
Status writeNpy(OutputFile &file, const TensorSpan &tensor);

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_NPY_H
