// All families of this build, from KILN_FAMILIES.
#ifndef KILN_FAMILIES_FAMILIES_H
#define KILN_FAMILIES_FAMILIES_H

#include "kiln/measure/family.h"

namespace kiln::families {

void registerFamilies(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_FAMILIES_H
