#include "kiln/runtime/vm/hal_module.h"

#include "gtest/gtest.h"

#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/program_objects.h"
#include "kiln/runtime/vm/session.h"
#include "kiln/runtime/vm/testing/abs_program.h"
#include "kiln/targets/drivers.h"

namespace kiln::vm {
namespace {

using hal::Buffer;
using hal::BufferView;
using hal::ElementType;
using schema::CodeBuilder;
using schema::Register;

bool contains(const Status &status, std::string_view text) {
  return status.message().find(text) != std::string_view::npos;
}

// A device with the hal module on it, and calls of single functions through a program made for the purpose.
class HalModuleTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    hal::registerDrivers(registry);
    Result<Ref<hal::Device>> opened = registry.createDevice(GetParam());
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    device = *opened;
    Result<Ref<NativeModule>> module = createHalModule({device});
    ASSERT_TRUE(module.ok()) << module.status().toString();
    halModule = *module;
  }

  Result<std::unique_ptr<Session>> load(const schema::ModuleDesc &desc) {
    KILN_ASSIGN_OR_RETURN(Ref<Module> module, testing::loadDesc(desc));
    return Session::create({module}, {halModule});
  }

  // Calls "hal.<name>", whose repeated group is unrolled in `signature`.
  Result<Value> call(const char *name, const char *declared, std::string_view signature,
                     const std::vector<Value> &arguments) {
    schema::ModuleDesc desc = testing::emptyDesc();
    desc.imports.push_back({std::string("hal.") + name, declared});
    uint32_t counts[2] = {};
    auto registers = [&](std::string_view kinds) {
      std::vector<Register> list;
      for (char kind : kinds)
        list.push_back(kind == 'r' ? Register::ref(counts[1]++) : Register::value(counts[0]++));
      return list;
    };
    std::string_view results = signature.substr(signature.find('_') + 1);
    std::vector<Register> in = registers(signature.substr(0, signature.find('_'))), out = registers(results);
    CodeBuilder code;
    code.callImport(0, in, out);
    code.ret(out);
    testing::addFunction(desc, "f", std::string(signature), counts[0], counts[1], std::move(code));
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, load(desc));
    Value result;
    KILN_RETURN_IF_ERROR(session->call(*session->lookup("f"), arguments, {&result, results.size()}));
    return result;
  }
  Value must(Result<Value> value) {
    EXPECT_TRUE(value.ok()) << value.status().toString();
    return value.ok() ? *value : Value();
  }

  Value deviceValue() { return Value(device); }
  Value allocate(uint64_t length) {
    return must(call("buffer.allocate", "riI_r", "riI_r", {deviceValue(), Value::i32(0), Value::i64(length)}));
  }
  Value view(ElementType type, std::vector<uint64_t> shape) {
    Result<uint64_t> length = hal::shapeByteLength(type, shape);
    return Value(*BufferView::create(*device->allocator().allocate(hal::BufferUsage::External, *length), type, shape));
  }
  Value floats(std::vector<float> values) {
    Value result = view(ElementType::F32, {values.size()});
    EXPECT_TRUE(result.as<BufferView>()->buffer()->write(0, std::as_bytes(std::span(values))).ok());
    return result;
  }
  std::vector<float> toFloats(const Value &value) {
    BufferView *result = value.as<BufferView>();
    std::vector<float> values(result->elementCount());
    EXPECT_TRUE(result->buffer()->read(0, std::as_writable_bytes(std::span(values))).ok());
    return values;
  }

  hal::DriverRegistry registry;
  Ref<hal::Device> device;
  Ref<NativeModule> halModule;
};

TEST_P(HalModuleTest, providesEveryImport) {
  schema::ModuleDesc desc = testing::emptyDesc();
  testing::addHalImports(desc);
  auto session = load(desc);
  EXPECT_TRUE(session.ok()) << session.status().toString();
  EXPECT_EQ(halModule->functions().size(), desc.imports.size());
}

