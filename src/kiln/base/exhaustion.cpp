#include "kiln/base/exhaustion.h"

namespace kiln {

Status noThread(std::string_view what, const std::system_error &error) {
  return resourceExhausted("cannot start {}: {}{}", what, error.code().message(), kMoreThreads);
}

} // namespace kiln
