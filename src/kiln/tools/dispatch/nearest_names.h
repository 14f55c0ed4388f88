// Suggests dispatches for a pattern that matches none of them.
#ifndef KILN_TOOLS_DISPATCH_NEAREST_NAMES_H
#define KILN_TOOLS_DISPATCH_NEAREST_NAMES_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"

namespace kiln {

// A problem, and the names of its dispatches.
struct NamedProblem {
  std::string problem;
  std::vector<std::string> dispatches;
};

// The names that take the fewest edits for one of the patterns to be found in them: problems where the pattern says
// nothing of what follows a problem's name, else dispatches. The nearest first, each once, at most `count`. Of equally
// near ones those whose sizes are nearest come first, then those that came first. `patterns` is as NamePatterns takes
// it.
std::vector<std::string> nearestDispatches(std::string_view patterns, std::span<const NamedProblem> problems,
                                           size_t count);

// "; the nearest are:" and a line for each; empty where there are no names at all.
std::string nearestText(std::string_view patterns, std::span<const NamedProblem> problems);

// NotFound, with the nearest names, where one of the patterns is found in no dispatch.
Status checkPatterns(std::string_view patterns, std::span<const NamedProblem> problems);

// For tests: how many edits, times two, make the expression one that is found in the name. What differs in case, or in
// - and _, is half an edit; letters that changed places are one.
size_t editsToMatch(std::string_view pattern, std::string_view name);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_NEAREST_NAMES_H
