#include "kiln/tools/dispatch/tune/tuning_budget.h"

#include <algorithm>

namespace kiln {

static constexpr double kMostOfFinals = 0.25;

TuningBudget::TuningBudget(double seconds, double finals, const Costs &guess)
    : seconds(seconds), search(seconds - std::min(finals, kMostOfFinals * seconds)), costs(guess) {}

size_t TuningBudget::fitting(size_t candidates, double spent) const {
  const double each = costs.compiling + costs.measuring, left = leftOfSearch(spent);
  // What the others are compared with is measured as well.
  const double others = each > 0 ? left / each - 1 : static_cast<double>(candidates);
  const size_t least = !learnt && left > 0 && candidates > 0;
  return std::clamp(static_cast<size_t>(std::max(0.0, others)), least, std::max(candidates, least));
}

double TuningBudget::compilingSeconds(double spent) const {
  const double each = costs.compiling + costs.measuring;
  return each > 0 ? leftOfSearch(spent) * costs.compiling / each : leftOfSearch(spent);
}

void TuningBudget::learn(size_t candidates, double compiling, double measuring) {
  if (candidates == 0)
    return;
  const auto count = static_cast<double>(candidates);
  costs = {compiling / count, measuring / count};
  learnt = true;
}

} // namespace kiln
