// What tests do with whole stores: merge them, compare all of their facts, and change them by hand.
#ifndef KILN_STORE_TESTING_WHOLE_STORE_H
#define KILN_STORE_TESTING_WHOLE_STORE_H

#include <algorithm>
#include <string>
#include <vector>

#include "kiln/base/split.h"
#include "kiln/store/database.h"
#include "kiln/store/reader.h"
#include "kiln/store/schema.h"
#include "kiln/store/testing/expectations.h"
#include "kiln/store/writer.h"

namespace kiln::store::testing {

// Every fact of a store, as lines of text.
inline std::vector<std::string> factsOf(const std::string &path) {
  std::vector<std::string> facts;
  std::unique_ptr<Reader> reader = valueOf(Reader::open(path));
  if (!reader)
    return facts;
  for (const auto &[table, keyColumns, columnNames] : factTables()) {
    std::string list;
    for (std::string_view column : split(columnNames, ','))
      list += fmt::format("{}quote({})", list.empty() ? "" : " || '|' || ", column);
    for (const std::vector<std::string> &row :
         valueOf(reader->query(fmt::format("SELECT {} FROM {}", list, table))).rows)
      facts.push_back(fmt::format("{}|{}", table, row[0]));
  }
  std::ranges::sort(facts);
  return facts;
}

inline Status mergeInto(const std::string &path, const std::vector<std::string> &shards) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Writer> writer, Writer::open(path, {}));
  return writer->merge(shards).status();
}

// Opens a store as somebody who edits it does: without triggers, and without a look at what refers to what.
inline void edit(const std::string &path, const std::string &sql) {
  std::unique_ptr<Connection> connection = valueOf(Connection::open(path, Connection::Mode::Write, 100));
  for (const FactTable &table : factTables())
    for (const char *what : {"UPDATE", "DELETE"})
      ASSERT_OK(connection->execute(fmt::format("DROP TRIGGER IF EXISTS {}_never_{}", table.name, what)));
  ASSERT_OK(connection->execute("PRAGMA foreign_keys = OFF; " + sql));
}

} // namespace kiln::store::testing

#endif // KILN_STORE_TESTING_WHOLE_STORE_H
