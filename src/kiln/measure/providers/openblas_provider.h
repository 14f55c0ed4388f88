// OpenBLAS, through CBLAS: f32 and f64, a batch as a loop.
#ifndef KILN_MEASURE_PROVIDERS_OPENBLAS_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_OPENBLAS_PROVIDER_H

#include <memory>

#include "kiln/measure/providers/provider.h"

namespace kiln::measure {

std::unique_ptr<Provider> createOpenBlasProvider();

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_OPENBLAS_PROVIDER_H
