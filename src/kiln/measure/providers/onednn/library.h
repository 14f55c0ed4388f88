// The oneDNN library, version 3, loaded when it is needed: its C functions, an engine on the CPU and a stream, and the
// few things that every operation asks of it.
#ifndef KILN_MEASURE_PROVIDERS_ONEDNN_LIBRARY_H
#define KILN_MEASURE_PROVIDERS_ONEDNN_LIBRARY_H

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/shared_library.h"
#include "kiln/measure/providers/onednn/api.h"
#include "kiln/runtime/io/host_tensor.h"

namespace kiln::measure::onednn {

// The library's name of a type; nothing for one that it lacks.
std::optional<DataType> dataType(io::ElementType type);

// The one place where oneDNN's errors become ours.
Status check(ReturnCode code, std::string_view what);

// Objects of the library, destroyed by the function that belongs to them.
template <typename Object> struct Destroy {
  ReturnCode (*function)(Object *) = nullptr;
  void operator()(Object *object) const { function(object); }
};
template <typename Object> using Owned = std::unique_ptr<Object, Destroy<Object>>;

using Primitive = Owned<PrimitiveObject>;
using PrimitiveDescription = Owned<PrimitiveDescObject>;
using Attributes = Owned<AttributesObject>;
using Memory = Owned<MemoryObject>;

// A tensor: extents, type and layout. Copies share the library's object, which they must not outlive.
struct Description {
  io::ElementType type = io::ElementType::F32;
  std::vector<int64_t> extents;
  std::shared_ptr<LayoutObject> layout;

  Layout get() const { return layout.get(); }
};

class Library {
public:
  Status open(const std::string &peersFolder, uint32_t threads);
  std::string version() const;

  // Strides count elements. Unimplemented for a type that oneDNN lacks.
  Result<Description> describe(io::ElementType type, std::span<const uint64_t> extents,
                               std::span<const uint64_t> strides) const;
  // Dense and row-major.
  Result<Description> describe(io::ElementType type, std::span<const uint64_t> extents) const;
  // The same tensor in the layout that a primitive chooses.
  Result<Description> leaveOpen(const Description &plain) const;
  bool sameLayout(const Description &a, const Description &b) const { return dnnl.memory_desc_equal(a.get(), b.get()); }

  // How an operation is computed: `function` of `functions()`, called with an engine and `arguments`. `what` is for
  // messages.
  template <typename... Parameters, typename... Arguments>
  Result<PrimitiveDescription> choose(std::string_view what,
                                      ReturnCode (*Functions::*function)(PrimitiveDesc *, Engine, Parameters...),
                                      Arguments... arguments) const {
    PrimitiveDesc created;
    KILN_RETURN_IF_ERROR(check((dnnl.*function)(&created, engine.get(), arguments...), what));
    return PrimitiveDescription(created, {dnnl.primitive_desc_destroy});
  }
  // `plain` as the primitive takes it.
  Result<Description> chosenLayout(const PrimitiveDescription &description, Query query,
                                   const Description &plain) const;
  Result<Primitive> create(const PrimitiveDescription &description) const;
  Result<Primitive> createReorder(const Description &from, const Description &to) const;
  Result<Attributes> createAttributes() const;
  // Elementwise functions after the operation, one after the other.
  struct PostOp {
    Algorithm function;
    float alpha = 0, beta = 0;
  };
  Status follow(const Attributes &attributes, std::span<const PostOp> functions) const;
  // The argument is scaled, or has a zero point, which calls give as arguments of their own. Bits of the mask are the
  // dimensions that have a number for each index.
  Status setScale(const Attributes &attributes, ArgumentName argument, int mask) const;
  Status setZeroPoint(const Attributes &attributes, ArgumentName argument, int mask) const;
  // Memory of its own where `address` is kAllocate.
  Result<Memory> createMemory(const Description &description, void *address) const;

  Status execute(const Primitive &primitive, std::span<const ExecutionArgument> arguments) const;
  Status wait() const { return check(dnnl.stream_wait(stream.get()), "waiting"); }

private:
  Status startThreads();
  Description own(const Description &like, LayoutObject *layout) const;

  Functions dnnl;
  Owned<EngineObject> engine;
  Owned<StreamObject> stream;
};

} // namespace kiln::measure::onednn

#endif // KILN_MEASURE_PROVIDERS_ONEDNN_LIBRARY_H
