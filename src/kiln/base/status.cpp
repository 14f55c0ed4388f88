#include "kiln/base/status.h"

#include <cerrno>
#include <cstring>

#include "kiln/base/exhaustion.h"

namespace kiln {

const char *statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok: return "OK";
  case StatusCode::Cancelled: return "CANCELLED";
  case StatusCode::Unknown: return "UNKNOWN";
  case StatusCode::InvalidArgument: return "INVALID_ARGUMENT";
  case StatusCode::DeadlineExceeded: return "DEADLINE_EXCEEDED";
  case StatusCode::NotFound: return "NOT_FOUND";
  case StatusCode::AlreadyExists: return "ALREADY_EXISTS";
  case StatusCode::PermissionDenied: return "PERMISSION_DENIED";
  case StatusCode::ResourceExhausted: return "RESOURCE_EXHAUSTED";
  case StatusCode::FailedPrecondition: return "FAILED_PRECONDITION";
  case StatusCode::Aborted: return "ABORTED";
  case StatusCode::OutOfRange: return "OUT_OF_RANGE";
  case StatusCode::Unimplemented: return "UNIMPLEMENTED";
  case StatusCode::Internal: return "INTERNAL";
  case StatusCode::Unavailable: return "UNAVAILABLE";
  case StatusCode::DataLoss: return "DATA_LOSS";
  }
  return "UNKNOWN";
}

Status::Status(StatusCode code, std::string message)
    : rep(code == StatusCode::Ok ? nullptr : new Rep{code, std::move(message)}) {}

Status::Status(const Status &other) : rep(other.rep ? new Rep(*other.rep) : nullptr) {}

Status &Status::operator=(const Status &other) {
  if (this != &other)
    rep.reset(other.rep ? new Rep(*other.rep) : nullptr);
  return *this;
}

Status Status::withContext(std::string_view context) && {
  if (rep)
    rep->message = fmt::format("{}: {}", context, rep->message);
  return std::move(*this);
}

std::string Status::toString() const {
  if (!rep)
    return "OK";
  return fmt::format("{}: {}", statusCodeName(rep->code), rep->message);
}

static StatusCode codeOfErrno(int error) {
  switch (error) {
  case ENOENT: return StatusCode::NotFound;
  case EEXIST: return StatusCode::AlreadyExists;
  case EACCES:
  case EPERM:
  case EROFS: return StatusCode::PermissionDenied;
  case ENOMEM:
  case EFBIG:
  case ENOSPC:
  case EDQUOT:
  case EMFILE:
  case ENFILE: return StatusCode::ResourceExhausted;
  case EINVAL:
  case EISDIR:
  case ENOTDIR: return StatusCode::InvalidArgument;
  default: return StatusCode::Unknown;
  }
}

Status errnoStatus(int error, std::string_view what) {
  return Status(codeOfErrno(error), fmt::format("{}: {}{}", what, std::strerror(error), exhaustionAdvice(error)));
}

} // namespace kiln
