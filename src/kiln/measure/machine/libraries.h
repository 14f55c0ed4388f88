// The libraries that kernels are compared with.
#ifndef KILN_MEASURE_MACHINE_LIBRARIES_H
#define KILN_MEASURE_MACHINE_LIBRARIES_H

#include <string>
#include <vector>

#include "kiln/measure/machine/fact.h"

namespace kiln::measure {

struct FoundLibrary {
  std::string name; // "oneDNN"
  Fact version;     // "2.6.3 (libdnnl.so.2)"; of OpenBLAS also for which CPU its code is
};

// Loads each, which may start its threads, asks for its version and unloads it.
std::vector<FoundLibrary> findLibraries();

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_LIBRARIES_H
