// check_cost WORKER PROVIDER PROBLEM RUNS: what it costs to check what was timed. One group of the lab, of one
// candidate, is measured RUNS times with the checks and without, in turn, for as many rounds each; prints the seconds
// of both for each pair, in a line.
#include <cstdio>
#include <cstdlib>

#include "kiln/base/clock.h"
#include "kiln/families/families.h"
#include "kiln/measure/workers/testing/tiny_matmul.h"

namespace {

using namespace kiln;

constexpr uint32_t kRounds = 24;

Result<double> secondsOf(const measure::Problem &problem, const measure::Candidate &candidate, bool checked) {
  measure::GroupSettings settings;
  settings.seed = 1;
  settings.checkTimed = checked;
  measure::testing::FixedRounds scheduler(1, kRounds);
  measure::GroupObserver observer;
  KILN_ASSIGN_OR_RETURN(measure::GroupResult result,
                        measure::runGroup(problem, {&candidate, 1}, settings, scheduler, observer));
  if (result.candidates[0].outcome != Outcome::Ok)
    return internalError("{}", result.candidates[0].message);
  return static_cast<double>(result.roundsNanoseconds) / 1e9;
}

Status run(const char *worker, const std::string &provider, const std::string &name, long runs) {
  measure::FamilyRegistry families;
  families::registerFamilies(families);
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<measure::Problem> problem, families.parse(name));
  measure::Candidate candidate;
  candidate.command = {worker, "--provider=" + provider};
  for (long i = 0; i < runs; ++i) {
    KILN_ASSIGN_OR_RETURN(double with, secondsOf(*problem, candidate, true));
    KILN_ASSIGN_OR_RETURN(double without, secondsOf(*problem, candidate, false));
    std::printf("%.6f %.6f\n", with, without);
  }
  return okStatus();
}

} // namespace

int main(int argc, char **argv) {
  long runs = argc == 5 ? std::strtol(argv[4], nullptr, 10) : 0;
  if (runs < 1 || runs > 1000) {
    std::fprintf(stderr, "usage: check_cost WORKER PROVIDER PROBLEM RUNS, which is 1 to 1000\n");
    return 1;
  }
  Status status = run(argv[1], argv[2], argv[3], runs);
  if (!status.ok())
    std::fprintf(stderr, "check_cost: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
