#include "kiln/runtime/vm/session.h"

#include "gtest/gtest.h"

#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/native_binding.h"
#include "kiln/runtime/vm/program_objects.h"

namespace kiln::vm {

struct Counter : RefCounted {
  int64_t count = 0;
};
struct Other : RefCounted {};
template <> struct RefTypeOf<Counter> {
  static constexpr RefType type{"test.counter"};
};
template <> struct RefTypeOf<Other> {
  static constexpr RefType type{"test.other"};
};

namespace {

using schema::CodeBuilder;
using schema::Opcode;

constexpr auto v = schema::Register::value;
constexpr auto r = schema::Register::ref;

// What richDesc imports.
Status sum(void *, NativeCall &call) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < call.repeatCount; ++i)
    total += call.values[1 + i];
  call.valueResults[0] = total * call.values[0];
  return okStatus();
}

Ref<NativeModule> hostModule() {
  Ref<NativeModule> host = makeRef<NativeModule>("host");
  EXPECT_TRUE(host->add("sum", "iI*_I", sum, nullptr).ok());
  return host;
}

Result<std::unique_ptr<Session>> richSession() {
  KILN_ASSIGN_OR_RETURN(Ref<Module> module, testing::loadDesc(testing::richDesc()));
  return Session::create({module}, {hostModule()});
}

bool contains(const Status &status, std::string_view text) {
  return status.message().find(text) != std::string_view::npos;
}

TEST(Session, callsAndInitializes) {
  auto session = richSession();
  ASSERT_TRUE(session.ok()) << session.status().toString();
  Function function = *(*session)->lookup("imported");
  EXPECT_EQ(function.signature(), "I_Ir");
  EXPECT_EQ(function.attribute("kiln.abi.declaration"), "sync func @imported(%a: i64) -> (%b: i64)");
  Value arguments[] = {Value::i64(3)};
  Value results[2];
  Status status = (*session)->call(function, arguments, results);
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(results[0].asI64(), 12 * 11 / 2); // sum(2 * (3 + 3))
  ASSERT_NE(results[1].as<Rodata>(), nullptr) << "the initializer has put the constant into a global";
  EXPECT_EQ(results[1].as<Rodata>()->bytes().size(), 400u);
}

TEST(Session, listsExports) {
  auto session = richSession();
  ASSERT_TRUE(session.ok());
  std::vector<std::string> names;
  for (const Function &function : (*session)->exports())
    names.emplace_back(function.name());
  EXPECT_EQ(names, (std::vector<std::string>{"sum", "imported", "fail", "executable"}));
  EXPECT_TRUE((*session)->lookup("rich.sum").ok());
  Status status = (*session)->lookup("summ").status();
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_EQ(status.message(), "module 'rich' exports no function 'summ'; it exports: sum, imported, fail, executable");
}

TEST(Session, checksArguments) {
  auto session = richSession();
  ASSERT_TRUE(session.ok());
  Function function = *(*session)->lookup("imported");
  Value results[2];
  Value one[] = {Value::i64(3)}, wrong[] = {Value::f32(3)};
  Status status = (*session)->call(function, {}, results);
  EXPECT_EQ(status.message(), "@imported takes 1 arguments, 0 are given: sync func @imported(%a: i64) -> (%b: i64)");
  status = (*session)->call(function, wrong, results);
  EXPECT_TRUE(contains(status, "argument 0 of @imported is a f32, a i64 is needed")) << status.toString();
  status = (*session)->call(function, one, {results, 1});
  EXPECT_TRUE(contains(status, "@imported has 2 results, room is given for 1")) << status.toString();
}

TEST(Session, missingImports) {
  auto module = testing::loadDesc(testing::richDesc());
  ASSERT_TRUE(module.ok());
  Status status = Session::create({*module}, {}).status();
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_EQ(status.message(),
            "module 'rich' imports 'host.sum' (iI*_I), which nothing provides; the session has: no other module");
  status = Session::create({*module}, {makeRef<NativeModule>("host")}).status();
  EXPECT_TRUE(contains(status, "the session has: host")) << status.toString();
  Ref<NativeModule> host = makeRef<NativeModule>("host");
  ASSERT_TRUE(host->add("sum", "iI_I", sum, nullptr).ok());
  status = Session::create({*module}, {host}).status();
  EXPECT_TRUE(contains(status, "imports 'host.sum' with signature 'iI*_I', but it is provided with 'iI_I'"))
      << status.toString();
  status = Session::create({*module}, {hostModule(), hostModule()}).status();
  EXPECT_TRUE(contains(status, "two modules that are named 'host'")) << status.toString();
  EXPECT_FALSE(Session::create({}, {}).ok());
}

