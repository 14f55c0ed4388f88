// Candidates that compute a problem of f32 in tf32, as tensor cores do. They promise less than f32, so that they are
// verified as that and ranked among themselves: in a group of their own, of the same problem in tf32.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_TF32_GROUPS_H
#define KILN_TOOLS_DISPATCH_SWEEP_TF32_GROUPS_H

#include <memory>
#include <vector>

#include "kiln/tools/dispatch/sweep/generated.h"
#include "kiln/tools/dispatch/sweep/sweep.h"

namespace kiln {

// What libraries call their products in tf32.
inline constexpr std::string_view kTF32Variant = "tf32";

// Whether the operation has both a problem in tf32 and a configuration that computes it so.
bool hasTF32(const Operation &operation);
// Takes those configurations out of the operation. Whether there were any.
bool leaveOutTF32(Operation &operation);
// Whether a library's candidate of this variant is measured beside Kiln with the operation's configurations: rivals are
// those that promise the same.
bool isRival(std::string_view variant, const Operation &operation);

// Adds the group, or the two that it falls into: `problems` holds those in tf32, and outlives the groups. Where Kiln
// takes part (`isKilns`), and all of it in tf32, libraries in f32 are left out.
void addGroups(SweepGroup group, bool isKilns, std::vector<SweepGroup> &groups, measure::Problems &problems);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_TF32_GROUPS_H
