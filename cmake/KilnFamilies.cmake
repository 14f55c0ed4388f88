# Each folder of src/kiln/families has called kiln_family for what it offers; the registration is generated from that list.
#   kiln_families  links every enabled family and defines kiln::families::registerFamilies

get_property(families GLOBAL PROPERTY KILN_FAMILY_ENTRIES)
set(declarations "")
set(calls "")
set(libraries "")
foreach(entry ${families})
  string(REPLACE "," ";" entry ${entry})
  list(GET entry 0 function)
  list(GET entry 1 library)
  string(APPEND declarations "void ${function}(measure::FamilyRegistry &registry);\n")
  string(APPEND calls "  ${function}(registry);\n")
  list(APPEND libraries ${library})
endforeach()
file(CONFIGURE OUTPUT ${KILN_GENERATED_DIR}/kiln/families/families.cpp CONTENT
"// Generated from KILN_FAMILIES.
#include \"kiln/families/families.h\"
namespace kiln::families {
${declarations}void registerFamilies(measure::FamilyRegistry &registry) {
${calls}}
} // namespace kiln::families
")
kiln_library(kiln_families SOURCES ${KILN_GENERATED_DIR}/kiln/families/families.cpp DEPS kiln_measure ${libraries})
