#include "kiln/runtime/module/module.h"

#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "gtest/gtest.h"

#include "kiln/runtime/module/instruction.h"
#include "kiln/runtime/module/test_module.h"

namespace kiln::vm {
namespace {

using schema::ContainerHeader;
using schema::SectionEntry;

std::string richBytes() {
  return *schema::writeModuleToString(testing::richDesc());
}

bool contains(const Status &status, std::string_view text) {
  return status.message().find(text) != std::string_view::npos;
}

TEST(Module, showsWhatItHolds) {
  Result<Ref<Module>> loaded = testing::loadBytes(richBytes());
  ASSERT_TRUE(loaded.ok()) << loaded.status().toString();
  const Module &module = **loaded;
  EXPECT_TRUE(module.verified());
  EXPECT_EQ(module.name(), "rich");
  EXPECT_EQ(module.producer(), "kiln test");
  ASSERT_EQ(module.functions().size(), 5u);
  EXPECT_EQ(module.functions()[2].name, "imported");
  EXPECT_EQ(module.functions()[2].valueArguments, 1u);
  EXPECT_EQ(module.functions()[2].valueScratch, 4u) << "three arguments and a result of the import";
  ASSERT_EQ(module.exports().size(), 4u);
  EXPECT_EQ(module.findExport("imported")->attribute("kiln.abi.declaration"),
            "sync func @imported(%a: i64) -> (%b: i64)");
  EXPECT_EQ(module.findExport("imported")->attribute("other"), "");
  EXPECT_EQ(module.findExport("nothing"), nullptr);
  EXPECT_EQ(module.imports()[0].signature.repeated, "I");
  ASSERT_EQ(module.rodata().size(), 2u);
  EXPECT_EQ(module.rodata()[0].bytes, "went wrong");
  EXPECT_EQ(module.rodata()[1].bytes.size(), 400u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(module.rodata()[1].bytes.data()) % 64, 0u);
  ASSERT_EQ(module.executables().size(), 1u);
  const VariantInfo &variant = module.executables()[0].variants[1];
  EXPECT_EQ(variant.target, "other");
  EXPECT_EQ(variant.cpuFeatures, "+avx512f,+fma");
  EXPECT_EQ(variant.exports[0].name, "dispatch_0_matmul");
  EXPECT_EQ(variant.exports[0].bindingCount, 3u);
  using enum hal::MemoryAccess;
  EXPECT_EQ(variant.exports[0].access, (std::vector<hal::MemoryAccess>{Read, ReadWrite, Write}));
  EXPECT_EQ(variant.bytes, "not really an ELF");
  EXPECT_EQ(module.attributes()[0].value, "rich.mlir");
  EXPECT_EQ(module.initializer(), 0);
  EXPECT_EQ(module.valueGlobals(), 2u);
}

TEST(Module, takesEarlierMinorVersionsOnly) {
  schema::ModuleDesc desc = testing::richDesc();
  auto load = [&](schema::Version version) {
    desc.requirements = {{"vm", version}};
    return testing::loadDesc(desc).status();
  };
  auto [major, minor] = schema::kVmVersion;
  for (uint32_t earlier = 0; earlier <= minor; ++earlier)
    EXPECT_TRUE(load({major, earlier}).ok());
  Status newer = load({major, minor + 1});
  EXPECT_EQ(newer.code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(contains(newer, fmt::format("'test.vmfb' was compiled by kiln test for version {}.{} of vm; this runtime "
                                          "has {}.{}: run it with a newer runtime",
                                          major, minor + 1, major, minor)))
      << newer.toString();
  Status later = load({major + 1, 0}), earlier = load({major - 1, 9});
  EXPECT_EQ(later.code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(contains(later, "run it with a newer runtime")) << later.toString();
  EXPECT_EQ(earlier.code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(contains(earlier, "run it with an older runtime")) << earlier.toString();
}

// What a newer version calls well-formed looks damaged here; its version is what is told.
TEST(Module, saysThatItIsNewerBeforeThatItIsDamaged) {
  schema::ModuleDesc desc = testing::richDesc();
  desc.functions[0].code[0] = 0xFFF0;
  desc.requirements = {{"vm", {1, 77}}};
  EXPECT_TRUE(contains(testing::loadDesc(desc).status(), "version 1.77 of vm"));
}

TEST(Module, disassembles) {
  Result<Ref<Module>> module = testing::loadBytes(richBytes());
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(functionText(**module, (*module)->functions()[2]), "     0: v1 = const 2\n"
                                                               "     6: v0 = call.import @host.sum(v1, v0, v0)\n"
                                                               "    14: v0 = call @sum(v0)\n"
                                                               "    20: r0 = global.load.ref global.r0\n"
                                                               "    23: return v0, r0\n");
  EXPECT_EQ(functionText(**module, (*module)->functions()[1]), "     0: v3 = const 1\n"
                                                               "     6: br 10\n"
                                                               "    10: v4 = cmp.lt.s.i64 v1, v0\n"
                                                               "    14: cond_br v4, 22, 38\n"
                                                               "    22: v5 = add.i64 v2, v1\n"
                                                               "    26: v6 = add.i64 v1, v3\n"
                                                               "    30: br 10 (v5 -> v2, v6 -> v1)\n"
                                                               "    38: return v2\n");
  EXPECT_EQ(functionText(**module, (*module)->functions()[3]), "     0: v0 = const 11\n"
                                                               "     6: fail v0, $message\n");
}

class ModuleFile : public ::testing::Test {
protected:
  void SetUp() override { path = fmt::format("{}kiln_module_test_{}", ::testing::TempDir(), getpid()); }
  void TearDown() override { unlink(path.c_str()); }
  void write(std::string_view bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  std::string path;
};

TEST_F(ModuleFile, loads) {
  write(richBytes());
  Result<Ref<Module>> module = Module::loadFile(path);
  ASSERT_TRUE(module.ok()) << module.status().toString();
  EXPECT_EQ((*module)->fileName(), path);
}

TEST_F(ModuleFile, errorsNameTheFile) {
  EXPECT_EQ(Module::loadFile("no/such/file").status().toString(),
            "NOT_FOUND: cannot load module: cannot open 'no/such/file': No such file or directory");
  EXPECT_EQ(Module::loadFile(".").status().message(), "cannot load module: cannot read '.': Is a directory");
  write("");
  EXPECT_EQ(Module::loadFile(path).status().message(), "module '" + path + "' is empty");
  write("func.func @abs(%input : tensor<f32>) -> (tensor<f32>)");
  EXPECT_EQ(Module::loadFile(path).status().message(),
            "'" + path + "' is not a Kiln module: it does not start with the bytes of one");
  std::string bytes = richBytes();
  write(bytes.substr(0, 20));
  EXPECT_EQ(Module::loadFile(path).status().message(),
            "module '" + path + "' is damaged: it is truncated to 20 bytes, less than its header");
  write(bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(
      Module::loadFile(path).status().message(),
      fmt::format("module '{}' is damaged: it is truncated: {} bytes of {}", path, bytes.size() - 1, bytes.size()));
  write(bytes + "x");
  EXPECT_TRUE(contains(Module::loadFile(path).status(), "1 bytes follow its end"));
}

TEST_F(ModuleFile, readsPipes) {
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string bytes = richBytes();
  std::thread writer([&] { write(bytes); });
  Result<Ref<Module>> module = Module::loadFile(path);
  writer.join();
  ASSERT_TRUE(module.ok()) << module.status().toString();
  EXPECT_EQ((*module)->file().file->bytes(), bytes);
}

// Sections and what lies in them are found with 64-bit numbers. The file is sparse, and most of it is never read.
TEST_F(ModuleFile, constantsBeyondFourGiB) {
  constexpr uint64_t kLarge = (uint64_t(4) << 30) + 64;
  schema::ModuleDesc desc = testing::richDesc();
  desc.rodata.push_back({"large", schema::Bytes::own(std::string(4096, '\0'), kLarge / 4096 + 1)});
  desc.rodata.push_back({"after", schema::Bytes::own("after")});
  int file = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  Status status = schema::writeModule(desc, [&](std::string_view bytes) {
    bool zero = bytes.find_first_not_of('\0') == std::string_view::npos;
    bool done = zero ? lseek(file, static_cast<off_t>(bytes.size()), SEEK_CUR) >= 0
                     : ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    return done ? okStatus() : errnoStatus(errno, "cannot write");
  });
  close(file);
  ASSERT_TRUE(status.ok()) << status.toString();
  Result<Ref<Module>> module = Module::loadFile(path);
  ASSERT_TRUE(module.ok()) << module.status().toString();
  ASSERT_EQ((*module)->rodata().size(), 4u);
  EXPECT_GT((*module)->rodata()[2].bytes.size(), kLarge);
  EXPECT_EQ((*module)->rodata()[2].bytes.back(), '\0');
  EXPECT_GT((*module)->rodata()[3].offset, kLarge);
  EXPECT_EQ((*module)->rodata()[3].bytes, "after");
  // The executable's section lies behind it.
  EXPECT_EQ((*module)->executables()[0].variants[0].bytes, "not really an ELF");
}

TEST(ModuleMemory, releasesOnce) {
  std::string bytes = richBytes();
  for (size_t shift : {0, 1}) {
    // An aligned and an unaligned copy.
    auto *memory = static_cast<char *>(std::aligned_alloc(64, (bytes.size() / 64 + 2) * 64));
    std::copy(bytes.begin(), bytes.end(), memory + shift);
    int released = 0;
    {
      Result<Ref<Module>> module = Module::loadMemory({memory + shift, bytes.size()}, [&] { ++released; }, "memory");
      ASSERT_TRUE(module.ok());
      EXPECT_EQ(released, shift == 0 ? 0 : 1) << "an unaligned module is copied";
      EXPECT_EQ((*module)->rodata()[0].bytes, "went wrong");
    }
    EXPECT_EQ(released, 1);
    EXPECT_FALSE(Module::loadMemory({memory + shift, 100}, [&] { ++released; }, "memory").ok());
    EXPECT_EQ(released, 2) << "also where loading fails";
    std::free(memory);
  }
}

TEST(ModuleDamage, saysWhatIsDamaged) {
  std::string bytes = richBytes();
  std::vector<SectionEntry> sections(5);
  std::memcpy(sections.data(), bytes.data() + sizeof(ContainerHeader), 5 * sizeof(SectionEntry));
  auto flipped = [&](size_t position) {
    std::string copy = bytes;
    copy[position] ^= 1;
    return testing::loadBytes(copy).status();
  };
  EXPECT_TRUE(contains(flipped(8), "has format version 0; this runtime reads version 1")) << flipped(8).toString();
  EXPECT_TRUE(contains(flipped(24), "the checksum of its header and section table")) << flipped(24).toString();
  EXPECT_TRUE(contains(flipped(48), "the checksum of its header and section table"));
  EXPECT_TRUE(contains(flipped(sections[0].offset + 50), "the checksum of section 0 (metadata"));
  EXPECT_TRUE(contains(flipped(sections[1].offset + 2), "the checksum of section 1 (code"));
  EXPECT_TRUE(contains(flipped(sections[3].offset + 2), "the checksum of section 3 (executable"));
  EXPECT_TRUE(contains(flipped(sections[1].offset - 1), "the padding before section 1 (code)"));
  EXPECT_TRUE(contains(flipped(sections[2].offset + 2), "the checksum of section 2 (constants"));
}

TEST(ModuleDamage, accessIsThatOfEachBinding) {
  auto load = [](std::vector<uint8_t> access) {
    schema::ModuleDesc desc = testing::richDesc();
    desc.executables[0].variants[0].exports[0].access = std::move(access);
    return testing::loadBytes(*schema::writeModuleToString(desc)).status();
  };
  EXPECT_TRUE(load({}).ok());
  EXPECT_TRUE(load({1, 2, 3}).ok());
  EXPECT_TRUE(contains(load({1, 2}), "dispatch 'dispatch_0_matmul' has 3 bindings, and access for 2"));
  for (uint8_t access : {0, 4, 255})
    EXPECT_TRUE(contains(load({1, access, 2}),
                         fmt::format("dispatch 'dispatch_0_matmul' has a binding with the access {}", access)));
}

TEST(ModuleDamage, saysTruncationOnce) {
  std::string bytes = richBytes();
  const uint64_t whole = bytes.size();
  bytes.resize(sizeof(ContainerHeader) + 4 * sizeof(SectionEntry));
  std::vector<Status> problems;
  Container container = readContainer("cut", borrowFileBytes(bytes, {}), problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message(),
            fmt::format("module 'cut' is damaged: it is truncated: {} bytes of {}", bytes.size(), whole));
  for (const SectionInfo &section : container.sections)
    EXPECT_FALSE(section.status.ok());
}

TEST(ModuleDamage, inspectGoesOn) {
  std::string bytes = richBytes();
  SectionEntry code;
  std::memcpy(&code, bytes.data() + sizeof(ContainerHeader) + sizeof(SectionEntry), sizeof(code));
  bytes[code.offset + 1] ^= 0x40; // an opcode that does not exist in the first function
  std::vector<Status> problems;
  Container container = readContainer("damaged", borrowFileBytes(bytes, {}), problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_FALSE(container.sections[1].status.ok());
  EXPECT_TRUE(container.sections[0].status.ok());
  Ref<Module> module = Module::inspect(std::move(container), problems);
  ASSERT_TRUE(module);
  EXPECT_FALSE(module->verified());
  EXPECT_EQ(problems.size(), 2u);
  EXPECT_FALSE(module->functions()[0].status.ok());
  EXPECT_TRUE(module->functions()[1].status.ok());
  EXPECT_TRUE(functionText(*module, module->functions()[0]).starts_with("     0: <there is no opcode 16385> 4001"));
}

} // namespace
} // namespace kiln::vm
