// What the VM costs by itself (calls from the host, calls within a program, calls of native functions, a loop), and
// what a whole call of a compiled function costs on a device, with a kernel that does next to nothing.
#include <benchmark/benchmark.h>

#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/program.h"
#include "kiln/runtime/vm/testing/abs_program.h"
#include "kiln/runtime/vm/testing/compiled_c.h"
#include "kiln/targets/drivers.h"

namespace kiln::vm {
namespace {

using schema::CodeBuilder;
using schema::Opcode;
using schema::Register;

constexpr auto v = Register::value;
constexpr auto r = Register::ref;

Status nativeNothing(void *, NativeCall &) {
  return okStatus();
}

schema::ModuleDesc benchmarkDesc() {
  schema::ModuleDesc desc = testing::emptyDesc("bench");
  desc.imports.push_back({"host.nothing", "rI_"});
  CodeBuilder empty;
  empty.ret();
  testing::addFunction(desc, "empty", "_", 0, 0, std::move(empty));

  CodeBuilder identity;
  identity.ret({r(0)});
  testing::addFunction(desc, "identity", "r_r", 0, 1, std::move(identity));

  // Runs n times round a loop of one addition, one comparison and two branches with a move, or more.
  auto loop = [&](const char *name, auto body, std::initializer_list<schema::Move> further = {}) {
    std::vector<schema::Move> moves = {{v(5), v(1)}};
    moves.insert(moves.end(), further);
    CodeBuilder code;
    auto head = code.newLabel(), again = code.newLabel(), done = code.newLabel();
    code.constant(3, 1);
    code.branch(head);
    code.bind(head);
    code.emit(Opcode::CmpLtSI64, {4, 1, 0});
    code.condBranch(4, again, done);
    code.bind(again);
    body(code);
    code.emit(Opcode::AddI64, {5, 1, 3});
    code.branch(head, moves);
    code.bind(done);
    code.ret({v(2)});
    testing::addFunction(desc, name, "I_I", 22, 2, std::move(code));
  };
  loop("adds", [](CodeBuilder &code) {
    // Independent of one another: what is measured is the interpreter, not the latency of its memory.
    for (uint32_t i = 0; i < 16; ++i)
      code.emit(Opcode::AddI64, {6 + i, 2, 1});
  });
  // A reference in each round, as a loop over a tensor has it.
  loop("swaps", [](CodeBuilder &) {}, {{r(0), r(1)}, {r(1), r(0)}});
  loop("calls", [](CodeBuilder &code) { code.call(0, {}, {}); });
  loop("natives", [](CodeBuilder &code) { code.callImport(0, {r(0), v(1)}, {}); });
  return desc;
}

// How the program's functions run.
enum class Code { Interpreted, Compiled };

std::unique_ptr<Session> makeSession(benchmark::State &state, Code code) {
  Ref<NativeModule> host = makeRef<NativeModule>("host");
  Result<Ref<Module>> module =
      code == Code::Compiled ? testing::loadC(benchmarkDesc(), "-O2") : testing::loadDesc(benchmarkDesc());
  if (host->add("nothing", "rI_", nativeNothing, nullptr).ok() && module.ok())
    if (auto session = Session::create({*module}, {host}); session.ok())
      return *std::move(session);
  state.SkipWithError("the module does not load");
  return nullptr;
}

void runFunction(benchmark::State &state, Code code, const char *name, std::span<const Value> arguments,
                 std::span<Value> results) {
  std::unique_ptr<Session> session = makeSession(state, code);
  if (!session)
    return;
  Function function = *session->lookup(name);
  for (auto _ : state)
    if (Status status = session->call(function, arguments, results); !status.ok()) {
      state.SkipWithError(status.toString().c_str());
      return;
    }
}

#define BENCHMARK_BOTH(function)                                                                                       \
  BENCHMARK_CAPTURE(function, interpreted, Code::Interpreted);                                                         \
  BENCHMARK_CAPTURE(function, compiled_to_c, Code::Compiled)

void BM_CallEmpty(benchmark::State &state, Code code) {
  runFunction(state, code, "empty", {}, {});
}
BENCHMARK_BOTH(BM_CallEmpty);

struct Object : RefCounted {};

} // namespace

template <> struct RefTypeOf<Object> {
  static constexpr RefType type{"bench.object"};
};

namespace {

void BM_CallRefInOut(benchmark::State &state, Code code) {
  Value arguments[] = {Value(makeRef<Object>())};
  Value results[1];
  runFunction(state, code, "identity", arguments, results);
}
BENCHMARK_BOTH(BM_CallRefInOut);

// `perIteration` of what is counted happen each time round the loop of the program.
void runLoop(benchmark::State &state, Code code, const char *name, int64_t perIteration) {
  constexpr int64_t count = 100000;
  Value arguments[] = {Value::i64(count)};
  Value results[1];
  runFunction(state, code, name, arguments, results);
  state.SetItemsProcessed(state.iterations() * count * perIteration);
}
void BM_LoopOfAdds(benchmark::State &state, Code code) {
  runLoop(state, code, "adds", 16 + 4);
}
BENCHMARK_BOTH(BM_LoopOfAdds);
void BM_LoopOfSwaps(benchmark::State &state, Code code) {
  runLoop(state, code, "swaps", 1);
}
BENCHMARK_BOTH(BM_LoopOfSwaps);
void BM_LoopOfCalls(benchmark::State &state, Code code) {
  runLoop(state, code, "calls", 1);
}
BENCHMARK_BOTH(BM_LoopOfCalls);
void BM_LoopOfNativeCalls(benchmark::State &state, Code code) {
  runLoop(state, code, "natives", 1);
}
BENCHMARK_BOTH(BM_LoopOfNativeCalls);

// abs on a scalar tensor, buffer view in and out.
Status callAbs(benchmark::State &state, const char *device, hal::AllocatorKind allocator) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  hal::DeviceOptions options;
  options.allocator = allocator;
  KILN_ASSIGN_OR_RETURN(Ref<hal::Device> opened, registry.createDevice(device, options));
  KILN_ASSIGN_OR_RETURN(Ref<NativeModule> halModule, createHalModule({opened}));
  KILN_ASSIGN_OR_RETURN(Ref<Module> module, testing::loadDesc(testing::absDesc({})));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::create({module}, {halModule}));
  KILN_ASSIGN_OR_RETURN(Function function, session->lookup("abs"));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, opened->allocator().allocate(hal::BufferUsage::External, 4));
  KILN_ASSIGN_OR_RETURN(Ref<hal::BufferView> view, hal::BufferView::create(buffer, hal::ElementType::F32, {}));
  Value arguments[] = {Value(view)};
  Value results[1];
  for (auto _ : state)
    KILN_RETURN_IF_ERROR(session->call(function, arguments, results));
  return okStatus();
}

