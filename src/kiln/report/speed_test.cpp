// 10,000 rows are reported in under a second where nobody else is at work.
#include "kiln/base/testing/test_folder.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/model/table.h"
#include "kiln/store/testing/sample_store.h"

#include <ctime>
#include <gtest/gtest.h>

namespace kiln::report {
namespace {

// Processor time, in which a busy machine makes a difference of two or three.
constexpr double kSeconds = 4;

double processorSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

TEST(Speed, TenThousandRowsInSeconds) {
  TestFolder folder;
  std::string path = folder.file("results.db");
  {
    Result<std::unique_ptr<store::Writer>> writer = store::Writer::open(path, {});
    ASSERT_TRUE(writer.ok()) << writer.status().toString();
    Status status = store::testing::fillSampleStore(
        **writer, {.problems = 50, .configurations = 196, .rounds = 1, .interrupted = false});
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  for (const char *name : {"console", "csv", "json", "html"}) {
    double start = processorSeconds();
    Result<std::unique_ptr<store::Reader>> reader = store::Reader::open(path);
    ASSERT_TRUE(reader.ok());
    Result<Table> table = loadTable(**reader, {});
    ASSERT_TRUE(table.ok()) << table.status().toString();
    ASSERT_EQ(table->rows.size(), 10'000U);
    Result<const Format *> format = findFormat(name);
    ASSERT_TRUE(format.ok());
    Result<std::string> text = (*format)->write(*table, {});
    ASSERT_TRUE(text.ok());
    double seconds = processorSeconds() - start;
    RecordProperty(name, fmt::format("{:.3f} s", seconds));
    fmt::print("{}: {:.3f} s for {} rows, {} bytes\n", name, seconds, table->rows.size(), text->size());
    EXPECT_LT(seconds, kSeconds) << name;
  }
}

} // namespace
} // namespace kiln::report