TEST_P(HalModuleTest, devices) {
  EXPECT_EQ(must(call("device.get", "i_r", "i_r", {Value::i32(0)})).as<hal::Device>(), device.get());
  Status status = call("device.get", "i_r", "i_r", {Value::i32(1)}).status();
  EXPECT_TRUE(contains(status, "the program needs device 1; the session has 1")) << status.toString();
}

TEST_P(HalModuleTest, buffers) {
  Value buffer = allocate(16);
  ASSERT_NE(buffer.as<Buffer>(), nullptr);
  EXPECT_EQ(must(call("buffer.length", "r_I", "r_I", {buffer})).asI64(), 16);
  std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8, 0xff};
  ASSERT_TRUE(buffer.as<Buffer>()->write(0, std::as_bytes(std::span(bytes))).ok());
  auto loadValue = [&](uint64_t offset, int32_t width) {
    return call("buffer.load", "rIi_I", "rIi_I", {buffer, Value::i64(offset), Value::i32(width)});
  };
  EXPECT_EQ(loadValue(0, 8)->asI64(), 0x0807060504030201);
  EXPECT_EQ(loadValue(1, 4)->asI64(), 0x05040302);
  EXPECT_EQ(loadValue(6, 2)->asI64(), 0x0807);
  EXPECT_EQ(loadValue(8, 1)->asI64(), 0xff);
  EXPECT_FALSE(loadValue(9, 8).ok());
  EXPECT_FALSE(loadValue(~uint64_t(0), 1).ok());
  EXPECT_TRUE(contains(loadValue(0, 3).status(), "a value of 3 bytes cannot be loaded"));
  EXPECT_FALSE(call("buffer.allocate", "riI_r", "riI_r", {deviceValue(), Value::i32(7), Value::i64(4)}).ok());
  EXPECT_FALSE(call("buffer.allocate", "riI_r", "riI_r", {deviceValue(), Value::i32(0), Value::i64(-1)}).ok());
}

TEST_P(HalModuleTest, memoryOfQueuesAndOtherDevices) {
  auto allocateOrdered = [&](int32_t usage) {
    return call("device.queue.alloca", "rriI_r", "rriI_r",
                {deviceValue(), Value(hal::Fence::signaled()), Value::i32(usage), Value::i64(16)});
  };
  Value buffer = must(allocateOrdered(1));
  ASSERT_NE(buffer.as<Buffer>(), nullptr);
  EXPECT_EQ(buffer.as<Buffer>()->usage(), hal::BufferUsage::Transient);
  EXPECT_TRUE(contains(allocateOrdered(2).status(), "there is no buffer usage 2"));
  std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_TRUE(buffer.as<Buffer>()->write(4, std::as_bytes(std::span(bytes))).ok());
  auto transfer = [&](uint64_t offset, uint64_t length) {
    return call("buffer.transfer", "rrII_r", "rrII_r",
                {deviceValue(), buffer, Value::i64(int64_t(offset)), Value::i64(int64_t(length))});
  };
  Value moved = must(transfer(4, 8));
  ASSERT_EQ(moved.as<Buffer>()->byteLength(), 8u);
  std::vector<uint8_t> seen(8);
  ASSERT_TRUE(moved.as<Buffer>()->read(0, std::as_writable_bytes(std::span(seen))).ok());
  EXPECT_EQ(seen, bytes);
  EXPECT_FALSE(transfer(12, 8).ok());
  EXPECT_FALSE(transfer(~uint64_t(0), 8).ok());

  Value commands = must(call("command_buffer.create", "rii_r", "rii_r", {deviceValue(), Value::i32(0), Value::i32(0)}));
  ASSERT_TRUE(call("command_buffer.finalize", "r_", "r_", {commands}).ok());
  auto execute = [&](int64_t queues) {
    return call("device.queue.execute", "rIrr(rII)*_r", "rIrr_r",
                {deviceValue(), Value::i64(queues), Value(), commands});
  };
  Value done = must(execute(2));
  auto endTurn = [&](const Value &inFlight, const Value &submitted) {
    return call("device.end_turn", "rrrr_r", "rrrr_r", {deviceValue(), inFlight, submitted, buffer});
  };
  EXPECT_EQ(must(endTurn(Value(), done)).as<hal::Fence>() != nullptr, device->queueCount() > 0);
  EXPECT_TRUE(must(endTurn(done, done)).as<hal::Fence>()->wait().ok());
  EXPECT_FALSE(endTurn(done, Value()).ok());
  EXPECT_TRUE(contains(execute(0).status(), "would never run"));
}

