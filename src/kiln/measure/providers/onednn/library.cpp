#include "kiln/measure/providers/onednn/library.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure::onednn {

namespace {

std::optional<dnnl_data_type_t> dataType(io::ElementType type) {
  switch (type) {
  case io::ElementType::F32: return dnnl_f32;
  case io::ElementType::F16: return dnnl_f16;
  case io::ElementType::BF16: return dnnl_bf16;
  case io::ElementType::I8: return dnnl_s8;
  case io::ElementType::I32: return dnnl_s32;
  default: return std::nullopt;
  }
}

Status findAll(const SharedLibrary &library, Functions &dnnl) {
#define KILN_DNNL_FIND(name) KILN_RETURN_IF_ERROR(library.find("dnnl_" #name, dnnl.name));
  KILN_DNNL_FUNCTIONS(KILN_DNNL_FIND)
#undef KILN_DNNL_FIND
#undef KILN_DNNL_FUNCTIONS
  return okStatus();
}

} // namespace

Status check(dnnl_status_t status, std::string_view what) {
  if (status == dnnl_success)
    return okStatus();
  if (status == dnnl_unimplemented)
    return unimplemented("oneDNN does not do this: {}", what);
  if (status == dnnl_out_of_memory)
    return resourceExhausted("oneDNN is out of memory: {}", what);
  return internalError("oneDNN fails with status {}: {}", int(status), what);
}

Status Library::open(uint32_t threads) {
  KILN_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::open("libdnnl.so.2", "libdnnl2"));
  KILN_RETURN_IF_ERROR(findAll(library, dnnl));
  // Its thread pool is OpenMP's, where it has one.
  void (*setThreads)(int);
  if (library.find("omp_set_num_threads", setThreads).ok())
    setThreads(int(threads));
  dnnl_engine_t newEngine;
  KILN_RETURN_IF_ERROR(check(dnnl.engine_create(&newEngine, dnnl_cpu, 0), "creating an engine"));
  engine = {newEngine, {dnnl.engine_destroy}};
  dnnl_stream_t newStream;
  KILN_RETURN_IF_ERROR(
      check(dnnl.stream_create(&newStream, newEngine, dnnl_stream_default_flags), "creating a stream"));
  stream = {newStream, {dnnl.stream_destroy}};
  return okStatus();
}

std::string Library::version() const {
  const dnnl_version_t *version = dnnl.version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

Result<Description> Library::describe(io::ElementType type, std::span<const uint64_t> extents,
                                      std::span<const uint64_t> strides) const {
  std::optional<dnnl_data_type_t> known = dataType(type);
  if (!known)
    return unimplemented("oneDNN has no type {}", hal::elementTypeName(type));
  if (extents.empty() || extents.size() > DNNL_MAX_NDIMS)
    return unimplemented("oneDNN takes tensors of 1 to {} dimensions, not {}", DNNL_MAX_NDIMS, extents.size());
  dnnl_dims_t dims = {}, steps = {};
  std::ranges::copy(extents, dims);
  std::ranges::copy(strides, steps);
  Description description;
  KILN_RETURN_IF_ERROR(
      check(dnnl.memory_desc_init_by_strides(&description, int(extents.size()), dims, *known, steps),
            fmt::format("describing a tensor of {}", hal::shapeText(type, {extents.begin(), extents.end()}))));
  return description;
}

Result<Description> Library::describe(io::ElementType type, std::span<const uint64_t> extents) const {
  std::vector<uint64_t> strides(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;)
    strides[i - 1] = strides[i] * extents[i];
  return describe(type, extents, strides);
}

Result<Description> Library::leaveOpen(const Description &plain) const {
  Description description;
  KILN_RETURN_IF_ERROR(
      check(dnnl.memory_desc_init_by_tag(&description, plain.ndims, plain.dims, plain.data_type, dnnl_format_tag_any),
            "leaving a layout open"));
  return description;
}

Result<PrimitiveDescription> Library::choose(const_dnnl_op_desc_t operation, const Attributes &attributes,
                                             std::string_view what) const {
  dnnl_primitive_desc_t created;
  KILN_RETURN_IF_ERROR(
      check(dnnl.primitive_desc_create(&created, operation, attributes.get(), engine.get(), nullptr), what));
  return PrimitiveDescription(created, {dnnl.primitive_desc_destroy});
}

Result<Description> Library::chosenLayout(const PrimitiveDescription &description, dnnl_query_t query) const {
  const Description *chosen = dnnl.primitive_desc_query_md(description.get(), query, 0);
  if (!chosen)
    return internalError("oneDNN does not tell the layout that it chose");
  return *chosen;
}

Result<Primitive> Library::create(const PrimitiveDescription &description) const {
  dnnl_primitive_t primitive;
  KILN_RETURN_IF_ERROR(check(dnnl.primitive_create(&primitive, description.get()), "creating a primitive"));
  return Primitive(primitive, {dnnl.primitive_destroy});
}

Result<Primitive> Library::createReorder(const Description &from, const Description &to) const {
  dnnl_primitive_desc_t created;
  KILN_RETURN_IF_ERROR(
      check(dnnl.reorder_primitive_desc_create(&created, &from, engine.get(), &to, engine.get(), nullptr),
            "bringing a tensor into another layout"));
  return create(PrimitiveDescription(created, {dnnl.primitive_desc_destroy}));
}

Result<Attributes> Library::followedBy(dnnl_alg_kind_t function) const {
  dnnl_post_ops_t created;
  KILN_RETURN_IF_ERROR(check(dnnl.post_ops_create(&created), "creating post-ops"));
  Owned<dnnl_post_ops_t> operations(created, {dnnl.post_ops_destroy});
  KILN_RETURN_IF_ERROR(check(dnnl.post_ops_append_eltwise(created, 1.0f, function, 0.0f, 0.0f), "adding a post-op"));
  dnnl_primitive_attr_t attributes;
  KILN_RETURN_IF_ERROR(check(dnnl.primitive_attr_create(&attributes), "creating attributes"));
  Attributes owned(attributes, {dnnl.primitive_attr_destroy});
  KILN_RETURN_IF_ERROR(check(dnnl.primitive_attr_set_post_ops(attributes, created), "setting post-ops"));
  return owned;
}

Result<Memory> Library::createMemory(const Description &description, void *address) const {
  dnnl_memory_t memory;
  KILN_RETURN_IF_ERROR(check(dnnl.memory_create(&memory, &description, engine.get(), address), "creating memory"));
  return Memory(memory, {dnnl.memory_destroy});
}

Status Library::execute(dnnl_primitive_t primitive, std::span<const dnnl_exec_arg_t> arguments) const {
  return check(dnnl.primitive_execute(primitive, stream.get(), int(arguments.size()), arguments.data()), "executing");
}

} // namespace kiln::measure::onednn
