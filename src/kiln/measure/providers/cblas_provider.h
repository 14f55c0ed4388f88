// Libraries with the C interface of BLAS: OpenBLAS and MKL.
#ifndef KILN_MEASURE_PROVIDERS_CBLAS_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_CBLAS_PROVIDER_H

#include <memory>
#include <string>

#include "kiln/measure/providers/provider.h"

namespace kiln::measure {

// f32 and f64; a batch as a loop.
std::unique_ptr<Provider> createOpenBlasProvider(const std::string &peersFolder);
// The same, and bf16 and f16 to f32.
std::unique_ptr<Provider> createMklProvider(const std::string &peersFolder);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_CBLAS_PROVIDER_H
