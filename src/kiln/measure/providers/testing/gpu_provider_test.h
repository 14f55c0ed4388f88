// A provider on a simulated GPU with a problem of a family's, against the exact checks of the lab.
#ifndef KILN_MEASURE_PROVIDERS_TESTING_GPU_PROVIDER_TEST_H
#define KILN_MEASURE_PROVIDERS_TESTING_GPU_PROVIDER_TEST_H

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/families/families.h"
#include "kiln/measure/providers/provider.h"
#include "kiln/measure/workers/shared_tensors.h"
#include "gtest/gtest.h"

namespace kiln::measure::testing {

class GpuProviderTest : public ::testing::Test {
protected:
  void SetUp() override { families::registerFamilies(families); }

  // A provider that has loaded the problem with three sets.
  void load(const std::string &name, std::unique_ptr<Provider> made, bool inTF32 = false) {
    Result<std::unique_ptr<Problem>> parsed = families.parse(name);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    provider.reset();
    problem = inTF32 ? (*parsed)->inTF32() : *std::move(parsed);
    inputs.emplace(*SharedTensors::create("in", problem->inputs(), 3, SharedTensors::Pages::Reserved));
    outputs.emplace(*SharedTensors::create("out", problem->outputs(), 3, SharedTensors::Pages::OnDemand));
    for (uint32_t set = 0; set < 3; ++set)
      fillWeights(set);
    LoadRequest request{0, problemText(*problem), "", "", 3, inputs->describe(), outputs->describe()};
    for (size_t i = 0; i < request.inputs.size(); ++i)
      request.inputs[i].weight = declaresWeights && problem->isWeight(i);
    memory = *TensorMemory::map(request);
    provider = std::move(made);
    ASSERT_TRUE(provider->setDevice("cuda-sim").ok());
    Status status = provider->start(1);
    ASSERT_TRUE(status.ok()) << status.message();
    loaded = provider->load(request, memory);
  }

  verify::Verdict check(size_t pass, uint32_t set) {
    return problem->check(pass, 1, std::as_const(*inputs).view(set), std::as_const(*outputs).view(set));
  }
  void fill(size_t pass, uint32_t set) {
    ASSERT_TRUE(problem->fillInputs(pass, 1, inputs->set(set)).ok());
    problem->prefillOutputs(pass, outputs->set(set));
  }

  // Those of the first pass: weights of sets that are timed do not change once they are loaded.
  void fillWeights(uint32_t set) {
    fill(0, set);
    const std::vector<MutableTensor> tensors = inputs->set(set);
    for (size_t i = 0; i < tensors.size(); ++i)
      if (!problem->isWeight(i))
        std::ranges::fill(tensors[i].bytes, uint8_t(0));
  }

  // The first verdict that is not right, of each pass by itself, and of the first one in a graph over two sets.
  verify::Verdict verdict() {
    for (size_t pass = 0; pass < problem->passes().size(); ++pass) {
      fill(pass, 0);
      Status ran = provider->run(0);
      EXPECT_TRUE(ran.ok()) << ran.message();
      if (verify::Verdict verdict = check(pass, 0); !verdict.ok())
        return verdict;
    }
    const uint32_t sets[] = {1, 2};
    Result<Ref<hal::TimedWork>> batch = provider->prepare(sets);
    EXPECT_TRUE(batch.ok()) << batch.status().message();
    for (uint32_t set : sets)
      fill(0, set);
    EXPECT_TRUE(provider->upload({1, 2}, /*outputsOnly=*/false).ok());
    Result<double> took = (*batch)->run();
    EXPECT_TRUE(took.ok() && *took > 0) << took.status().message();
    EXPECT_TRUE((*batch)->isGraph());
    EXPECT_TRUE(provider->fetch({1, 2}).ok());
    verify::Verdict first = check(0, 1);
    return first.ok() ? check(0, 2) : first;
  }

  FamilyRegistry families;
  std::unique_ptr<Problem> problem;
  std::optional<SharedTensors> inputs, outputs;
  TensorMemory memory;
  std::unique_ptr<Provider> provider;
  bool declaresWeights = true;
  Status loaded;
};

} // namespace kiln::measure::testing

#endif // KILN_MEASURE_PROVIDERS_TESTING_GPU_PROVIDER_TEST_H
