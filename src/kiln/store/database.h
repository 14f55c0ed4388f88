// SQLite behind Status: connections, statements, transactions. Used inside store/ only; other folders see facts.
#ifndef KILN_STORE_DATABASE_H
#define KILN_STORE_DATABASE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "kiln/base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kiln::store {

class Connection;

// A prepared statement. Parameters and columns are numbered as SQLite does it: parameters from 1, columns from 0.
class Statement {
public:
  // Text and blobs are copied.
  void bind(int index, std::string_view text);
  void bind(int index, std::span<const uint8_t> blob);
  void bind(int index, double value);
  template <typename Integer>
    requires std::is_integral_v<Integer>
  void bind(int index, Integer value) {
    bindInteger(index, static_cast<int64_t>(value));
  }
  void bind(int index, const std::optional<double> &value);
  void bind(int index, const std::optional<uint64_t> &value);
  template <typename Text>
    requires std::is_same_v<Text, std::optional<std::string>>
  void bind(int index, const Text &text) {
    text ? bind(index, std::string_view(*text)) : bind(index, std::optional<double>());
  }
  // All columns of the other's current row, in their order.
  void bindRow(const Statement &row);
  template <typename... Values> void bindAll(const Values &...values) {
    int index = 0;
    (bind(++index, values), ...);
  }

  // Whether there is a row. A statement that has ended is reset, and can be run again with its parameters.
  Result<bool> step();
  // For a statement without rows.
  Status run();
  void reset();

  bool readOnly() const;
  int columns() const;
  std::string_view columnName(int column) const;
  // Of the current row, until the next step.
  std::string text(int column) const;
  std::span<const uint8_t> blob(int column) const;
  double real(int column) const;
  int64_t integer(int column) const;
  bool isNull(int column) const;
  bool isBlob(int column) const;
  bool isInteger(int column) const;
  bool isReal(int column) const;
  std::optional<double> optionalReal(int column) const;

private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt *statement) const;
  };
  Statement(Connection &connection, sqlite3_stmt *statement) : connection(&connection), statement(statement) {}
  void bindInteger(int index, int64_t value);

  Connection *connection;
  std::unique_ptr<sqlite3_stmt, Finalize> statement;
};

// Statements must end before their connection, and it must not move while there are any.
class Connection {
public:
  enum class Mode { Read, Write };
  // Write creates the file where there is none. A locked file is waited for.
  // Read leaves the file, and the write-ahead log that may lie beside it, as they are, and nothing new beside them;
  // both may lie in a folder that cannot be written to.
  static Result<std::unique_ptr<Connection>> open(const std::string &path, Mode mode, int waitMilliseconds);
  // A private copy that can be written to, and is gone with its connection.
  static Result<std::unique_ptr<Connection>> copy(Connection &original);
  ~Connection();
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  // One or more statements whose rows do not matter.
  Status execute(const std::string &sql);
  Result<Statement> prepare(std::string_view sql);
  // The first column of the only row.
  Result<int64_t> integer(std::string_view sql);
  Result<std::string> text(std::string_view sql);
  // Rows that the last INSERT wrote.
  int64_t changes() const;

  // What the SQLite code `code`, just got, means to a user.
  Status error(int code) const;
  const std::string &path() const { return file; }

private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3 *database) const;
  };
  Connection(std::string path, Mode mode, sqlite3 *database) : file(std::move(path)), mode(mode), database(database) {}

  std::string file;
  Mode mode;
  std::unique_ptr<sqlite3, Close> database;
};

// All or nothing: what happened since begin() is undone unless commit() succeeded.
class Transaction {
public:
  static Result<Transaction> begin(Connection &connection);
  // For reading only: all that is read until the end is of one moment.
  static Result<Transaction> beginReading(Connection &connection);
  Transaction(Transaction &&other) noexcept : connection(std::exchange(other.connection, nullptr)) {}
  Transaction &operator=(Transaction &&) = delete;
  ~Transaction();
  Status commit();

private:
  explicit Transaction(Connection &connection) : connection(&connection) {}
  Connection *connection;
};

} // namespace kiln::store

#endif // KILN_STORE_DATABASE_H
