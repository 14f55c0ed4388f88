// The llvm-cpu backend with kernels that are made slower, to test whether measurements notice it.
#ifndef KILN_TARGETS_CPU_CODEGEN_TESTING_DELAYEDBACKEND_H
#define KILN_TARGETS_CPU_CODEGEN_TESTING_DELAYEDBACKEND_H

#include "kiln/compiler/Interfaces/TargetBackend.h"

namespace kiln {

// Each workgroup of a kernel whose dispatch has an op with the attribute kDelayAttr begins with an empty loop of so
// many iterations.
void registerDelayedBackend(TargetBackendRegistry &registry);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_TESTING_DELAYEDBACKEND_H
