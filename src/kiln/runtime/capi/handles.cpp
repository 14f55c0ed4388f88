#include "kiln/runtime/capi/handles.h"

#include <cstdio>
#include <cxxabi.h>
#include <deque>
#include <new>
#include <utility>
#include <vector>

namespace kiln::capi {

namespace {

struct Slot {
  const RefCounted *object = nullptr;
  const vm::RefType *type = nullptr;
  uint32_t generation = 0;
  uint32_t count = 0;
  HandleKind kind = HandleKind::None;
};

// Threads add to different shards, so that those with sessions of their own do not wait for each other.
struct Shard {
  std::mutex mutex;
  std::deque<Slot> slots;     // guarded
  std::vector<uint32_t> free; // guarded; has room for all slots
};

// A handle from the lowest bit on: 1, the shard, the slot in it, how often the slot was used before.
constexpr unsigned kShardBits = 5, kSlotBits = 26;
constexpr uint32_t kShards = 1u << kShardBits;
static_assert(sizeof(void *) == 8, "a handle holds 64 bits");

// Never destroyed: a program may release what it holds after main has returned.
Shard *shards() {
  static Shard *all = new Shard[kShards];
  return all;
}

uint32_t shardOfThread() {
  static std::atomic<uint32_t> next{0};
  thread_local uint32_t mine = next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return mine;
}

// The slot of a live handle of the kind, else null. The shard's mutex is held.
Slot *liveSlot(Shard &shard, HandleKind kind, uintptr_t handle) {
  size_t index = (handle >> (1 + kShardBits)) & ((1u << kSlotBits) - 1);
  if (index >= shard.slots.size())
    return nullptr;
  Slot &slot = shard.slots[index];
  return slot.kind == kind && slot.generation == uint32_t(handle >> 32) ? &slot : nullptr;
}

// Null where the number cannot be a handle.
Shard *shardOf(uintptr_t handle) {
  return handle & 1 ? &shards()[(handle >> 1) % kShards] : nullptr;
}

} // namespace

void *HandleTable::add(HandleKind kind, const RefCounted *object, const vm::RefType *type, uint32_t count) {
  uint32_t shardIndex = shardOfThread();
  Shard &shard = shards()[shardIndex];
  std::lock_guard lock(shard.mutex);
  if (shard.free.empty()) {
    if (shard.slots.size() == size_t(1) << kSlotBits)
      throw std::bad_alloc();
    shard.free.reserve(shard.slots.size() + 1);
    shard.slots.emplace_back();
    shard.free.push_back(uint32_t(shard.slots.size() - 1));
  }
  uint32_t index = shard.free.back();
  shard.free.pop_back();
  Slot &slot = shard.slots[index];
  slot = {object, type, slot.generation, count, kind};
  uintptr_t handle =
      uintptr_t(slot.generation) << 32 | uintptr_t(index) << (1 + kShardBits) | uintptr_t(shardIndex) << 1 | 1;
  return reinterpret_cast<void *>(handle);
}

vm::AnyRef HandleTable::find(HandleKind kind, const void *handle) {
  auto number = reinterpret_cast<uintptr_t>(handle);
  Shard *shard = shardOf(number);
  if (!shard)
    return {};
  std::lock_guard lock(shard->mutex);
  Slot *slot = liveSlot(*shard, kind, number);
  return slot ? vm::AnyRef::share(slot->object, slot->type) : vm::AnyRef();
}

bool HandleTable::retain(HandleKind kind, const void *handle) {
  auto number = reinterpret_cast<uintptr_t>(handle);
  Shard *shard = shardOf(number);
  if (!shard)
    return false;
  std::lock_guard lock(shard->mutex);
  Slot *slot = liveSlot(*shard, kind, number);
  if (slot && slot->count != kPermanent)
    ++slot->count;
  return slot != nullptr;
}

bool HandleTable::release(HandleKind kind, const void *handle, vm::AnyRef *last) {
  auto number = reinterpret_cast<uintptr_t>(handle);
  Shard *shard = shardOf(number);
  if (!shard)
    return false;
  // Dropped when the mutex is free again: what is destroyed may call a function of the program, which may come back.
  vm::AnyRef dropped;
  std::lock_guard lock(shard->mutex);
  Slot *slot = liveSlot(*shard, kind, number);
  if (!slot)
    return false;
  if (slot->count == kPermanent)
    return true;
  --slot->count;
  if (slot->count > 0)
    return true;
  dropped = vm::AnyRef::adopt(slot->object, slot->type);
  *slot = {nullptr, nullptr, slot->generation + 1, 0, HandleKind::None};
  shard->free.push_back(uint32_t((number >> (1 + kShardBits)) & ((1u << kSlotBits) - 1)));
  if (last)
    *last = std::move(dropped);
  return true;
}

namespace {

constexpr size_t kMaxMessage = 128;

void describe(char (&text)[kMaxMessage], const void *handle, const char *typeName) {
  if (handle)
    std::snprintf(text, sizeof(text), "%p, which is no live %s: it was released before, or is something else", handle,
                  typeName);
  else
    std::snprintf(text, sizeof(text), "NULL; a %s is needed", typeName);
}

} // namespace

std::string describeBadHandle(const void *handle, const char *typeName) {
  char text[kMaxMessage];
  describe(text, handle, typeName);
  return text;
}

namespace {

struct MisuseHandler {
  std::mutex mutex;
  kiln_misuse_fn_t function = nullptr; // guarded
  void *context = nullptr;             // guarded
};

MisuseHandler &misuseHandler() {
  static MisuseHandler handler;
  return handler;
}

// There when there is no memory left for another one.
kiln_status_t *outOfMemory() {
  static kiln_status_t *status = static_cast<kiln_status_t *>(
      HandleTable::add(HandleKind::Status, new StatusObject(StatusCode::ResourceExhausted, "out of memory"), nullptr,
                       HandleTable::kPermanent));
  return status;
}

} // namespace

void reportMisuse(const char *function, const void *handle, const char *typeName) {
  kiln_misuse_fn_t handler;
  void *context;
  {
    std::lock_guard lock(misuseHandler().mutex);
    handler = misuseHandler().function;
    context = misuseHandler().context;
  }
  char message[kMaxMessage];
  describe(message, handle, typeName);
  if (handler)
    handler(context, function, message);
  else
    std::fprintf(stderr, "%s: the handle is %s\n", function, message);
}

void reserveStatus() {
  (void)outOfMemory();
}

kiln_status_t *toHandle(const Status &status) {
  if (status.ok())
    return nullptr;
  try {
    return giveHandle<kiln_status_t>(makeRef<StatusObject>(status.code(), std::string(status.message())));
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  }
}

Status fromHandle(kiln_status_t *handle) {
  if (!handle)
    return okStatus();
  Ref<StatusObject> object = findHandle(handle);
  if (!object)
    return internalError("a function of the program returned {}", describeBadHandle(handle, "kiln_status_t"));
  HandleTable::release(HandleKind::Status, handle);
  return Status(object->code, object->message);
}

Status statusOfException() {
  try {
    throw;
  } catch (const abi::__forced_unwind &) {
    throw; // the thread is being cancelled
  } catch (const std::bad_alloc &) {
    return resourceExhausted("out of memory");
  } catch (const std::exception &error) {
    return internalError("an exception was thrown: {}", error.what());
  } catch (...) {
    return internalError("an exception was thrown");
  }
}

kiln_status_t *handleOfException() {
  try {
    return toHandle(statusOfException());
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  }
}

} // namespace kiln::capi

