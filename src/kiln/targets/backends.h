// Every compiler backend of this build; the definition is generated from KILN_TARGETS.
#ifndef KILN_TARGETS_BACKENDS_H
#define KILN_TARGETS_BACKENDS_H

namespace kiln {
class TargetBackendRegistry;

void registerTargetBackends(TargetBackendRegistry &registry);
} // namespace kiln

#endif // KILN_TARGETS_BACKENDS_H
