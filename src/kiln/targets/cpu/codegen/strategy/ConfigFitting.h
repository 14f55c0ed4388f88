// From a row of the tuning data to the configuration of one dispatch.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_CONFIGFITTING_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_CONFIGFITTING_H

#include "kiln/compiler/Codegen/DispatchRoot.h"
#include "kiln/targets/cpu/codegen/strategy/KernelPlan.h"
#include "kiln/targets/cpu/codegen/strategy/TuningTable.h"

namespace kiln {

TuningKey tuningKey(const DispatchRoot &root);

// Fits `base` to the extents of the root: tiles that are not larger than the problem and share it evenly, a register
// tile that fits into the registers, as many workgroups as there may be workers, but each with enough work to be worth
// starting.
TileConfig fitConfig(const TileConfig &base, const DispatchRoot &root, const KernelTarget &target);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_CONFIGFITTING_H
