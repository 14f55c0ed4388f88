// Problems that a struct of sizes and types tells, their spec, and families of such problems.
#ifndef KILN_MEASURE_SPEC_FAMILY_H
#define KILN_MEASURE_SPEC_FAMILY_H

#include <type_traits>

#include "kiln/measure/family.h"

namespace kiln::measure {

// A spec has name(), validate(), and a static parse, which takes the family's name before the problem's where several
// families share it.
template <typename SpecType> class SpecProblem : public Problem {
public:
  using Spec = SpecType;
  explicit SpecProblem(Spec spec) : own(std::move(spec)) {}

  const Spec &spec() const { return own; }
  std::string name() const override { return own.name(); }

protected:
  Spec own;
};

template <typename OneProblem> class SpecFamily : public Family {
public:
  using Spec = typename OneProblem::Spec;

  Result<std::unique_ptr<Problem>> parse(std::string_view name) const override {
    auto parsed = [&] {
      if constexpr (requires { Spec::parse(name); })
        return Spec::parse(name);
      else
        return Spec::parse(this->name(), name);
    };
    KILN_ASSIGN_OR_RETURN(Spec spec, parsed());
    return std::unique_ptr<Problem>(std::make_unique<OneProblem>(std::move(spec)));
  }

protected:
  // One that was asked for: types that are meant for other operations are left out, and other mistakes are errors.
  static Status add(Problems &problems, Spec spec) {
    Status status = spec.validate();
    if (status.ok())
      problems.push_back(std::make_unique<OneProblem>(std::move(spec)));
    else if (status.code() != StatusCode::Unimplemented)
      return std::move(status).withContext(spec.name());
    return okStatus();
  }
  static void addIfValid(Problems &problems, Spec spec) {
    if (spec.validate().ok())
      problems.push_back(std::make_unique<OneProblem>(std::move(spec)));
  }
  // Null where there are no configurations: of other families' problems, and for targets that are not known here.
  static const Spec *specFor(const Problem &problem, std::string_view target) {
    const auto *one = dynamic_cast<const OneProblem *>(&problem);
    return one && target == "llvm-cpu" ? &one->spec() : nullptr;
  }
};

} // namespace kiln::measure

#endif // KILN_MEASURE_SPEC_FAMILY_H
