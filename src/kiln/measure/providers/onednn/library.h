// The oneDNN library, version 2, loaded when it is needed: its C functions, an engine on the CPU and a stream, and the
// few things that every operation asks of it.
#ifndef KILN_MEASURE_PROVIDERS_ONEDNN_LIBRARY_H
#define KILN_MEASURE_PROVIDERS_ONEDNN_LIBRARY_H

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "kiln/base/status.h"
#include "kiln/measure/providers/shared_library.h"
#include "kiln/runtime/io/host_tensor.h"
#include "oneapi/dnnl/dnnl.h"

namespace kiln::measure::onednn {

// The functions that are used, found in the library when it is loaded.
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
  X(memory_desc_equal)                                                                                                 \
  X(matmul_desc_init)                                                                                                  \
  X(dilated_convolution_forward_desc_init)                                                                             \
  X(binary_desc_init)                                                                                                  \
  X(eltwise_forward_desc_init)                                                                                         \
  X(reduction_desc_init)                                                                                               \
  X(softmax_forward_desc_init)                                                                                         \
  X(post_ops_create)                                                                                                   \
  X(post_ops_destroy)                                                                                                  \
  X(post_ops_append_eltwise)                                                                                           \
  X(primitive_attr_create)                                                                                             \
  X(primitive_attr_destroy)                                                                                            \
  X(primitive_attr_set_post_ops)                                                                                       \
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
};

// The one place where oneDNN's errors become ours.
Status check(dnnl_status_t status, std::string_view what);

// Objects of the library, destroyed by the function that belongs to them.
template <typename Object> struct Destroy {
  dnnl_status_t (*function)(Object) = nullptr;
  void operator()(Object object) const { function(object); }
};
template <typename Object> using Owned = std::unique_ptr<std::remove_pointer_t<Object>, Destroy<Object>>;

using Description = dnnl_memory_desc_t; // of a tensor: extents, type, layout
using Primitive = Owned<dnnl_primitive_t>;
using PrimitiveDescription = Owned<dnnl_primitive_desc_t>;
using Attributes = Owned<dnnl_primitive_attr_t>;
using Memory = Owned<dnnl_memory_t>;

class Library {
public:
  Status open(uint32_t threads);
  std::string version() const;
  // For the operations' own functions.
  const Functions &functions() const { return dnnl; }

  // Strides count elements. Unimplemented for a type that oneDNN lacks.
  Result<Description> describe(io::ElementType type, std::span<const uint64_t> extents,
                               std::span<const uint64_t> strides) const;
  // Dense and row-major.
  Result<Description> describe(io::ElementType type, std::span<const uint64_t> extents) const;
  // The same tensor in the layout that a primitive chooses.
  Result<Description> leaveOpen(const Description &plain) const;

  // No attributes where that is null. `what` is for messages.
  Result<PrimitiveDescription> choose(const_dnnl_op_desc_t operation, const Attributes &attributes,
                                      std::string_view what) const;
  // As the primitive takes a tensor: `query` is dnnl_query_src_md or the like.
  Result<Description> chosenLayout(const PrimitiveDescription &description, dnnl_query_t query) const;
  Result<Primitive> create(const PrimitiveDescription &description) const;
  Result<Primitive> createReorder(const Description &from, const Description &to) const;
  // An elementwise function after the operation.
  Result<Attributes> followedBy(dnnl_alg_kind_t function) const;
  Result<Memory> createMemory(const Description &description, void *address) const;

  Status execute(dnnl_primitive_t primitive, std::span<const dnnl_exec_arg_t> arguments) const;
  Status wait() const { return check(dnnl.stream_wait(stream.get()), "waiting"); }

private:
  Functions dnnl;
  Owned<dnnl_engine_t> engine;
  Owned<dnnl_stream_t> stream;
};

} // namespace kiln::measure::onednn

#endif // KILN_MEASURE_PROVIDERS_ONEDNN_LIBRARY_H
