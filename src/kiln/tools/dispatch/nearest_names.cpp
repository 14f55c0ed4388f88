#include "kiln/tools/dispatch/nearest_names.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "kiln/tools/dispatch/patterns.h"

namespace kiln {

namespace {

// A regular expression as far as it takes part in a comparison: letters, places where any letter may stand, and gaps
// where any text may. Alternatives, classes and repetitions become gaps and any letters: what they exclude does not
// count as an edit.
struct Element {
  enum Kind : uint8_t { Letter, Any, Gap } kind;
  char letter = 0;
};

class Elements {
public:
  explicit Elements(std::string_view pattern) : text(pattern) {
    while (at < text.size())
      takeOne();
  }
  std::vector<Element> list;

private:
  void takeOne() {
    char c = text[at++];
    switch (c) {
    case '^':
    case '$': return;
    case '.': return list.push_back({Element::Any});
    case '*': return takeStar();
    case '+':
    case '?': return repeat();
    case '{': return skipTo('}');
    case '(': return skipTo(')');
    case '[': at = std::min(text.find(']', at + 1), text.size() - 1) + 1; return list.push_back({Element::Any});
    case '\\': return takeEscaped();
    default: return list.push_back({Element::Letter, c});
    }
  }

  // As NamePatterns has it: behind a letter, a digit or _ it is any text, elsewhere it repeats.
  void takeStar() {
    bool repeats = !list.empty() && list.back().kind == Element::Any;
    if (repeats)
      list.pop_back();
    list.push_back({Element::Gap});
  }
  void repeat() {
    if (!list.empty())
      list.back() = {Element::Gap};
  }
  void skipTo(char end) {
    at = std::min(text.find(end, at), text.size() - 1) + 1;
    if (!list.empty() && end == '}')
      list.pop_back();
    list.push_back({Element::Gap});
  }
  void takeEscaped() {
    if (at >= text.size())
      return;
    char c = text[at++];
    bool isClass = std::string_view("dDwWsSbB").find(c) != std::string_view::npos;
    list.push_back(isClass ? Element{Element::Any} : Element{Element::Letter, c});
  }

  std::string_view text;
  size_t at = 0;
};

constexpr size_t kEdit = 2;

char plain(char c) {
  return c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

size_t replacing(const Element &element, char c) {
  if (element.kind == Element::Any || element.letter == c)
    return 0;
  return plain(element.letter) == plain(c) ? 1 : kEdit;
}

// The least cost of turning the elements into some part of the name; each row is for one more element, and an entry for
// each place in the name at which the part may end.
size_t editsToMatch(const std::vector<Element> &elements, std::string_view name) {
  size_t width = name.size() + 1;
  std::vector<size_t> before(width), last(width, 0), row(width);
  for (size_t i = 0; i < elements.size(); ++i) {
    const Element &element = elements[i];
    bool gap = element.kind == Element::Gap;
    row[0] = last[0] + (gap ? 0 : kEdit);
    for (size_t j = 1; j < width; ++j) {
      if (gap) {
        row[j] = std::min(last[j], row[j - 1]);
        continue;
      }
      row[j] = std::min({last[j - 1] + replacing(element, name[j - 1]), last[j] + kEdit, row[j - 1] + kEdit});
      bool swapped = i > 0 && j > 1 && element.kind == Element::Letter && elements[i - 1].kind == Element::Letter &&
                     element.letter == name[j - 2] && elements[i - 1].letter == name[j - 1];
      if (swapped)
        row[j] = std::min(row[j], before[j - 2] + kEdit);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return *std::ranges::min_element(last);
}

std::vector<double> numbersIn(std::string_view text) {
  std::vector<double> numbers;
  for (size_t i = 0; i < text.size();) {
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    double number = 0;
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])); ++i)
      number = number * 10 + (text[i] - '0');
    numbers.push_back(number);
  }
  return numbers;
}

// How far the sizes lie apart, as factors.
double apart(const std::vector<double> &wanted, std::string_view name) {
  std::vector<double> numbers = numbersIn(name);
  double sum = 0;
  for (size_t i = 0; i < std::min(wanted.size(), numbers.size()); ++i)
    sum += std::fabs(std::log((wanted[i] + 1) / (numbers[i] + 1)));
  return sum;
}

// One pattern, ready to be compared with many names.
struct Wanted {
  explicit Wanted(std::string_view pattern) : elements(Elements(pattern).list), numbers(numbersIn(pattern)) {}
  std::vector<Element> elements;
  std::vector<double> numbers;
};

// The nearer, the less.
using Nearness = std::pair<size_t, double>;

Nearness nearness(const std::vector<Wanted> &patterns, std::string_view name) {
  Nearness best(SIZE_MAX, 0);
  for (const Wanted &pattern : patterns)
    best = std::min(best, Nearness(editsToMatch(pattern.elements, name), apart(pattern.numbers, name)));
  return best;
}

} // namespace

size_t editsToMatch(std::string_view pattern, std::string_view name) {
  return editsToMatch(Elements(pattern).list, name);
}

std::vector<std::string> nearestDispatches(std::string_view patterns, std::span<const NamedProblem> problems,
                                           size_t count) {
  std::vector<Wanted> wanted;
  for (const std::string &pattern : splitPatterns(patterns))
    wanted.emplace_back(pattern);
  std::vector<std::pair<Nearness, const NamedProblem *>> rated;
  for (const NamedProblem &problem : problems)
    rated.emplace_back(nearness(wanted, problem.problem), &problem);
  std::ranges::sort(rated); // equally near ones lie in one array, and stay in its order
  // Of tens of thousands of dispatches only those of the likely problems are looked at.
  constexpr size_t likely = 64;
  rated.resize(std::min(rated.size(), likely));
  std::vector<std::tuple<Nearness, size_t, std::string>> names;
  for (const auto &[near, problem] : rated) {
    bool first = true;
    for (const std::string &dispatch : problem->dispatches) {
      Nearness whole = nearness(wanted, dispatch);
      if (whole.first < near.first)
        names.emplace_back(whole, names.size(), dispatch);
      else if (std::exchange(first, false))
        names.emplace_back(near, names.size(), problem->problem);
    }
  }
  std::ranges::sort(names);
  std::vector<std::string> nearest;
  for (auto &[near, order, name] : names)
    if (nearest.size() < count && std::ranges::find(nearest, name) == nearest.end())
      nearest.push_back(std::move(name));
  return nearest;
}

std::string nearestText(std::string_view patterns, std::span<const NamedProblem> problems) {
  constexpr size_t shown = 3;
  std::string list;
  for (const std::string &name : nearestDispatches(patterns, problems, shown))
    list += "\n  " + name;
  return list.empty() ? list : "; the nearest are:" + list;
}

Status checkPatterns(std::string_view patterns, std::span<const NamedProblem> problems) {
  for (const std::string &pattern : splitPatterns(patterns)) {
    KILN_ASSIGN_OR_RETURN(NamePatterns one, NamePatterns::parse(pattern));
    const bool found = std::ranges::any_of(problems, [&](const NamedProblem &problem) {
      return std::ranges::any_of(problem.dispatches, [&](const std::string &name) { return one.matches(name); });
    });
    if (!found)
      return notFound("--dispatches={} matches nothing{}", pattern, nearestText(pattern, problems));
  }
  return okStatus();
}

} // namespace kiln
