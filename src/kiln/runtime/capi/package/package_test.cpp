// The installed library: the example builds against it with CMake and with pkg-config, and runs.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <utility>

#include "gtest/gtest.h"

#include "kiln/base/sanitized.h"
#include "kiln/runtime/vm/testing/abs_program.h"

namespace {

namespace fs = std::filesystem;

// Exit code and output of a command of the shell.
std::pair<int, std::string> run(const std::string &command) {
  std::string output;
  // NOLINTNEXTLINE(bugprone-command-processor): a shell is what redirects
  FILE *pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
  if (!pipe)
    return {-1, "cannot run a shell"};
  char part[4096];
  while (size_t count = std::fread(part, 1, sizeof(part), pipe))
    output.append(part, count);
  int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

#define MUST_RUN(command)                                                                                              \
  do {                                                                                                                 \
    std::string text = (command);                                                                                      \
    auto [code, output] = run(text);                                                                                   \
    ASSERT_EQ(code, 0) << text << "\n" << output;                                                                      \
  } while (false)

// Installs into a folder of its own, where a module lies too.
class Package : public testing::Test {
protected:
  static void SetUpTestSuite() {
    if (kiln::kSanitized)
      return;
    std::string pattern = (fs::temp_directory_path() / "kiln-package-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
    MUST_RUN(KILN_CMAKE " --install " KILN_BUILD_DIR " --prefix " + folder + "/prefix");
    std::ofstream(folder + "/abs.vmfb", std::ios::binary)
        << *kiln::schema::writeModuleToString(kiln::vm::testing::absDesc({{4}}));
  }
  static void TearDownTestSuite() {
    if (!folder.empty())
      fs::remove_all(folder);
  }
  void SetUp() override {
    if (kiln::kSanitized)
      GTEST_SKIP() << "the example is built without the sanitizer's runtime";
    library = folder + "/prefix/lib";
    for (const auto &entry : fs::recursive_directory_iterator(folder + "/prefix"))
      if (entry.path().filename() == "libkiln.so")
        library = entry.path().parent_path();
  }
  static void expectAbs(const std::string &program) {
    auto [code, output] = run(program + " " + folder + "/abs.vmfb abs -1 2 -3.5 4");
    EXPECT_EQ(code, 0) << output;
    EXPECT_EQ(output, "1 2 3.5 4 \n");
    auto [refused, message] = run(program + " " + folder + "/abs.vmfb abs -1 2");
    EXPECT_EQ(refused, 1);
    EXPECT_NE(message.find("INVALID_ARGUMENT: input0: expected 4xf32, got 2xf32"), std::string::npos) << message;
  }

  static std::string folder;
  std::string library; // the folder of libkiln.so
};
std::string Package::folder;

constexpr const char *kExample = KILN_SOURCE_DIR "/examples/c";

TEST_F(Package, TheExampleBuildsWithCMake) {
  std::string build = folder + "/with-cmake";
  MUST_RUN(std::string(KILN_CMAKE) + " -S " + kExample + " -B " + build + " -DCMAKE_PREFIX_PATH=" + folder +
           "/prefix -DCMAKE_C_COMPILER=" KILN_CC
           " -DCMAKE_C_FLAGS='-Wall -Wextra -Wno-missing-field-initializers -Werror'");
  MUST_RUN(KILN_CMAKE " --build " + build);
  expectAbs(build + "/call");
}

TEST_F(Package, TheExampleBuildsWithPkgConfig) {
  if (run("pkg-config --version").first != 0)
    GTEST_SKIP() << "there is no pkg-config here";
  const std::string package = "export PKG_CONFIG_PATH=" + library + "/pkgconfig; ";
  const std::string compile =
      std::string(KILN_CC " ") + kExample + "/call.c $(pkg-config --cflags --libs 'kiln >= 0.1') ";
  MUST_RUN(package + compile + "-o " + folder + "/call");
  expectAbs("LD_LIBRARY_PATH=" + library + " " + folder + "/call");
  MUST_RUN(package + compile + "-Wl,-rpath,$(pkg-config --variable=libdir kiln) -o " + folder + "/with-rpath");
  expectAbs(folder + "/with-rpath");
}

TEST_F(Package, TheExampleIsShort) {
  std::ifstream file(std::string(kExample) + "/call.c");
  size_t lines = 0;
  for (std::string line; std::getline(file, line);)
    ++lines;
  EXPECT_GT(lines, 20u);
  EXPECT_LT(lines, 80u);
}

TEST_F(Package, TheLibraryShowsItsFunctionsOnly) {
  auto [code, symbols] =
      run("nm -D --defined-only " + library + "/libkiln.so | awk '{print $3}' | grep -v '^kiln_\\|^KILN_1'");
  EXPECT_EQ(symbols, "");
  EXPECT_EQ(run("ls " + folder + "/prefix/include").second, "kiln.h\nkiln_compiled.h\n");
  EXPECT_EQ(run("ls " + folder + "/prefix/share/doc/kiln").second, "LICENSE\n");
  auto [found, declared] = run("grep -c '^KILN_API' " + folder + "/prefix/include/kiln.h");
  auto [listed, defined] = run("nm -D --defined-only " + library + "/libkiln.so | grep -c ' kiln_'");
  EXPECT_EQ(declared, defined);
  auto [read, dynamic] = run("readelf -d " + library + "/libkiln.so");
  EXPECT_NE(dynamic.find("[libkiln.so.1]"), std::string::npos) << dynamic;
  // The loader is part of libc. Nothing of LLVM is needed.
  EXPECT_EQ(run("readelf -d " + library +
                "/libkiln.so | grep NEEDED | grep -v 'ld-linux\\|lib\\(c\\|m\\|stdc++\\|gcc_s\\|hwloc\\)[.]so'")
                .second,
            "");
}

} // namespace
