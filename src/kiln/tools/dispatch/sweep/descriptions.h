// What the compiler can tell of the programs of a corpus without compiling them to the end.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_DESCRIPTIONS_H
#define KILN_TOOLS_DISPATCH_SWEEP_DESCRIPTIONS_H

#include <span>
#include <string>

#include "kiln/measure/corpus/corpus_problem.h"
#include "kiln/measure/family.h"
#include "kiln/tools/dispatch/sweep/compile_pool.h"

namespace kiln {

struct DescribedProgram {
  std::string path; // of its file
  measure::corpus::CorpusProblem *problem;
};

// Sets the operation of each program that computes what a family's own program for the same types computes, as their
// fingerprints tell (`kiln-compile --output-format=fingerprints`), and of each program the narrowest float that it
// computes in. The settings' flags are not used: they say how to compile, not what.
Status describePrograms(const measure::FamilyRegistry &families, const CompileSettings &settings,
                        std::span<const DescribedProgram> programs);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_DESCRIPTIONS_H
