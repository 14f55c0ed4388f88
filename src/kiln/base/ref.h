// Intrusive reference counting: the one way in which objects of the runtime are shared. A raw pointer parameter
// borrows; a Ref owns one reference. Counting is thread-safe; the object's own functions say what else is.
#ifndef KILN_BASE_REF_H
#define KILN_BASE_REF_H

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kiln {

// Starts with one reference, which belongs to whoever called `new`; Ref<T>::adopt or makeRef takes it over.
class RefCounted {
public:
  RefCounted(const RefCounted &) = delete;
  RefCounted &operator=(const RefCounted &) = delete;

  void retain() const { count.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (count.fetch_sub(1, std::memory_order_acq_rel) == 1)
      const_cast<RefCounted *>(this)->destroy();
  }
  // True where the caller's reference is the only one: nobody else can be using the object.
  bool unique() const { return count.load(std::memory_order_acquire) == 1; }

protected:
  RefCounted() = default;
  virtual ~RefCounted() = default;
  // Called when the last reference is gone. A pooled object overrides it and calls `revive` before it is handed out
  // anew.
  virtual void destroy() { delete this; }
  void revive() { count.store(1, std::memory_order_relaxed); }

private:
  mutable std::atomic<uint32_t> count{1};
};

template <typename T> class Ref {
public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  Ref(const Ref &other) : object(other.object) {
    if (object)
      object->retain();
  }
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  template <typename U>
    requires std::is_convertible_v<U *, T *>
  Ref(Ref<U> other) : object(other.leak()) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() {
    if (object)
      object->release();
  }

  // Takes over a reference that the caller owns.
  static Ref adopt(T *object) {
    Ref ref;
    ref.object = object;
    return ref;
  }
  // Adds a reference to an object that somebody else owns.
  static Ref share(T *object) {
    if (object)
      object->retain();
    return adopt(object);
  }

  T *get() const { return object; }
  T *operator->() const { return object; }
  T &operator*() const { return *object; }
  explicit operator bool() const { return object != nullptr; }
  friend bool operator==(const Ref &a, const Ref &b) { return a.object == b.object; }

  // Gives up the reference without dropping it; the caller owns it now.
  [[nodiscard]] T *leak() { return std::exchange(object, nullptr); }

private:
  T *object = nullptr;
};

template <typename T, typename... Args> Ref<T> makeRef(Args &&...args) {
  return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

} // namespace kiln

#endif // KILN_BASE_REF_H
