// The definition, as plain loops on one thread: what an unoptimized program would take. Matrix products are computed
// here; any other problem is asked for its own reference, through the families that `setFamilies` gives.
#ifndef KILN_MEASURE_PROVIDERS_REFERENCE_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_REFERENCE_PROVIDER_H

#include <memory>

#include "kiln/measure/providers/provider.h"

namespace kiln::measure {

std::unique_ptr<Provider> createReferenceProvider();

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_REFERENCE_PROVIDER_H
