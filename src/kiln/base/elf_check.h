// Whether a file is a shared object of this machine, as far as the system's loader believes it.
#ifndef KILN_BASE_ELF_CHECK_H
#define KILN_BASE_ELF_CHECK_H

#include <cstddef>
#include <span>

#include "kiln/base/status.h"

namespace kiln {

// The loader trusts the file: what lies outside of a truncated one would be a bus error.
Status checkSharedObject(std::span<const std::byte> bytes);

} // namespace kiln

#endif // KILN_BASE_ELF_CHECK_H
