// Programs whose module file changes while they are in use: between calls, and during one.
#include "gtest/gtest.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

#include "kiln/base/file.h"
#include "kiln/base/watched_pages.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/session.h"
#include "kiln/runtime/vm/testing/abs_program.h"
#include "kiln/targets/drivers.h"

namespace kiln::vm {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kElements = uint64_t(4) << 20; // 16 MiB: they are mapped

bool contains(const Status &status, std::string_view text) {
  return status.message().find(text) != std::string_view::npos;
}

// A device, and a function that reads the constant: by a kernel, by workers that copy, or on the calling thread.
class ChangedFile : public ::testing::TestWithParam<std::tuple<const char *, const char *>> {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kiln-changed-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    path = folder / "weights.vmfb";
    ASSERT_TRUE(installPageLossHandler().ok());
    hal::registerDrivers(registry);
    hal::DeviceOptions options;
    options.task.workerCount = 4;
    Result<Ref<hal::Device>> opened = registry.createDevice(std::get<0>(GetParam()), options);
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    device = *opened;
    write();
  }
  void TearDown() override { fs::remove_all(folder); }

  void write() const {
    ASSERT_TRUE(writeFile(path, *schema::writeModuleToString(testing::constantDesc(kElements, "host.during"))).ok());
  }
  // Each of these is one way to change the file.
  void truncate() const { fs::resize_file(path, 64 * 1024); }
  void overwrite() const {
    std::string zeros(fs::file_size(path), '\0');
    std::ofstream(path, std::ios::in | std::ios::binary).write(zeros.data(), std::streamsize(zeros.size()));
  }

  Result<std::unique_ptr<Session>> open() {
    KILN_ASSIGN_OR_RETURN(Ref<Module> module, Module::loadFile(path));
    Ref<NativeModule> host = makeRef<NativeModule>("host");
    KILN_RETURN_IF_ERROR(host->add("during", "_", callDuring, this));
    KILN_ASSIGN_OR_RETURN(Ref<NativeModule> hal, createHalModule({device}));
    return Session::create({module}, {hal, host});
  }
  static Status callDuring(void *context, NativeCall &) {
    if (auto event = std::exchange(static_cast<ChangedFile *>(context)->during, nullptr))
      event();
    return okStatus();
  }

  // The status of a call whose result, where there is one, is right.
  Status call(Session &session) {
    std::string_view name = std::get<1>(GetParam());
    Value result;
    KILN_RETURN_IF_ERROR(session.call(*session.lookup(name), {}, {&result, 1}));
    constexpr float kLast = float((kElements - 1) % 1000 + 1);
    if (name == "constant_load") {
      EXPECT_EQ(std::bit_cast<float>(uint32_t(result.bits())), -float(kElements / 2 % 1000 + 1));
      return okStatus();
    }
    std::vector<float> values(kElements);
    KILN_RETURN_IF_ERROR(result.as<hal::BufferView>()->buffer()->read(0, std::as_writable_bytes(std::span(values))));
    float sign = name == "constant_abs" ? 1 : -1;
    EXPECT_EQ(values.front(), sign);
    EXPECT_EQ(values.back(), sign * kLast);
    return okStatus();
  }
  void expectLost(const Status &status) const {
    EXPECT_EQ(status.code(), StatusCode::DataLoss) << status.toString();
    EXPECT_TRUE(contains(status, "constants of module '" + path + "' cannot be read")) << status.toString();
  }
  void expectChanged(const Status &status) const {
    EXPECT_EQ(status.code(), StatusCode::FailedPrecondition) << status.toString();
    EXPECT_TRUE(contains(status, "'" + path + "'")) << status.toString();
  }

  fs::path folder;
  std::string path;
  hal::DriverRegistry registry;
  Ref<hal::Device> device;
  std::function<void()> during;
};

