// Modules that were compiled to C do what the same modules do as VM code.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "gtest/gtest.h"

#include "kiln/base/call_limit.h"
#include "kiln/runtime/vm/program.h"
#include "kiln/runtime/vm/program_objects.h"
#include "kiln/runtime/vm/testing/compiled_c.h"
#include "kiln/runtime/vm/testing/random_program.h"

namespace kiln::vm {
namespace {

using schema::CodeBuilder;
using schema::Opcode;
using testing::compileC;
using testing::loadC;
using testing::loadDesc;

constexpr auto v = schema::Register::value;
constexpr auto r = schema::Register::ref;

struct Object : RefCounted {};

} // namespace
template <> struct RefTypeOf<Object> {
  static constexpr RefType type{"test.object"};
};
namespace {

// A module in both forms.
struct Both {
  std::unique_ptr<Session> interpreted, compiled;
};

Result<Both> load(const schema::ModuleDesc &desc, const kiln_compiled_module_t &text,
                  std::vector<Ref<NativeModule>> natives = {}, const SessionOptions &options = {}) {
  Both both;
  KILN_ASSIGN_OR_RETURN(Ref<Module> interpreted, loadDesc(desc));
  KILN_ASSIGN_OR_RETURN(Ref<Module> compiled, Module::fromCompiled(text));
  KILN_ASSIGN_OR_RETURN(both.interpreted, Session::create({{interpreted}}, natives, options));
  KILN_ASSIGN_OR_RETURN(both.compiled, Session::create({{compiled}}, natives, options));
  return both;
}
Result<Both> load(const schema::ModuleDesc &desc, std::vector<Ref<NativeModule>> natives = {},
                  const SessionOptions &options = {}) {
  KILN_ASSIGN_OR_RETURN(auto texts, compileC({&desc, 1}));
  return load(desc, *texts[0], std::move(natives), options);
}

Status callOf(Session &session, std::string_view name, std::span<const Value> arguments, std::span<Value> results) {
  KILN_ASSIGN_OR_RETURN(Function function, session.lookup(name));
  return session.call(function, arguments, results);
}

// NaNs may differ in what IEEE 754 leaves open: which operand's they are.
bool isSame(uint64_t a, uint64_t b) {
  if (a == b)
    return true;
  bool is32 = a >> 32 == 0 && b >> 32 == 0;
  return is32 ? std::isnan(std::bit_cast<float>(uint32_t(a))) && std::isnan(std::bit_cast<float>(uint32_t(b)))
              : std::isnan(std::bit_cast<double>(a)) && std::isnan(std::bit_cast<double>(b));
}

// Calls the function in both forms. What it fails with, and gives, must be the same; references are the same objects,
// but for constants and executables, which are each session's own.
void expectSame(Both &both, std::string_view name, std::span<const Value> arguments) {
  Result<Function> function = both.interpreted->lookup(name);
  ASSERT_TRUE(function.ok());
  std::vector<Value> expected(function->resultCount()), results(function->resultCount());
  Status status = both.interpreted->call(*function, arguments, expected);
  Status compiled = callOf(*both.compiled, name, arguments, results);
  ASSERT_EQ(compiled.toString(), status.toString()) << name;
  if (!status.ok())
    return;
  for (size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i].kind(), expected[i].kind());
    EXPECT_TRUE(isSame(results[i].bits(), expected[i].bits()))
        << name << ": result " << i << " is " << results[i].bits() << ", not " << expected[i].bits();
    EXPECT_STREQ(results[i].anyRef().typeName(), expected[i].anyRef().typeName()) << name;
    if (expected[i].as<Object>()) {
      EXPECT_EQ(results[i].anyRef().pointer(), expected[i].anyRef().pointer()) << name;
    }
  }
}