TEST(Session, modulesImportFromOneAnother) {
  schema::ModuleDesc desc = testing::emptyDesc("main");
  desc.imports.push_back({"rich.sum", "I_I"});
  desc.imports.push_back({"rich.fail", "_"});
  CodeBuilder code;
  code.callImport(0, {v(0)}, {v(0)});
  code.callImport(0, {v(0)}, {v(0)});
  code.ret({v(0)});
  testing::addFunction(desc, "twice", "I_I", 1, 0, std::move(code));
  CodeBuilder fail;
  fail.callImport(1, {}, {});
  fail.ret();
  testing::addFunction(desc, "fail", "_", 0, 0, std::move(fail));

  auto library = testing::loadDesc(testing::richDesc()), main = testing::loadDesc(desc);
  ASSERT_TRUE(library.ok() && main.ok());
  auto session = Session::create({*library, *main}, {hostModule()});
  ASSERT_TRUE(session.ok()) << session.status().toString();
  Value arguments[] = {Value::i64(5)};
  Value results[1];
  ASSERT_TRUE((*session)->call(*(*session)->lookup("twice"), arguments, results).ok());
  EXPECT_EQ(results[0].asI64(), 45);
  EXPECT_EQ((*session)->lookup("fail")->name(), "fail");
  Status status = (*session)->call(*(*session)->lookup("fail"), {}, {});
  EXPECT_EQ(status.message(), "went wrong\n  at @fail+6 of module 'rich'\n  at @fail+0 of module 'main'");
  EXPECT_TRUE((*session)->lookup("rich.imported").ok());

  EXPECT_TRUE(contains(Session::create({*main, *library}, {hostModule()}).status(), "imports 'rich.sum'"));
}

TEST(Session, initializerMayFail) {
  schema::ModuleDesc desc = testing::richDesc();
  desc.initializer = 3; // @fail
  auto module = testing::loadDesc(desc);
  ASSERT_TRUE(module.ok()) << module.status().toString();
  Status status = Session::create({*module}, {hostModule()}).status();
  EXPECT_EQ(status.code(), StatusCode::OutOfRange);
  EXPECT_EQ(status.message(), "initializing module 'rich': went wrong\n  at @fail+6 of module 'rich'");
}

// Which program asks does not matter to somebody whose machine cannot run an executable.
TEST(Session, nativeFailuresOfInitializersHaveNoBacktrace) {
  schema::ModuleDesc desc = testing::emptyDesc();
  desc.imports.push_back({"host.refuse", "_"});
  CodeBuilder code, initialize;
  code.callImport(0, {}, {});
  code.ret();
  testing::addFunction(desc, "load", "_", 0, 0, std::move(code));
  initialize.call(0, {}, {});
  initialize.ret();
  testing::addFunction(desc, "initialize", "_", 0, 0, std::move(initialize));
  auto refuse = [](void *, NativeCall &) { return failedPrecondition("not here"); };
  Ref<NativeModule> host = makeRef<NativeModule>("host");
  ASSERT_TRUE(host->add("refuse", "_", refuse, nullptr).ok());

  auto called = testing::loadDesc(desc);
  ASSERT_TRUE(called.ok()) << called.status().toString();
  auto session = Session::create({*called}, {host});
  ASSERT_TRUE(session.ok()) << session.status().toString();
  Status status = (*session)->call(*(*session)->lookup("initialize"), {}, {});
  EXPECT_EQ(status.message(), "not here\n  at native function host.refuse\n  at @load+0 of module 'test'\n  at "
                              "@initialize+0 of module 'test'");
  desc.initializer = 1;
  auto initialized = testing::loadDesc(desc);
  ASSERT_TRUE(initialized.ok()) << initialized.status().toString();
  EXPECT_EQ(Session::create({*initialized}, {host}).status().message(), "initializing module 'test': not here");
}

TEST(Session, modulesMayBeCalledOtherwise) {
  schema::ModuleDesc desc = testing::emptyDesc("module");
  desc.imports.push_back({"first.sum", "I_I"});
  CodeBuilder code;
  code.callImport(0, {v(0)}, {v(0)});
  code.ret({v(0)});
  testing::addFunction(desc, "twice", "I_I", 1, 0, std::move(code));
  schema::ModuleDesc rich = testing::richDesc();
  rich.name = "module";
  auto library = testing::loadDesc(rich), main = testing::loadDesc(desc);
  ASSERT_TRUE(library.ok() && main.ok());
  std::vector<Ref<Module>> modules = {*library, *main};
  std::vector<Ref<NativeModule>> natives = {hostModule()};
  EXPECT_TRUE(contains(Session::create(modules, natives).status(), "two modules that are named 'module'"));
  SessionOptions options;
  options.names = {"first", "second"};
  auto session = Session::create(modules, natives, options);
  ASSERT_TRUE(session.ok()) << session.status().toString();
  EXPECT_TRUE((*session)->lookup("second.twice").ok());
  EXPECT_TRUE(contains((*session)->lookup("none").status(), "module 'second' exports no function 'none'"));
  options.names = {"first"};
  EXPECT_EQ(Session::create(modules, natives, options).status().message(), "1 names are given for 2 modules");
}