TEST_P(HalModuleTest, constantsOutliveTheModule) {
  schema::ModuleDesc desc = testing::emptyDesc();
  testing::addHalImports(desc);
  desc.rodata.push_back({"c", schema::Bytes::own(std::string(64, 'x') + "constant")});
  CodeBuilder code;
  code.callImport(static_cast<uint32_t>(testing::HalImport::DeviceGet), {Register::value(2)}, {Register::ref(0)});
  code.emit(schema::Opcode::ConstRodata, {1, 0});
  code.callImport(static_cast<uint32_t>(testing::HalImport::BufferConstant),
                  {Register::ref(0), Register::ref(1), Register::value(0), Register::value(1)}, {Register::ref(2)});
  code.ret({Register::ref(2)});
  testing::addFunction(desc, "f", "II_r", 3, 3, std::move(code));
  auto session = load(desc);
  ASSERT_TRUE(session.ok()) << session.status().toString();
  Function function = *(*session)->lookup("f");
  Value result;
  for (auto [offset, length] : {std::pair(uint64_t(72), uint64_t(1)), std::pair(~uint64_t(0), uint64_t(2))}) {
    Value arguments[] = {Value::i64(offset), Value::i64(length)};
    Status status = (*session)->call(function, arguments, {&result, 1});
    EXPECT_EQ(status.code(), StatusCode::OutOfRange) << status.toString();
  }
  Value arguments[] = {Value::i64(64), Value::i64(8)};
  Status status = (*session)->call(function, arguments, {&result, 1});
  ASSERT_TRUE(status.ok()) << status.toString();
  session->reset();
  std::string text(8, 0);
  ASSERT_TRUE(result.as<Buffer>()->read(0, std::as_writable_bytes(std::span(text))).ok());
  EXPECT_EQ(text, "constant");
  EXPECT_FALSE(result.as<Buffer>()->write(0, std::as_bytes(std::span(text))).ok()) << "constants are read-only";
}

TEST_P(HalModuleTest, views) {
  Value buffer = allocate(64);
  auto create = [&](uint64_t offset, uint64_t length, int32_t type, const std::vector<int64_t> &shape) {
    std::vector<Value> arguments = {buffer, Value::i64(offset), Value::i64(length), Value::i32(type)};
    for (int64_t extent : shape)
      arguments.push_back(Value::i64(extent));
    return call("buffer_view.create", "rIIiI*_r", "rIIi" + std::string(shape.size(), 'I') + "_r", arguments);
  };
  Value created = must(create(16, 24, 16, {2, 3}));
  ASSERT_NE(created.as<BufferView>(), nullptr);
  EXPECT_EQ(created.as<BufferView>()->typeText(), "2x3xf32");
  EXPECT_EQ(must(call("buffer_view.dim", "ri_I", "ri_I", {created, Value::i32(1)})).asI64(), 3);
  Status status = call("buffer_view.dim", "ri_I", "ri_I", {created, Value::i32(2)}).status();
  EXPECT_TRUE(contains(status, "a 2x3xf32 has no dimension 2")) << status.toString();
  Value inner = must(call("buffer_view.buffer", "r_r", "r_r", {created}));
  EXPECT_EQ(inner.as<Buffer>()->byteLength(), 24u);
  EXPECT_EQ(inner.as<Buffer>()->allocation(), buffer.as<Buffer>());
  EXPECT_FALSE(create(0, 20, 16, {2, 3}).ok()) << "too short";
  EXPECT_FALSE(create(60, 24, 16, {2, 3}).ok()) << "outside of the buffer";
  EXPECT_FALSE(create(0, 24, 16, {-1, 3}).ok());
  EXPECT_FALSE(create(0, 24, 99, {2, 3}).ok());
  EXPECT_FALSE(create(0, 4, 16, std::vector<int64_t>(33, 1)).ok());
}

