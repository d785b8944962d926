#include "tbench/sqlite/sqlite.hpp"

#include <fmt/format.h>

namespace tbench::sqlite {
namespace {

constexpr int kPrimaryCode = 0xff;  // of an extended result code

[[noreturn]] void fail(sqlite3* connection, int code) {
  const char* message = connection == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection);
  throw SqliteError{code & kPrimaryCode, message};
}

/// A path as SQLite's URI: what has a meaning in one is escaped.
std::string immutable_uri(const std::string& path) {
  std::string uri{"file:"};
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

Statement::Statement(sqlite3* connection, std::string_view sql) : connection_{connection} {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  statement_.reset(statement);
  check(code);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) fail(connection_, code);
}

Statement& Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), next_parameter_++, value));
  return *this;
}

Statement& Statement::bind(double value) {
  check(sqlite3_bind_double(statement_.get(), next_parameter_++, value));
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  check(sqlite3_bind_text64(statement_.get(), next_parameter_++, value.data(), value.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_null() {
  check(sqlite3_bind_null(statement_.get(), next_parameter_++));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(statement_.get());
  next_parameter_ = 1;
  if (code != SQLITE_DONE) fail(connection_, code);
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

Connection::Connection(const std::string& path, Mode mode, Seconds wait) {
  int flags = SQLITE_OPEN_READONLY;
  if (mode == Mode::kReadImmutable) flags |= SQLITE_OPEN_URI;
  if (mode == Mode::kWrite) flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (mode == Mode::kMemory) flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
  sqlite3* connection = nullptr;
  const std::string name = mode == Mode::kReadImmutable ? immutable_uri(path) : path;
  const int code = sqlite3_open_v2(name.c_str(), &connection, flags, nullptr);
  connection_.reset(connection);
  if (code != SQLITE_OK) fail(connection, code);
  constexpr double kMilli = 1e3;
  sqlite3_busy_timeout(connection, static_cast<int>(wait.value * kMilli));
}

void Connection::execute(const std::string& sql) const {
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(connection_.get(), code);
}

std::int64_t Connection::integer(std::string_view sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Connection::text(std::string_view sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.text(0) : std::string{};
}

bool Connection::is_read_only() const { return sqlite3_db_readonly(connection_.get(), "main") == 1; }

void Connection::copy_to(Connection& target) const {
  sqlite3_backup* backup = sqlite3_backup_init(target.connection_.get(), "main", connection_.get(), "main");
  if (backup == nullptr) fail(target.connection_.get(), SQLITE_ERROR);
  constexpr int kAllPages = -1;
  const int code = sqlite3_backup_step(backup, kAllPages);
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) throw SqliteError{code & kPrimaryCode, sqlite3_errstr(code)};
}

Transaction::Transaction(const Connection& connection) : connection_{connection} {
  connection_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!is_open_) return;
  try {
    connection_.execute("ROLLBACK");
  } catch (const SqliteError&) {
    // After a full disk or an I/O error SQLite has rolled back by itself, and says that there is nothing to undo.
  }
}

void Transaction::commit() {
  connection_.execute("COMMIT");
  is_open_ = false;
}

}  // namespace tbench::sqlite
