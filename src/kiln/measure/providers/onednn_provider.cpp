#include "kiln/measure/providers/onednn_provider.h"

#include <array>
#include <optional>
#include <type_traits>
#include <vector>

#include "kiln/measure/providers/matmul_shape.h"
#include "kiln/measure/providers/shared_library.h"
#include "oneapi/dnnl/dnnl.h"

namespace kiln::measure {

namespace {

using io::ElementType;

// The functions that are used here, found in the library when it is loaded.
struct Functions {
#define KILN_DNNL_FUNCTIONS(X)                                                                                         \
  X(engine_create)                                                                                                     \
  X(engine_destroy)                                                                                                    \
  X(stream_create)                                                                                                     \
  X(stream_destroy)                                                                                                    \
  X(stream_wait)                                                                                                       \
  X(memory_create)                                                                                                     \
  X(memory_destroy)                                                                                                    \
  X(memory_desc_init_by_strides)                                                                                       \
  X(memory_desc_init_by_tag)                                                                                           \
  X(matmul_desc_init)                                                                                                  \
  X(reorder_primitive_desc_create)                                                                                     \
  X(primitive_desc_create)                                                                                             \
  X(primitive_desc_destroy)                                                                                            \
  X(primitive_desc_query_md)                                                                                           \
  X(primitive_create)                                                                                                  \
  X(primitive_destroy)                                                                                                 \
  X(primitive_execute)                                                                                                 \
  X(version)
#define KILN_DNNL_MEMBER(name) decltype(&::dnnl_##name) name = nullptr;
  KILN_DNNL_FUNCTIONS(KILN_DNNL_MEMBER)
#undef KILN_DNNL_MEMBER

  Status find(const SharedLibrary &library) {
#define KILN_DNNL_FIND(name) KILN_RETURN_IF_ERROR(library.find("dnnl_" #name, name));
    KILN_DNNL_FUNCTIONS(KILN_DNNL_FIND)
#undef KILN_DNNL_FIND
    return okStatus();
  }
#undef KILN_DNNL_FUNCTIONS
};

// The one place where oneDNN's errors become ours.
Status check(dnnl_status_t status, std::string_view what) {
  if (status == dnnl_success)
    return okStatus();
  if (status == dnnl_unimplemented)
    return unimplemented("oneDNN does not do this: {}", what);
  if (status == dnnl_out_of_memory)
    return resourceExhausted("oneDNN is out of memory: {}", what);
  return internalError("oneDNN fails with status {}: {}", int(status), what);
}

// An object of the library.
template <typename Object> using Owned = std::unique_ptr<std::remove_pointer_t<Object>, dnnl_status_t (*)(Object)>;
template <typename Object> Owned<Object> none() {
  return {nullptr, nullptr};
}

std::optional<dnnl_data_type_t> dataType(ElementType type) {
  switch (type) {
  case ElementType::F32: return dnnl_f32;
  case ElementType::F16: return dnnl_f16;
  case ElementType::BF16: return dnnl_bf16;
  case ElementType::I8: return dnnl_s8;
  case ElementType::I32: return dnnl_s32;
  default: return std::nullopt;
  }
}

class OneDnnProvider final : public Provider {
public:
  explicit OneDnnProvider(bool preferredWeights) : preferredWeights(preferredWeights) {}

  Status start(uint32_t threads) override;
  std::string version() const override {
    const dnnl_version_t *version = dnnl.version();
    return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
  }
  std::string note() const override {
    return preferredWeights ? "the right-hand side is in the layout that oneDNN prefers; bringing it there is not timed"
                            : "all tensors in the problem's layouts";
  }
  Status load(const LoadRequest &request, TensorMemory &tensors) override;
  Status run(uint32_t set) override;
  Status call(uint32_t set) override { return execute(multiply.get(), timed[set]); }

private:
  using Arguments = std::array<dnnl_exec_arg_t, 3>;