TEST_P(HalModuleTest, assertTellsWhatDiffers) {
  Ref<Rodata> label = makeRef<Rodata>("input0", nullptr);
  auto check = [&](const Value &given, int32_t type, const std::vector<int64_t> &shape) {
    std::vector<Value> arguments = {given, Value(label), Value::i32(type)};
    for (int64_t extent : shape)
      arguments.push_back(Value::i64(extent));
    Status status =
        call("buffer_view.assert", "rriI*_", "rri" + std::string(shape.size(), 'I') + "_", arguments).status();
    return status.ok() ? "ok" : std::string(status.message().substr(0, status.message().find('\n')));
  };
  EXPECT_EQ(check(view(ElementType::F32, {4}), 16, {4}), "ok");
  EXPECT_EQ(check(view(ElementType::F32, {4, 7}), 16, {4, -1}), "ok");
  EXPECT_EQ(check(view(ElementType::F32, {}), 16, {}), "ok");
  EXPECT_EQ(check(view(ElementType::F32, {3}), 16, {4}), "input0: expected 4xf32, got 3xf32 (dimension 0 is 3, not 4)");
  EXPECT_EQ(check(view(ElementType::I32, {4}), 16, {4}),
            "input0: expected 4xf32, got 4xi32 (the element type is i32, not f32)");
  EXPECT_EQ(check(view(ElementType::F32, {4}), 16, {4, -1}),
            "input0: expected 4x?xf32, got 4xf32 (the rank is 1, not 2)");
  EXPECT_EQ(check(view(ElementType::F64, {5, 9}), 16, {4, -1}),
            "input0: expected 4x?xf32, got 5x9xf64 (the element type is f64, not f32; dimension 0 is 5, not 4)");
  EXPECT_EQ(check(view(ElementType::F32, {}), 16, {1}), "input0: expected 1xf32, got f32 (the rank is 0, not 1)");
  EXPECT_EQ(check(Value(), 16, {4}), "argument 0 is null; a hal.buffer_view is needed");
  EXPECT_EQ(check(allocate(4), 16, {4}), "argument 0 is hal.buffer; a hal.buffer_view is needed");
}

TEST_P(HalModuleTest, viewsAreGivenAwayOnce) {
  Ref<Rodata> label = makeRef<Rodata>("input1", nullptr);
  auto message = [](const Status &status) {
    return status.ok() ? "ok" : std::string(status.message().substr(0, status.message().find('\n')));
  };
  auto donate = [&](const Value &given, const std::vector<Value> &others) {
    std::vector<Value> arguments = {given, Value(label)};
    arguments.insert(arguments.end(), others.begin(), others.end());
    return message(
        call("buffer_view.donate", "rrr*_", "rr" + std::string(others.size(), 'r') + "_", arguments).status());
  };
  auto check = [&](const Value &given) {
    return message(
        call("buffer_view.assert", "rriI*_", "rriI_", {given, Value(label), Value::i32(16), Value::i64(4)}).status());
  };
  Value buffer = allocate(48);
  auto part = [&](int64_t offset) {
    return must(call("buffer_view.create", "rIIiI*_r", "rIIiI_r",
                     {buffer, Value::i64(offset), Value::i64(16), Value::i32(16), Value::i64(4)}));
  };
  Value first = part(0), overlapping = part(8), behind = part(16);
  EXPECT_EQ(donate(first, {behind, overlapping}),
            "input1: it is given away to be updated, and another argument has the same memory");
  EXPECT_EQ(donate(first, {first}), "input1: it is given away to be updated, and another argument has the same memory");
  EXPECT_EQ(check(first), "ok") << "what was refused is still the caller's";
  EXPECT_EQ(donate(first, {behind}), "ok");
  EXPECT_EQ(donate(first, {}), "input1: its memory was given away to an earlier call");
  EXPECT_EQ(check(first), "input1: its memory was given away to an earlier call");
  EXPECT_EQ(check(behind), "ok");
  EXPECT_EQ(donate(behind, {buffer}), "view 0 of a donation is a hal.buffer; a hal.buffer_view is needed");
  behind.as<BufferView>()->buffer()->seal();
  EXPECT_EQ(donate(behind, {}), "input1: it is given away to be updated, but its memory may only be read");
}

