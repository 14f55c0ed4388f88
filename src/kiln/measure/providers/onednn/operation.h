// What oneDNN is to compute for a problem: a primitive and the tensors that it takes. Each kind of operation is one
// file of this folder, with one function that is declared here and named in onednn_provider.cpp.
#ifndef KILN_MEASURE_PROVIDERS_ONEDNN_OPERATION_H
#define KILN_MEASURE_PROVIDERS_ONEDNN_OPERATION_H

#include <memory>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/providers/onednn/library.h"
#include "kiln/measure/workers/protocol.h"

namespace kiln::measure::onednn {

enum class Layouts {
  Plain,     // all tensors as the problem has them
  Preferred, // as oneDNN chooses
};

// One tensor of a call. Where the primitive takes it in another layout than the problem's, it is brought there or back.
struct Argument {
  int name;              // kSource; kResult is the output, all others are inputs
  size_t tensor;         // of the request's inputs or outputs
  Description plain;     // as it lies in the problem's memory
  Description used;      // as the primitive takes it
  bool isWeight = false; // it is brought there when the problem is loaded, not in each call
};

// An argument that is the same in all calls.
struct Constant {
  int name;
  std::unique_ptr<int32_t> value;
  Memory memory; // of the value
};

struct Operation {
  Primitive primitive;
  std::vector<Argument> arguments;
  std::vector<Constant> constants = {};
};

// All of them: Unimplemented where oneDNN does not do the problem, InvalidArgument where the request's tensors are not
// the problem's.
Result<Operation> createMatmul(const Library &library, const LoadRequest &request, Layouts layouts);
Result<Operation> createQuantizedMatmul(const Library &library, const LoadRequest &request, Layouts layouts);
Result<Operation> createConvolution(const Library &library, const LoadRequest &request, Layouts layouts);
Result<Operation> createElementwise(const Library &library, const LoadRequest &request, Layouts layouts);
Result<Operation> createReduction(const Library &library, const LoadRequest &request, Layouts layouts);
Result<Operation> createNorm(const Library &library, const LoadRequest &request, Layouts layouts);
Result<Operation> createTransposition(const Library &library, const LoadRequest &request, Layouts layouts);
Result<Operation> createSoftmax(const Library &library, const LoadRequest &request, Layouts layouts);

} // namespace kiln::measure::onednn

#endif // KILN_MEASURE_PROVIDERS_ONEDNN_OPERATION_H
