# Writes OUTPUT, C++ with a FUNCTION that gives the text of PTX, a file or nothing, for ARCHITECTURE.
set(text "")
if(PTX)
  file(READ ${PTX} text)
endif()
string(REGEX REPLACE "::[^:]*$" "" namespace ${FUNCTION})
string(REGEX REPLACE "^.*::" "" name ${FUNCTION})
# A literal of more than 64 KiB is no portable C++; those that follow each other are one.
string(LENGTH "${text}" length)
set(literals "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 16000 piece)
  string(APPEND literals "\n    R\"PTX(${piece})PTX\"")
  math(EXPR at "${at} + 16000")
endwhile()
if(NOT literals)
  set(literals "\"\"")
endif()
file(WRITE ${OUTPUT} "// Generated.
#include \"kiln/measure/kernels/device_code.h\"

namespace ${namespace} {

measure::DeviceCode ${name}();
measure::DeviceCode ${name}() {
  return {${literals}, \"${ARCHITECTURE}\"};
}

} // namespace ${namespace}
")