  Result<dnnl_memory_desc_t> describe(const MatmulOperand &operand, uint64_t rows, uint64_t columns) const;
  Result<dnnl_memory_desc_t> describeAny(const dnnl_memory_desc_t &plain) const;
  Result<dnnl_memory_t> createMemory(const dnnl_memory_desc_t &description, void *address);
  Result<Owned<dnnl_primitive_t>> createPrimitive(dnnl_primitive_desc_t description);
  Status createMultiply();
  Status createReorder();
  Status createSet(uint32_t set);
  Status reorderWeights(uint32_t set);
  template <size_t N> Status execute(dnnl_primitive_t primitive, const std::array<dnnl_exec_arg_t, N> &arguments) {
    KILN_RETURN_IF_ERROR(check(dnnl.primitive_execute(primitive, stream.get(), N, arguments.data()), "executing"));
    return check(dnnl.stream_wait(stream.get()), "waiting");
  }

  const bool preferredWeights;
  Functions dnnl;
  Owned<dnnl_engine_t> engine = none<dnnl_engine_t>();
  Owned<dnnl_stream_t> stream = none<dnnl_stream_t>();
  MatmulShape shape;
  TensorMemory *tensors = nullptr;
  dnnl_memory_desc_t source, plainWeights, weights, destination;
  Owned<dnnl_primitive_t> multiply = none<dnnl_primitive_t>();
  Owned<dnnl_primitive_t> reorder = none<dnnl_primitive_t>();
  std::vector<Owned<dnnl_memory_t>> memories;
  // Of each set: the call, and, where weights have a layout of their own, what brings them there.
  std::vector<Arguments> timed;
  std::vector<std::array<dnnl_exec_arg_t, 2>> reorders;
};

Status OneDnnProvider::start(uint32_t threads) {
  KILN_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::open("libdnnl.so.2", "libdnnl2"));
  KILN_RETURN_IF_ERROR(dnnl.find(library));
  // Its thread pool is OpenMP's, where it has one.
  void (*setThreads)(int);
  if (library.find("omp_set_num_threads", setThreads).ok())
    setThreads(int(threads));
  dnnl_engine_t newEngine;
  KILN_RETURN_IF_ERROR(check(dnnl.engine_create(&newEngine, dnnl_cpu, 0), "creating an engine"));
  engine = {newEngine, dnnl.engine_destroy};
  dnnl_stream_t newStream;
  KILN_RETURN_IF_ERROR(
      check(dnnl.stream_create(&newStream, newEngine, dnnl_stream_default_flags), "creating a stream"));
  stream = {newStream, dnnl.stream_destroy};
  return okStatus();
}

Result<dnnl_memory_desc_t> OneDnnProvider::describe(const MatmulOperand &operand, uint64_t rows,
                                                    uint64_t columns) const {
  std::optional<dnnl_data_type_t> type = dataType(operand.type);
  if (!type)
    return unimplemented("oneDNN does not multiply {}", shape.typesText());
  dnnl_dims_t extents = {}, strides = {};
  int rank = 0;
  if (shape.batched) {
    extents[rank] = dnnl_dim_t(shape.batch);
    strides[rank++] = dnnl_dim_t(rows * columns);
  }
  extents[rank] = dnnl_dim_t(rows);
  strides[rank++] = dnnl_dim_t(operand.rowStride(columns));
  extents[rank] = dnnl_dim_t(columns);
  strides[rank++] = dnnl_dim_t(operand.columnStride(rows));
  dnnl_memory_desc_t description;
  KILN_RETURN_IF_ERROR(check(dnnl.memory_desc_init_by_strides(&description, rank, extents, *type, strides),
                             fmt::format("describing a matrix of {}", shape.typesText())));
  return description;
}

Result<dnnl_memory_desc_t> OneDnnProvider::describeAny(const dnnl_memory_desc_t &plain) const {
  dnnl_memory_desc_t description;
  KILN_RETURN_IF_ERROR(
      check(dnnl.memory_desc_init_by_tag(&description, plain.ndims, plain.dims, plain.data_type, dnnl_format_tag_any),
            "leaving a layout open"));
  return description;
}

Result<dnnl_memory_t> OneDnnProvider::createMemory(const dnnl_memory_desc_t &description, void *address) {
  dnnl_memory_t memory;
  KILN_RETURN_IF_ERROR(check(dnnl.memory_create(&memory, &description, engine.get(), address), "creating memory"));
  memories.emplace_back(memory, dnnl.memory_destroy);
  return memory;
}

Result<Owned<dnnl_primitive_t>> OneDnnProvider::createPrimitive(dnnl_primitive_desc_t description) {
  dnnl_primitive_t primitive;
  KILN_RETURN_IF_ERROR(check(dnnl.primitive_create(&primitive, description), "creating a primitive"));
  return Owned<dnnl_primitive_t>(primitive, dnnl.primitive_destroy);
}

Status OneDnnProvider::createMultiply() {
  KILN_ASSIGN_OR_RETURN(source, describe(shape.lhs, shape.m, shape.k));
  KILN_ASSIGN_OR_RETURN(plainWeights, describe(shape.rhs, shape.k, shape.n));
  KILN_ASSIGN_OR_RETURN(destination, describe(shape.result, shape.m, shape.n));
  weights = plainWeights;
  if (preferredWeights) {
    KILN_ASSIGN_OR_RETURN(weights, describeAny(plainWeights));
  }
  dnnl_matmul_desc_t operation;
  std::string what = fmt::format("a matmul of {}", shape.typesText());
  KILN_RETURN_IF_ERROR(check(dnnl.matmul_desc_init(&operation, &source, &weights, nullptr, &destination), what));
  dnnl_primitive_desc_t created;
  KILN_RETURN_IF_ERROR(check(dnnl.primitive_desc_create(&created, &operation, nullptr, engine.get(), nullptr), what));
  Owned<dnnl_primitive_desc_t> description(created, dnnl.primitive_desc_destroy);
  const dnnl_memory_desc_t *chosen = dnnl.primitive_desc_query_md(created, dnnl_query_weights_md, 0);
  if (!chosen)
    return internalError("oneDNN does not tell the layout of its weights");
  weights = *chosen;
  KILN_ASSIGN_OR_RETURN(multiply, createPrimitive(created));
  return okStatus();
}

Status OneDnnProvider::createReorder() {
  dnnl_primitive_desc_t created;
  KILN_RETURN_IF_ERROR(
      check(dnnl.reorder_primitive_desc_create(&created, &plainWeights, engine.get(), &weights, engine.get(), nullptr),
            "reordering weights"));
  Owned<dnnl_primitive_desc_t> description(created, dnnl.primitive_desc_destroy);
  KILN_ASSIGN_OR_RETURN(reorder, createPrimitive(created));
  return okStatus();
}

Status OneDnnProvider::load(const LoadRequest &request, TensorMemory &memory) {
  KILN_ASSIGN_OR_RETURN(shape, matmulShape(request));
  tensors = &memory;
  KILN_RETURN_IF_ERROR(createMultiply());
  if (preferredWeights)
    KILN_RETURN_IF_ERROR(createReorder());
  for (uint32_t set = 0; set < memory.sets(); ++set)
    KILN_RETURN_IF_ERROR(createSet(set));
  return okStatus();
}

Status OneDnnProvider::createSet(uint32_t set) {
  // The library takes addresses of inputs as writable, and only reads them.
  auto input = [&](size_t tensor) { return const_cast<uint8_t *>(tensors->input(tensor, set)); };
  KILN_ASSIGN_OR_RETURN(dnnl_memory_t lhs, createMemory(source, input(0)));
  KILN_ASSIGN_OR_RETURN(dnnl_memory_t rhs, createMemory(plainWeights, input(1)));
  KILN_ASSIGN_OR_RETURN(dnnl_memory_t result, createMemory(destination, tensors->output(0, set)));
  if (preferredWeights) {
    KILN_ASSIGN_OR_RETURN(dnnl_memory_t ordered, createMemory(weights, DNNL_MEMORY_ALLOCATE));
    reorders.push_back({{{DNNL_ARG_FROM, rhs}, {DNNL_ARG_TO, ordered}}});
    rhs = ordered;
    KILN_RETURN_IF_ERROR(reorderWeights(set));
  }
  timed.push_back({{{DNNL_ARG_SRC, lhs}, {DNNL_ARG_WEIGHTS, rhs}, {DNNL_ARG_DST, result}}});
  return okStatus();
}

Status OneDnnProvider::reorderWeights(uint32_t set) {
  return reorder ? execute(reorder.get(), reorders[set]) : okStatus();
}

Status OneDnnProvider::run(uint32_t set) {
  KILN_RETURN_IF_ERROR(reorderWeights(set));
  return call(set);
}

} // namespace

std::unique_ptr<Provider> createOneDnnProvider(bool preferredWeights) {
  return std::make_unique<OneDnnProvider>(preferredWeights);
}

} // namespace kiln::measure
