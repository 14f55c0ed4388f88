// How the time of --budget-minutes is spent on one problem. No clock: callers say what is spent.
#ifndef KILN_TOOLS_DISPATCH_TUNE_TUNING_BUDGET_H
#define KILN_TOOLS_DISPATCH_TUNE_TUNING_BUDGET_H

#include <cstddef>

namespace kiln {

class TuningBudget {
public:
  // Seconds that one candidate takes.
  struct Costs {
    double compiling = 0, measuring = 0;
  };

  // `finals` seconds are what measuring the finalists takes where nothing cuts it short: that much is kept for it, but
  // at most a fourth. `guess` counts until there is something to learn from.
  TuningBudget(double seconds, double finals, const Costs &guess);

  // Until a batch shows it.
  void guessCompiling(double seconds) { costs.compiling = seconds; }

  // For the search and the finalists.
  double left(double spent) const { return spent < seconds ? seconds - spent : 0; }
  double leftOfSearch(double spent) const { return spent < search ? search - spent : 0; }
  // How many candidates of a batch can be compiled and measured, with the one that they are compared with; 0: time is
  // up. The first batch has one at least.
  size_t fitting(size_t candidates, double spent) const;
  // How long compilers may begin with candidates.
  double compilingSeconds(double spent) const;
  // What a batch took, of so many candidates in all.
  void learn(size_t candidates, double compiling, double measuring);

private:
  double seconds, search;
  Costs costs;
  bool learnt = false;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_TUNE_TUNING_BUDGET_H
