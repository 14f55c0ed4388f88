// Tensors that a user has put beside a program: NAME.in0.npy, ..., what it is given, and NAME.out0.npy, ..., what it
// has to answer.
#ifndef KILN_MEASURE_CORPUS_GOLDENS_H
#define KILN_MEASURE_CORPUS_GOLDENS_H

#include <string>
#include <vector>

#include "kiln/measure/corpus/signature.h"

namespace kiln::measure::corpus {

struct Goldens {
  std::vector<io::HostTensor> inputs, outputs; // each empty, or one for each of the signature's
};

// `stem` is the path up to ".in0.npy". Nothing where there are no such files. An error where some are missing or too
// many, where a file is broken or of another type or shape, and where there are outputs without the inputs that they
// are of.
Result<Goldens> loadGoldens(const std::string &stem, const Signature &signature);

} // namespace kiln::measure::corpus

#endif // KILN_MEASURE_CORPUS_GOLDENS_H
