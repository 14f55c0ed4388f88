// A module that Kiln compiled, on the CPU of this process: local-sync for one thread, local-task for more. Or on
// another device.
#ifndef KILN_MEASURE_PROVIDERS_KILN_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_KILN_PROVIDER_H

#include <memory>

#include "kiln/measure/providers/provider.h"

namespace kiln::measure {

std::unique_ptr<Provider> createKilnProvider();

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_KILN_PROVIDER_H
