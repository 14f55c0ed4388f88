// What a program of a user's own takes and gives, and what it says of itself in comments:
//
//   // kiln-shapes: 1x128xf32, 128xf32 -> 1xf32     of a function whose types leave extents open
//   // kiln-tolerance: 1e-3                           how far results may be from the expected ones
//
// With "@name" behind the colon a comment is about that function only.
#ifndef KILN_MEASURE_CORPUS_SIGNATURE_H
#define KILN_MEASURE_CORPUS_SIGNATURE_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/measure/corpus/tolerance.h"
#include "kiln/measure/workload.h"

namespace kiln::measure::corpus {

struct Signature {
  std::vector<TensorType> inputs, outputs;

  bool operator==(const Signature &) const = default;
  // "4xf32, 4xf32 -> 4xf32"
  std::string text() const;
};

std::string typesText(measure::TensorTypes types);

// The comments of one file.
struct Directives {
  struct Shapes {
    std::string function; // empty: any
    std::vector<TensorType> inputs;
    std::optional<std::vector<TensorType>> outputs;
  };
  struct Allowed {
    std::string function;
    Tolerance tolerance;
  };
  std::vector<Shapes> shapes;
  std::vector<Allowed> tolerances;

  // An error for a comment that starts with "kiln-" and cannot be read: what it says must not be ignored.
  static Result<Directives> parse(std::string_view text);

  // A function's own, else what is said of all, else none.
  const Shapes *shapesOf(std::string_view function) const;
  Tolerance toleranceOf(std::string_view function) const;
};

// The signature of a function from its types as the compiler declares them, "tensor<4x?xf32>"; what these leave open is
// taken from `shapes`, which may be null. Unimplemented, with what to write, where that does not do.
Result<Signature> resolveSignature(std::span<const std::string> arguments, std::span<const std::string> results,
                                   const Directives::Shapes *shapes);

} // namespace kiln::measure::corpus

#endif // KILN_MEASURE_CORPUS_SIGNATURE_H
