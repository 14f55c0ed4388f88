// Sessions of one program: what they share, what is their own, and many threads.
#include "kiln/runtime/vm/program.h"

#include "gtest/gtest.h"

#include <atomic>
#include <set>
#include <thread>

#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/testing/abs_program.h"
#include "kiln/targets/drivers.h"

namespace kiln::vm {

struct Secret : RefCounted {};
template <> struct RefTypeOf<Secret> {
  static constexpr RefType type{"test.secret"};
};

namespace {

using schema::CodeBuilder;
using schema::Opcode;
using testing::HalImport;

constexpr auto v = schema::Register::value;
constexpr auto r = schema::Register::ref;

class ProgramTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    hal::DriverRegistry registry;
    hal::registerDrivers(registry);
    device = *registry.createDevice(GetParam());
    hal = *createHalModule({device});
  }
  Result<Ref<Program>> load(const schema::ModuleDesc &desc, Ref<NativeModule> more = {}) {
    KILN_ASSIGN_OR_RETURN(Ref<Module> module, testing::loadDesc(desc));
    std::vector<Ref<NativeModule>> natives = {hal};
    if (more)
      natives.push_back(std::move(more));
    return Program::create({{module}}, natives);
  }
  Value tensor(float first) const {
    const float numbers[4] = {first, 2, -3, 4};
    const uint64_t shape[] = {4};
    Ref<hal::Buffer> buffer = *device->allocator().allocate(hal::BufferUsage::External, sizeof(numbers));
    EXPECT_TRUE(buffer->write(0, std::as_bytes(std::span(numbers))).ok());
    return Value(*hal::BufferView::create(std::move(buffer), hal::ElementType::F32, shape));
  }
  static uint64_t callForNumber(Session &session, const char *name, std::vector<Value> arguments = {}) {
    Value result[1];
    Result<Function> function = session.lookup(name);
    EXPECT_TRUE(function.ok()) << function.status().toString();
    Status status = session.call(*function, arguments, std::span(result).first(function->resultCount()));
    EXPECT_TRUE(status.ok()) << status.toString();
    return result[0].bits();
  }

  Ref<hal::Device> device;
  Ref<NativeModule> hal;
};

// @abs, with the objects that initialization made in the variables 0 and 1: device and recording.
schema::ModuleDesc absWithGetters() {
  schema::ModuleDesc desc = testing::absDesc({{4}});
  for (uint16_t global : {uint16_t(0), uint16_t(1)}) {
    CodeBuilder code;
    code.emit(Opcode::GlobalLoadRef, {0, global});
    code.ret({r(0)});
    testing::addFunction(desc, global ? "recording" : "device", "_r", 0, 1, std::move(code));
  }
  return desc;
}

TEST_P(ProgramTest, SessionsShareTheRecording) {
  Result<Ref<Program>> program = load(absWithGetters());
  ASSERT_TRUE(program.ok()) << program.status().toString();
  std::set<const RefCounted *> devices, recordings;
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 3; ++i) {
    auto session = (*program)->createSession();
    ASSERT_TRUE(session.ok()) << session.status().toString();
    Value result[1];
    ASSERT_TRUE((*session)->call(*(*session)->lookup("device"), {}, result).ok());
    devices.insert(result[0].anyRef().pointer());
    ASSERT_TRUE((*session)->call(*(*session)->lookup("recording"), {}, result).ok());
    recordings.insert(result[0].anyRef().pointer());
    sessions.push_back(*std::move(session));
  }
  EXPECT_EQ(devices.size(), 1u);
  EXPECT_EQ(recordings.size(), 1u);
  *program = {}; // its sessions keep what they need
  Value in[] = {tensor(-1)}, out[1];
  for (auto &session : sessions) {
    ASSERT_TRUE(session->call(*session->lookup("abs"), in, out).ok());
    float numbers[4];
    ASSERT_TRUE(out[0].as<hal::BufferView>()->buffer()->read(0, std::as_writable_bytes(std::span(numbers))).ok());
    EXPECT_EQ(numbers[2], 3);
  }
}

