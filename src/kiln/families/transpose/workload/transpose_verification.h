// Inputs of transpositions, and how their results are checked. See docs/verification.md.
#ifndef KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_VERIFICATION_H
#define KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_VERIFICATION_H

#include "kiln/families/transpose/workload/transpose_spec.h"

namespace kiln::families {

// Which element of the input lies at each place of the result, both as they lie in memory.
class TransposedOrder {
public:
  explicit TransposedOrder(const TransposeSpec &spec);

  // For `sources.size()` elements of the result from `first` on.
  void sources(uint64_t first, std::span<uint64_t> sources) const;
  uint64_t source(uint64_t element) const;
  // Of the result's dimensions.
  std::vector<int64_t> ownExtents() const { return {extents.begin(), extents.end()}; }
  std::vector<int64_t> inputStrides() const { return {strides.begin(), strides.end()}; }

private:
  std::vector<uint64_t> extents, strides; // of the result's dimensions, in the result and in the input
};

enum class TransposePass {
  Values, // integers that fill their type's significand
  Bits,   // any bits, infinities and NaN among them; compared as bits
};

std::vector<TransposePass> transposePasses(const TransposeSpec &spec);
std::string_view transposePassName(TransposePass pass);
void fillTranspose(const TransposeSpec &spec, TransposePass pass, uint64_t seed, const measure::MutableTensor &input);
void prefillTranspose(TransposePass pass, const measure::MutableTensor &output);
measure::verify::Verdict checkTranspose(const TransposeSpec &spec, TransposePass pass, const io::TensorSpan &input,
                                        const io::TensorSpan &output);

// What a device needs to check one.
measure::verify::DeviceElements transposedElements(const TransposeSpec &spec);
// What checkTranspose says of an output that is right.
measure::verify::Verdict rightTranspose(const TransposeSpec &spec, TransposePass pass);

// Projects the bits of all elements, block by block. Null where the input is not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedTranspose(const TransposeSpec &spec, measure::Tensors inputs,
                                                            uint64_t seed);

} // namespace kiln::families

#endif // KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_VERIFICATION_H