void checkEveryOperation(const std::string &flags) {
  schema::ModuleDesc desc = testing::emptyDesc("operations");
  for (uint16_t i = 0; i < schema::kOpcodeCount; ++i) {
    std::string_view format = schema::kOpcodes[i].format;
    if (!format.starts_with("DR") || format.find_first_not_of("DR") != format.npos)
      continue;
    CodeBuilder code;
    auto opcode = static_cast<Opcode>(i);
    switch (format.size()) {
    case 2: code.emit(opcode, {2, 0}); break;
    case 3: code.emit(opcode, {2, 0, 1}); break;
    default: code.emit(opcode, {2, 0, 1, 0});
    }
    code.ret({v(2)});
    testing::addFunction(desc, schema::kOpcodes[i].mnemonic, "II_I", 3, 0, std::move(code));
  }
  ASSERT_GT(desc.functions.size(), 110u);
  auto texts = compileC({&desc, 1}, flags);
  ASSERT_TRUE(texts.ok()) << texts.status().toString();
  Result<Both> both = load(desc, *(*texts)[0]);
  ASSERT_TRUE(both.ok()) << both.status().toString();
  std::vector<uint64_t> operands = {0,
                                    1,
                                    2,
                                    3,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    127,
                                    128,
                                    255,
                                    32767,
                                    32768,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    ~uint64_t(0),
                                    0xdead00000007};
  for (double value : {0.0, -0.0, 1.0, -1.5, 0.5, 2.5, 1e-45, 1e-310, 65504.0, 1e30, 1e300, 9.3e18, -9.3e18, 1.9e19,
                       2147483647.5, double(INFINITY), -double(INFINITY), double(NAN), 3.14159}) {
    operands.push_back(std::bit_cast<uint64_t>(value));
    operands.push_back(std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
  for (uint64_t bits : {0x3c00, 0x7bff, 0x0001, 0x7c00, 0x7e00, 0x3f80, 0x7f80, 0xffff})
    operands.push_back(bits);
  for (const schema::FunctionDesc &function : desc.functions)
    for (uint64_t a : operands)
      for (uint64_t b : operands) {
        Value arguments[] = {Value::i64(int64_t(a)), Value::i64(int64_t(b))};
        expectSame(*both, function.name, arguments);
        if (::testing::Test::HasFailure()) {
          FAIL() << function.name << " of " << a << ", " << b;
        }
      }
}

// Ends the process at what C leaves undefined; GCC has other flags for that.
constexpr const char *kTrapUndefined =
    std::string_view(KILN_CC).find("clang") != std::string_view::npos
        ? "-O1 -fsanitize=undefined,float-cast-overflow -fsanitize-trap=undefined,float-cast-overflow"
        : "-O1";

TEST(Compiled, everyOperationIsTheInterpreters) {
  checkEveryOperation("-O0");
  checkEveryOperation("-O2");
  checkEveryOperation(kTrapUndefined);
}

// Programs that the compiler would not write, too.
TEST(Compiled, randomProgramsDoTheSame) {
  constexpr size_t kPrograms = 60;
  std::vector<schema::ModuleDesc> descs;
  for (uint32_t seed = 0; descs.size() < kPrograms; ++seed)
    if (schema::ModuleDesc desc = testing::randomProgram(fmt::format("random_{}", seed), seed); loadDesc(desc).ok())
      descs.push_back(std::move(desc));
  auto texts = compileC(descs, kTrapUndefined);
  ASSERT_TRUE(texts.ok()) << texts.status().toString();
  Value one(makeRef<Object>()), two(makeRef<Object>());
  for (size_t i = 0; i < kPrograms; ++i) {
    SessionOptions options;
    options.maxCallDepth = 8;
    Result<Both> both = load(descs[i], *(*texts)[i], {testing::randomProgramHost(descs[i])}, options);
    ASSERT_TRUE(both.ok()) << both.status().toString();
    for (int64_t n : {0, 1, 6, -1, 1 << 20})
      for (const schema::ExportDesc &entry : descs[i].exports) {
        Value arguments[] = {Value::i64(n), one, two};
        expectSame(*both, entry.name, arguments);
        ASSERT_FALSE(HasFailure()) << descs[i].name;
      }
  }
}

// n times round a loop that swaps two values and two references in each branch, and calls a function.
schema::ModuleDesc loopDesc() {
  schema::ModuleDesc desc = testing::emptyDesc("loop");
  CodeBuilder callee;
  callee.emit(Opcode::AddI64, {2, 0, 1});
  callee.ret({v(2), r(0), v(0)});
  testing::addFunction(desc, "callee", "IIr_IrI", 3, 1, std::move(callee));
  CodeBuilder code;
  auto head = code.newLabel(), again = code.newLabel(), done = code.newLabel();
  code.constant(3, 1);
  code.branch(head);
  code.bind(head);
  code.emit(Opcode::CmpLtSI64, {4, 1, 0});
  code.condBranch(4, again, done);
  code.bind(again);
  code.call(0, {v(2), v(3), r(0)}, {v(5), r(2), v(6)});
  code.emit(Opcode::AddI64, {1, 1, 3});
  code.branch(head, {{v(5), v(2)}, {v(2), v(5)}, {r(1), r(0)}, {r(2), r(1)}});
  code.bind(done);
  code.ret({v(2), r(0), r(1)});
  testing::addFunction(desc, "f", "Irr_Irr", 7, 3, std::move(code));
  return desc;
}

TEST(Compiled, loopsCallAndSwap) {
  Result<Both> both = load(loopDesc());
  ASSERT_TRUE(both.ok()) << both.status().toString();
  Ref<Object> one = makeRef<Object>(), two = makeRef<Object>();
  for (int64_t n : {0, 1, 2, 5, 3000}) {
    Value arguments[] = {Value::i64(n), Value(one), Value(two)};
    expectSame(*both, "f", arguments);
  }
  EXPECT_TRUE(one->unique() && two->unique()) << "a reference was kept";
}

schema::ModuleDesc recursionDesc() {
  schema::ModuleDesc desc = testing::emptyDesc("recursion");
  CodeBuilder endless;
  endless.call(0, {v(0)}, {v(1)});
  endless.ret({v(1)});
  testing::addFunction(desc, "endless", "I_I", 2, 0, std::move(endless));
  // As a tree: with n levels 2^n calls.
  CodeBuilder tree;
  auto leaf = tree.newLabel(), inner = tree.newLabel();
  tree.condBranch(0, inner, leaf);
  tree.bind(leaf);
  tree.ret({v(0)});
  tree.bind(inner);
  tree.constant(1, 1);
  tree.emit(Opcode::SubI64, {2, 0, 1});
  tree.call(1, {v(2)}, {v(3)});
  tree.call(1, {v(2)}, {v(3)});
  tree.ret({v(3)});
  testing::addFunction(desc, "tree", "I_I", 4, 0, std::move(tree));
  CodeBuilder loop;
  auto head = loop.newLabel();
  loop.bind(head);
  loop.branch(head);
  testing::addFunction(desc, "loop", "_", 0, 0, std::move(loop));
  return desc;
}

TEST(Compiled, recursionWithoutEndFails) {
  schema::ModuleDesc desc = recursionDesc();
  auto texts = compileC({&desc, 1}, "-O0");
  ASSERT_TRUE(texts.ok()) << texts.status().toString();
  Value argument = Value::i64(1), result;
  Result<Both> both = load(desc, *(*texts)[0]);
  ASSERT_TRUE(both.ok()) << both.status().toString();
  expectSame(*both, "endless", {&argument, 1});
  // Where the program allows more than the thread's stack has.
  SessionOptions options;
  options.maxCallDepth = ~0u;
  options.stackBytes = size_t(1) << 30;
  Result<Both> deep = load(desc, *(*texts)[0], {}, options);
  ASSERT_TRUE(deep.ok()) << deep.status().toString();
  Status status = callOf(*deep->compiled, "endless", {&argument, 1}, {&result, 1});
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.message().find("the call of @endless needs more than the thread has left of its stack"),
            std::string::npos)
      << status.message();
  // The session goes on.
  argument = Value::i64(10);
  EXPECT_TRUE(callOf(*deep->compiled, "tree", {&argument, 1}, {&result, 1}).ok());
}

TEST(Compiled, callsEndAtTheirLimit) {
  Result<Both> both = load(recursionDesc());
  ASSERT_TRUE(both.ok()) << both.status().toString();
  for (const char *name : {"loop", "tree"}) {
    Ref<CallLimit> limit = makeRef<CallLimit>(Deadline::after(200'000'000)); // in which the call has begun
    CallLimit::Scope scope(*limit);
    Value argument = Value::i64(60), result;
    bool isLoop = std::string_view(name) == "loop";
    Status status = callOf(*both->compiled, name, {&argument, isLoop ? 0u : 1u}, {&result, isLoop ? 0u : 1u});
    EXPECT_EQ(status.code(), StatusCode::DeadlineExceeded) << status.toString();
    EXPECT_NE(status.message().find(fmt::format("at @{}", name)), std::string::npos) << status.message();
  }
}

// Imports "other.f" and "host.f", and exports what calls them.
schema::ModuleDesc importerDesc(std::string name, const std::string &other) {
  schema::ModuleDesc desc = testing::emptyDesc(std::move(name));
  desc.imports.push_back({other + ".f", "Ir_rI"});
  CodeBuilder code;
  code.callImport(0, {v(0), r(0)}, {r(1), v(1)});
  code.ret({r(1), v(1)});
  testing::addFunction(desc, "g", "Ir_rI", 2, 2, std::move(code));
  return desc;
}
schema::ModuleDesc exporterDesc(std::string name) {
  schema::ModuleDesc desc = testing::emptyDesc(std::move(name));
  desc.rodata.push_back({"message", schema::Bytes::own("it is zero")});
  CodeBuilder code;
  auto fails = code.newLabel(), works = code.newLabel();
  code.condBranch(0, works, fails);
  code.bind(fails);
  code.constant(1, 3);
  code.emit(Opcode::Fail, {1, 0});
  code.bind(works);
  code.emit(Opcode::AddI64, {1, 0, 0});
  code.ret({r(0), v(1)});
  testing::addFunction(desc, "f", "Ir_rI", 2, 1, std::move(code));
  return desc;
}

TEST(Compiled, modulesOfBothSortsImportFromEachOther) {
  schema::ModuleDesc exporter = exporterDesc("other"), importer = importerDesc("main", "other");
  std::string messages[4];
  for (int sort = 0; sort < 4; ++sort) {
    Result<Ref<Module>> other = sort & 1 ? loadC(exporter) : loadDesc(exporter);
    Result<Ref<Module>> main = sort & 2 ? loadC(importer) : loadDesc(importer);
    ASSERT_TRUE(other.ok() && main.ok());
    Result<std::unique_ptr<Session>> session = Session::create({*other, *main}, {});
    ASSERT_TRUE(session.ok()) << session.status().toString();
    Ref<Object> object = makeRef<Object>();
    Value arguments[] = {Value::i64(21), Value(object)};
    Value results[2];
    Status status = callOf(**session, "g", arguments, results);
    ASSERT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(results[0].as<Object>(), object.get());
    EXPECT_EQ(results[1].asI64(), 42);
    arguments[0] = Value::i64(0);
    messages[sort] = callOf(**session, "g", arguments, results).toString();
  }
  EXPECT_NE(messages[0].find("it is zero"), std::string::npos) << messages[0];
  for (const std::string &message : messages)
    EXPECT_EQ(message, messages[0]);
}

TEST(Compiled, whatIsNotProvidedIsNamed) {
  schema::ModuleDesc desc = importerDesc("main", "host");
  desc.requirements.push_back({"host", {1, 7}});
  Result<Ref<Module>> module = loadC(desc);
  ASSERT_TRUE(module.ok()) << module.status().toString();
  auto failure = [&](std::vector<Ref<NativeModule>> natives) {
    return std::string(Session::create({{*module}}, natives).status().message());
  };
  EXPECT_EQ(failure({}), "module 'main' imports 'host.f' (Ir_rI), which nothing provides; the session has: no other "
                         "module");
  auto native = [](const char *name, const char *signature, schema::Version version) {
    Ref<NativeModule> host = makeRef<NativeModule>("host", version);
    EXPECT_TRUE(host->add(name, signature, [](void *, NativeCall &) { return okStatus(); }, nullptr).ok());
    return host;
  };
  EXPECT_NE(failure({native("f", "Ir_rI", {1, 6})})
                .find("main (compiled C)' was compiled by kiln test for version 1.7 "
                      "of host; this runtime has 1.6"),
            std::string::npos)
      << failure({native("f", "Ir_rI", {1, 6})});
  EXPECT_NE(failure({native("f", "I_r", {1, 7})})
                .find("imports 'host.f' with signature 'Ir_rI', but it is provided with "
                      "'I_r'"),
            std::string::npos);
  EXPECT_EQ(failure({native("f", "Ir_rI", {1, 7})}), "");
}

TEST(Compiled, damagedAndNewerModulesAreRefused) {
  schema::ModuleDesc desc = exporterDesc("m");
  auto texts = compileC({&desc, 1});
  ASSERT_TRUE(texts.ok()) << texts.status().toString();
  auto failure = [&](auto change) {
    kiln_compiled_module_t changed = *(*texts)[0];
    kiln_compiled_function_t function = changed.functions[0];
    kiln_compiled_export_t entry = changed.exports[0];
    changed.functions = &function;
    changed.exports = &entry;
    change(changed, function, entry);
    return std::string(Module::fromCompiled(changed).status().message());
  };
  auto contains = [](const std::string &text, const char *part) { return text.find(part) != std::string::npos; };
  EXPECT_EQ(failure([](auto &, auto &, auto &) {}), "");
  EXPECT_TRUE(contains(failure([](auto &module, auto &, auto &) { ++module.minor; }),
                       "was written for version 1.1 of kiln_compiled.h; this runtime has 1.0"));
  EXPECT_TRUE(contains(failure([](auto &module, auto &, auto &) { --module.major; }), "link it with an older runtime"));
  EXPECT_TRUE(contains(failure([](auto &module, auto &, auto &) { module.struct_size = 16; }), "of 16 bytes"));
  EXPECT_TRUE(contains(failure([](auto &, auto &function, auto &) { function.code = nullptr; }), "has no code"));
  EXPECT_TRUE(contains(failure([](auto &, auto &function, auto &) { function.value_scratch = 0; }), "do not hold"));
  EXPECT_TRUE(contains(failure([](auto &, auto &function, auto &) { function.signature = "x_"; }), "x_"));
  EXPECT_TRUE(contains(failure([](auto &, auto &, auto &entry) { entry.function = 1; }), "is function 1 of 1"));
  EXPECT_TRUE(contains(failure([](auto &module, auto &, auto &) { module.initializer = 0; }), "its initializer"));
  EXPECT_TRUE(contains(failure([](auto &module, auto &, auto &) { module.name = ""; }), "a name is empty"));
}

TEST(Compiled, exceptionsOfNativeFunctionsArrive) {
  schema::ModuleDesc desc = importerDesc("main", "host");
  Ref<NativeModule> host = makeRef<NativeModule>("host");
  auto throws = [](void *, NativeCall &) -> Status { throw std::runtime_error("thrown"); };
  ASSERT_TRUE(host->add("f", "Ir_rI", throws, nullptr).ok());
  Result<Both> both = load(desc, {host});
  ASSERT_TRUE(both.ok()) << both.status().toString();
  Ref<Object> object = makeRef<Object>();
  for (int i = 0; i < 3; ++i) {
    Value arguments[] = {Value::i64(1), Value(object)};
    Value results[2];
    EXPECT_THROW((void)callOf(*both->compiled, "g", arguments, results), std::runtime_error);
  }
  EXPECT_TRUE(object->unique());
}

TEST(Compiled, variablesAreEachSessionsOwn) {
  schema::ModuleDesc desc = testing::emptyDesc("counter");
  desc.valueGlobals = desc.refGlobals = 1;
  desc.rodata.push_back({"text", schema::Bytes::own("text")});
  CodeBuilder initialize;
  initialize.constant(0, 5);
  initialize.emit(Opcode::GlobalStore, {0, 0});
  initialize.emit(Opcode::ConstRodata, {0, 0});
  initialize.emit(Opcode::GlobalStoreRef, {0, 0});
  initialize.ret();
  desc.initializer = static_cast<int32_t>(testing::addFunction(desc, "init", "_", 1, 1, std::move(initialize)));
  CodeBuilder next;
  next.emit(Opcode::GlobalLoad, {0, 0});
  next.constant(1, 1);
  next.emit(Opcode::AddI64, {1, 0, 1});
  next.emit(Opcode::GlobalStore, {0, 1});
  next.emit(Opcode::GlobalLoadRef, {0, 0});
  next.ret({v(0), r(0)});
  testing::addFunction(desc, "next", "_Ir", 2, 1, std::move(next));
  Result<Ref<Module>> module = loadC(desc);
  ASSERT_TRUE(module.ok()) << module.status().toString();
  Result<Ref<Program>> program = Program::create({{*module}}, {});
  ASSERT_TRUE(program.ok()) << program.status().toString();
  auto one = (*program)->createSession(), two = (*program)->createSession();
  ASSERT_TRUE(one.ok() && two.ok());
  for (int64_t i = 5; i < 8; ++i)
    for (Session *session : {one->get(), two->get()}) {
      Value results[2];
      ASSERT_TRUE(callOf(*session, "next", {}, results).ok());
      EXPECT_EQ(results[0].asI64(), i);
      ASSERT_TRUE(results[1].as<Rodata>());
      EXPECT_EQ(results[1].as<Rodata>()->bytes(), "text");
    }
}

// Whatever is in the data and the names, the same comes out as of a file.
TEST(Compiled, dataAndNamesAreThoseOfAFile) {
  schema::ModuleDesc desc = exporterDesc("a module, with \"quotes\" */ ?\?/");
  std::string everyByte;
  for (int i = 0; i < 256; ++i)
    everyByte += static_cast<char>(i);
  desc.rodata.push_back({"bytes", schema::Bytes::own(everyByte)});
  desc.rodata.push_back({"odd */ name", schema::Bytes::own("?\?= \"\\ \n\t %d {}")});
  desc.rodata.push_back({"", schema::Bytes::own("")});
  desc.rodata.push_back({"splat", schema::Bytes::own("abc", 1001)});
  desc.rodata.push_back({"zeros", schema::Bytes::own(std::string(4, '\0'), 100000)});
  desc.rodata.push_back({"several", schema::Bytes::own("a"), {schema::Bytes::own("bc", 70), schema::Bytes::own("d")}});
  desc.rodata.push_back({"long", schema::Bytes::own(std::string(5000, 'x'))});
  desc.executables.push_back({"e",
                              {{"llvm-cpu", "elf", "znver4", "+fma", {{"d", 2, 3}}, schema::Bytes::own("ELF..")},
                               {"other", "elf", "", "", {}, schema::Bytes::own("ELF..")}}});
  desc.attributes.push_back({"long", std::string(10000, '?')});
  desc.exports[0].attributes.push_back({"key", "\xc3\xa4 \"\\"});
  Result<Ref<Module>> file = loadDesc(desc);
  ASSERT_TRUE(file.ok()) << file.status().toString();
  schema::ModuleDesc named = desc;
  auto texts = [&] {
    named.name = "data"; // of the file; the description keeps its own
    return compileC({&named, 1});
  }();
  ASSERT_TRUE(texts.ok()) << texts.status().toString();
  Result<Ref<Module>> compiled = Module::fromCompiled(*(*texts)[0]);
  ASSERT_TRUE(compiled.ok()) << compiled.status().toString();
  ASSERT_EQ((*compiled)->rodata().size(), (*file)->rodata().size());
  for (size_t i = 0; i < (*file)->rodata().size(); ++i) {
    EXPECT_EQ((*compiled)->rodata()[i].name, (*file)->rodata()[i].name);
    EXPECT_EQ((*compiled)->rodata()[i].bytes, (*file)->rodata()[i].bytes) << (*file)->rodata()[i].name;
  }
  EXPECT_EQ((*compiled)->attributes()[0].value, (*file)->attributes()[0].value);
  EXPECT_EQ((*compiled)->findExport("f")->attribute("key"), (*file)->findExport("f")->attribute("key"));
  const ExecutableInfo &executable = (*compiled)->executables()[0];
  ASSERT_EQ(executable.variants.size(), 2u);
  EXPECT_EQ(executable.variants[0].bytes, "ELF..");
  EXPECT_EQ(executable.variants[1].bytes.data(), executable.variants[0].bytes.data());
  EXPECT_EQ(executable.variants[0].cpuFeatures, "+fma");
  EXPECT_EQ(executable.variants[0].exports[0].constantCount, 3u);
  // The same description gives the same text, and odd names of modules are C, too.
  Result<std::string> text = schema::writeModuleAsCToString(desc);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, *schema::writeModuleAsCToString(desc));
  EXPECT_NE(text->find("*kiln_register_a_module__with__quotes________(void);"), std::string::npos);
}

} // namespace
} // namespace kiln::vm