using namespace kiln;
using namespace kiln::capi;

void kiln_set_misuse_handler(kiln_misuse_fn_t handler, void *context) {
  std::lock_guard lock(misuseHandler().mutex);
  misuseHandler().function = handler;
  misuseHandler().context = context;
}

kiln_status_t *kiln_status_create(kiln_status_code_t code, const char *message) {
  auto own =
      code > KILN_STATUS_OK && code <= KILN_STATUS_DATA_LOSS ? static_cast<StatusCode>(code) : StatusCode::Unknown;
  return guarded([&] { return Status(own, message ? message : ""); });
}
kiln_status_code_t kiln_status_code(const kiln_status_t *status) {
  if (!status)
    return KILN_STATUS_OK;
  Ref<StatusObject> object = query(__func__, status);
  return object ? static_cast<kiln_status_code_t>(object->code) : KILN_STATUS_UNKNOWN;
}
const char *kiln_status_message(const kiln_status_t *status) {
  if (!status)
    return "";
  Ref<StatusObject> object = query(__func__, status);
  return object ? object->message.c_str() : "";
}
const char *kiln_status_code_name(kiln_status_code_t code) {
  return statusCodeName(static_cast<StatusCode>(code));
}
void kiln_status_free(kiln_status_t *status) {
  releaseHandle(__func__, status);
}
