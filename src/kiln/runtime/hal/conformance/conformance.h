// The fixture of the suite that every registered driver passes: see the *_conformance.cpp files.
#ifndef KILN_RUNTIME_HAL_CONFORMANCE_CONFORMANCE_H
#define KILN_RUNTIME_HAL_CONFORMANCE_CONFORMANCE_H

#include "kiln/runtime/hal/conformance/test_executables.h"
#include "kiln/runtime/hal/driver.h"

#include "gtest/gtest.h"

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace kiln::hal::conformance {

// A device that the suite runs on.
struct Subject {
  std::string uri;
  uint32_t workers = 0; // 0 where the device has none to choose
  AllocatorKind allocator = AllocatorKind::Direct;
};

// Every driver of the build; those with workers with several numbers of them, and every kind of allocator somewhere.
std::vector<Subject> allSubjects();
std::string subjectName(const Subject &subject);
// The name under which test reports show it; GoogleTest finds it by its name.
void PrintTo(const Subject &subject, std::ostream *stream);

// Fails the test with the status's text.
#define KILN_EXPECT_OK(expr)                                                                                           \
  do {                                                                                                                 \
    ::kiln::Status kilnStatus = (expr);                                                                                \
    EXPECT_TRUE(kilnStatus.ok()) << kilnStatus.toString();                                                             \
  } while (false)
#define KILN_ASSERT_OK(expr)                                                                                           \
  do {                                                                                                                 \
    ::kiln::Status kilnStatus = (expr);                                                                                \
    ASSERT_TRUE(kilnStatus.ok()) << kilnStatus.toString();                                                             \
  } while (false)
#define KILN_ASSERT_ASSIGN_(result, lhs, expr)                                                                         \
  auto result = (expr);                                                                                                \
  ASSERT_TRUE(result.ok()) << result.status().toString();                                                              \
  lhs = *std::move(result)
#define KILN_ASSERT_ASSIGN(lhs, expr) KILN_ASSERT_ASSIGN_(KILN_CONCAT(kilnResult, __LINE__), lhs, expr)
// An error of that code whose message holds that text.
#define KILN_EXPECT_ERROR(expr, expectedCode, text)                                                                    \
  do {                                                                                                                 \
    ::kiln::Status kilnStatus = ::kiln::hal::conformance::statusOf(expr);                                              \
    EXPECT_EQ(::kiln::statusCodeName(kilnStatus.code()), ::kiln::statusCodeName(::kiln::StatusCode::expectedCode))     \
        << kilnStatus.toString();                                                                                      \
    EXPECT_NE(kilnStatus.message().find(text), std::string_view::npos) << kilnStatus.toString();                       \
  } while (false)

inline Status statusOf(Status status) {
  return status;
}
template <typename T> Status statusOf(const Result<T> &result) {
  return result.ok() ? okStatus() : result.status();
}

class Conformance : public testing::TestWithParam<Subject> {
protected:
  void SetUp() override;
  void TearDown() override;

  // Why dispatches cannot be tested on this device; empty where they can.
  std::string whyNoDispatch() const;
  // The same for one kernel, which asks for something that not every device has.
  std::string whyNot(Kernel kernel) const;

  Ref<Buffer> allocate(uint64_t length, BufferUsage usage = BufferUsage::Result);
  template <typename T> Ref<Buffer> allocate(const std::vector<T> &values) {
    Ref<Buffer> buffer = allocate(values.size() * sizeof(T));
    KILN_EXPECT_OK(buffer->write(0, std::as_bytes(std::span(values))));
    return buffer;
  }
  template <typename T> std::vector<T> contents(Buffer *buffer) {
    std::vector<T> values(buffer->byteLength() / sizeof(T));
    KILN_EXPECT_OK(buffer->read(0, std::as_writable_bytes(std::span(values))));
    return values;
  }

  Ref<CommandBuffer> record(uint32_t slots, CommandBufferMode mode = CommandBufferMode::Replay);
  Status addDispatch(CommandBuffer &commands, Kernel kernel, std::vector<uint64_t> constants,
                     std::vector<SlotRange> bindings, uint64_t x = 1, uint64_t y = 1, uint64_t z = 1);
  // Of whole buffers.
  std::vector<Binding> table(std::initializer_list<Ref<Buffer>> buffers);
  Result<Ref<Fence>> execute(CommandBuffer &commands, const std::vector<Binding> &bindings, Fence *wait = nullptr) {
    return device->execute(wait, &commands, bindings);
  }
  // Executes and awaits.
  Status run(CommandBuffer &commands, const std::vector<Binding> &bindings);

  DriverRegistry registry;
  Ref<Device> device;
  Ref<Executable> kernels;
};

// For tests of dispatches: first line of the body.
#define KILN_SKIP_WITHOUT_DISPATCH()                                                                                   \
  if (std::string reason = whyNoDispatch(); !reason.empty())                                                           \
  GTEST_SKIP() << reason

#define KILN_SKIP_WITHOUT_KERNEL(kernel)                                                                               \
  if (std::string reason = whyNot(kernel); !reason.empty())                                                            \
  GTEST_SKIP() << reason

// Long enough that only a hang reaches it, on a busy machine too.
inline Deadline patience() {
  return Deadline::after(60'000'000'000);
}

} // namespace kiln::hal::conformance

#endif // KILN_RUNTIME_HAL_CONFORMANCE_CONFORMANCE_H
