// The report of --gtest_output. GoogleTest writes it without a look at what the system says, so that it writes into
// memory here, and the file is made of that: as a whole, or with an error that says why not.
#ifndef KILN_TOOLS_TEST_REPORT_H
#define KILN_TOOLS_TEST_REPORT_H

#include <string>
#include <vector>

#include "kiln/base/file_descriptor.h"
#include "kiln/base/status.h"

namespace kiln {

class TestReport {
public:
  // Takes --gtest_output out of `arguments`, or what the environment says in its place, and has GoogleTest write into
  // memory. Before testing::InitGoogleTest.
  Status redirect(std::vector<char *> &arguments);
  // Puts what GoogleTest has written where it was asked for. After the tests.
  Status write();

private:
  std::string path; // empty: no report was asked for
  FileDescriptor memory;
};

} // namespace kiln

#endif // KILN_TOOLS_TEST_REPORT_H