TEST(Session, globalsBelongToTheSession) {
  schema::ModuleDesc desc = testing::emptyDesc();
  desc.valueGlobals = 1;
  CodeBuilder code;
  code.emit(Opcode::GlobalLoad, {0, 0});
  code.constant(1, 1);
  code.emit(Opcode::AddI64, {0, 0, 1});
  code.emit(Opcode::GlobalStore, {0, 0});
  code.ret({v(0)});
  testing::addFunction(desc, "count", "_I", 2, 0, std::move(code));
  auto module = testing::loadDesc(desc);
  ASSERT_TRUE(module.ok());
  auto first = Session::create({*module}, {}), second = Session::create({*module}, {});
  Value results[1];
  for (int64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE((*first)->call(*(*first)->lookup("count"), {}, results).ok());
    EXPECT_EQ(results[0].asI64(), i);
  }
  ASSERT_TRUE((*second)->call(*(*second)->lookup("count"), {}, results).ok());
  EXPECT_EQ(results[0].asI64(), 1);
}

// Native functions of every kind of parameter, through the binding.
class Host : public NativeModule {
public:
  Host() : NativeModule("host") {}
  Status registerAll() {
    KILN_RETURN_IF_ERROR(addBound<&Host::create>(*this, "create", "I_r", *this));
    KILN_RETURN_IF_ERROR(addBound<&Host::sumUp>(*this, "add", "rifFI*_F", *this));
    KILN_RETURN_IF_ERROR(addBound<&Host::first>(*this, "first", "(rI)*_r", *this));
    KILN_RETURN_IF_ERROR(addBound<&Host::optional>(*this, "optional", "r_i", *this));
    return addBound<&Host::again>(*this, "again", "r_I", *this);
  }
  Status registerWrong() { return addBound<&Host::optional>(*this, "wrong", "I_i", *this); }

  Result<Ref<Counter>> create(int64_t start) {
    Ref<Counter> counter = makeRef<Counter>();
    counter->count = start;
    return counter;
  }
  Result<double> sumUp(Counter &counter, int32_t i, float f, double d, Repeated rest) {
    double total = double(counter.count) + i + f + d;
    for (uint64_t value : rest.values)
      total += double(value);
    return total;
  }
  Result<AnyRef> first(Repeated rest) {
    for (uint32_t i = 0; i < rest.count; ++i)
      if (rest.values[i] != 0)
        return *rest.refs[i];
    return AnyRef();
  }
  Result<int32_t> optional(Counter *counter) { return counter ? 1 : -1; }
  // Calls back into the program until the counter is at zero.
  Result<int64_t> again(Counter &counter) {
    if (counter.count-- == 0)
      return 0;
    Value arguments[] = {Value(Ref<Counter>::share(&counter))};
    Value results[1];
    KILN_RETURN_IF_ERROR(session->call(*session->lookup("again"), arguments, results));
    return results[0].asI64() + 1;
  }

  Session *session = nullptr;
};

struct HostSession {
  Ref<Host> host = makeRef<Host>();
  std::unique_ptr<Session> session;

  HostSession() {
    EXPECT_TRUE(host->registerAll().ok());
    schema::ModuleDesc desc = testing::emptyDesc();
    for (auto [name, signature] :
         {std::pair("create", "I_r"), std::pair("add", "rifFI*_F"), std::pair("first", "(rI)*_r"),
          std::pair("optional", "r_i"), std::pair("again", "r_I")})
      desc.imports.push_back({std::string("host.") + name, signature});
    auto forward = [&](const char *name, const char *signature, uint32_t import, CodeBuilder::Registers arguments,
                       schema::Register result) {
      CodeBuilder code;
      code.callImport(import, arguments, {result});
      code.ret({result});
      testing::addFunction(desc, name, signature, 5, 3, std::move(code));
    };
    forward("create", "I_r", 0, {v(0)}, r(2));
    forward("add", "rifFII_F", 1, {r(0), v(0), v(1), v(2), v(3), v(4)}, v(0));
    forward("first", "rIrI_r", 2, {r(0), v(0), r(1), v(1)}, r(2));
    forward("optional", "r_i", 3, {r(0)}, v(0));
    forward("again", "r_I", 4, {r(0)}, v(0));
    auto module = testing::loadDesc(desc);
    EXPECT_TRUE(module.ok()) << module.status().toString();
    auto created = Session::create({*module}, {host});
    EXPECT_TRUE(created.ok()) << created.status().toString();
    session = *std::move(created);
    host->session = session.get();
  }

