// Reads a module of PTX, by the grammar of NVIDIA's manual. What an instruction means is the decoder's part.
#ifndef KILN_TARGETS_CUDA_SIM_PTX_PARSER_H
#define KILN_TARGETS_CUDA_SIM_PTX_PARSER_H

#include "kiln/base/status.h"
#include "kiln/targets/cuda/sim/ptx_module.h"

#include <memory>
#include <string>

namespace kiln::cudasim {

// An error names the line. The module's texts refer to the module itself.
Result<std::unique_ptr<Module>> parsePtx(std::string text);

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_PTX_PARSER_H
