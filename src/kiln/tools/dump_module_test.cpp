// kiln-dump-module as a process, on modules of the writer.
#include <cstdio>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include "nlohmann/json.hpp"
#include "gtest/gtest.h"

#include "kiln/runtime/module/test_module.h"
#include "kiln/schema/container.h"

namespace kiln {
namespace {

struct Outcome {
  int code;
  std::string text; // standard output and standard error
};

class DumpModule : public ::testing::Test {
protected:
  void SetUp() override {
    path = fmt::format("{}kiln_dump_module_test_{}", ::testing::TempDir(), getpid());
    bytes = *schema::writeModuleToString(vm::testing::richDesc());
    write(bytes);
  }
  void TearDown() override { unlink(path.c_str()); }

  void write(const std::string &contents) { std::ofstream(path, std::ios::binary) << contents; }
  Outcome run(const std::string &arguments, const std::string &redirect = "2>&1") {
    Outcome outcome{-1, {}};
    // NOLINTNEXTLINE(bugprone-command-processor): a shell is what redirects
    FILE *pipe = popen(fmt::format("{} {} {}", KILN_DUMP_MODULE, arguments, redirect).c_str(), "r");
    char buffer[4096];
    while (size_t count = std::fread(buffer, 1, sizeof(buffer), pipe))
      outcome.text.append(buffer, count);
    outcome.code = WEXITSTATUS(pclose(pipe));
    return outcome;
  }
  void expectLines(const Outcome &outcome, std::initializer_list<const char *> lines) {
    for (const char *line : lines)
      EXPECT_NE(outcome.text.find(line), std::string::npos) << line << "\nnot in:\n" << outcome.text;
  }

  std::string path, bytes;
};

constexpr const char *kMetadata[] = {
    "  @imported(i64) -> (i64, ref)\n    kiln.abi.declaration: sync func @imported(%a: i64) -> (%b: i64)\n",
    "  @host.sum(i32, i64...) -> (i64)\n",
    "    llvm-cpu, elf-x86_64, 17 B (section 3), made for znver4, features +avx512f,+fma\n",
    "      0: dispatch_0_matmul (3 bindings: r rw w, 1 constants)\n",
    "  $0 message 10 B at byte 0 of section 2: \"went wrong\"\n",
    "  $1 weights 400 B at byte 64 of section 2: 01 02 03 04 01",
    "  globals: 2 values, 1 references\n  initializer: @__init\n",
};

TEST_F(DumpModule, failsOnAFullDisk) {
  Outcome full = run(path, "2>&1 >/dev/full");
  EXPECT_EQ(full.code, 1);
  expectLines(full, {"error: cannot write to standard output: No space left on device"});
}

TEST_F(DumpModule, showsEverything) {
  Outcome all = run(path);
  EXPECT_EQ(all.code, 0);
  expectLines(all, {"format version 1", "   0  metadata    4096 ", "   2  constants ", " ok\n",
                    "Module rich, written by kiln"});
  for (const char *line : kMetadata)
    expectLines(all, {line});
  expectLines(all,
              {"func @sum(i64) -> (i64) { // 7 value and 0 reference registers, 41 units\n     0: v3 = const 1\n"});
}

TEST_F(DumpModule, showsParts) {
  Outcome metadata = run("--output=metadata " + path);
  for (const char *line : kMetadata)
    expectLines(metadata, {line});
  EXPECT_EQ(metadata.text.find("func @sum"), std::string::npos);
  Outcome code = run("--output=disassembly - < " + path);
  EXPECT_EQ(code.text.find("func @__init() -> () {"), 0u) << code.text;
  EXPECT_EQ(code.text.find("Imports"), std::string::npos);
}

TEST_F(DumpModule, json) {
  for (const char *name : {"json", "flatbuffer-json"}) {
    Outcome outcome = run(fmt::format("--output={} {}", name, path));
    EXPECT_EQ(outcome.code, 0);
    nlohmann::json json = nlohmann::json::parse(outcome.text);
    EXPECT_EQ(json["file"]["sections"][1]["kind"], "code");
    EXPECT_EQ(json["file"]["size"], bytes.size());
    EXPECT_EQ(json["module"]["exports"][1]["attributes"]["kiln.abi.declaration"],
              "sync func @imported(%a: i64) -> (%b: i64)");
    EXPECT_EQ(json["module"]["functions"][4]["code"][0]["text"], "r0 = const.executable %dispatches");
    EXPECT_EQ(json["module"]["executables"][0]["variants"][1]["exports"][0]["bindings"], 3);
    EXPECT_TRUE(json["problems"].empty());
  }
}

TEST_F(DumpModule, extracts) {
  EXPECT_EQ(run("--target=llvm-cpu --extract=- " + path).text, "not really an ELF");
  std::string file = path + ".so";
  Outcome written = run("--executable=dispatches --target=other --extract=" + file + " " + path);
  EXPECT_EQ(written.code, 0) << written.text;
  EXPECT_EQ(written.text, "wrote 17 bytes of elf-x86_64 for znver4 to " + file + "\n");
  std::string contents;
  std::getline(std::ifstream(file), contents);
  EXPECT_EQ(contents, "not really an ELF");
  unlink(file.c_str());

  Outcome several = run("--extract=- " + path);
  EXPECT_EQ(several.code, 1);
  expectLines(several, {"several executables of module", "\n  --executable=dispatches --target=other (elf-x86_64)"});
  expectLines(run("--executable=no --extract=- " + path), {"no executables of module"});
  EXPECT_EQ(run("--target=llvm-cpu --extract=/no/such/folder/x " + path).code, 1);
}

TEST_F(DumpModule, damaged) {
  schema::SectionEntry code;
  std::memcpy(&code, bytes.data() + sizeof(schema::ContainerHeader) + sizeof(code), sizeof(code));
  bytes[code.offset + 1] = 0x40;
  write(bytes);
  Outcome outcome = run(path);
  EXPECT_EQ(outcome.code, 1);
  expectLines(outcome, {"is damaged: the checksum of section 1 (code", "DAMAGED\n", "also: module ",
                        "// cannot run: ", "func @sum(i64) -> (i64)"});
  for (const char *line : kMetadata)
    expectLines(outcome, {line});
  nlohmann::json json = nlohmann::json::parse(run("--output=json " + path, "2>/dev/null").text);
  EXPECT_EQ(json["problems"].size(), 2u);
  EXPECT_EQ(json["file"]["sections"][1]["state"], "DAMAGED");

  // Every length and many flips: always an ordinary exit.
  std::string whole = *schema::writeModuleToString(vm::testing::richDesc());
  for (size_t i = 0; i < 40; ++i) {
    std::string copy = whole;
    copy[i * 97 % 8192] ^= 0x55;
    write(i % 2 ? copy : copy.substr(0, i * 500));
    EXPECT_EQ(run(path).code, 1) << i;
  }
}

TEST_F(DumpModule, mistakes) {
  EXPECT_EQ(run("").code, 1);
  expectLines(run(""), {"one module file is needed; 0 are given"});
  Outcome missing = run("/no/such/file");
  EXPECT_EQ(missing.code, 1);
  expectLines(missing, {"cannot open '/no/such/file': No such file or directory"});
  expectLines(run("--outptu=all " + path), {"did you mean '--output'"});
  Outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  expectLines(help, {"--extract", "--output", "kiln-dump-module abs.vmfb"});
  write("not a module");
  expectLines(run(path), {"is not a Kiln module"});
}

} // namespace
} // namespace kiln