TEST_P(ChangedFile, BetweenCallsFailsTheNextOne) {
  for (const std::function<void()> &change :
       {std::function<void()>([&] { truncate(); }), std::function<void()>([&] { overwrite(); }),
        std::function<void()>([&] { write(); })}) {
    write();
    auto session = open();
    ASSERT_TRUE(session.ok()) << session.status().toString();
    ASSERT_TRUE(call(**session).ok()) << call(**session).toString();
    change();
    expectChanged(call(**session));
    expectChanged(call(**session));
  }
  write();
  auto session = open();
  ASSERT_TRUE(session.ok()) << session.status().toString();
  EXPECT_TRUE(call(**session).ok()) << "what was loaded again runs";
  fs::remove(path);
  EXPECT_TRUE(call(**session).ok()) << "a file without a name stays what it was";
}

TEST_P(ChangedFile, TruncatedDuringACallFailsIt) {
  auto session = open();
  ASSERT_TRUE(session.ok()) << session.status().toString();
  during = [&] { truncate(); };
  expectLost(call(**session));
  expectLost(call(**session));
  write();
  session = open();
  ASSERT_TRUE(session.ok()) << session.status().toString();
  EXPECT_TRUE(call(**session).ok()) << "losses of another file are nothing to it";
}

TEST_P(ChangedFile, OverwrittenDuringACallFailsIt) {
  auto session = open();
  ASSERT_TRUE(session.ok()) << session.status().toString();
  during = [&] { overwrite(); };
  std::string_view name = std::get<1>(GetParam());
  Value result;
  expectChanged((*session)->call(*(*session)->lookup(name), {}, {&result, 1}));
}

TEST_P(ChangedFile, ReplacedDuringACallFailsTheNextOne) {
  auto session = open();
  ASSERT_TRUE(session.ok()) << session.status().toString();
  during = [&] { write(); };
  Status status = call(**session);
  EXPECT_TRUE(status.ok()) << status.toString();
  expectChanged(call(**session));
}

TEST_P(ChangedFile, BetweenLoadingAndInstantiating) {
  Result<Ref<Module>> module = Module::loadFile(path);
  ASSERT_TRUE(module.ok());
  overwrite();
  Ref<NativeModule> host = makeRef<NativeModule>("host");
  ASSERT_TRUE(host->add("during", "_", callDuring, this).ok());
  expectChanged(Session::create({*module}, {*createHalModule({device}), host}).status());
}

INSTANTIATE_TEST_SUITE_P(Devices, ChangedFile,
                         ::testing::Combine(::testing::Values("local-sync", "local-task", "discrete"),
                                            ::testing::Values("constant_abs", "constant_copy", "constant_load")),
                         [](const auto &info) {
                           std::string name = std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Where a device cannot use the memory of a constant in place, it copies: the copy must be of the contents.
TEST(ChangedFileOnImport, CopiesOfLostConstantsFail) {
  ASSERT_TRUE(installPageLossHandler().ok());
  std::string pattern = (fs::temp_directory_path() / "kiln-changed-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  std::string path = pattern + "/m.vmfb";
  ASSERT_TRUE(writeFile(path, *schema::writeModuleToString(testing::constantDesc(kElements))).ok());
  Result<Ref<Module>> module = Module::loadFile(path);
  ASSERT_TRUE(module.ok());
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  Ref<hal::Device> device = *registry.createDevice("local-sync");
  std::string_view bytes = (*module)->rodata()[1].bytes;
  auto import = [&] {
    hal::HostMemory memory;
    memory.data = const_cast<char *>(bytes.data() + 4); // not aligned, and so not in place
    memory.length = bytes.size() - 4;
    memory.access = hal::MemoryAccess::Read;
    memory.checkReadable = [keep = (*module)->file().file] { return keep->checkReadable(); };
    return device->allocator().importHost(std::move(memory)).status();
  };
  EXPECT_TRUE(import().ok());
  fs::resize_file(path, 64 * 1024);
  EXPECT_EQ(import().code(), StatusCode::DataLoss);
  fs::remove_all(pattern);
}

} // namespace
} // namespace kiln::vm