void BM_CallAbs(benchmark::State &state, const char *device, hal::AllocatorKind allocator) {
  if (Status status = callAbs(state, device, allocator); !status.ok())
    state.SkipWithError(status.toString().c_str());
}
BENCHMARK_CAPTURE(BM_CallAbs, null, "null", hal::AllocatorKind::Direct);
BENCHMARK_CAPTURE(BM_CallAbs, local_sync, "local-sync", hal::AllocatorKind::Direct);
BENCHMARK_CAPTURE(BM_CallAbs, local_sync_caching, "local-sync", hal::AllocatorKind::Caching);
BENCHMARK_CAPTURE(BM_CallAbs, local_task, "local-task", hal::AllocatorKind::Direct)->UseRealTime();

// A session with all that is its own: of the modules, or of a program that other sessions share.
void BM_CreateSession(benchmark::State &state, bool shared) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  Ref<NativeModule> hal = *createHalModule({*registry.createDevice("local-sync")});
  Ref<Module> module = *testing::loadDesc(testing::absDesc({{4}}));
  Ref<Program> program = *Program::create({{module}}, {{hal}});
  for (auto _ : state) {
    Result<std::unique_ptr<Session>> session = shared ? program->createSession() : Session::create({module}, {hal});
    if (!session.ok())
      return state.SkipWithError(std::string(session.status().message()).c_str());
    benchmark::DoNotOptimize(*session);
  }
}
BENCHMARK_CAPTURE(BM_CreateSession, of_modules, false);
BENCHMARK_CAPTURE(BM_CreateSession, of_a_program, true);

} // namespace
} // namespace kiln::vm

BENCHMARK_MAIN();
