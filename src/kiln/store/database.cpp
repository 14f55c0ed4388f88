#include "kiln/store/database.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "kiln/base/exhaustion.h"

namespace kiln::store {

static Status noMemory(const std::string &path) {
  return resourceExhausted("out of memory for '{}'{}", path, kMoreMemory);
}

static Status errorOf(const std::string &path, int code, int systemError, std::string_view message) {
  std::string reason(message);
  if (systemError != 0)
    reason += fmt::format(" ({})", std::strerror(systemError));
  if (systemError == ENOMEM)
    return noMemory(path);
  switch (code & 0xFF) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return unavailable("'{}' is locked by another program: try again when it is done. What was stored is safe", path);
  case SQLITE_FULL:
    return resourceExhausted("no space is left for '{}': free some and try again. What was stored is safe", path);
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return dataLoss("'{}' is damaged or no database ({}): put a copy in its place, or save what can be read with "
                    "`sqlite3 FILE .recover`",
                    path, reason);
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_AUTH: return permissionDenied("'{}' may not be written: {}", path, reason);
  case SQLITE_CANTOPEN:
    if (systemError == EACCES || systemError == EROFS)
      return permissionDenied("cannot open '{}': {}", path, std::strerror(systemError));
    if (Status status = errnoStatus(systemError, fmt::format("cannot open '{}'", path));
        status.code() == StatusCode::ResourceExhausted)
      return status;
    return notFound("cannot open '{}': {}", path, reason);
  case SQLITE_IOERR:
    if (Status status =
            errnoStatus(systemError, fmt::format("cannot write '{}', in which what was stored is safe", path));
        status.code() == StatusCode::ResourceExhausted)
      return status;
    return unavailable("reading or writing '{}' failed: {}. What was stored before is safe", path, reason);
  case SQLITE_CONSTRAINT: return failedPrecondition("'{}' does not take this: {}", path, reason);
  case SQLITE_ERROR: return invalidArgument("{}", reason);
  case SQLITE_NOMEM: return noMemory(path);
  default: return internalError("'{}': {} (SQLite code {})", path, reason, code);
  }
}

void Connection::Close::operator()(sqlite3 *database) const {
  sqlite3_close_v2(database);
}

void Statement::Finalize::operator()(sqlite3_stmt *statement) const {
  sqlite3_finalize(statement);
}

Status Connection::error(int code) const {
  int lastError = errno;
  int major = code & 0xFF;
  bool system = major == SQLITE_IOERR || major == SQLITE_CANTOPEN || major == SQLITE_FULL;
  // SQLite does not remember the system's error where a commit fails; then it is still in errno.
  int systemError = system ? sqlite3_system_errno(database.get()) : 0;
  if (system && systemError == 0)
    systemError = lastError;
  return errorOf(file, code, systemError, sqlite3_errmsg(database.get()));
}

// A path as a URI: everything but plain characters is escaped.
static std::string uriOf(const std::string &path, std::string_view query) {
  std::string uri = "file:";
  for (char c : path) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '.' ||
                 c == '_' || c == '-';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri.append(query);
}

// How a database is opened for reading, by what lies beside it.
enum class ReadWay {
  Shared,    // by the protocol of the write-ahead log, which makes files beside the database where there are none
  Immutable, // no process writes, there is no log, and no files can be made: the database is read as it is
  Alone,     // a log lies there without its index, as after copying: it is indexed in memory
};

static ReadWay readWayOf(const std::string &path) {
  struct stat log = {};
  bool hasLog = stat((path + "-wal").c_str(), &log) == 0;
  bool hasIndex = access((path + "-shm").c_str(), F_OK) == 0;
  if (hasIndex)
    return ReadWay::Shared;
  if (hasLog && log.st_size > 0)
    return ReadWay::Alone;
  std::string folder = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/') + 1);
  return access(folder.c_str(), W_OK) == 0 ? ReadWay::Shared : ReadWay::Immutable;
}

