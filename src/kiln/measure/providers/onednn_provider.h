// oneDNN's matmul primitive, in the version 2 that Debian 12 has. Builds without its headers get one that says so.
#ifndef KILN_MEASURE_PROVIDERS_ONEDNN_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_ONEDNN_PROVIDER_H

#include <memory>

#include "kiln/measure/providers/provider.h"

namespace kiln::measure {

// With `preferredWeights` the right-hand side is in the layout that oneDNN chooses, as in a program that keeps its
// weights so: bringing it there is not timed. Otherwise all tensors are as the problem has them.
std::unique_ptr<Provider> createOneDnnProvider(bool preferredWeights);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_ONEDNN_PROVIDER_H
