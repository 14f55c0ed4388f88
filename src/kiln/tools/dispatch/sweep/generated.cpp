#include "kiln/tools/dispatch/sweep/generated.h"

#include <algorithm>
#include <filesystem>

#include "kiln/base/file.h"

namespace kiln {

namespace fs = std::filesystem;

void Operation::addDefaultConfiguration() {
  if (std::ranges::find(configurations, kDefaultConfiguration) == configurations.end())
    configurations.emplace_back(kDefaultConfiguration);
}

std::string Operation::dispatch(std::string_view configuration) const {
  return fmt::format("{}_{}", problem->name(), configuration);
}

std::string Operation::function(std::string_view configuration) const {
  std::optional<std::string_view> own = problem->ownFunction();
  return own ? std::string(*own) : dispatch(configuration);
}

std::string Operation::mlir() const {
  if (problem->ownFunction())
    return problem->mlir({}, {});
  std::string text = "module {\n";
  for (const std::string &configuration : configurations)
    text += problem->mlir(dispatch(configuration),
                          configuration == kDefaultConfiguration ? std::string_view() : configuration);
  return text + "}\n";
}

std::string GeneratedFolder::folderOf(const measure::Problem &problem) const {
  return fmt::format("{}/generated/linalg/{}/{}", root, problem.family(), problem.name());
}

std::string GeneratedFolder::sourceOf(const measure::Problem &problem) const {
  return fmt::format("{}/{}.mlir", folderOf(problem), problem.name());
}

std::string GeneratedFolder::moduleOf(const measure::Problem &problem, std::string_view purpose) const {
  return fmt::format("{}/{}_{}.vmfb", folderOf(problem), problem.name(), purpose);
}

Status makeFolder(const std::string &path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    return errnoStatus(error.value(), fmt::format("cannot make the folder '{}'", path));
  return okStatus();
}

Result<std::string> GeneratedFolder::write(const Operation &operation) const {
  std::string path = sourceOf(*operation.problem), text = operation.mlir();
  KILN_RETURN_IF_ERROR(makeFolder(folderOf(*operation.problem)));
  Result<Ref<FileContents>> old = FileContents::open(path);
  if (!old.ok() || (*old)->text() != text)
    KILN_RETURN_IF_ERROR(writeFile(path, text));
  return path;
}

// The configurations of a file, by its functions' names.
static std::vector<std::string> configurationsIn(std::string_view text, const std::string &operation) {
  std::vector<std::string> configurations;
  std::string start = "func.func @" + operation + "_";
  for (size_t at = text.find(start); at != std::string_view::npos; at = text.find(start, at + 1)) {
    size_t from = at + start.size(), end = text.find('(', from);
    if (end != std::string_view::npos)
      configurations.emplace_back(text.substr(from, end - from));
  }
  return configurations;
}

Result<std::vector<Operation>> GeneratedFolder::read(const measure::FamilyRegistry &families) const {
  std::vector<Operation> operations;
  for (const std::unique_ptr<measure::Family> &family : families.families()) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(fmt::format("{}/generated/linalg/{}", root, family->name()), error), end;
         !error && it != end; it.increment(error))
      names.push_back(it->path().filename().string());
    std::ranges::sort(names);
    for (const std::string &name : names) {
      Operation operation;
      KILN_ASSIGN_OR_RETURN(operation.problem, family->parse(name));
      KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(sourceOf(*operation.problem)));
      operation.configurations = configurationsIn(file->text(), name);
      if (operation.configurations.empty())
        return dataLoss("'{}' has no function whose name starts with {}_; generate it again",
                        sourceOf(*operation.problem), name);
      operations.push_back(std::move(operation));
    }
  }
  if (operations.empty())
    return notFound("there is nothing in '{}/generated/linalg'; run `kiln-dispatch generate --generated-dir={}` first",
                    root, root);
  return operations;
}

} // namespace kiln