TEST_P(HalModuleTest, commandsAndFences) {
  auto create = [&](int32_t mode, int32_t slots) {
    return call("command_buffer.create", "rii_r", "rii_r", {deviceValue(), Value::i32(mode), Value::i32(slots)});
  };
  EXPECT_FALSE(create(2, 1).ok());
  EXPECT_FALSE(create(0, -1).ok());
  Value commands = must(create(0, 2));
  auto fill = [&](uint64_t offset, uint64_t length, int32_t width) {
    return call(
        "command_buffer.fill", "riIIIi_", "riIIIi_",
        {commands, Value::i32(0), Value::i64(offset), Value::i64(length), Value::i64(0x11223344), Value::i32(width)});
  };
  must(fill(4, 8, 4));
  must(call("command_buffer.barrier", "r_", "r_", {commands}));
  must(call("command_buffer.copy", "riIiII_", "riIiII_",
            {commands, Value::i32(0), Value::i64(4), Value::i32(1), Value::i64(0), Value::i64(4)}));
  must(call("command_buffer.finalize", "r_", "r_", {commands}));
  EXPECT_FALSE(fill(0, 4, 4).ok()) << "finalized";

  Value source = allocate(16), target = allocate(4);
  auto execute = [&](std::vector<Value> arguments) {
    std::vector<Value> all = {deviceValue(), Value(), commands};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return call("device.execute", "rrr(rII)*_r", arguments.size() == 3 ? "rrrrII_r" : "rrrrIIrII_r", all);
  };
  Value fence = must(execute({source, Value::i64(0), Value::i64(16), target, Value::i64(0), Value::i64(4)}));
  ASSERT_NE(fence.as<hal::Fence>(), nullptr);
  Value joined = must(call("fence.join", "r*_r", "rrr_r", {fence, Value(), fence}));
  must(call("fence.await", "r_", "r_", {joined}));
  must(call("fence.await", "r_", "r_", {Value()}));
  EXPECT_EQ(must(call("buffer.load", "rIi_I", "rIi_I", {target, Value::i64(0), Value::i32(4)})).asI64(), 0x11223344);

  EXPECT_FALSE(execute({source, Value::i64(0), Value::i64(16)}).ok()) << "a slot is missing";
  EXPECT_FALSE(execute({source, Value::i64(8), Value::i64(16), target, Value::i64(0), Value::i64(4)}).ok());
  EXPECT_FALSE(execute({source, Value::i64(0), Value::i64(16), Value(), Value::i64(0), Value::i64(4)}).ok());
  Status status = execute({source, Value::i64(0), Value::i64(16), fence, Value::i64(0), Value::i64(4)}).status();
  EXPECT_TRUE(contains(status, "slot 1 of the binding table is a hal.fence; a hal.buffer is needed"));
  status = call("fence.join", "r*_r", "rr_r", {fence, source}).status();
  EXPECT_TRUE(contains(status, "entry 1 of a join is a hal.buffer"));
}

