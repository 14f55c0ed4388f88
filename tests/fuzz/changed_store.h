// A store that somebody has changed: each line of a text changes a value of a store with a run in it.
//
//   round samples 2 x'0105'        table, column, row, and a blob, a number, `null`, `gone` (the row), or else a text
//   user_version 3
#ifndef KILN_TESTS_FUZZ_CHANGED_STORE_H
#define KILN_TESTS_FUZZ_CHANGED_STORE_H

#include <string>
#include <string_view>

namespace kiln::fuzz {

// Written anew into the working directory, which becomes a folder of its own. The file's name.
std::string writeChangedStore(std::string_view changes);

} // namespace kiln::fuzz

#endif // KILN_TESTS_FUZZ_CHANGED_STORE_H
