#include "kiln/tools/cli.h"

#include "gtest/gtest.h"

namespace kiln {
namespace {

// A tool with one flag of each kind.
struct Sample {
  bool verbose = false, color = true;
  std::string function = "main", format = "text";
  uint32_t workers = 0;
  uint64_t bytes = 7;
  double share = 0.5;
  std::vector<std::string> inputs, rest, passed, prefixed;
  std::optional<std::string> list;
  FlagParser line{"kiln-sample", "Shows what a command line can do, in a sentence that is long enough to be wrapped."};

  explicit Sample(bool positional = false) {
    line.group("First");
    line.add({"verbose", "", "Says more."}, verbose);
    line.add({"color", "", "In colour."}, color);
    line.add({"function", "NAME", "The function."}, function);
    line.addChoice({"format", "text|json", "How to print."}, format);
    line.group("Second");
    line.add({"task_topology_group_count", "N", "How many workers."}, workers);
    line.add({"bytes", "N", "A number."}, bytes);
    line.add({"share", "N", "A number with a point."}, share);
    line.refuse("elsewhere", "another tool has it");
    line.add({"input", "INPUT", "An input; `-` is standard input."}, inputs);
    line.addOptionalValue({"list_devices", "DRIVER", "Lists."}, list);
    line.addPrefixed({"Xcompiler", "FLAG", "For the compiler."}, prefixed);
    line.passThrough({{"benchmark_repetitions", "N", "How often."}, {"v", "N", "Verbosity."}}, "benchmark_", passed);
    if (positional)
      line.addPositional({"file", "FILE", "A file."}, rest);
    line.example("kiln-sample --function=f");
    line.example(
        "kiln-sample --function=a-name-of-some-length --input='4xf32=1 2 3 4' --input=\"four words in quotes\"");
  }

  std::optional<int> parse(std::vector<const char *> arguments) {
    arguments.insert(arguments.begin(), "kiln-sample");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    std::optional<int> code = line.parse(int(arguments.size()), arguments.data());
    out = testing::internal::GetCapturedStdout();
    error = testing::internal::GetCapturedStderr();
    return code;
  }

