# Each folder of src/kiln/families has called kiln_family for what it offers.
#   kiln_families  links every enabled family and defines kiln::families::registerFamilies

kiln_generate_registration(KILN_FAMILY_ENTRIES kiln/families/families.h kiln::families registerFamilies
  measure::FamilyRegistry libraries)
kiln_library(kiln_families SOURCES ${KILN_GENERATED_DIR}/kiln/families/families.cpp DEPS kiln_measure ${libraries})
kiln_unit_test(families_test SOURCES ${CMAKE_SOURCE_DIR}/src/kiln/families/families_test.cpp DEPS kiln_families)
if(KILN_BUILD_TESTS)
  target_compile_definitions(families_test PRIVATE KILN_FAMILIES_DIR="${CMAKE_SOURCE_DIR}/src/kiln/families")
endif()
kiln_unit_test(timed_check_test SOURCES ${CMAKE_SOURCE_DIR}/src/kiln/families/timed_check_test.cpp DEPS kiln_families kiln_measure_workers)
