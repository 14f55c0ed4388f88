// Where diagnostics of a compiler's tool go.
#ifndef KILN_TOOLS_DIAGNOSTIC_STREAM_H
#define KILN_TOOLS_DIAGNOSTIC_STREAM_H

#include <string>

#include "llvm/Support/raw_ostream.h"

namespace kiln {

// Standard error. On a terminal messages are wrapped to its width, and what is shown of the source stays as it is.
class DiagnosticStream : public llvm::raw_ostream {
public:
  DiagnosticStream();
  ~DiagnosticStream() override;

  bool is_displayed() const override { return llvm::errs().is_displayed(); }
  bool has_colors() const override { return llvm::errs().has_colors(); }

private:
  void write_impl(const char *bytes, size_t size) override;
  uint64_t current_pos() const override { return position; }

  std::string line; // up to where its end will come
  uint64_t position = 0;
};

} // namespace kiln

#endif // KILN_TOOLS_DIAGNOSTIC_STREAM_H
