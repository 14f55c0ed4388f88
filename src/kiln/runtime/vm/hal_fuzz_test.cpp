// What a hostile program could ask of the hal module: every function, with references of every type and with numbers at
// the edges, in random order. Each call gives a result or an error; nothing else may happen. On the null device, since
// native code is trusted and would do as it is told.
#include <random>

#include "gtest/gtest.h"

#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/program_objects.h"
#include "kiln/targets/drivers.h"

namespace kiln::vm {
namespace {

class Fuzzer {
public:
  explicit Fuzzer(uint32_t seed) : random(seed) {}

  Status setUp() {
    hal::DriverRegistry registry;
    hal::registerDrivers(registry);
    KILN_ASSIGN_OR_RETURN(Ref<hal::Device> device, registry.createDevice("null"));
    KILN_ASSIGN_OR_RETURN(halModule, createHalModule({device}));
    KILN_ASSIGN_OR_RETURN(Ref<Module> module, testing::loadDesc(testing::richDesc()));
    fixed = {AnyRef(), AnyRef(device), AnyRef(makeRef<Rodata>(module->rodata()[1].bytes, module->file().file)),
             AnyRef(makeRef<ProgramExecutable>(module, module->executables()[0]))};
    return okStatus();
  }

  // Calls a random function; true where it succeeded.
  bool step() {
    const NativeFunction &function = halModule->functions()[below(halModule->functions().size())];
    std::string kinds = function.signature.arguments;
    uint32_t repeat = function.signature.repeated.empty() ? 0 : below(6);
    for (uint32_t i = 0; i < repeat; ++i)
      kinds += function.signature.repeated;
    std::vector<uint64_t> values;
    std::vector<AnyRef> refs;
    for (char kind : kinds) {
      if (kind == 'r')
        refs.push_back(pick(function, refs.size()));
      else
        values.push_back(kind == 'i' ? static_cast<uint32_t>(number()) : number());
    }
    std::vector<const AnyRef *> pointers;
    for (const AnyRef &ref : refs)
      pointers.push_back(&ref);
    uint64_t valueResult = 0;
    AnyRef refResult;
    NativeCall call = {values.data(),
                       pointers.data(),
                       static_cast<uint32_t>(values.size()),
                       static_cast<uint32_t>(refs.size()),
                       repeat,
                       /*owner=*/0,
                       &valueResult,
                       &refResult};
    Status status = function.pointer(function.context, call);
    if (status.ok() && refResult) {
      if (pool.size() < 64)
        pool.push_back(std::move(refResult));
      else
        pool[below(pool.size())] = std::move(refResult);
    }
    return status.ok();
  }

private:
  uint32_t below(size_t count) { return static_cast<uint32_t>(random() % count); }

  // Mostly small; nothing between what is cheap and what no machine has.
  uint64_t number() {
    static constexpr uint64_t edges[] = {63,
                                         64,
                                         65,
                                         255,
                                         4096,
                                         uint64_t(1) << 48,
                                         1024,
                                         ~0ull,
                                         ~0ull - 63,
                                         ~0ull >> 1,
                                         (~0ull >> 1) + 1,
                                         ~0ull << 32,
                                         16384,
                                         0x10001,
                                         0xffff};
    return below(3) ? below(9) : below(4) ? 64ull * below(9) : edges[below(std::size(edges))];
  }

  // An object of the type that the argument takes where there is one, most of the time.
  AnyRef pick(const NativeFunction &function, size_t argument) {
    const RefType *wanted = nullptr;
    if (argument == 0 && function.name.starts_with("buffer_view.") && function.name != "buffer_view.create")
      wanted = &RefTypeOf<hal::BufferView>::type;
    else if (function.name.starts_with("command_buffer.") && function.name != "command_buffer.create")
      wanted = argument == 0 ? &RefTypeOf<hal::CommandBuffer>::type : &RefTypeOf<hal::Executable>::type;
    else if (function.name == "device.execute" && argument == 2)
      wanted = &RefTypeOf<hal::CommandBuffer>::type;
    else if (function.name == "device.execute" && argument == 1)
      wanted = &RefTypeOf<hal::Fence>::type;
    else if (function.name == "device.queue.execute" && argument > 1)
      wanted = argument == 2 ? &RefTypeOf<hal::CommandBuffer>::type : &RefTypeOf<hal::Buffer>::type;
    else if ((function.name.starts_with("device.queue.") && argument == 1) ||
             (function.name == "device.end_turn" && argument < 3 && argument > 0))
      wanted = &RefTypeOf<hal::Fence>::type;
    else if ((function.name == "device.execute" && argument > 2) ||
             (function.name == "device.end_turn" && argument == 3))
      wanted = &RefTypeOf<hal::Buffer>::type;
    else if (argument == 0 && (function.name == "buffer.allocate" || function.name == "command_buffer.create" ||
                               function.name.starts_with("device.") || function.name == "buffer.constant" ||
                               function.name == "executable.create"))
      return below(20) ? fixed[1] : fixed[0];
    else if (argument == 1)
      return fixed[below(fixed.size())];
    std::vector<AnyRef> fitting;
    for (const AnyRef &ref : pool)
      if (!wanted || ref.type() == wanted)
        fitting.push_back(ref);
    if (fitting.empty() || below(20) == 0)
      return fixed[below(fixed.size())];
    return fitting[below(fitting.size())];
  }

  std::mt19937_64 random;
  Ref<NativeModule> halModule;
  std::vector<AnyRef> fixed, pool;
};

TEST(HalFuzz, everyCallGivesAResultOrAnError) {
  size_t succeeded = 0, failed = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Fuzzer fuzzer(seed);
    Status status = fuzzer.setUp();
    ASSERT_TRUE(status.ok()) << status.toString();
    for (int i = 0; i < 2000; ++i)
      ++(fuzzer.step() ? succeeded : failed);
  }
  EXPECT_GT(succeeded, 2000u);
  EXPECT_GT(failed, 2000u);
}

} // namespace
} // namespace kiln::vm
