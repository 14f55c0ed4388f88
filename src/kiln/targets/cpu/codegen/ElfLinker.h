// Links object files into a shared object, in this process, with LLD.
#ifndef KILN_TARGETS_CPU_CODEGEN_ELFLINKER_H
#define KILN_TARGETS_CPU_CODEGEN_ELFLINKER_H

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace kiln {

// `soname` is what perf and gdb call the object. Undefined symbols stay undefined: they are resolved when the object is
// loaded. The same objects, in the same order, and name give the same bytes. No file is made; all live in memory.
//
// Callers on several threads take turns, since LLD keeps its state in globals. A crash inside LLD is an error, and so
// is every later call in this process.
llvm::Error linkSharedObject(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects, llvm::StringRef soname,
                             llvm::SmallVectorImpl<char> &sharedObject);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_ELFLINKER_H
