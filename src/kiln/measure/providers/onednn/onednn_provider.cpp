#include "kiln/measure/providers/onednn_provider.h"

#include <algorithm>

#include "kiln/measure/providers/onednn/operation.h"

namespace kiln::measure {

namespace onednn {

namespace {

struct FamilyEntry {
  std::string_view name;
  Result<Operation> (*create)(const Library &, const LoadRequest &, Layouts);
};
constexpr FamilyEntry kFamilies[] = {
    {"matmul", createMatmul},
    {"batch_matmul", createMatmul},
    {"matmul_splitk", createMatmul},
    {"matmul_bias", createMatmul},
    {"matmul_bias_relu", createMatmul},
    {"matmul_bias_gelu", createMatmul},
    {"matmul_bias_gelu_tanh", createMatmul},
    {"qmatmul", createQuantizedMatmul},
    {"conv2d", createConvolution},
    {"elementwise", createElementwise},
    {"reduction", createReduction},
    {"softmax", createSoftmax},
    {"layer_norm", createNorm},
    {"rms_norm", createNorm},
    {"transpose", createTransposition},
};

// A primitive with its tensors.
struct Step {
  const Primitive *primitive;
  std::vector<ExecutionArgument> arguments;
};

class OneDnnProvider final : public Provider {
public:
  OneDnnProvider(std::string peersFolder, Layouts layouts) : peersFolder(std::move(peersFolder)), layouts(layouts) {}

  Status start(uint32_t threads) override { return library.open(peersFolder, threads); }
  std::string version() const override { return library.version(); }
  std::string note() const override;
  Status load(const LoadRequest &request, TensorMemory &tensors) override;
  bool preparedWeights() const override { return layouts == Layouts::Preferred; }
  Status run(uint32_t set) override;
  Status call(uint32_t set) override { return execute(calls[set]); }

private:
  // How one tensor of a call, in one set, comes where the primitive takes it.
  struct Place {
    MemoryObject *used;
    std::vector<Step> prepare, before, after;
  };

  Status createReorders();
  Result<MemoryObject *> keep(Result<Memory> memory);
  Result<Place> place(size_t argument, uint32_t set);
  Status createSet(uint32_t set);
  Status execute(const std::vector<Step> &steps) const {
    for (const Step &step : steps)
      KILN_RETURN_IF_ERROR(library.execute(*step.primitive, step.arguments));
    return library.wait();
  }

  const std::string peersFolder;
  const Layouts layouts;
  // Destroyed last: everything below is made by it.
  Library library;
  TensorMemory *tensors = nullptr;
  Operation operation;
  std::vector<Primitive> reorders;     // of each argument; null where there is nothing to do
  std::vector<MemoryObject *> scratch; // of each argument that is reordered in every call, as in a program
  std::vector<Memory> memories;
  // Of each set: what brings weights into their layout, and the call.
  std::vector<std::vector<Step>> prepares, calls;
};

std::string OneDnnProvider::note() const {
  // Measured on one thread, with a product of 4x4x4.
  constexpr std::string_view kSycl = "runs as a task of SYCL, as PyPI's build does, which adds about 8 us to each call";
  if (layouts == Layouts::Plain)
    return fmt::format("all tensors in the problem's layouts; split-k problems as plain products; {}", kSycl);
  return fmt::format(
      "weights are in the layout that oneDNN prefers, and bringing them there is not timed; bringing the "
      "input and the result of a convolution there and back is; split-k problems as plain products; {}",
      kSycl);
}

Result<MemoryObject *> OneDnnProvider::keep(Result<Memory> memory) {
  if (!memory.ok())
    return memory.status();
  memories.push_back(*std::move(memory));
  return memories.back().get();
}

// Between the problem's layouts and the primitive's, where they differ.
Status OneDnnProvider::createReorders() {
  for (const Argument &argument : operation.arguments) {
    Primitive &reorder = reorders.emplace_back();
    scratch.push_back(nullptr);
    if (library.sameLayout(argument.plain, argument.used))
      continue;
    bool isOutput = argument.name == kResult;
    KILN_ASSIGN_OR_RETURN(reorder, isOutput ? library.createReorder(argument.used, argument.plain)
                                            : library.createReorder(argument.plain, argument.used));
    if (!argument.isWeight) {
      KILN_ASSIGN_OR_RETURN(scratch.back(), keep(library.createMemory(argument.used, kAllocate)));
    }
  }
  return okStatus();
}

Status OneDnnProvider::load(const LoadRequest &request, TensorMemory &memory) {
  const FamilyEntry *family = std::ranges::find(kFamilies, request.problem.family, &FamilyEntry::name);
  if (family == std::end(kFamilies))
    return unimplemented("this provider does not offer the family {}", request.problem.family);
  KILN_ASSIGN_OR_RETURN(operation, family->create(library, request, layouts));
  tensors = &memory;
  KILN_RETURN_IF_ERROR(createReorders());
  for (uint32_t set = 0; set < memory.sets(); ++set)
    KILN_RETURN_IF_ERROR(createSet(set));
  return okStatus();
}

Result<OneDnnProvider::Place> OneDnnProvider::place(size_t index, uint32_t set) {
  const Argument &argument = operation.arguments[index];
  bool isOutput = argument.name == kResult;
  // The library takes addresses of inputs as writable, and only reads them.
  uint8_t *address = isOutput ? tensors->output(0, set) : const_cast<uint8_t *>(tensors->input(argument.tensor, set));
  KILN_ASSIGN_OR_RETURN(MemoryObject * plain, keep(library.createMemory(argument.plain, address)));
  Place place{plain, {}, {}, {}};
  const Primitive &reorder = reorders[index];
  if (!reorder)
    return place;
  place.used = scratch[index];
  if (argument.isWeight) {
    KILN_ASSIGN_OR_RETURN(place.used, keep(library.createMemory(argument.used, kAllocate)));
  }
  MemoryObject *from = isOutput ? place.used : plain, *to = isOutput ? plain : place.used;
  std::vector<Step> &when = isOutput ? place.after : argument.isWeight ? place.prepare : place.before;
  when.push_back({&reorder, {{kFrom, from}, {kTo, to}}});
  return place;
}

Status OneDnnProvider::createSet(uint32_t set) {
  std::vector<Step> &prepare = prepares.emplace_back(), &call = calls.emplace_back();
  Step compute{&operation.primitive, {}};
  std::vector<Step> after;
  for (size_t i = 0; i < operation.arguments.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(Place placed, place(i, set));
    compute.arguments.push_back({operation.arguments[i].name, placed.used});
    prepare.insert(prepare.end(), placed.prepare.begin(), placed.prepare.end());
    call.insert(call.end(), placed.before.begin(), placed.before.end());
    after.insert(after.end(), placed.after.begin(), placed.after.end());
  }
  for (const Constant &constant : operation.constants)
    compute.arguments.push_back({constant.name, constant.memory.get()});
  call.push_back(std::move(compute));
  call.insert(call.end(), after.begin(), after.end());
  return execute(prepare);
}

Status OneDnnProvider::run(uint32_t set) {
  KILN_RETURN_IF_ERROR(execute(prepares[set]));
  return call(set);
}

} // namespace

} // namespace onednn

std::unique_ptr<Provider> createOneDnnProvider(const std::string &peersFolder, bool preferredWeights) {
  return std::make_unique<onednn::OneDnnProvider>(peersFolder, preferredWeights ? onednn::Layouts::Preferred
                                                                                : onednn::Layouts::Plain);
}

} // namespace kiln::measure
