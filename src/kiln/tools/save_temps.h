// Keeps what a compilation was given and what it made, where KILN_SAVE_TEMPS (or IREE_SAVE_TEMPS) names a folder.
#ifndef KILN_TOOLS_SAVE_TEMPS_H
#define KILN_TOOLS_SAVE_TEMPS_H

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

class ToolOutput;

// `arguments` are what the user typed. Writes core-input.mlir and core-command-line.txt at once, so that they are there
// when the compiler crashes; and core-output.bin at the end. A file that exists already is left, and the new one is
// called core-input_1.mlir and so on. In the folder's name {main}, {id} and {pid} stand for the program's name, a
// number that is free, and the process.
class SaveTemps {
public:
  SaveTemps(const std::vector<std::string> &arguments, std::string_view input);

  // Copies the output, where it went to a file.
  void keepOutput(const ToolOutput &output);

private:
  std::string pathFor(const char *stem, const char *extension) const;

  std::string folder; // empty: nothing is kept
  int number = 0;     // of the set of files
};

} // namespace kiln

#endif // KILN_TOOLS_SAVE_TEMPS_H
