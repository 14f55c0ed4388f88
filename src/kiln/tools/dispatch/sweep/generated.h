// The folder that generate, compile and profile share, laid out as in the documents:
//
//   generated/linalg/<kind>/<operation>/<operation>.mlir           one function for each dispatch
//                                       <operation>_profile.vmfb   its module; _verify.vmfb is the same file
//                                       iree_compile_cmd_stdout.mlir
//   generated/cache/<key>.vmfb                                     modules by the content that they come from
//   generated/results.db
#ifndef KILN_TOOLS_DISPATCH_SWEEP_GENERATED_H
#define KILN_TOOLS_DISPATCH_SWEEP_GENERATED_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/base/tile_config.h"
#include "kiln/measure/family.h"

namespace kiln {

// A problem and the configurations that its file has functions for.
struct Operation {
  std::unique_ptr<measure::Problem> problem;
  std::vector<std::string> configurations; // tile_config_default is what the compiler chooses
  // What compiling it took, where that has been done already; see loadCorpus.
  std::optional<double> compileMilliseconds = {};

  // Adds the compiler's own choice, where it is not there yet.
  void addDefaultConfiguration();
  std::string dispatch(std::string_view configuration) const;
  // The function that computes it: named as the dispatch, unless somebody else wrote the program.
  std::string function(std::string_view configuration) const;
  // The text of the module: a function for each configuration.
  std::string mlir() const;
};

class GeneratedFolder {
public:
  // `root` is the folder in which "generated" lies.
  explicit GeneratedFolder(std::string root) : root(std::move(root)) {}

  std::string folderOf(const measure::Problem &problem) const;
  std::string sourceOf(const measure::Problem &problem) const;
  std::string moduleOf(const measure::Problem &problem, std::string_view purpose) const; // "profile", "verify"
  std::string generated() const { return root + "/generated"; }
  std::string cache() const { return root + "/generated/cache"; }
  std::string database() const { return root + "/generated/results.db"; }

  // Writes the file, unless it is there with the same text. The path as it is told to the user.
  Result<std::string> write(const Operation &operation) const;
  // What was generated: every operation with its file's configurations, in the order of their names.
  Result<std::vector<Operation>> read(const measure::FamilyRegistry &families) const;

private:
  std::string root;
};

Status makeFolder(const std::string &path);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_GENERATED_H
