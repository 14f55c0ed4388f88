#include "kiln/measure/family.h"

#include <algorithm>

#include "kiln/base/flags.h"
#include "kiln/measure/verify/number.h"

namespace kiln::measure {

const std::vector<uint64_t> &ProblemSelection::values(std::string_view dimension) const {
  static const std::vector<uint64_t> none;
  auto found = dimensions.find(dimension);
  return found == dimensions.end() ? none : found->second;
}

std::vector<hal::ElementType> ProblemSelection::elementTypes(std::initializer_list<hal::ElementType> all) const {
  std::vector<hal::ElementType> chosen;
  for (const std::string &name : types)
    if (std::optional<hal::ElementType> type = measure::verify::parseMeasuredType(name))
      chosen.push_back(*type);
  return types.empty() ? std::vector<hal::ElementType>(all) : chosen;
}

Result<std::vector<ProblemSelection::Matrix>> ProblemSelection::matrices(std::initializer_list<Matrix> all) const {
  const std::vector<uint64_t> &rows = values("rows"), &columns = values("columns");
  if (rows.empty() && columns.empty())
    return std::vector<Matrix>(all);
  if (columns.empty())
    return invalidArgument("--problem-rows without --problem-columns: give both");
  std::vector<Matrix> chosen;
  for (uint64_t row : rows)
    for (uint64_t column : columns)
      chosen.emplace_back(row, column);
  return chosen;
}

bool Family::isMeantBy(const ProblemSelection &selection) const {
  if ((selection.dimensions.empty() && selection.shapes.empty()) || (takesShapes() && !selection.shapes.empty()))
    return true;
  return std::ranges::any_of(dimensions(),
                             [&](const Dimension &dimension) { return selection.dimensions.contains(dimension.name); });
}

Status Family::checkDimensions(const ProblemSelection &selection) const {
  std::string list;
  for (const Dimension &dimension : dimensions())
    list += fmt::format("{}{}", list.empty() ? "" : ", ", dimension.name);
  for (const auto &[name, values] : selection.dimensions)
    if (std::ranges::find(dimensions(), name, &Dimension::name) == dimensions().end())
      return invalidArgument("--problem-{}: {} has no such size; it has {}", name, this->name(), list);
  if (!selection.shapes.empty() && !takesShapes())
    return invalidArgument("--problem-shape: {} takes no whole shapes; it has {}", name(), list);
  return okStatus();
}

Result<const Family *> FamilyRegistry::find(std::string_view name) const {
  std::vector<std::string> names;
  std::string list;
  for (const std::unique_ptr<Family> &family : all) {
    if (family->name() == name)
      return family.get();
    names.emplace_back(family->name());
    list += (list.empty() ? "" : ", ") + names.back();
  }
  std::string_view nearest = nearestName(name, names);
  return notFound("no operation family '{}' in this build; it has: {}{}", name, list,
                  nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

Problems FamilyRegistry::problemsWith(TensorTypes inputs, TensorTypes outputs) const {
  Problems problems;
  for (const std::unique_ptr<Family> &family : all)
    for (std::unique_ptr<Problem> &problem : family->problemsLike(inputs, outputs))
      if (std::ranges::equal(problem->inputs(), inputs) && std::ranges::equal(problem->outputs(), outputs))
        problems.push_back(std::move(problem));
  return problems;
}

Result<std::unique_ptr<Problem>> FamilyRegistry::parse(std::string_view name) const {
  for (const std::unique_ptr<Family> &family : all) {
    Result<std::unique_ptr<Problem>> problem = family->parse(name);
    if (problem.ok() || problem.status().code() != StatusCode::NotFound)
      return problem;
  }
  return notFound("no operation family of this build takes the name '{}'", name);
}

} // namespace kiln::measure
