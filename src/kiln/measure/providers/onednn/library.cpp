#include "kiln/measure/providers/onednn/library.h"

#include <algorithm>

#include "kiln/measure/machine/libraries.h"
#include "kiln/measure/providers/thread_binding.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure::onednn {

namespace {

Status findAll(const SharedLibrary &library, Functions &dnnl) {
#define KILN_DNNL_FIND(name, parameters) KILN_RETURN_IF_ERROR(library.find("dnnl_" #name, dnnl.name));
  KILN_DNNL_FUNCTIONS(KILN_DNNL_FIND)
#undef KILN_DNNL_FIND
  KILN_RETURN_IF_ERROR(library.find("dnnl_version", dnnl.version));
  KILN_RETURN_IF_ERROR(library.find("dnnl_memory_desc_equal", dnnl.memory_desc_equal));
  return library.find("dnnl_primitive_desc_query_md", dnnl.primitive_desc_query_md);
}

// Dimensions as the library reads them.
std::vector<int64_t> dims(std::span<const uint64_t> numbers) {
  std::vector<int64_t> result(numbers.begin(), numbers.end());
  result.resize(kMaxDimensions);
  return result;
}

} // namespace

std::optional<DataType> dataType(io::ElementType type) {
  switch (type) {
  case io::ElementType::F32: return kF32;
  case io::ElementType::F16: return kF16;
  case io::ElementType::BF16: return kBF16;
  case io::ElementType::I8: return kS8;
  case io::ElementType::UI8: return kU8;
  case io::ElementType::I32: return kS32;
  default: return std::nullopt;
  }
}

Status check(ReturnCode code, std::string_view what) {
  if (code == kSuccess)
    return okStatus();
  if (code == kUnimplemented)
    return unimplemented("oneDNN does not do this: {}", what);
  if (code == kOutOfMemory)
    return resourceExhausted("oneDNN is out of memory: {}", what);
  if (code == kInvalidArguments)
    return invalidArgument("oneDNN calls these arguments invalid: {}", what);
  return internalError("oneDNN fails with status {}: {}", int(code), what);
}

Status Library::open(const std::string &peersFolder, uint32_t threads) {
  // Its threads are those of TBB, which starts one for each processor of this process and has no other setting.
  KILN_RETURN_IF_ERROR(limitProcessors(threads));
  KILN_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::open(peersFolder, kOneDnnFile));
  KILN_RETURN_IF_ERROR(findAll(library, dnnl));
  if (dnnl.version()->major != 3)
    return unimplemented("this provider was written for version 3 of oneDNN, not {}", version());
  Engine newEngine;
  KILN_RETURN_IF_ERROR(check(dnnl.engine_create(&newEngine, kCpu, 0), "creating an engine on the CPU"));
  engine = {newEngine, {dnnl.engine_destroy}};
  StreamObject *newStream;
  KILN_RETURN_IF_ERROR(check(dnnl.stream_create(&newStream, newEngine, kInOrder), "creating a stream"));
  stream = {newStream, {dnnl.stream_destroy}};
  if (threads == 1)
    return okStatus();
  KILN_RETURN_IF_ERROR(startThreads());
  return bindAll(threads);
}

// Computes something that is large enough for all threads to take part.
Status Library::startThreads() {
  const uint64_t extents[] = {1 << 20};
  KILN_ASSIGN_OR_RETURN(Description tensor, describe(io::ElementType::F32, extents));
  KILN_ASSIGN_OR_RETURN(PrimitiveDescription description,
                        choose("starting threads", &Functions::eltwise_forward_primitive_desc_create, kInference, kRelu,
                               tensor.get(), tensor.get(), 0.0f, 0.0f, nullptr));
  KILN_ASSIGN_OR_RETURN(Primitive primitive, create(description));
  std::vector<float> numbers(extents[0], 1.0f);
  KILN_ASSIGN_OR_RETURN(Memory memory, createMemory(tensor, numbers.data()));
  const ExecutionArgument arguments[] = {{kSource, memory.get()}, {kResult, memory.get()}};
  KILN_RETURN_IF_ERROR(execute(primitive, arguments));
  return wait();
}