static std::string_view queryOf(ReadWay way) {
  switch (way) {
  case ReadWay::Shared: return "";
  case ReadWay::Immutable: return "?immutable=1";
  case ReadWay::Alone: return "?vfs=unix-none";
  }
  return "";
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string &path, Mode mode, int waitMilliseconds) {
  struct stat info = {};
  bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode))
    return invalidArgument("'{}' is no file", path);
  if (!exists && mode == Mode::Read)
    return errnoStatus(errno, fmt::format("cannot open '{}'", path));

  ReadWay way = mode == Mode::Read ? readWayOf(path) : ReadWay::Shared;
  int flags = mode == Mode::Read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3 *database = nullptr;
  int code = sqlite3_open_v2(uriOf(path, queryOf(way)).c_str(), &database,
                             flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (!database)
    return noMemory(path);
  std::unique_ptr<Connection> connection(new Connection(path, mode, database));
  if (code != SQLITE_OK)
    return connection->error(code);
  sqlite3_busy_timeout(database, waitMilliseconds);
  // Another program may have written the store: functions that its schema names are not called.
  KILN_RETURN_IF_ERROR(connection->execute("PRAGMA trusted_schema = OFF"));
  if (mode == Mode::Read)
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (way == ReadWay::Alone)
    KILN_RETURN_IF_ERROR(connection->execute("PRAGMA locking_mode = EXCLUSIVE"));
  return connection;
}

Result<std::unique_ptr<Connection>> Connection::copy(Connection &original) {
  sqlite3 *database = nullptr;
  int code = sqlite3_open_v2(
      "", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (!database)
    return noMemory(original.path());
  std::unique_ptr<Connection> connection(new Connection(original.path(), Mode::Write, database));
  if (code != SQLITE_OK)
    return connection->error(code);
  sqlite3_backup *backup = sqlite3_backup_init(database, "main", original.database.get(), "main");
  if (!backup)
    return connection->error(sqlite3_extended_errcode(database));
  (void)sqlite3_backup_step(backup, -1);
  code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK)
    return connection->error(code);
  return connection;
}

