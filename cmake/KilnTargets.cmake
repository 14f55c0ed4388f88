# Each folder of src/kiln/targets has called kiln_target_driver and kiln_target_backend for what it offers; here the
# registrations are generated from these lists.
#   kiln_drivers   links every enabled HAL driver and defines kiln::hal::registerDrivers
#   kiln_backends  links every enabled compiler backend and defines kiln::registerTargetBackends

kiln_generate_registration(KILN_DRIVERS kiln/targets/drivers.h kiln::hal registerDrivers DriverRegistry libraries)
kiln_library(kiln_drivers SOURCES ${KILN_GENERATED_DIR}/kiln/targets/drivers.cpp DEPS kiln_hal ${libraries})

if(KILN_BUILD_COMPILER)
  kiln_generate_registration(KILN_BACKENDS kiln/targets/backends.h kiln registerTargetBackends TargetBackendRegistry
    libraries)
  kiln_compiler_library(kiln_backends SOURCES ${KILN_GENERATED_DIR}/kiln/targets/backends.cpp
    DEPS kiln_compiler_interfaces ${libraries})
endif()
