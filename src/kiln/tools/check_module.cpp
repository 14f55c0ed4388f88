// kiln-check-module: runs the tests of a compiled module, each of which is a function without arguments and results
// that says by `check` ops what it expects.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "fmt/format.h"
#include "kiln/base/flags.h"
#include "kiln/tools/check_functions.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/runtime_flags.h"
#include "kiln/tools/test_report.h"
#include "gtest/gtest.h"

using namespace kiln;

namespace {

// "file.mlir:12"
void addFailure(std::string_view place, const std::string &message) {
  size_t colon = place.rfind(':');
  int line = 0;
  if (colon != place.npos)
    std::from_chars(place.data() + colon + 1, place.data() + place.size(), line);
  std::string file(place.substr(0, colon));
  ADD_FAILURE_AT(file.empty() ? "unknown source" : file.c_str(), line) << message;
}

// The "file.mlir:12" with which a message starts as "file.mlir:12:8: ..."; empty where it does not.
std::string_view placeIn(std::string_view message) {
  std::string_view place = message.substr(0, message.find(": "));
  auto endsInNumber = [&] {
    size_t colon = place.rfind(':');
    return colon != place.npos && colon + 1 < place.size() &&
           place.find_first_not_of("0123456789", colon + 1) == place.npos;
  };
  if (!endsInNumber())
    return {};
  place = place.substr(0, place.rfind(':'));
  return endsInNumber() ? place : std::string_view();
}

class FunctionTest : public testing::Test {
public:
  FunctionTest(const Program &program, std::string name) : program(program), name(std::move(name)) {}

  void TestBody() override {
    if (isInterrupted())
      GTEST_SKIP() << "the tool was interrupted before";
    setStep(fmt::format("while running the test {}", name));
    Status status = run();
    if (status.ok())
      return;
    if (isInterrupted() && status.code() == StatusCode::Cancelled)
      ADD_FAILURE() << (isTimedOut() ? "it did not end before --timeout" : "it was interrupted");
    else
      addFailure(placeIn(status.message()), std::string(status.message()));
  }

private:
  // In a session of its own: tests see nothing of each other.
  Status run() {
    CallLimit::Scope scope(untilInterrupted());
    KILN_ASSIGN_OR_RETURN(Ref<vm::NativeModule> check, createCheckModule(addFailure));
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<vm::Session> session, program.createSession(check));
    KILN_ASSIGN_OR_RETURN(vm::Function function, session->lookup(name));
    return session->call(function, {}, {});
  }

  const Program &program;
  std::string name;
};

Status registerTests(const Program &program) {
  size_t tests = 0;
  for (const vm::ExportInfo &entry : program.mainModule().exports()) {
    const vm::FunctionInfo &info = program.mainModule().functions()[entry.function];
    if (!info.signature.arguments.empty() || !info.signature.results.empty()) {
      reportNote("kiln-check-module", fmt::format("@{} is no test: it has arguments or results", entry.name));
      continue;
    }
    ++tests;
    std::string name(entry.name);
    testing::RegisterTest("module", name.c_str(), nullptr, nullptr, program.mainModule().fileName().c_str(), 0,
                          [&program, name]() -> testing::Test * { return new FunctionTest(program, name); });
  }
  if (tests == 0)
    return invalidArgument("'{}' has no tests, which are exported functions without arguments and results",
                           program.mainModule().fileName());
  return okStatus();
}

// Flags of GoogleTest that end the process by themselves.
constexpr std::string_view kFlagFile = "gtest_flagfile", kStream = "gtest_stream_result_to";

// Whether GoogleTest has such a flag, and it such a value; GoogleTest itself answers others with all its help.
Status checkFlag(std::string_view argument) {
  static const std::vector<std::string> names = {"gtest_also_run_disabled_tests",
                                                 "gtest_brief",
                                                 "gtest_color",
                                                 "gtest_fail_fast",
                                                 "gtest_fail_if_no_test_selected",
                                                 "gtest_filter",
                                                 "gtest_list_tests",
                                                 "gtest_output",
                                                 "gtest_print_time",
                                                 "gtest_print_utf8",
                                                 "gtest_random_seed",
                                                 "gtest_recreate_environments_when_repeating",
                                                 "gtest_repeat",
                                                 "gtest_shuffle",
                                                 "gtest_stack_trace_depth",
                                                 "gtest_catch_exceptions",
                                                 "gtest_death_test_style",
                                                 "gtest_death_test_use_fork",
                                                 "gtest_break_on_failure",
                                                 "gtest_throw_on_failure"};
  static const std::vector<std::string_view> numbers = {"gtest_random_seed", "gtest_repeat", "gtest_stack_trace_depth"};
  static const std::vector<std::string_view> texts = {"gtest_color", "gtest_filter", "gtest_output"};
  size_t equals = argument.find('=');
  std::string_view name = argument.substr(2, equals - 2);
  if (name == kFlagFile || name == kStream)
    return invalidArgument(
        "--{} is not taken by this tool, which checks flags before GoogleTest sees them, and sends no "
        "results; --gtest_output=json:FILE writes a report",
        name);
  if (std::ranges::find(names, name) == names.end())
    return invalidArgument("{}", unknownFlagMessage(argument, names));
  if (equals == argument.npos && std::ranges::find(texts, name) != texts.end())
    return invalidArgument("--{} wants a value: --{}=...", name, name);
  if (std::ranges::find(numbers, name) == numbers.end())
    return okStatus();
  std::string_view value = equals == argument.npos ? "" : argument.substr(equals + 1);
  int32_t number;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size())
    return invalidArgument("--{} wants a whole number of 32 bits, not '{}'", name, value);
  return okStatus();
}

