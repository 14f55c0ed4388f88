#include "kiln/tools/dispatch/document_flags.h"

#include <gtest/gtest.h>

#include "kiln/tools/dispatch/patterns.h"
#include "kiln/tools/dispatch/shell_word.h"

namespace kiln {
namespace {

using Lines = std::vector<std::string>;

struct Parsed {
  DispatchFlags flags;
  DocumentFlags documents;
  std::optional<int> code;
};

// The flags as `profile` takes them.
void parse(Parsed &parsed, std::vector<const char *> arguments, DocumentVerb verb = {true, true}) {
  FlagParser parser("kiln-dispatch profile", "");
  parsed.flags.addSelection(parser, measure::FamilyRegistry());
  if (verb.compiles)
    parsed.flags.addCompilation(parser);
  parsed.documents.add(parser, parsed.flags, verb);
  arguments.insert(arguments.begin(), "kiln-dispatch profile");
  parsed.code = parser.parse(static_cast<int>(arguments.size()), arguments.data());
}

Lines notes(std::vector<const char *> arguments) {
  Parsed parsed;
  parse(parsed, std::move(arguments));
  EXPECT_FALSE(parsed.code);
  return parsed.documents.notes(parsed.flags);
}

TEST(DocumentFlags, NothingIsSaidOfWhatIsNotGiven) {
  EXPECT_EQ(notes({}), Lines());
  EXPECT_EQ(notes({"--mlir-dialect=linalg", "--use-wmma=false"}), Lines());
}

TEST(DocumentFlags, WhatHappensInsteadIsSaid) {
  EXPECT_EQ(notes({"--batch-size", "100", "--iree-bin-dir=/opt/iree", "--use-mma-sync"}),
            Lines({"--kiln-bin-dir=/opt/iree: the compiler and the tools are those beside kiln-dispatch",
                   "--batch-size=100: calls are timed in batches that are as long as the clock needs",
                   "--use-mma-sync: it has no effect; these are instructions of NVIDIA GPUs"}));
  EXPECT_EQ(notes({"--mlir-dialect=flow"}), Lines({"--mlir-dialect=flow: programs are in linalg"}));
  EXPECT_EQ(notes({"--verification-providers=numpy"}),
            Lines({"--verification-providers=numpy: results are checked exactly, which needs no other program"}));
}

TEST(DocumentFlags, LongNamesAreTheShortOnes) {
  for (const char *flag :
       {"--iree-hal-cuda-llvm-target-arch=sm_80", "--cuda-arch=sm_80", "--iree-hal-benchmark-dispatch-repeat-count=10",
        "--iree-codegen-llvmgpu-use-mma-sync", "--iree-codegen-llvmgpu-use-wmma=true", "--mlir-print-ir-after-all",
        "--print-ir-after-all", "--build-dir=build"})
    EXPECT_EQ(notes({flag}).size(), 1u) << flag;
}

// The documents give the same flags to all of their scripts.
TEST(DocumentFlags, FlagsOfOtherVerbsAreAccepted) {
  Parsed parsed;
  parse(parsed, {"--output=t.csv", "--append", "--tags=a:1", "--save-cmds"}, {false, false, {}});
  EXPECT_FALSE(parsed.code);
  EXPECT_EQ(parsed.documents.notes(parsed.flags),
            Lines({"--output=t.csv: `profile` and `sweep` write tables", "--append: `profile` and `sweep` write tables",
                   "--tags=a:1: `profile` and `sweep` store results, which have tags",
                   "--save-cmds: `compile` and `sweep` write the commands"}));
}

TEST(DocumentFlags, OnAGpuInstructionsAreChosen) {
  auto parsed = [](std::vector<const char *> arguments, Parsed &result) {
    arguments.insert(arguments.begin(), {"--device=cuda-sim", "--cuda-arch=sm_80"});
    parse(result, std::move(arguments));
    result.documents.apply(result.flags);
    return result.flags.check();
  };
  Parsed mma, wmma, no, elsewhere;
  EXPECT_TRUE(parsed({"--iree-codegen-llvmgpu-use-mma-sync"}, mma).ok());
  EXPECT_EQ(mma.flags.askedInstructions(), Lines{"tensorcore_mmasync"});
  EXPECT_EQ(mma.documents.notes(mma.flags), Lines());
  EXPECT_TRUE(parsed({"--use-wmma"}, wmma).ok());
  EXPECT_EQ(wmma.flags.askedInstructions(), Lines{"tensorcore_wmma"});
  EXPECT_EQ(wmma.documents.notes(wmma.flags), Lines());
  EXPECT_TRUE(parsed({"--use-wmma=false", "--use-mma-sync=false"}, no).ok());
  EXPECT_EQ(no.flags.askedInstructions(), Lines());
  parse(elsewhere, {"--use-mma-sync", "--use-wmma"});
  elsewhere.documents.apply(elsewhere.flags);
  EXPECT_TRUE(elsewhere.flags.check().ok());
  EXPECT_EQ(elsewhere.flags.askedInstructions(), Lines());
}

TEST(DocumentFlags, OtherNamesDoWhatTheySay) {
  Parsed parsed;
  parse(parsed, {"--iree-hal-target-backends=llvm-cpu", "--dispatch=matmul_*"});
  EXPECT_EQ(parsed.flags.device, "llvm-cpu");
  EXPECT_EQ(parsed.flags.dispatches, "matmul_*");
  EXPECT_EQ(parsed.documents.notes(parsed.flags), Lines());
}

TEST(DocumentFlags, EveryStepTakesThem) {
  Parsed generate;
  parse(generate, {"--device=llvm-cpu", "--cuda-arch=sm_80"}, {});
  EXPECT_FALSE(generate.code);
  // But for those of measuring.
  Parsed wrong;
  parse(wrong, {"--verification-providers=numpy"}, {});
  EXPECT_EQ(wrong.code, 1);
}

TEST(ShellWord, IsQuotedWhereAShellWouldReadItOtherwise) {
  EXPECT_EQ(plainShellWord("--problem-m=64:128:2,7"), "--problem-m=64:128:2,7");
  EXPECT_EQ(plainShellWord("--provider-command=np=python3 ../w.py"), "'--provider-command=np=python3 ../w.py'");
  EXPECT_EQ(plainShellWord("--dispatches=a*"), "'--dispatches=a*'");
  EXPECT_EQ(plainShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(plainShellWord(""), "''");
}

using Texts = std::vector<std::string>;

TEST(Patterns, ACommaInsideBelongsToTheExpression) {
  EXPECT_EQ(splitPatterns("matmul_\\d{2,3}x"), Texts{"matmul_\\d{2,3}x"});
  EXPECT_EQ(splitPatterns("a(b,c),[d,e],f,,g"), (Texts{"a(b,c)", "[d,e]", "f", "g"}));
  EXPECT_EQ(splitPatterns("[({],a"), (Texts{"[({]", "a"}));
  EXPECT_EQ(splitPatterns("\\{,a\\(,b"), (Texts{"\\{", "a\\(", "b"}));
  EXPECT_EQ(splitPatterns("[\\],]x,y"), (Texts{"[\\],]x", "y"}));
  Result<NamePatterns> patterns = NamePatterns::parse("matmul_\\d{2,3}x");
  ASSERT_TRUE(patterns.ok());
  EXPECT_TRUE(patterns->matches("matmul_100x2x3"));
  EXPECT_FALSE(patterns->matches("matmul_1x2x3"));
}

} // namespace
} // namespace kiln
