// Writes a store with made-up results, for tests of readers in other languages.
//   kiln_store_sample FILE [PROBLEMS [CONFIGURATIONS]]
#include <cstdio>
#include <cstdlib>

#include "kiln/store/testing/sample_store.h"

using namespace kiln;

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fputs("usage: kiln_store_sample FILE [PROBLEMS [CONFIGURATIONS]]\n", stderr);
    return 2;
  }
  store::testing::SampleOptions options;
  if (argc > 2)
    options.problems = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3)
    options.configurations = std::strtoull(argv[3], nullptr, 10);
  Result<std::unique_ptr<store::Writer>> writer = store::Writer::open(argv[1], {});
  Status status = writer.ok() ? store::testing::fillSampleStore(**writer, options) : writer.status();
  if (!status.ok())
    std::fprintf(stderr, "kiln_store_sample: %s\n", status.toString().c_str());
  return status.ok() ? 0 : 1;
}
