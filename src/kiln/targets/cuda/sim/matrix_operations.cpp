#include "kiln/targets/cuda/sim/operations.h"

namespace kiln::cudasim {

std::span<const Opcode> matrixOpcodes() {
  return {};
}

} // namespace kiln::cudasim
