// Where a kernel spends its time: the innermost loop with the largest register tile, or else with the most arithmetic,
// found in the assembly that the compiler wrote.
#ifndef KILN_TOOLS_DISPATCH_ROWS_HOT_LOOP_H
#define KILN_TOOLS_DISPATCH_ROWS_HOT_LOOP_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"

namespace kiln {

struct HotLoop {
  std::string function;
  std::string label;              // empty: there is no loop, and this is the whole function
  std::vector<std::string> lines; // instructions, and labels with their ':'; without comments
  size_t instructions = 0;
  size_t multiplyAdds = 0; // of these; whatever their width
  double flops = 0;        // of one iteration; a multiply-add of one lane is two
  double tileFlops = 0;    // of one multiply-add into each register that any of them adds to
  // The multiply-add that does most of them, on whole vector registers and without memory: what the peak is made of.
  std::string peakInstruction; // empty where there is no multiply-add
  double peakFlops = 0;        // of that one instruction
};

// FLOPs that an instruction of x86-64 (AT&T syntax) or AArch64 does, of integers too; 0 for what computes nothing.
// `fused` is set for multiply-adds. `vectorBits` is the width of registers whose names do not tell it.
double flopsOf(std::string_view instruction, uint32_t vectorBits, bool &fused);

// Of the functions whose names start with `prefix`. `triple` is what the assembly is for; `vectorBits` the width of the
// target's registers. NotFound where no such function has instructions.
Result<HotLoop> findHotLoop(std::string_view assembly, std::string_view prefix, std::string_view triple,
                            uint32_t vectorBits);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_ROWS_HOT_LOOP_H