// Flags by which the first failure ends the process: neither the tests' names nor their report would be seen. And one
// by which nothing is run.
Status checkEnds() {
  if (GTEST_FLAG_GET(repeat) == 0)
    return invalidArgument("--gtest_repeat=0 would run no test");
  if (GTEST_FLAG_GET(throw_on_failure) || GTEST_FLAG_GET(break_on_failure))
    return invalidArgument("--gtest_{}_on_failure would end this tool without a report; --gtest_fail_fast stops at the "
                           "first failure and reports it",
                           GTEST_FLAG_GET(throw_on_failure) ? "throw" : "break");
  return okStatus();
}

// A misspelt filter must not look like tests that passed, nor tests that are all disabled. Called when GoogleTest has
// chosen.
Status checkFilter() {
  constexpr size_t shown = 8;
  const testing::UnitTest &all = *testing::UnitTest::GetInstance();
  std::string filter = GTEST_FLAG_GET(filter);
  if (all.test_to_run_count() > 0)
    return okStatus();
  const testing::TestSuite &suite = *all.GetTestSuite(0);
  std::vector<std::string> names;
  for (int i = 0; i < suite.total_test_count(); ++i) {
    if (suite.GetTestInfo(i)->is_in_another_shard())
      return okStatus();
    names.emplace_back(suite.GetTestInfo(i)->name());
  }
  if (filter == "*")
    return notFound("no test was run: each name starts with DISABLED_; --gtest_also_run_disabled_tests runs them");
  std::string first = filter.substr(0, filter.find_first_of(":-"));
  std::erase(first, '*');
  std::string suiteName = fmt::format("{}.", suite.name());
  std::string_view nearest = nearestName(first.starts_with(suiteName) ? first.substr(suiteName.size()) : first, names);
  size_t count = std::min(names.size(), shown);
  return notFound("--gtest_filter={} leaves no test to run{} The tests are {}{}{}", filter,
                  nearest.empty() ? "." : fmt::format("; did you mean '{}{}'?", suiteName, nearest), suiteName,
                  fmt::join(names.begin(), names.begin() + count, fmt::format(", {}", suiteName)),
                  count < names.size() ? ", ..." : "");
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-check-module");
  catchInterrupts([] { reportInterrupted("kiln-check-module"); });
  // GoogleTest gets its own flags only: it would answer --help, too.
  std::vector<char *> ours = {argv[0]}, theirs = {argv[0]};
  std::string help = "--help";
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    bool isTheirs = argument.starts_with("--gtest_") && argument != "--gtest_help";
    if (Status status = isTheirs ? checkFlag(argument) : okStatus(); !status.ok())
      return reportFailure("kiln-check-module", status);
    (isTheirs ? theirs : ours).push_back(argument == "--gtest_help" ? help.data() : argv[i]);
  }
  // In place of its flag.
  if (const char *variable = "GTEST_STREAM_RESULT_TO"; std::getenv(variable))
    return reportFailure("kiln-check-module",
                         invalidArgument("the variable {} is set: this tool sends no results", variable));
  TestReport report;
  if (Status status = report.redirect(theirs); !status.ok())
    return reportFailure("kiln-check-module", status);
  auto count = static_cast<int>(theirs.size());
  theirs.push_back(nullptr);
  testing::InitGoogleTest(&count, theirs.data());
  // It takes what it knows, and would run no test for the sake of what is left.
  if (count > 1)
    return reportFailure("kiln-check-module",
                         invalidArgument("'{}' is no flag of GoogleTest, or has no such value", theirs[1]));
  if (Status status = checkEnds(); !status.ok())
    return reportFailure("kiln-check-module", status);
  FlagParser parser("kiln-check-module",
                    "Runs the tests of a compiled module: each exported function without arguments and results, which "
                    "says what it expects by check.expect_eq and the like. Flags of GoogleTest (--gtest_filter=, "
                    "--gtest_list_tests, --gtest_output=xml:FILE, ...) choose among them and say how they are shown.");
  RuntimeFlags runtime;
  runtime.addModuleFlags(parser);
  runtime.addDeviceFlags(parser);
  parser.example("kiln-check-module --module=tests.vmfb --device=local-task --gtest_filter='*abs*'");
  if (std::optional<int> code = parser.parse(static_cast<int>(ours.size()), ours.data()))
    return *code;
  runtime.printNotes(parser.tool());

  Result<bool> listed = runtime.printLists();
  if (Status status = listed.ok() ? runtime.startTimeout() : listed.status(); !status.ok())
    return reportFailure(parser.tool(), status);
  if (*listed)
    return 0;
  Result<Program> program = Program::open(runtime);
  Status registered = program.ok() ? registerTests(*program) : program.status();
  if (!registered.ok())
    return reportFailure(parser.tool(), registered);
  int code = RUN_ALL_TESTS();
  Status end = report.write();
  if (isInterrupted()) {
    if (!end.ok())
      reportFailure(parser.tool(), end);
    return finishOutput(parser.tool(), reportInterrupted(parser.tool()));
  }
  if (end.ok())
    end = checkFilter();
  if (end.ok())
    end = program->verifyMemory();
  return finishOutput(parser.tool(), end.ok() ? code : reportFailure(parser.tool(), end));
}
