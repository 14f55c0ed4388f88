// Option structs of callers that were compiled with another version of kiln.h.
#ifndef KILN_RUNTIME_CAPI_OPTIONS_H
#define KILN_RUNTIME_CAPI_OPTIONS_H

#include <algorithm>
#include <cstring>
#include <span>

#include "kiln/base/status.h"

namespace kiln::capi {

// A field of an option struct: bytes [begin, end).
struct OptionField {
  const char *name;
  size_t begin, end;
};
#define KILN_OPTION_FIELD(Options, field)                                                                              \
  OptionField {                                                                                                        \
    #field, offsetof(Options, field), offsetof(Options, field) + sizeof(decltype(Options::field))                      \
  }

// More than any version of an option struct will have: a size beyond it was never set.
inline constexpr size_t kMaxOptionBytes = 4096;

// Fields in the order of the struct. Fails where the caller sets what this library does not know.
inline Status checkOptions(const char *name, const void *given, size_t size, std::span<const OptionField> fields) {
  if (size < sizeof(size_t) || size > kMaxOptionBytes)
    return invalidArgument("{} has struct_size {}: set it to sizeof({})", name, size, name);
  for (const OptionField &field : fields)
    if (field.begin < size && size < field.end)
      return invalidArgument("{} has struct_size {}, which ends within `{}`: set it to sizeof({})", name, size,
                             field.name, name);
  auto *bytes = static_cast<const unsigned char *>(given);
  for (size_t i = fields.back().end; i < size; ++i)
    if (bytes[i])
      return unimplemented("{} sets byte {}, behind `{}`, the last field that this library knows: the program was "
                           "compiled for a newer Kiln. Run it with that, or leave the field zero",
                           name, i, fields.back().name);
  return okStatus();
}

// The caller's options, with zeros for what the caller's header did not have. NULL gives the defaults.
template <typename Options>
Result<Options> readOptions(const char *name, const Options *given, std::span<const OptionField> fields) {
  Options options = {};
  if (!given)
    return options;
  KILN_RETURN_IF_ERROR(checkOptions(name, given, given->struct_size, fields));
  std::memcpy(&options, given, std::min(given->struct_size, sizeof(options)));
  return options;
}

} // namespace kiln::capi

#endif // KILN_RUNTIME_CAPI_OPTIONS_H
