// The tuning databases of targets/cuda/tuning: what was measured to be faster than the compiler's choice.
#ifndef KILN_TARGETS_CUDA_CODEGEN_TUNEDCONFIGURATIONS_H
#define KILN_TARGETS_CUDA_CODEGEN_TUNEDCONFIGURATIONS_H

namespace kiln {

// All files, as the text of one database.
const char *builtInTuning();

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_TUNEDCONFIGURATIONS_H