  std::string out, error;
};

TEST(FlagParserTest, Values) {
  Sample sample;
  ASSERT_EQ(sample.parse({"--function=abs", "--verbose", "--color=false", "--bytes", "12", "--share=.25",
                          "--format=json", "--task_topology_group_count=3"}),
            std::nullopt)
      << sample.error;
  EXPECT_EQ(sample.function, "abs");
  EXPECT_TRUE(sample.verbose);
  EXPECT_FALSE(sample.color);
  EXPECT_EQ(sample.bytes, 12u);
  EXPECT_EQ(sample.share, 0.25);
  EXPECT_EQ(sample.workers, 3u);
  EXPECT_EQ(sample.format, "json");
  EXPECT_EQ(sample.list, std::nullopt);
}

TEST(FlagParserTest, ListsKeepValuesAsTheyAre) {
  Sample sample;
  ASSERT_EQ(
      sample.parse({"--input=4xf32=[1 2, 3 4]", "--input", "-2", "--input=[1,2]", "-input=@x.npy", "--input=--x"}),
      std::nullopt)
      << sample.error;
  EXPECT_EQ(sample.inputs, (std::vector<std::string>{"4xf32=[1 2, 3 4]", "-2", "[1,2]", "@x.npy", "--x"}));
}

TEST(FlagParserTest, LastOccurrenceCounts) {
  Sample sample;
  ASSERT_EQ(sample.parse({"--function=a", "--verbose", "--function=b", "--verbose=false"}), std::nullopt);
  EXPECT_EQ(sample.function, "b");
  EXPECT_FALSE(sample.verbose);
}

TEST(FlagParserTest, OptionalValues) {
  Sample bare;
  ASSERT_EQ(bare.parse({"--list_devices", "--verbose"}), std::nullopt);
  EXPECT_EQ(bare.list, "");
  Sample valued;
  ASSERT_EQ(valued.parse({"--list_devices=cuda"}), std::nullopt);
  EXPECT_EQ(valued.list, "cuda");
}

TEST(FlagParserTest, Mistakes) {
  struct Case {
    const char *argument, *message;
  };
  for (const Case &c :
       {Case{"--inptu=1", "unknown flag '--inptu'; did you mean '--input'?"},
        Case{"--zzz", "unknown flag '--zzz'; --help lists the flags"}, Case{"stray", "unexpected argument 'stray'"},
        Case{"-", "unexpected argument '-'"}, Case{"--function", "--function needs a value: --function=NAME"},
        Case{"--bytes=x", "--bytes: 'x' is no whole number"},
        Case{"--function=", "--function= has no value: --function=NAME"},
        Case{"--share=-0.5", "--share: '-0.5' is no number of 0 or more"},
        Case{"--share=nan", "--share: 'nan' is no number of 0 or more"},
        Case{"--share=1%", "--share: '1%' is no number of 0 or more"},
        Case{"--elsewhere=x", "--elsewhere=x: another tool has it"},
        Case{"--elsewhere", "--elsewhere: another tool has it"},
        Case{"--elsewher", "unknown flag '--elsewher'; --help lists the flags"},
        Case{"--bytes=-1", "'-1' is no whole number up to 18446744073709551615"},
        Case{"--task_topology_group_count=4294967296", "'4294967296' is no whole number up to 4294967295"},
        Case{"--verbose=perhaps", "--verbose: 'perhaps' is neither true nor false"},
        Case{"--format=xml", "'xml' is not one of text|json"},
        Case{"--flagfile=/nonexistent", "--flagfile: cannot open '/nonexistent'"},
        Case{"--Xcompiler=x", "unknown flag '--Xcompiler'"}}) {
    Sample sample;
    EXPECT_EQ(sample.parse({c.argument}), 1) << c.argument;
    EXPECT_NE(sample.error.find("kiln-sample: error: "), std::string::npos) << sample.error;
    EXPECT_NE(sample.error.find(c.message), std::string::npos) << sample.error;
    EXPECT_EQ(sample.out, "");
  }
}

TEST(FlagParserTest, FlagsOfAnotherLibrary) {
  Sample sample;
  ASSERT_EQ(sample.parse({"-benchmark_repetitions=5", "--benchmark_repitions=50", "--v=2"}), std::nullopt);
  EXPECT_EQ(sample.passed, (std::vector<std::string>{"--benchmark_repetitions=5", "--v=2"}));
  EXPECT_EQ(sample.error, "kiln-sample: warning: unknown flag '--benchmark_repitions'; did you mean "
                          "'--benchmark_repetitions'? It is ignored.\n");
}

TEST(FlagParserTest, PrefixedAndPositional) {
  Sample sample(true);
  ASSERT_EQ(sample.parse({"x.mlir", "--Xcompiler,iree-a=b,c", "-Xcompiler,--d", "--", "--verbose"}), std::nullopt)
      << sample.error;
  EXPECT_EQ(sample.prefixed, (std::vector<std::string>{"iree-a=b,c", "--d"}));
  EXPECT_EQ(sample.rest, (std::vector<std::string>{"x.mlir", "--verbose"}));
  EXPECT_FALSE(sample.verbose);
}

TEST(FlagParserTest, ForwardedFlags) {
  FlagParser parser("kiln-sample", "Forwards.");
  std::vector<std::string> forwarded;
  bool verbose = false;
  parser.add({"kiln-verbose", "", "Its own."}, verbose);
  parser.forwardPrefix({"kiln-", "FLAG", "Flags of another tool."}, forwarded);
  const char *arguments[] = {"kiln-sample", "-iree-a=b", "--kiln-verbose", "--kiln-c"};
  ASSERT_EQ(parser.parse(4, arguments), std::nullopt);
  EXPECT_EQ(forwarded, (std::vector<std::string>{"--kiln-a=b", "--kiln-c"}));
  EXPECT_TRUE(verbose);
  EXPECT_NE(parser.helpText().find("  --kiln-FLAG                 Flags of another tool.\n"), std::string::npos);
}

TEST(FlagParserTest, Help) {
  Sample sample(true);
  EXPECT_EQ(sample.parse({"--help"}), 0);
  EXPECT_EQ(sample.error, "");
  EXPECT_EQ(sample.out, R"(Usage: kiln-sample [flags] FILE

Shows what a command line can do, in a sentence that is long enough to be
wrapped.

First:
  --verbose                   Says more.
  --color                     In colour. Default: true.
  --function=NAME             The function. Default: main.
  --format=text|json          How to print. Default: text.

Second:
  --task_topology_group_count=N
                              How many workers. Default: 0.
  --bytes=N                   A number. Default: 7.
  --share=N                   A number with a point. Default: 0.5.
  --input=INPUT               An input; - is standard input. Repeats.
  --list_devices[=DRIVER]     Lists.
  --Xcompiler,FLAG            For the compiler. Repeats.
  --benchmark_repetitions=N   How often.
  --v=N                       Verbosity.
  FILE                        A file.

General:
  --flagfile=FILE             Reads flags from a file, one on each line; #
                              starts a comment.
  --version                   Prints the version.
  --help                      Prints this.

Examples:
  kiln-sample --function=f
  kiln-sample --function=a-name-of-some-length --input='4xf32=1 2 3 4' \
      --input="four words in quotes"
)");
}

TEST(FlagParserTest, Counted) {
  EXPECT_EQ(counted(0, "result"), "0 results");
  EXPECT_EQ(counted(1, "result"), "1 result");
  EXPECT_EQ(counted(2, "result"), "2 results");
}

TEST(MessageLinesTest, FitAWidth) {
  EXPECT_EQ(messageLines("tool: error: one two three four", 40), "tool: error: one two three four");
  EXPECT_EQ(messageLines("tool: error: one two three four", 30), "tool: error: one two three\n  four");
  // A colour takes no room, and what is drawn stays.
  EXPECT_EQ(messageLines("\033[0;1;31mtool: \033[0merror: one two three four", 31).find('\n'), std::string::npos);
  EXPECT_EQ(messageLines("first\n  drawn  with   blanks, and longer than the width\n    ^\nlast", 30),
            "first\n  drawn  with   blanks, and longer than the width\n    ^\nlast");
}

TEST(FlagParserTest, Version) {
  Sample sample;
  EXPECT_EQ(sample.parse({"--version"}), 0);
  EXPECT_EQ(sample.out.substr(0, 19), "kiln-sample (Kiln) ");
}

} // namespace
} // namespace kiln