std::string Library::version() const {
  const Version *version = dnnl.version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

Description Library::own(const Description &like, LayoutObject *layout) const {
  return {like.type, like.extents, {layout, Destroy<LayoutObject>{dnnl.memory_desc_destroy}}};
}

Result<Description> Library::describe(io::ElementType type, std::span<const uint64_t> extents,
                                      std::span<const uint64_t> strides) const {
  std::optional<DataType> known = dataType(type);
  if (!known)
    return unimplemented("oneDNN has no type {}", hal::elementTypeName(type));
  if (extents.empty() || extents.size() > kMaxDimensions)
    return unimplemented("oneDNN takes tensors of 1 to {} dimensions, not {}", kMaxDimensions, extents.size());
  Description description{type, {extents.begin(), extents.end()}, nullptr};
  LayoutObject *layout;
  KILN_RETURN_IF_ERROR(
      check(dnnl.memory_desc_create_with_strides(&layout, int(extents.size()), dims(extents).data(), *known,
                                                 dims(strides).data()),
            fmt::format("describing a tensor of {}", hal::shapeText(type, {extents.begin(), extents.end()}))));
  return own(description, layout);
}

Result<Description> Library::describe(io::ElementType type, std::span<const uint64_t> extents) const {
  std::vector<uint64_t> strides(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;)
    strides[i - 1] = strides[i] * extents[i];
  return describe(type, extents, strides);
}

Result<Description> Library::leaveOpen(const Description &plain) const {
  std::vector<int64_t> extents = plain.extents;
  extents.resize(kMaxDimensions);
  LayoutObject *layout;
  KILN_RETURN_IF_ERROR(check(dnnl.memory_desc_create_with_tag(&layout, int(plain.extents.size()), extents.data(),
                                                              *dataType(plain.type), kAnyLayout),
                             "leaving a layout open"));
  return own(plain, layout);
}

Result<Description> Library::chosenLayout(const PrimitiveDescription &description, Query query,
                                          const Description &plain) const {
  Layout chosen = dnnl.primitive_desc_query_md(description.get(), query, 0);
  if (!chosen)
    return internalError("oneDNN does not tell the layout that it chose");
  LayoutObject *layout;
  KILN_RETURN_IF_ERROR(check(dnnl.memory_desc_clone(&layout, chosen), "copying a layout"));
  return own(plain, layout);
}

Result<Primitive> Library::create(const PrimitiveDescription &description) const {
  PrimitiveObject *primitive;
  KILN_RETURN_IF_ERROR(check(dnnl.primitive_create(&primitive, description.get()), "creating a primitive"));
  return Primitive(primitive, {dnnl.primitive_destroy});
}

Result<Primitive> Library::createReorder(const Description &from, const Description &to) const {
  PrimitiveDesc created;
  KILN_RETURN_IF_ERROR(
      check(dnnl.reorder_primitive_desc_create(&created, from.get(), engine.get(), to.get(), engine.get(), nullptr),
            "bringing a tensor into another layout"));
  return create(PrimitiveDescription(created, {dnnl.primitive_desc_destroy}));
}

Result<Attributes> Library::createAttributes() const {
  AttributesObject *attributes;
  KILN_RETURN_IF_ERROR(check(dnnl.primitive_attr_create(&attributes), "creating attributes"));
  return Attributes(attributes, {dnnl.primitive_attr_destroy});
}

Status Library::follow(const Attributes &attributes, std::span<const PostOp> functions) const {
  PostOpsObject *created;
  KILN_RETURN_IF_ERROR(check(dnnl.post_ops_create(&created), "creating post-ops"));
  Owned<PostOpsObject> operations(created, {dnnl.post_ops_destroy});
  for (const PostOp &op : functions)
    KILN_RETURN_IF_ERROR(
        check(dnnl.post_ops_append_eltwise(created, op.function, op.alpha, op.beta), "adding a post-op"));
  return check(dnnl.primitive_attr_set_post_ops(attributes.get(), created), "setting post-ops");
}

Status Library::setScale(const Attributes &attributes, ArgumentName argument, int mask) const {
  return check(dnnl.primitive_attr_set_scales_mask(attributes.get(), argument, mask), "setting a scale");
}

Status Library::setZeroPoint(const Attributes &attributes, ArgumentName argument, int mask) const {
  return check(dnnl.primitive_attr_set_zero_points_mask(attributes.get(), argument, mask), "setting a zero point");
}

Result<Memory> Library::createMemory(const Description &description, void *address) const {
  MemoryObject *memory;
  KILN_RETURN_IF_ERROR(check(dnnl.memory_create(&memory, description.get(), engine.get(), address), "creating memory"));
  return Memory(memory, {dnnl.memory_destroy});
}

Status Library::execute(const Primitive &primitive, std::span<const ExecutionArgument> arguments) const {
  return check(dnnl.primitive_execute(primitive.get(), stream.get(), int(arguments.size()), arguments.data()),
               "executing");
}

} // namespace kiln::measure::onednn
