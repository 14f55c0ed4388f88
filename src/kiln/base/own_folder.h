// A folder that only its owner can write to.
#ifndef KILN_BASE_OWN_FOLDER_H
#define KILN_BASE_OWN_FOLDER_H

#include "kiln/base/status.h"

#include <string>

namespace kiln {

// Creates it where it is missing. For what is executed from there: a folder that others may write to is
// PermissionDenied.
Status openOwnFolder(const std::string &folder);

} // namespace kiln

#endif // KILN_BASE_OWN_FOLDER_H
