# Each folder of src/kiln/targets has called kiln_target_driver and kiln_target_backend for what it offers. Here the
# registrations are generated from these lists: no static initialisers, no #ifdef chains.
#   kiln_drivers   links every enabled HAL driver and defines kiln::registerDrivers
#   kiln_backends  links every enabled compiler backend and defines kiln::registerTargetBackends

get_property(drivers GLOBAL PROPERTY KILN_DRIVERS)
set(declarations "")
set(calls "")
set(libraries "")
foreach(entry ${drivers})
  string(REPLACE "," ";" entry ${entry})
  list(GET entry 0 function)
  list(GET entry 1 library)
  string(APPEND declarations "void ${function}(DriverRegistry &registry);\n")
  string(APPEND calls "  ${function}(registry);\n")
  list(APPEND libraries ${library})
endforeach()
file(CONFIGURE OUTPUT ${KILN_GENERATED_DIR}/kiln/targets/drivers.cpp CONTENT
"// Generated from KILN_TARGETS.
#include \"kiln/targets/drivers.h\"
namespace kiln::hal {
${declarations}void registerDrivers(DriverRegistry &registry) {
${calls}}
} // namespace kiln::hal
")
kiln_library(kiln_drivers SOURCES ${KILN_GENERATED_DIR}/kiln/targets/drivers.cpp DEPS kiln_hal ${libraries})

if(KILN_BUILD_COMPILER)
  get_property(backends GLOBAL PROPERTY KILN_BACKENDS)
  set(declarations "")
  set(calls "")
  set(libraries "")
  foreach(entry ${backends})
    string(REPLACE "," ";" entry ${entry})
    list(GET entry 0 function)
    list(GET entry 1 library)
    string(APPEND declarations "void ${function}(TargetBackendRegistry &registry);\n")
    string(APPEND calls "  ${function}(registry);\n")
    list(APPEND libraries ${library})
  endforeach()
  file(CONFIGURE OUTPUT ${KILN_GENERATED_DIR}/kiln/targets/backends.cpp CONTENT
"// Generated from KILN_TARGETS.
#include \"kiln/targets/backends.h\"
namespace kiln {
${declarations}void registerTargetBackends(TargetBackendRegistry &registry) {
${calls}}
} // namespace kiln
")
  kiln_compiler_library(kiln_backends SOURCES ${KILN_GENERATED_DIR}/kiln/targets/backends.cpp
    DEPS kiln_compiler_interfaces ${libraries})
endif()
