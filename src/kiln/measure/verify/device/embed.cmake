# Writes OUTPUT, C++ that has the text of PTX, a file or nothing, for ARCHITECTURE.
set(text "")
if(PTX)
  file(READ ${PTX} text)
endif()
file(WRITE ${OUTPUT} "// Generated.
#include \"kiln/measure/verify/device/kernels_ptx.h\"

namespace kiln::measure::verify {

std::string_view deviceKernels() {
  return R\"PTX(${text})PTX\";
}

std::string_view deviceKernelsArchitecture() {
  return \"${ARCHITECTURE}\";
}

} // namespace kiln::measure::verify
")
