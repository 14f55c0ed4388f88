// oneDNN, version 3: each kind of operation is one file of onednn/.
#ifndef KILN_MEASURE_PROVIDERS_ONEDNN_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_ONEDNN_PROVIDER_H

#include <memory>
#include <string>

#include "kiln/measure/providers/provider.h"

namespace kiln::measure {

// PyPI's build runs on SYCL, whose variables have to say which device to use: see tools/peers_flag.h.
// With `preferredWeights` weights are in the layout that oneDNN chooses, as in a program that keeps them so: bringing
// them there is not timed. A convolution then takes its input and result in layouts of oneDNN's choice, too; bringing
// them there and back is part of each call. Otherwise all tensors are as the problem has them.
std::unique_ptr<Provider> createOneDnnProvider(const std::string &peersFolder, bool preferredWeights);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_ONEDNN_PROVIDER_H
