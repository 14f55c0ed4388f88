#include "kiln/tools/check_functions.h"

#include <optional>

#include "kiln/runtime/io/compare.h"
#include "kiln/runtime/io/device_tensor.h"
#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/io/packed_elements.h"
#include "kiln/runtime/io/tensor_text.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/native_binding.h"
#include "kiln/runtime/vm/program_objects.h"

namespace kiln {

namespace {

using hal::BufferView;
using vm::Rodata;

// Of a tensor that is printed with a failure.
constexpr uint64_t kShownElements = 64;

class CheckModule final : public vm::NativeModule {
public:
  explicit CheckModule(CheckReport report) : NativeModule("check", schema::kCheckVersion), report(std::move(report)) {}

  Status registerFunctions() {
#define KILN_CHECK_IMPORT(Name, name, signature)                                                                       \
  KILN_RETURN_IF_ERROR(                                                                                                \
      vm::addBound<&CheckModule::call##Name>(*this, std::string_view(name).substr(6), signature, *this));
#include "kiln/schema/check_imports.def"
    return okStatus();
  }

private:
  Status callExpectTrue(Rodata &place, uint32_t value) {
    if (value == 0)
      report(place.bytes(), "the value is zero, and should not be");
    return okStatus();
  }

  Status callExpectFalse(Rodata &place, uint32_t value) {
    if (value != 0)
      report(place.bytes(), "the value is not zero, and should be");
    return okStatus();
  }

  Status callExpectAllTrue(Rodata &place, BufferView &view) {
    KILN_ASSIGN_OR_RETURN(io::MappedTensor mapped, io::MappedTensor::map(view));
    io::TensorSpan tensor = mapped.span();
    io::WholeElements elements(tensor);
    uint64_t zeros = 0, first = 0, count = tensor.elementCount();
    for (uint64_t i = 0; i < count; ++i)
      if (io::elementAsDouble(tensor.type, elements.at(i)) == 0 && zeros++ == 0)
        first = i;
    if (zeros > 0)
      report(place.bytes(), fmt::format("{} of {} elements are zero, the first at index {}:\n  {}", zeros, count, first,
                                        io::formatTensor(tensor, kShownElements)));
    return okStatus();
  }

  Status callExpectEq(Rodata &place, BufferView &actual, BufferView &expected) {
    return compare(place, actual, expected, std::nullopt);
  }

  Status callExpectAlmostEq(Rodata &place, BufferView &actual, BufferView &expected, double atol, double rtol) {
    return compare(place, actual, expected, io::Tolerance{atol, rtol});
  }

  Status compare(Rodata &place, BufferView &actual, BufferView &expected, std::optional<io::Tolerance> tolerance) {
    KILN_ASSIGN_OR_RETURN(io::MappedTensor left, io::MappedTensor::map(actual));
    KILN_ASSIGN_OR_RETURN(io::MappedTensor right, io::MappedTensor::map(expected));
    std::optional<std::string> difference =
        tolerance ? io::explainDifference(left.span(), right.span(), *tolerance)
                  : io::explainDifference(left.span(), right.span(), io::EqualityMode::Exact);
    if (difference)
      report(place.bytes(), fmt::format("{}\n  expected: {}\n  actual:   {}", *difference,
                                        io::formatTensor(right.span(), kShownElements),
                                        io::formatTensor(left.span(), kShownElements)));
    return okStatus();
  }

  CheckReport report;
};

} // namespace

Result<Ref<vm::NativeModule>> createCheckModule(CheckReport report) {
  auto module = makeRef<CheckModule>(std::move(report));
  KILN_RETURN_IF_ERROR(module->registerFunctions());
  return Ref<vm::NativeModule>(std::move(module));
}

} // namespace kiln