// SQLite lets a reader make the files beside a database, for the write-ahead log, and not remove them. A connection
// that may write does so when it is closed, if it is the last one and the log is empty; a log that holds something is
// left to the next writer.
static void removeEmptyLog(const std::string &path) {
  struct stat info = {};
  if (stat((path + "-wal").c_str(), &info) != 0 || info.st_size != 0)
    return;
  sqlite3 *database = nullptr;
  int code = sqlite3_open_v2(uriOf(path, "").c_str(), &database,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  // SQLite opens the log when it reads. Where that fails, the files stay, which does no harm.
  if (code == SQLITE_OK)
    (void)sqlite3_exec(database, "SELECT 1 FROM sqlite_master LIMIT 1", nullptr, nullptr, nullptr);
  sqlite3_close_v2(database);
}

Connection::~Connection() {
  database.reset();
  if (mode == Mode::Read)
    removeEmptyLog(file);
}

Status Connection::execute(const std::string &sql) {
  errno = 0;
  int code = sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? okStatus() : error(code);
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt *statement = nullptr;
  const char *tail = nullptr;
  int code = sqlite3_prepare_v2(database.get(), sql.data(), static_cast<int>(sql.size()), &statement, &tail);
  if (code != SQLITE_OK)
    return error(code);
  Statement result(*this, statement);
  std::string_view rest(tail, static_cast<size_t>(sql.data() + sql.size() - tail));
  if (!statement || rest.find_first_not_of(" \t\r\n;") != std::string_view::npos)
    return invalidArgument("'{}' must be one statement of SQL", sql);
  return result;
}

Result<int64_t> Connection::integer(std::string_view sql) {
  KILN_ASSIGN_OR_RETURN(Statement statement, prepare(sql));
  KILN_ASSIGN_OR_RETURN(bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Result<std::string> Connection::text(std::string_view sql) {
  KILN_ASSIGN_OR_RETURN(Statement statement, prepare(sql));
  KILN_ASSIGN_OR_RETURN(bool row, statement.step());
  return row ? statement.text(0) : std::string();
}

int64_t Connection::changes() const {
  return sqlite3_changes64(database.get());
}

void Statement::bind(int index, std::string_view text) {
  // A null pointer would be NULL, and not the empty string.
  const char *data = text.empty() ? "" : text.data();
  sqlite3_bind_text64(statement.get(), index, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bind(int index, std::span<const uint8_t> blob) {
  sqlite3_bind_blob64(statement.get(), index, blob.empty() ? "" : static_cast<const void *>(blob.data()), blob.size(),
                      SQLITE_TRANSIENT);
}

void Statement::bind(int index, double value) {
  sqlite3_bind_double(statement.get(), index, value);
}

void Statement::bindInteger(int index, int64_t value) {
  sqlite3_bind_int64(statement.get(), index, value);
}

void Statement::bind(int index, const std::optional<double> &value) {
  if (value)
    sqlite3_bind_double(statement.get(), index, *value);
  else
    sqlite3_bind_null(statement.get(), index);
}

void Statement::bind(int index, const std::optional<uint64_t> &value) {
  if (value)
    bind(index, *value);
  else
    sqlite3_bind_null(statement.get(), index);
}

void Statement::bindRow(const Statement &row) {
  for (int column = 0; column < row.columns(); ++column)
    sqlite3_bind_value(statement.get(), column + 1, sqlite3_column_value(row.statement.get(), column));
}

Result<bool> Statement::step() {
  errno = 0;
  int code = sqlite3_step(statement.get());
  if (code == SQLITE_ROW)
    return true;
  Status status = code == SQLITE_DONE ? okStatus() : connection->error(code);
  sqlite3_reset(statement.get());
  if (!status.ok())
    return status;
  return false;
}

Status Statement::run() {
  Result<bool> row = step();
  reset();
  return row.ok() ? okStatus() : row.status();
}

void Statement::reset() {
  sqlite3_reset(statement.get());
}

bool Statement::readOnly() const {
  return sqlite3_stmt_readonly(statement.get()) != 0;
}
int Statement::columns() const {
  return sqlite3_column_count(statement.get());
}
std::string_view Statement::columnName(int column) const {
  const char *name = sqlite3_column_name(statement.get(), column);
  return name ? name : "";
}
std::string Statement::text(int column) const {
  const auto *data = reinterpret_cast<const char *>(sqlite3_column_text(statement.get(), column));
  return data ? std::string(data, static_cast<size_t>(sqlite3_column_bytes(statement.get(), column))) : std::string();
}
std::span<const uint8_t> Statement::blob(int column) const {
  const auto *data = static_cast<const uint8_t *>(sqlite3_column_blob(statement.get(), column));
  return {data, data ? static_cast<size_t>(sqlite3_column_bytes(statement.get(), column)) : 0};
}
double Statement::real(int column) const {
  return sqlite3_column_double(statement.get(), column);
}
int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement.get(), column);
}
bool Statement::isBlob(int column) const {
  return sqlite3_column_type(statement.get(), column) == SQLITE_BLOB;
}
bool Statement::isInteger(int column) const {
  return sqlite3_column_type(statement.get(), column) == SQLITE_INTEGER;
}
bool Statement::isReal(int column) const {
  return sqlite3_column_type(statement.get(), column) == SQLITE_FLOAT;
}
bool Statement::isNull(int column) const {
  return sqlite3_column_type(statement.get(), column) == SQLITE_NULL;
}
std::optional<double> Statement::optionalReal(int column) const {
  return isNull(column) ? std::nullopt : std::optional<double>(real(column));
}

Result<Transaction> Transaction::begin(Connection &connection) {
  KILN_RETURN_IF_ERROR(connection.execute("BEGIN IMMEDIATE"));
  return Transaction(connection);
}

Result<Transaction> Transaction::beginReading(Connection &connection) {
  KILN_RETURN_IF_ERROR(connection.execute("BEGIN"));
  return Transaction(connection);
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back by itself, and this statement fails, which does not matter.
  if (connection)
    (void)connection->execute("ROLLBACK");
}

Status Transaction::commit() {
  KILN_RETURN_IF_ERROR(connection->execute("COMMIT"));
  connection = nullptr;
  return okStatus();
}

} // namespace kiln::store