TEST_P(ProgramTest, ThreadsRunSessionsOfOneProgramAtOnce) {
  Result<Ref<Program>> program = load(testing::absDesc({{4}}));
  ASSERT_TRUE(program.ok()) << program.status().toString();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto session = *(*program)->createSession();
      Function abs = *session->lookup("abs");
      Value in[] = {tensor(static_cast<float>(-t))}, out[1];
      for (int i = 0; i < 200; ++i) {
        float first = -1;
        Status status = session->call(abs, in, out);
        if (status.ok())
          status = out[0].as<hal::BufferView>()->buffer()->read(0, std::as_writable_bytes(std::span(&first, 1)));
        wrong += !status.ok() || first != static_cast<float>(t);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

// A number that starts as 7 and is set by @set, and a tensor of one i64 that is made by the initializer and that a
// recording fills by what @fill is given.
schema::ModuleDesc variablesDesc() {
  schema::ModuleDesc desc;
  desc.name = "variables";
  desc.producer = "kiln test";
  testing::addHalImports(desc);
  desc.valueGlobals = 1;
  desc.refGlobals = 3;
  desc.initializer = 0;
  auto callHal = [](CodeBuilder &code, HalImport import, CodeBuilder::Registers in, CodeBuilder::Registers out) {
    code.callImport(static_cast<uint32_t>(import), in, out);
  };
  CodeBuilder init;
  init.constant(1, 7);
  init.constant(2, 8);
  init.emit(Opcode::GlobalStore, {0, 1});
  callHal(init, HalImport::DeviceGet, {v(0)}, {r(0)});
  callHal(init, HalImport::BufferAllocate, {r(0), v(0), v(2)}, {r(1)});
  init.emit(Opcode::GlobalStoreRef, {0, 0});
  init.emit(Opcode::GlobalStoreRef, {1, 1});
  init.emit(Opcode::GlobalStoreRef, {2, 1}); // the same memory under another name
  init.ret();
  desc.functions.push_back({"__init", "_", 3, 2, *init.finish()});

  CodeBuilder set;
  set.emit(Opcode::GlobalStore, {0, 0});
  set.ret();
  testing::addFunction(desc, "set", "I_", 1, 0, std::move(set));
  CodeBuilder get;
  get.emit(Opcode::GlobalLoad, {0, 0});
  get.ret({v(0)});
  testing::addFunction(desc, "get", "_I", 1, 0, std::move(get));

  CodeBuilder fill; // v0 is the argument, v1 zero
  fill.constant(2, 1);
  fill.constant(3, 8);
  fill.emit(Opcode::GlobalLoadRef, {0, 0});
  fill.emit(Opcode::GlobalLoadRef, {1, 1});
  callHal(fill, HalImport::CommandBufferCreate, {r(0), v(2), v(2)}, {r(2)});
  callHal(fill, HalImport::CommandBufferFill, {r(2), v(1), v(1), v(3), v(0), v(3)}, {});
  callHal(fill, HalImport::CommandBufferFinalize, {r(2)}, {});
  callHal(fill, HalImport::DeviceExecute, {r(0), r(4), r(2), r(1), v(1), v(3)}, {r(3)});
  callHal(fill, HalImport::FenceAwait, {r(3)}, {});
  fill.ret();
  testing::addFunction(desc, "fill", "I_", 4, 5, std::move(fill));
  CodeBuilder load;
  load.constant(1, 8);
  load.emit(Opcode::GlobalLoadRef, {0, 2});
  callHal(load, HalImport::BufferLoad, {r(0), v(0), v(1)}, {v(2)});
  load.ret({v(2)});
  testing::addFunction(desc, "load", "_I", 3, 1, std::move(load));
  return desc;
}

TEST_P(ProgramTest, VariablesAreOfTheirSession) {
  Result<Ref<Program>> program = load(variablesDesc());
  ASSERT_TRUE(program.ok()) << program.status().toString();
  auto first = *(*program)->createSession();
  auto second = *(*program)->createSession();
  callForNumber(*first, "set", {Value::i64(20)});
  callForNumber(*first, "fill", {Value::i64(30)});
  callForNumber(*second, "fill", {Value::i64(40)});
  EXPECT_EQ(callForNumber(*first, "get"), 20u);
  EXPECT_EQ(callForNumber(*second, "get"), 7u);
  EXPECT_EQ(callForNumber(*first, "load"), 30u) << "two variables with the same memory still have the same";
  EXPECT_EQ(callForNumber(*second, "load"), 40u);
  auto third = *(*program)->createSession();
  EXPECT_EQ(callForNumber(*third, "get"), 7u) << "as initialization left it";
}

// Returns an object of a type that nobody can share.
Status makeSecret(void *, NativeCall &call) {
  call.refResults[0] = AnyRef(makeRef<Secret>());
  return okStatus();
}

TEST_P(ProgramTest, WhatCannotBeSharedIsNamed) {
  schema::ModuleDesc desc = testing::absDesc({{4}});
  auto initWith = [&](CodeBuilder code) {
    code.emit(Opcode::GlobalStoreRef, {1, 0});
    code.ret();
    desc.functions[0] = {"__init", "_", 2, 2, *code.finish()};
  };
  CodeBuilder secret;
  secret.callImport(static_cast<uint32_t>(desc.imports.size()), {}, {r(0)});
  desc.imports.push_back({"host.secret", "_r"});
  initWith(std::move(secret));
  Ref<NativeModule> host = makeRef<NativeModule>("host");
  ASSERT_TRUE(host->add("secret", "_r", makeSecret, nullptr).ok());
  Result<Ref<Program>> program = load(desc, host);
  ASSERT_TRUE(program.ok()) << program.status().toString();
  Result<std::unique_ptr<Session>> session = (*program)->createSession();
  EXPECT_EQ(session.status().code(), StatusCode::FailedPrecondition);
  EXPECT_EQ(session.status().message(), "variable 1 of module 'abs' keeps the program from being shared by sessions: a "
                                        "test.secret can be neither shared nor copied");

  CodeBuilder open; // a recording that is never finalized
  open.callImport(static_cast<uint32_t>(HalImport::DeviceGet), {v(0)}, {r(1)});
  open.callImport(static_cast<uint32_t>(HalImport::CommandBufferCreate), {r(1), v(0), v(0)}, {r(0)});
  initWith(std::move(open));
  program = load(desc, host);
  ASSERT_TRUE(program.ok()) << program.status().toString();
  session = (*program)->createSession();
  EXPECT_NE(session.status().message().find("not recorded for being executed many times"), std::string_view::npos)
      << session.status().toString();
}

INSTANTIATE_TEST_SUITE_P(Devices, ProgramTest, ::testing::Values("local-sync", "local-task", "discrete"));

} // namespace
} // namespace kiln::vm
