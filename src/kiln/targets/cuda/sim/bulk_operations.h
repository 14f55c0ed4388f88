// cp.async.bulk, and the mbarriers that its copies complete on.
#ifndef KILN_TARGETS_CUDA_SIM_BULK_OPERATIONS_H
#define KILN_TARGETS_CUDA_SIM_BULK_OPERATIONS_H

#include <cstdint>

namespace kiln::cudasim {

class Decoder;
struct Block;
struct Inst;
struct Thread;

// With `cp.async.bulk` taken.
void decodeBulkCopy(Decoder &in);
// Whether a thread, or a copy that it starts, may use the mbarrier at an offset in a block's shared memory: it is there
// and known. A fault where it may not.
bool mayUseMbarrier(Thread &thread, const Inst *inst, Block &owner, uint64_t offset, bool isAsync);

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_BULK_OPERATIONS_H
