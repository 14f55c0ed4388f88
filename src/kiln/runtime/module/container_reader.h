// The container of a module file (schema/container.h): its header, table and sections, checked.
#ifndef KILN_RUNTIME_MODULE_CONTAINER_READER_H
#define KILN_RUNTIME_MODULE_CONTAINER_READER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/module/file_bytes.h"
#include "kiln/schema/container.h"

namespace kiln::vm {

struct SectionInfo {
  schema::SectionEntry entry = {};
  std::string_view bytes; // empty where the entry does not lie within the file
  bool checksumChecked = false;
  Status status; // what is wrong with it
};

struct Container {
  std::string name; // the file, for messages
  Ref<FileBytes> file;
  schema::ContainerHeader header = {};
  std::vector<SectionInfo> sections;
};

// "metadata", "code", "constants", "executable"; "unknown" for other numbers.
const char *sectionKindName(schema::SectionKind kind);

// Checks everything that can be known without looking into sections: magic, version, size, the table's checksum, and of
// each section its kind, bounds, alignment, order, padding and checksum. The first section is the metadata, exactly one
// section is code. Every problem found is appended to `problems`, and what is still readable is returned; messages name
// the file.
Container readContainer(std::string name, Ref<FileBytes> file, std::vector<Status> &problems);

} // namespace kiln::vm

#endif // KILN_RUNTIME_MODULE_CONTAINER_READER_H
