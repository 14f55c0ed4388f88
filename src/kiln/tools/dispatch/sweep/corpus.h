// --corpus=DIR: a user's own .mlir files as what is measured.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_CORPUS_H
#define KILN_TOOLS_DISPATCH_SWEEP_CORPUS_H

#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/sweep/sweep.h"

namespace kiln {

// Every public function of every .mlir file below the folder, or of the one file that --corpus names. What a function
// takes is found out by compiling its file, into the cache. A file that does not compile, or whose functions cannot be
// measured, is an operation too, whose problem says why: only its own rows fail. An error where there is no file.
Result<std::vector<Operation>> loadCorpus(const Lab &lab);

// Compiles unoptimized builds of what has no expected results and is no known operation, for candidates to be compared
// with: builds that compute in f64 where that is possible. What does not compile that way shows when it is needed.
Status prepareBaselines(const Lab &lab, const std::vector<Operation> &operations);

// What stands in the way of measuring an operation of a corpus, where something does.
Status obstacleOf(const Operation &operation);

// Tells programs other than Kiln where the file is, which is all that they can know of the problem; libraries get the
// operation that the program is, where that is known. Where something stands in the way of measuring it, all that is
// left are Kiln's candidates, as rows that say what it is. Does nothing to problems that are not of a corpus.
void finishCorpusGroup(const Lab &lab, SweepGroup &group);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_CORPUS_H
