// kiln-compile --serve: one process that compiles many programs. It reads a JSON object from each line of standard
// input and answers with one line on standard output, until its input ends:
//
//   {"input": "x.mlir", "output": "x.vmfb"}             -> {"ok": true, "bytes": 4096, "milliseconds": 81.5}
//   {"source": "func.func ...", "output": "x.vmfb"}     -> {"ok": false, "error": "<source>:1:11: error: ..."}
//
// A line that is nested without end, or names standard output as the file to write, is answered with an error, too.
// The flags that it was started with hold for all of them. A program that brings the compiler down ends the process,
// and with it only the answer to that line: whoever started it starts it again.
#ifndef KILN_TOOLS_COMPILE_SERVER_H
#define KILN_TOOLS_COMPILE_SERVER_H

#include <functional>
#include <memory>
#include <string>

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

// Compiles a program to the file `output`; what is wrong with it goes to `errors`. Whether it worked.
using CompileOne = std::function<bool(std::unique_ptr<llvm::MemoryBuffer> source, const std::string &output,
                                      llvm::raw_ostream &errors)>;

// Serves until standard input ends; gives the exit code.
int serveCompilations(const CompileOne &compile);

} // namespace kiln

#endif // KILN_TOOLS_COMPILE_SERVER_H
