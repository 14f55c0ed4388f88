// The libraries that kernels are compared with.
#ifndef KILN_MEASURE_MACHINE_LIBRARIES_H
#define KILN_MEASURE_MACHINE_LIBRARIES_H

#include <string>
#include <vector>

#include "kiln/measure/machine/fact.h"
#include "kiln/measure/machine/shared_library.h"

namespace kiln::measure {

// Where `make peers` puts them.
extern const LibraryFile kOneDnnFile, kOpenBlasFile, kMklFile;

struct FoundLibrary {
  std::string name; // "oneDNN"
  Fact version;     // "3.13.2"; of OpenBLAS also for which CPU its code is
};

// The libraries in the folder of `make peers`. Loads each, which may start its threads, and asks for its version.
std::vector<FoundLibrary> findLibraries(const std::string &peersFolder);
// "2026.2", of a loaded MKL.
Result<std::string> mklVersion(const SharedLibrary &library);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_LIBRARIES_H
