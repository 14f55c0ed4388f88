// Families of operations, by name: what `kiln-dispatch generate` goes through, and what parses a problem's name.
#ifndef KILN_MEASURE_FAMILY_H
#define KILN_MEASURE_FAMILY_H

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>

#include "kiln/measure/workload.h"

namespace kiln::measure {

// A size that problems of a family differ in: --problem-<name>.
struct Dimension {
  std::string_view name; // "m"
  std::string_view help; // of the flag
  uint64_t minimum = 1;
};

// What the user asks for, of all that a family has; empty: everything that it has by default.
struct ProblemSelection {
  // --problem-m=64,128: values of a dimension by its name. A family takes those dimensions that it has.
  std::map<std::string, std::vector<uint64_t>, std::less<>> dimensions;
  // --dtypes=f32,f16
  std::vector<std::string> types;
  // --problem-shape=64x64x3,1000: for families whose tensors have any number of dimensions.
  std::vector<std::vector<uint64_t>> shapes = {};

  // Of a dimension; empty where none were asked for.
  const std::vector<uint64_t> &values(std::string_view dimension) const;
  // Those of `types` that are one element type; what else was asked for is meant for other families. Where nothing was,
  // `all`.
  std::vector<hal::ElementType> elementTypes(std::initializer_list<hal::ElementType> all) const;
  // Matrices of --problem-rows and --problem-columns, which are given together: none for columns alone, which are
  // elementwise operations', and an error for rows alone. Where neither was asked for, `all`.
  using Matrix = std::pair<uint64_t, uint64_t>;
  Result<std::vector<Matrix>> matrices(std::initializer_list<Matrix> all) const;
};

class Family {
public:
  virtual ~Family() = default;
  // "matmul", the folder's name and the start of its problems' names.
  virtual std::string_view name() const = 0;
  // One line for --help.
  virtual std::string_view summary() const = 0;
  virtual std::span<const Dimension> dimensions() const = 0;
  // Whether it takes whole shapes (--problem-shape).
  virtual bool takesShapes() const { return false; }
  virtual Result<Problems> problems(const ProblemSelection &selection) const = 0;
  // The problem that a name says; NotFound where the name is not this family's, InvalidArgument where it is malformed.
  virtual Result<std::unique_ptr<Problem>> parse(std::string_view name) const = 0;
  // Problems that a program with these inputs and outputs may be: all of this family that have such types, and maybe
  // others.
  virtual Problems problemsLike(TensorTypes inputs, TensorTypes outputs) const { return {}; }
  // Configurations worth trying for a problem on a target ("llvm-cpu", "cuda:sm_90a"), best guess first; all are legal
  // for it.
  virtual std::vector<std::string> configurations(const Problem &problem, std::string_view target) const = 0;
  // All that a tuner may try, best guess first; all are legal for it.
  virtual std::vector<std::string> configurationSpace(const Problem &problem, std::string_view target) const {
    return configurations(problem, target);
  }

  // No, where sizes are asked for and none of them is this family's: other families are meant.
  bool isMeantBy(const ProblemSelection &selection) const;
  // An error where sizes are asked for that problems of this family do not have.
  Status checkDimensions(const ProblemSelection &selection) const;
};

class FamilyRegistry {
public:
  void add(std::unique_ptr<Family> family) { all.push_back(std::move(family)); }
  std::span<const std::unique_ptr<Family>> families() const { return all; }
  // The error names the nearest family.
  Result<const Family *> find(std::string_view name) const;
  // All problems of all families that have exactly these inputs and outputs.
  Problems problemsWith(TensorTypes inputs, TensorTypes outputs) const;
  // By the family that takes the name.
  Result<std::unique_ptr<Problem>> parse(std::string_view name) const;

private:
  std::vector<std::unique_ptr<Family>> all;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_FAMILY_H
