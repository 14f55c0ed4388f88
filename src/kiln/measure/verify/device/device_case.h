// A pass of a contraction whose inputs a device makes and whose result it checks by itself, as the host would.
#ifndef KILN_MEASURE_VERIFY_DEVICE_DEVICE_CASE_H
#define KILN_MEASURE_VERIFY_DEVICE_DEVICE_CASE_H

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/measure/verify/check.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/real.h"
#include "kiln/measure/verify/row_numbers.h"

namespace kiln::measure::verify {

// The pass `activation` of a product: sums of a few numbers of lhs and a bias, in units of 2^-fractionBits, of which
// each has a range of results.
struct DeviceActivation {
  uint64_t key = 0, lhs = 0;             // the unit at a place of lhs in memory is unitOf(randomBits(key, lhs, place))
  int32_t fractionBits = 0, largest = 0; // units are from -largest to below largest
  std::vector<int64_t> places;           // of the reduction, at which rhs is not zero
  struct Term {
    uint32_t place; // in `places`
    int32_t sign;
  };
  std::vector<Term> terms; // columns of rhs have equally many
  int64_t termsOfColumn = 0;
  std::vector<int32_t> biases; // of columns, and what makes places in `results` of sums
  std::vector<ElementRange> results;

  int32_t unitOf(uint64_t bits) const { return static_cast<int32_t>(bits % uint64_t(2 * largest)) - largest; }
};

// Outputs whose elements are each a function of one element of each input: what that is.
struct DeviceElements {
  enum class Rule {
    Moved,    // the element of the input at another place, bit by bit
    Table,    // of an input of 16 bits: what is right for each of its patterns
    Add,      // computed in f64 and rounded once; of integers they wrap
    Multiply, // likewise
    Relu,     // of NaN anything is right
    SquareRoot,
  } rule = Rule::Moved;
  ElementType type = ElementType::F32;
  uint64_t elements = 0;
  // Of Moved: of the output's dimensions in memory, and how far apart their elements lie in the input.
  std::vector<int64_t> extents = {}, strides = {};
  std::vector<RightElements> table = {};
};

// Reductions along a dimension, which is the middle one of three, and what is computed row by row.
struct DeviceRows {
  enum class Rule { Sum, Mean, Largest, Smallest, Softmax, LayerNorm, RmsNorm } rule = Rule::Sum;
  ElementType type = ElementType::F32, result = ElementType::F32;
  int64_t rows = 0, columns = 0, inner = 1; // as many rows of so many elements each, `inner` of them side by side
  double epsilon = 0;                       // of norms
  std::vector<RowNumbers> inputs = {};      // rows, and of norms gamma and beta

  bool isReduction() const { return rule <= Rule::Smallest; }
  int64_t elementsOf(size_t input) const { return input == 0 ? rows * columns : columns; }
  int64_t results() const { return isReduction() ? rows : rows * columns; }
};

// Attention whose inputs the host makes: each query's result is made of the values of a few keys that follow each
// other, which are known.
struct DeviceAttention {
  bool weighs = false; // by their scores; otherwise it is their mean
  ElementType type = ElementType::F32;
  int64_t heads = 0, queries = 0, keys = 0, depth = 0, valueDepth = 0;
  double scale = 0;
  std::vector<uint32_t> keysOf = {}; // of each query of each head: the first key, and the one behind the last
};

// A convolution: what lhs and rhs are beside matrices, of which lhs has the layout of its patches.
struct DevicePatches {
  PatchLayout layout;
  ScaledOperands scaled = {}; // of the pass `real`: the image, and the filter as it lies in memory
};

struct DeviceCase {
  Contraction contraction;
  Pass pass = Pass::Sums;
  uint64_t seed = 0;
  bool roomForBias = false;
  ColumnMap columns = {};
  Verdict right = {}; // what is said of an output that is right
  enum class Check {
    Exact,      // projections
    Real,       // of a sample of sums of real numbers
    Activation, // of each element
    Elements,   // likewise, of no contraction: inputs and what outputs hold before the run are the host's
    Rows,       // likewise, but that the device makes them
    Attention,  // likewise, made by the host
  } check = Check::Exact;
  DeviceActivation activation = {};
  DeviceElements elements = {};
  DeviceRows rows = {};
  DeviceAttention attention = {};
  std::optional<DevicePatches> patches = {};
  // What the problem's third input holds, where it has one: few bytes, which the host makes.
  std::vector<uint8_t> bias = {};

  ElementType result() const { return check == Check::Rows ? rows.result : contraction.result; }
  // Otherwise the device looks at each element.
  bool hasContraction() const { return check <= Check::Activation; }
  bool isMadeByDevice() const { return hasContraction() || check == Check::Rows; }
};

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVICE_DEVICE_CASE_H
