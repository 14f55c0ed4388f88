// What a dispatch of a target can hold. Forming dispatches asks for it.
#ifndef KILN_COMPILER_INTERFACES_DISPATCHLIMITS_H
#define KILN_COMPILER_INTERFACES_DISPATCHLIMITS_H

#include <cstdint>

namespace kiln {

// Which reductions to few results are worth doing in parts that workgroups share, on one target.
struct ReductionSplit {
  int64_t fewResults = 16;                 // more than these are shared as they are
  int64_t mostParts = 256;                 // of all results together
  int64_t shortestPart = int64_t(1) << 17; // in elements
  int64_t neighbours = 1; // results that count as one, where they are beside each other in memory as their elements are
};

// Fewer rows of a product use what they read of weights too seldom for a cache to matter: it comes from memory.
inline constexpr int64_t kLeastRowsOfPanels = 8;

struct DispatchLimits {
  // Operands of a fused operation: enough for any program that is written by hand; a GPU's kernel takes some hundred
  // bindings, and each step of fusing a long chain makes all operands anew.
  unsigned mostOperands = 64;
  // A product of few rows computes its large input where it uses it, if it uses each element so often at most; 0: it
  // never does.
  int64_t mostUses = 1;
  // How wide a panel of a product's columns is, of which kernels keep a row in registers; 0: they are read as they lie.
  int64_t panelBytes = 0;
  // Whether kernels read images best whose channels are beside each other.
  bool channelsLast = false;
  // How much memory a convolution may take for the windows that it reads, each beside the others, to be a product of
  // them; 0: it reads the image as it lies.
  int64_t mostWindowBytes = 0;
  // Whether a workgroup has memory of its own for what it pads, of extents that are known.
  bool laysOutPadding = false;
  bool reassociates = false; // floats
  // What a workgroup may keep of a row of a product, for a product of what is computed of that: attention. 0: nothing.
  int64_t keptRowBytes = 0;
  ReductionSplit split;
};

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_DISPATCHLIMITS_H
