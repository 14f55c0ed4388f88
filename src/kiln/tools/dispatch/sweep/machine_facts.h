// Where the lab measures, as the three facts that a store keeps of it.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_MACHINE_FACTS_H
#define KILN_TOOLS_DISPATCH_SWEEP_MACHINE_FACTS_H

#include "kiln/measure/machine/provenance.h"
#include "kiln/store/facts.h"

namespace kiln {

// Equal machines give the same hardware, also where they have other names, and where this process may use other
// processors of them: buses, serial numbers, and the few pages of memory in which kernels differ are left out.
store::Machine machineFacts(const measure::Provenance &machine,
                            const measure::SystemFiles &files = measure::SystemFiles());

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_MACHINE_FACTS_H