TEST_P(HalModuleTest, failedWorkFailsTheAwait) {
  Value fence(hal::Fence::failed(dataLoss("the device is gone")));
  Status status = call("fence.await", "r_", "r_", {fence}).status();
  EXPECT_EQ(status.code(), StatusCode::DataLoss);
  EXPECT_TRUE(contains(status, "the device is gone"));
}

TEST_P(HalModuleTest, runsPrograms) {
  for (uint64_t count : {1, 5}) {
    auto session = load(testing::absDesc({{count}}));
    ASSERT_TRUE(session.ok()) << session.status().toString();
    Function function = *(*session)->lookup("abs");
    std::vector<float> numbers(count, -2.5f), expected(count, 2.5f);
    for (int i = 0; i < 3; ++i) {
      Value arguments[] = {floats(numbers)};
      Value results[1];
      Status status = (*session)->call(function, arguments, results);
      ASSERT_TRUE(status.ok()) << status.toString();
      ASSERT_NE(results[0].as<BufferView>(), nullptr);
      EXPECT_EQ(results[0].as<BufferView>()->typeText(), fmt::format("{}xf32", count));
      if (std::string_view(GetParam()) != "null") {
        EXPECT_EQ(toFloats(results[0]), expected);
      }
    }
    Value arguments[] = {floats(std::vector<float>(count + 1))};
    Value results[1];
    Status status = (*session)->call(function, arguments, results);
    EXPECT_EQ(status.message(), fmt::format("input0: expected {0}xf32, got {1}xf32 (dimension 0 is {1}, not {0})\n"
                                            "  at native function hal.buffer_view.assert\n  at @abs+21 of module 'abs'",
                                            count, count + 1));
  }
}

TEST_P(HalModuleTest, failingDispatches) {
  if (std::string_view(GetParam()) == "null")
    GTEST_SKIP() << "the null device runs no dispatch";
  auto session = load(testing::absDesc({{4}}, 1));
  ASSERT_TRUE(session.ok()) << session.status().toString();
  Value arguments[] = {floats({1, 2, 3, 4})};
  Value results[1];
  Status status = (*session)->call(*(*session)->lookup("abs"), arguments, results);
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(contains(status, "abs_dispatch_1_failing")) << status.toString();
  EXPECT_TRUE(contains(status, "42")) << status.toString();
  EXPECT_TRUE(contains(status, "at @abs+")) << status.toString();
}

TEST_P(HalModuleTest, picksAVariantThatTheDeviceRuns) {
  if (std::string_view(GetParam()) == "null")
    GTEST_SKIP() << "the null device takes every variant";
  schema::ModuleDesc desc = testing::absDesc({{4}});
  std::vector<schema::VariantDesc> &variants = desc.executables[0].variants;
  schema::VariantDesc foreign = variants[0], demanding = variants[0];
  foreign.target = "cuda";
  foreign.format = "ptx";
  demanding.cpu = "imaginary";
  demanding.cpuFeatures = "+amx-of-the-future";
  variants.insert(variants.begin(), {foreign, demanding});
  EXPECT_TRUE(load(desc).ok()) << load(desc).status().toString();
  variants.pop_back();
  Status status = load(desc).status();
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(contains(status, fmt::format("device '{}' can run no variant of executable 'abs_linked'", GetParam())))
      << status.toString();
  EXPECT_TRUE(contains(status, "cuda (ptx): ")) << status.toString();
  EXPECT_TRUE(contains(status, "amx-of-the-future")) << status.toString();
  variants.clear();
  EXPECT_TRUE(contains(load(desc).status(), "which has none")) << load(desc).status().toString();
}

INSTANTIATE_TEST_SUITE_P(Devices, HalModuleTest, ::testing::Values("null", "local-sync", "local-task", "discrete"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

} // namespace
} // namespace kiln::vm
