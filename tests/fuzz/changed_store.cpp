#include "tests/fuzz/changed_store.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "fmt/format.h"
#include "kiln/base/split.h"
#include "kiln/store/database.h"
#include "kiln/store/schema.h"
#include "kiln/store/testing/sample_store.h"
#include "tests/fuzz/scratch_folder.h"

namespace kiln::fuzz {

namespace {

using namespace store;

constexpr const char *kChanged = "changed.db";
constexpr size_t kMostChanges = 16;

void must(const Status &status) {
  if (!status.ok())
    std::abort();
}

// The bytes of a store whose tables may be changed.
std::string makeTemplate() {
  constexpr const char *kPath = "template.db";
  {
    Result<std::unique_ptr<Writer>> writer = Writer::open(kPath, {});
    must(writer.status());
    must(testing::fillSampleStore(**writer, {.problems = 1, .configurations = 2, .rounds = 2}));
  }
  {
    Result<std::unique_ptr<Connection>> connection = Connection::open(kPath, Connection::Mode::Write, 0);
    must(connection.status());
    for (const FactTable &table : factTables())
      for (const char *change : {"UPDATE", "DELETE"})
        must((*connection)->execute(fmt::format("DROP TRIGGER {}_never_{}", table.name, change)));
    must((*connection)->execute("PRAGMA journal_mode = DELETE"));
  }
  std::ifstream file(kPath, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::vector<uint8_t>> blobOf(std::string_view text) {
  if (!text.starts_with("x'") || !text.ends_with('\''))
    return std::nullopt;
  std::vector<uint8_t> bytes;
  for (size_t i = 2; i + 2 < text.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    bytes.push_back(byte);
  }
  return bytes;
}

template <typename Number> std::optional<Number> numberOf(std::string_view text) {
  Number number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

void bindValue(Statement &statement, std::string_view text) {
  if (std::optional<std::vector<uint8_t>> blob = blobOf(text))
    statement.bind(1, std::span<const uint8_t>(*blob));
  else if (std::optional<int64_t> integer = numberOf<int64_t>(text))
    statement.bind(1, *integer);
  else if (std::optional<double> real = numberOf<double>(text))
    statement.bind(1, *real);
  else if (text == "null")
    statement.bind(1, std::optional<double>());
  else
    statement.bind(1, text);
}

// The word up to the next blank, which is taken off with it.
std::string_view takeWord(std::string_view &line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

// Fails where there is no such table, column or row, or where the column does not take the value.
void change(Connection &connection, std::string_view line) {
  const std::string_view name = takeWord(line);
  if (name == "user_version") {
    if (std::optional<int32_t> version = numberOf<int32_t>(line))
      (void)connection.execute(fmt::format("PRAGMA user_version = {}", *version));
    return;
  }
  const auto table = std::ranges::find(factTables(), name, &FactTable::name);
  const std::string_view column = takeWord(line), row = takeWord(line);
  if (table == factTables().end())
    return;
  std::vector<std::string_view> columns = split(table->columns, ',');
  for (std::string_view &each : columns)
    each.remove_prefix(each.starts_with(' '));
  if (std::ranges::find(columns, column) == columns.end())
    return;
  const std::string keys = fmt::format("{}", fmt::join(std::span(columns).first(size_t(table->keyColumns)), ", "));
  const std::string where = fmt::format("WHERE ({0}) = (SELECT {0} FROM {1} LIMIT 1 OFFSET {2})", keys, table->name,
                                        numberOf<uint16_t>(row).value_or(0));
  if (line == "gone") {
    (void)connection.execute(fmt::format("DELETE FROM {} {}", table->name, where));
    return;
  }
  Result<Statement> statement = connection.prepare(fmt::format("UPDATE {} SET {} = ?1 {}", table->name, column, where));
  must(statement.status());
  bindValue(*statement, line);
  (void)statement->run();
}

} // namespace

std::string writeChangedStore(std::string_view changes) {
  static const ScratchFolder folder;
  static const std::string whole = makeTemplate();
  folder.write(kChanged, whole);
  Result<std::unique_ptr<Connection>> connection = Connection::open(kChanged, Connection::Mode::Write, 0);
  must(connection.status());
  must((*connection)->execute("PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF; BEGIN"));
  for (size_t i = 0; i < kMostChanges && !changes.empty(); ++i) {
    const size_t end = std::min(changes.find('\n'), changes.size());
    change(**connection, changes.substr(0, end));
    changes.remove_prefix(std::min(end + 1, changes.size()));
  }
  must((*connection)->execute("COMMIT"));
  return kChanged;
}

} // namespace kiln::fuzz
