// What the pool makes of compilers that answer something else than they should.
#include "kiln/tools/dispatch/sweep/compile_pool.h"

#include <filesystem>

#include "kiln/base/file.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

class CompilePool : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kiln-compile-pool-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    ASSERT_TRUE(writeFile(file("a.mlir"), std::string_view("module {}\n")).ok());
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string file(const std::string &name) const { return (folder / name).string(); }

  // One job, with a compiler that answers each line with this one, and writes a module if `writes`.
  CompileResult compile(const std::string &answer, bool writes = false) {
    std::string script = "#!/bin/sh\nwhile read -r line; do\n";
    if (writes)
      script += "out=${line#*\\\"output\\\":\\\"}; echo module > \"${out%%\\\"*}\"\n";
    script += "cat <<'ANSWER'\n" + answer + "\nANSWER\ndone\n";
    std::string program = file("compiler.sh");
    EXPECT_TRUE(writeFile(program, std::string_view(script)).ok());
    fs::permissions(program, fs::perms::owner_all);
    CompileSettings settings;
    settings.compiler = program;
    settings.cache = file("cache");
    settings.force = true;
    settings.timeout = uint64_t(20) * 1'000'000'000;
    std::vector<CompileJob> jobs = {{file("a.mlir"), {file("a.vmfb")}}};
    Result<std::vector<CompileResult>> results = compileAll(jobs, settings, [](size_t, const CompileResult &) {});
    EXPECT_TRUE(results.ok()) << results.status().message();
    return results.ok() ? results->front() : CompileResult();
  }

  fs::path folder;
};

TEST_F(CompilePool, AnAnswerOfAnotherTypeIsTheProgramsError) {
  for (const char *answer : {R"({"ok":"yes"})", R"({"ok":1})", R"({"ok":null})", R"([true])", "3", "null", "{}",
                             R"("ok")", "no JSON at all", R"({"ok":true,"milliseconds":"5"})", "{\"ok\":\"\xff\"}"}) {
    CompileResult result = compile(answer);
    EXPECT_FALSE(result.ok()) << answer;
    EXPECT_NE(result.error.find("what is no answer of `kiln-compile --serve`"), std::string::npos)
        << answer << ": " << result.error;
  }
}

TEST_F(CompilePool, AnErrorOfAnotherTypeSaysNoMore) {
  EXPECT_EQ(compile(R"({"ok":false,"error":"a.mlir:1: no"})").error, "a.mlir:1: no");
  EXPECT_EQ(compile(R"({"ok":false,"error":["no"]})").error, "it says no more");
  EXPECT_EQ(compile(R"({"ok":false})").error, "it says no more");
}

TEST_F(CompilePool, AnAnswerAsItShouldBeIsAModule) {
  CompileResult result = compile(R"({"ok":true,"milliseconds":12.5})", /*writes=*/true);
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(result.milliseconds, 12.5);
  EXPECT_TRUE(fs::exists(file("a.vmfb")));
}

// The request for it must not end the program, either.
TEST_F(CompilePool, APathThatIsNoTextIsAnError) {
  fs::path whole = folder;
  folder /= "\xff";
  fs::create_directory(folder);
  fs::copy_file(whole / "a.mlir", folder / "a.mlir");
  EXPECT_EQ(compile(R"({"ok":false,"error":"no such file"})").error, "no such file");
  folder = whole;
}

} // namespace
} // namespace kiln
