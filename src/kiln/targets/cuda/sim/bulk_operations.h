// cp.async.bulk and what belongs to it.
#ifndef KILN_TARGETS_CUDA_SIM_BULK_OPERATIONS_H
#define KILN_TARGETS_CUDA_SIM_BULK_OPERATIONS_H

namespace kiln::cudasim {

class Decoder;

// With `cp.async.bulk` taken.
void decodeBulkCopy(Decoder &in);

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_BULK_OPERATIONS_H
