// The tables of a store, in one place: the migrations that make them. A store's version is the number of migrations
// that it has had (PRAGMA user_version).
//
// To change the schema, append a migration; those before it stay as they are, because stores of their versions exist.
#ifndef KILN_STORE_SCHEMA_H
#define KILN_STORE_SCHEMA_H

#include <span>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/store/database.h"

namespace kiln::store {

struct Migration {
  std::string_view summary;
  // Runs inside a transaction. Must not begin or end one.
  Status (*apply)(Connection &connection);
};

std::span<const Migration> migrations();

// A table that holds facts.
struct FactTable {
  std::string_view name;
  int keyColumns;           // the first of its columns
  std::string_view columns; // separated by ", "
};

// Of the columns of a statement those that hold JSON. They must not be larger or deeper than JSON that can be read.
std::vector<int> jsonColumns(const Statement &statement);
Status checkJson(const Statement &row, std::span<const int> columns);

// In an order in which each stands after those that it refers to.
std::span<const FactTable> factTables();

// Whether the file is a store that this build can read: a clear error where it belongs to another program, or is of a
// newer version. An empty database is a store of version 0.
Result<size_t> readVersion(Connection &connection, std::span<const Migration> known);

// Brings the store to the last version, in one transaction: after an error it is as it was. Foreign keys must not be
// enforced meanwhile.
Status migrate(Connection &connection, std::span<const Migration> all);

// A store as this build knows it, which is never written to: one of an earlier version is brought up to date in a
// private copy, which lives as long as the connection.
Result<std::unique_ptr<Connection>> openForReading(const std::string &path, int waitMilliseconds);

} // namespace kiln::store

#endif // KILN_STORE_SCHEMA_H
