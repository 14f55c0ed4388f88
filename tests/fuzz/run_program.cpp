#include "tests/fuzz/run_program.h"

#include <cstdlib>
#include <map>
#include <string>

#include "kiln/base/call_limit.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/session.h"
#include "kiln/targets/drivers.h"

namespace kiln::fuzz {

namespace {

using namespace vm;

constexpr uint64_t kCallNanoseconds = 20'000'000;

// Sums its numbers, and gives its references back in another order.
Status answer(void *context, NativeCall &call) {
  const auto &signature = *static_cast<const schema::Signature *>(context);
  uint64_t sum = 1;
  for (uint32_t i = 0; i < call.valueCount; ++i)
    sum += call.values[i];
  size_t values = 0, refs = 0;
  for (char kind : signature.results) {
    if (!schema::isRefKind(kind))
      call.valueResults[values++] = kind == 'I' || kind == 'F' ? sum : static_cast<uint32_t>(sum);
    else if (size_t i = refs++; call.refCount > 0)
      call.refResults[i] = *call.refs[(sum + i) % call.refCount];
  }
  return sum % 64 == 63 ? outOfRange("the sum is {}", sum) : okStatus();
}

struct Surroundings {
  Ref<hal::Device> device;
  Ref<NativeModule> halModule;
  Ref<hal::BufferView> view;

  static Result<Surroundings> create() {
    Surroundings made;
    hal::DriverRegistry registry;
    hal::registerDrivers(registry);
    KILN_ASSIGN_OR_RETURN(made.device, registry.createDevice("null"));
    KILN_ASSIGN_OR_RETURN(made.halModule, createHalModule({made.device}));
    constexpr uint64_t kShape[] = {4};
    KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, made.device->allocator().allocate(hal::BufferUsage::External, 16));
    KILN_ASSIGN_OR_RETURN(made.view, hal::BufferView::create(std::move(buffer), hal::ElementType::F32, kShape));
    return made;
  }
};

// A native module for each name that the module imports from.
std::vector<Ref<NativeModule>> providersOf(const Module &module, const Ref<NativeModule> &hal) {
  std::map<std::string, Ref<NativeModule>, std::less<>> others;
  for (const ImportInfo &import : module.imports()) {
    size_t dot = import.name.find('.');
    std::string_view provider = import.name.substr(0, dot);
    if (dot == std::string_view::npos || provider == hal->name())
      continue;
    Ref<NativeModule> &native = others[std::string(provider)];
    if (!native)
      native = makeRef<NativeModule>(std::string(provider));
    // Fails where a name is there twice: then the second signature does not fit.
    (void)native->add(import.name.substr(dot + 1), import.signatureText, answer,
                      const_cast<schema::Signature *>(&import.signature));
  }
  std::vector<Ref<NativeModule>> all = {hal};
  for (const auto &[name, native] : others)
    all.push_back(native);
  return all;
}

Value argument(char kind, size_t position, const Surroundings &surroundings) {
  static constexpr int64_t kNumbers[] = {3, 0, -1, 64};
  const int64_t number = kNumbers[position % std::size(kNumbers)];
  switch (static_cast<ValueKind>(kind)) {
  case ValueKind::I32: return Value::i32(static_cast<int32_t>(number));
  case ValueKind::I64: return Value::i64(number);
  case ValueKind::F32: return Value::f32(static_cast<float>(number));
  case ValueKind::F64: return Value::f64(static_cast<double>(number));
  case ValueKind::Ref: break;
  }
  return position % 3 == 2 ? Value() : Value(surroundings.view);
}

} // namespace

void runProgram(const Ref<Module> &module) {
  static const Result<Surroundings> surroundings = Surroundings::create();
  if (!surroundings.ok())
    std::abort();
  Ref<CallLimit> limit = makeRef<CallLimit>(Deadline::after(kCallNanoseconds));
  CallLimit::Scope scope(*limit);
  SessionOptions options;
  options.maxCallDepth = 32;
  options.stackBytes = size_t(1) << 18;
  const std::vector<Ref<NativeModule>> natives = providersOf(*module, surroundings->halModule);
  auto session = Session::create(std::span(&module, 1), natives, options);
  if (!session.ok())
    return;
  for (const Function &function : (*session)->exports()) {
    std::vector<Value> arguments, results(function.resultCount());
    for (char kind : function.argumentKinds())
      arguments.push_back(argument(kind, arguments.size(), *surroundings));
    Status status = (*session)->call(function, arguments, results);
    // An error says something, also to somebody who knows nothing of the program.
    if (!status.ok() && status.message().empty())
      std::abort();
  }
}

} // namespace kiln::fuzz