  Result<Value> call(const char *name, std::vector<Value> arguments) {
    Value result;
    KILN_RETURN_IF_ERROR(session->call(*session->lookup(name), arguments, {&result, 1}));
    return result;
  }
};

TEST(NativeModule, HasWhatEarlierMinorVersionsHad) {
  Ref<NativeModule> host = makeRef<NativeModule>("host", schema::Version{2, 3});
  auto create = [&](schema::Version version) {
    schema::ModuleDesc desc = testing::emptyDesc();
    desc.requirements = {{"host", version}};
    return Session::create({*testing::loadDesc(desc)}, {host}).status();
  };
  EXPECT_TRUE(create({2, 0}).ok());
  EXPECT_TRUE(create({2, 3}).ok());
  EXPECT_EQ(create({2, 4}).code(), StatusCode::FailedPrecondition);
  EXPECT_NE(create({2, 4}).message().find("for version 2.4 of host; this runtime has 2.3"), std::string_view::npos);
  EXPECT_EQ(create({1, 0}).code(), StatusCode::FailedPrecondition);
}

TEST(NativeModule, IsThereWhereItIsRequired) {
  schema::ModuleDesc desc = testing::emptyDesc();
  desc.requirements = {{"vm", schema::kVmVersion}, {"guest", {3, 1}}};
  Ref<NativeModule> host = makeRef<NativeModule>("host", schema::Version{2, 3});
  Status status = Session::create({*testing::loadDesc(desc)}, {host}).status();
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_NE(status.message().find("needs version 3.1 of guest, which nothing provides"), std::string_view::npos)
      << status.toString();
}

TEST(NativeModule, passesEveryKind) {
  HostSession host;
  Result<Value> counter = host.call("create", {Value::i64(100)});
  ASSERT_TRUE(counter.ok()) << counter.status().toString();
  ASSERT_NE(counter->as<Counter>(), nullptr);
  EXPECT_EQ(counter->as<Other>(), nullptr);
  Result<Value> total =
      host.call("add", {*counter, Value::i32(-1), Value::f32(0.5), Value::f64(0.25), Value::i64(2), Value::i64(3)});
  ASSERT_TRUE(total.ok()) << total.status().toString();
  EXPECT_EQ(total->asF64(), 104.75);
  Result<Value> first = host.call("first", {Value(), Value::i64(0), *counter, Value::i64(1)});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->as<Counter>(), counter->as<Counter>());
  EXPECT_EQ(host.call("optional", {*counter})->asI32(), 1);
  EXPECT_EQ(host.call("optional", {Value()})->asI32(), -1);
}

TEST(NativeModule, checksTypesOfReferences) {
  HostSession host;
  std::vector<Value> rest = {Value::i32(-1), Value::f32(0.5), Value::f64(0.25), Value::i64(2), Value::i64(3)};
  auto add = [&](Value first) {
    std::vector<Value> arguments = {std::move(first)};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return host.call("add", arguments).status();
  };
  EXPECT_EQ(add(Value()).message(), "argument 0 is null; a test.counter is needed\n  at native function host.add\n"
                                    "  at @add+0 of module 'test'");
  EXPECT_TRUE(contains(add(Value(makeRef<Other>())), "argument 0 is test.other; a test.counter is needed"));
  EXPECT_TRUE(contains(host.call("optional", {Value(makeRef<Other>())}).status(), "argument 0 is test.other"));
}

TEST(NativeModule, mayCallBack) {
  HostSession host;
  Result<Value> depth = host.call("again", {*host.call("create", {Value::i64(10)})});
  ASSERT_TRUE(depth.ok()) << depth.status().toString();
  EXPECT_EQ(depth->asI64(), 10);
  Status status = host.call("again", {*host.call("create", {Value::i64(1000000)})}).status();
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_TRUE(contains(status, "called back into the program 64 levels deep")) << status.toString();
  // And the session is still usable.
  EXPECT_EQ(host.call("again", {*host.call("create", {Value::i64(63)})})->asI64(), 63);
}

TEST(NativeModule, refusesWrongRegistrations) {
  Ref<Host> host = makeRef<Host>();
  EXPECT_TRUE(contains(host->registerWrong(), "is declared as 'I_i' but implemented as 'r_i'"));
  EXPECT_TRUE(host->add("f", "_", sum, nullptr).ok());
  EXPECT_EQ(host->add("f", "_", sum, nullptr).code(), StatusCode::AlreadyExists);
  EXPECT_FALSE(host->add("g", "x_", sum, nullptr).ok());
}

} // namespace
} // namespace kiln::vm
