// Writes a store with made-up results, for tests of readers in other languages.
//   kiln_store_sample FILE [PROBLEMS [CONFIGURATIONS [RUNS]]]
#include <cstdio>
#include <cstdlib>

#include "kiln/store/testing/sample_store.h"

using namespace kiln;

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fputs("usage: kiln_store_sample FILE [PROBLEMS [CONFIGURATIONS [RUNS]]]\n", stderr);
    return 2;
  }
  store::testing::SampleOptions options;
  if (argc > 2)
    options.problems = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3)
    options.configurations = std::strtoull(argv[3], nullptr, 10);
  const uint64_t runs = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
  Result<std::unique_ptr<store::Writer>> writer = store::Writer::open(argv[1], {});
  Status status = writer.status();
  for (uint64_t i = 0; i < runs && status.ok(); ++i, options.started += 3'600'000'000'000)
    status = store::testing::fillSampleStore(**writer, options);
  if (!status.ok())
    std::fprintf(stderr, "kiln_store_sample: %s\n", status.toString().c_str());
  return status.ok() ? 0 : 1;
}
