// What a provider reads from a problem's fields, and whether a request's tensors are those of the problem.
#ifndef KILN_MEASURE_PROVIDERS_PROBLEM_FIELDS_H
#define KILN_MEASURE_PROVIDERS_PROBLEM_FIELDS_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/protocol.h"

namespace kiln::measure {

// Unimplemented where the problem has a field that is not known: it could change what is computed.
Status checkFields(const ProblemText &problem, std::span<const std::string_view> known);
// Unimplemented where the field `arithmetic` is there and not tf32, for which what computes in f32 is precise enough.
Status checkArithmetic(const ProblemText &problem);
// A number from `minimum` to INT32_MAX.
Result<uint64_t> fieldNumber(const ProblemText &problem, std::string_view name, uint64_t minimum = 1);
// One of 8 bits, with or without sign.
Result<int32_t> fieldZeroPoint(const ProblemText &problem, std::string_view name);
Result<std::string_view> fieldText(const ProblemText &problem, std::string_view name);
// "f32"
Result<io::ElementType> fieldType(const ProblemText &problem, std::string_view name);
// "1024x1024"
Result<std::vector<uint64_t>> fieldShape(const ProblemText &problem, std::string_view name);

// A tensor as the problem has it in memory.
struct ExpectedTensor {
  std::string_view name; // for messages
  io::ElementType type;
  std::vector<uint64_t> shape;
};
// InvalidArgument where the request has others.
Status checkTensors(const LoadRequest &request, std::span<const ExpectedTensor> inputs,
                    std::span<const ExpectedTensor> outputs);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_PROBLEM_FIELDS_H
