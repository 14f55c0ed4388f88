// The syntax of --input and --expected_output.
//
//   3.14, true             a scalar; what it becomes is the function's business
//   f32=-2                 a tensor of rank 0
//   4xf32=[1 2 3 4]        elements in row-major order; brackets, commas and blanks only separate
//   3x5xf32=1              one value for all elements
//   3x5xf32                zeros
//   3xindex=[1 2 3]        an index is an i64
//   2x2xi32=@file.bin      the bytes of a file, little-endian, exactly as many as there are
//   2x2xi32=+file.bin      the next bytes of that file
//   @x.npy                 the first array of a .npy file
//   +x.npy                 the next array of that file
//   *x.npy                 each array of that file
//   4xf32=@x.npy           an array, which must be of that type and shape
#ifndef KILN_RUNTIME_IO_INPUT_H
#define KILN_RUNTIME_IO_INPUT_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/io/file.h"
#include "kiln/runtime/io/host_tensor.h"

namespace kiln::io {

// A number or a truth value without a type, as it was written. It is one that parseElement reads for some type.
struct Scalar {
  std::string text;
};

using Input = std::variant<Scalar, HostTensor>;

// Reads inputs in order: `+` goes on where the last input from that file, by its path as written, ended.
class InputReader {
public:
  // Appends the input, or for `*` the inputs. Errors quote the part of the text that they are about.
  Status read(std::string_view text, std::vector<Input> &inputs);

private:
  Status readSource(std::string_view text, std::vector<Input> &inputs);
  struct OpenFile {
    InputFile file;
    unsigned arrays = 0; // of a .npy file, read so far
  };
  // The file from its start, or for '+' where it was left.
  Result<OpenFile *> open(char how, std::string_view path);
  static Result<HostTensor> readArray(OpenFile &open, std::optional<ElementType> wanted = std::nullopt);

  std::map<std::string, OpenFile, std::less<>> files;
};

// "4xf32" as a type and a shape. Quotes the text on failure.
Status parseTensorType(std::string_view text, ElementType &type, std::vector<uint64_t> &shape);

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_INPUT_H
