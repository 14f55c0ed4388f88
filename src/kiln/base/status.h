// The one error type outside the compiler: a code, and a message that a user can act on.
//
//   Result<Buffer *> allocate(uint64_t size);
//   Status f() {
//     KILN_ASSIGN_OR_RETURN(Buffer *buffer, allocate(64));
//     KILN_RETURN_IF_ERROR(fill(buffer));
//     return okStatus();
//   }
//
// A Status is one pointer; success allocates nothing. Only `main` turns one into text and an exit code.
#ifndef KILN_BASE_STATUS_H
#define KILN_BASE_STATUS_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fmt/core.h"

namespace kiln {

// The numbers are part of the module format: the VM's `fail` carries them.
enum class StatusCode : uint32_t {
  Ok = 0,
  Cancelled = 1,
  Unknown = 2,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  AlreadyExists = 6,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  Aborted = 10,
  OutOfRange = 11,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  DataLoss = 15,
};

// "INVALID_ARGUMENT" and so on; never null.
const char *statusCodeName(StatusCode code);

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message);
  Status(Status &&) = default;
  Status &operator=(Status &&) = default;
  Status(const Status &other);
  Status &operator=(const Status &other);

  bool ok() const { return !rep; }
  StatusCode code() const { return rep ? rep->code : StatusCode::Ok; }
  std::string_view message() const { return rep ? std::string_view(rep->message) : std::string_view(); }

  // The same error with "context: " before its message; success stays success.
  Status withContext(std::string_view context) &&;

  // "INVALID_ARGUMENT: input 0 has 3 elements; 4 are needed"
  std::string toString() const;

private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  std::unique_ptr<Rep> rep;
};

inline Status okStatus() {
  return Status();
}

// Each builds a status with a formatted message: invalidArgument("input {} has rank {}", i, rank).
#define KILN_STATUS_FACTORY(name, Code)                                                                                \
  template <typename... Args> Status name(fmt::format_string<Args...> format, Args &&...args) {                        \
    return Status(StatusCode::Code, fmt::format(format, std::forward<Args>(args)...));                                 \
  }
KILN_STATUS_FACTORY(cancelled, Cancelled)
KILN_STATUS_FACTORY(unknownError, Unknown)
KILN_STATUS_FACTORY(invalidArgument, InvalidArgument)
KILN_STATUS_FACTORY(notFound, NotFound)
KILN_STATUS_FACTORY(alreadyExists, AlreadyExists)
KILN_STATUS_FACTORY(permissionDenied, PermissionDenied)
KILN_STATUS_FACTORY(resourceExhausted, ResourceExhausted)
KILN_STATUS_FACTORY(failedPrecondition, FailedPrecondition)
KILN_STATUS_FACTORY(outOfRange, OutOfRange)
KILN_STATUS_FACTORY(unimplemented, Unimplemented)
KILN_STATUS_FACTORY(internalError, Internal)
KILN_STATUS_FACTORY(unavailable, Unavailable)
KILN_STATUS_FACTORY(dataLoss, DataLoss)
#undef KILN_STATUS_FACTORY

// The status of a failed system call: its errno's code and text. "cannot open 'x': No such file or directory"
Status errnoStatus(int error, std::string_view what);

// A value, or the error that there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : stored(std::move(value)) {}
  Result(Status status) : error(std::move(status)) {}

  bool ok() const { return stored.has_value(); }
  const Status &status() const & { return error; }
  Status status() && { return std::move(error); }
  T &operator*() & { return *stored; }
  const T &operator*() const & { return *stored; }
  T &&operator*() && { return std::move(*stored); }
  T *operator->() { return &*stored; }
  const T *operator->() const { return &*stored; }

private:
  std::optional<T> stored;
  Status error;
};

#define KILN_CONCAT_(a, b) a##b
#define KILN_CONCAT(a, b) KILN_CONCAT_(a, b)

#define KILN_RETURN_IF_ERROR(expr)                                                                                     \
  do {                                                                                                                 \
    if (::kiln::Status kilnStatus = (expr); !kilnStatus.ok()) [[unlikely]]                                             \
      return kilnStatus;                                                                                               \
  } while (false)

#define KILN_ASSIGN_OR_RETURN_(result, lhs, expr)                                                                      \
  auto result = (expr);                                                                                                \
  if (!result.ok()) [[unlikely]]                                                                                       \
    return std::move(result).status();                                                                                 \
  lhs = *std::move(result)
#define KILN_ASSIGN_OR_RETURN(lhs, expr) KILN_ASSIGN_OR_RETURN_(KILN_CONCAT(kilnResult, __LINE__), lhs, expr)

} // namespace kiln

#endif // KILN_BASE_STATUS_H
