#include "tbench/sqlite/sqlite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace tbench::sqlite {
namespace {

constexpr int kPrimaryCode = 0xff;  // mask for an extended result code

constexpr int kStepsPerBlock = 1'000'000;
constexpr std::int64_t kMinBlocks = 50;        // under a second
constexpr std::int64_t kStepsPerByte = 20;     // checking a row takes about one, joining and sorting it takes several
constexpr std::int64_t kStepsPerChange = 500;  // per row that this connection has written since it was opened
constexpr int kMaxValueBytes = 1 << 27;        // of one text, one blob or one row

std::int64_t max_blocks(sqlite3* connection, const WorkLimit& limit) {
  const std::int64_t changes = sqlite3_total_changes64(connection);
  return kMinBlocks + limit.file_bytes / kStepsPerBlock * kStepsPerByte + changes / kStepsPerBlock * kStepsPerChange;
}

/// Counts a block of steps, as SQLite's progress handler.
/// @return  nonzero to interrupt the statement
int count_block(void* limit) { return --static_cast<WorkLimit*>(limit)->blocks_left < 0 ? 1 : 0; }

[[noreturn]] void fail(sqlite3* connection, int code) {
  if ((code & kPrimaryCode) == SQLITE_INTERRUPT) {
    throw SqliteError{SQLITE_INTERRUPT, "reading it takes more steps than a file of its size needs"};
  }
  const char* message = connection == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection);
  throw SqliteError{code & kPrimaryCode, message};
}

/// Converts a path to an SQLite URI: characters with a meaning in URIs are escaped.
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

/// Keeps code in the schema from running: triggers, views, and harmful functions in defaults and indexes. Limits the
/// size of a value and the steps of a statement.
void harden(sqlite3* connection, WorkLimit& limit) {
  const auto configure = [&](int option, int value) { sqlite3_db_config(connection, option, value, nullptr); };
  configure(SQLITE_DBCONFIG_DEFENSIVE, 1);
  configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
  configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
  configure(SQLITE_DBCONFIG_ENABLE_VIEW, 0);
  sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_progress_handler(connection, kStepsPerBlock, &count_block, &limit);
}

/// Returns the file's size in bytes, including its write-ahead log.
std::int64_t size_of(const std::string& path) {
  std::int64_t total = 0;
  for (const std::string& file : {path, path + "-wal"}) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(file, error);
    total += error ? 0 : static_cast<std::int64_t>(bytes);
  }
  return total;
}

}  // namespace

Statement::Statement(sqlite3* connection, WorkLimit& limit, std::string_view sql)
    : connection_{connection}, limit_{&limit} {
  limit.blocks_left = max_blocks(connection, limit);
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
  if (!is_running_) limit_->blocks_left = max_blocks(connection_, *limit_);
  is_running_ = true;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  is_running_ = false;
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

bool Statement::is_integer(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER; }

Connection::Connection(const std::string& path, Mode mode, Seconds wait)
    : limit_{std::make_unique<WorkLimit>(WorkLimit{.file_bytes = mode == Mode::kMemory ? 0 : size_of(path)})} {
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
  harden(connection, *limit_);
  execute("PRAGMA cell_size_check = ON");
}

void Connection::execute(const std::string& sql) const {
  limit_->blocks_left = max_blocks(connection_.get(), *limit_);
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
  target.limit_->file_bytes = limit_->file_bytes;
}

namespace {

std::optional<std::string> generated_column(const Connection& connection, const std::string& table) {
  Statement columns = connection.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden > 0");
  columns.bind(std::string_view{table});
  if (!columns.step()) return std::nullopt;
  return fmt::format("the generated column '{}' of '{}'", columns.text(0), table);
}

}  // namespace

std::optional<std::string> active_object(const Connection& connection, std::span<const std::string_view> tables) {
  const auto is_asked = [&](const std::string& name) {
    const auto is_same = [&](std::string_view table) {
      return sqlite3_stricmp(std::string{table}.c_str(), name.c_str()) == 0;
    };
    return tables.empty() || std::ranges::any_of(tables, is_same);
  };
  std::vector<std::string> plain;
  Statement listed = connection.prepare("SELECT name, type FROM pragma_table_list WHERE schema = 'main'");
  while (listed.step()) {
    const std::string name = listed.text(0);
    const std::string type = listed.text(1);
    if (!is_asked(name)) continue;
    if (type == "view") return fmt::format("the view '{}'", name);
    if (type == "virtual") return fmt::format("the virtual table '{}'", name);
    plain.push_back(name);
  }
  Statement triggers = connection.prepare("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'");
  while (triggers.step()) {
    if (is_asked(triggers.text(1))) return fmt::format("the trigger '{}'", triggers.text(0));
  }
  for (const std::string& table : plain) {
    if (auto column = generated_column(connection, table)) return column;
  }
  return std::nullopt;
}

Transaction::Transaction(const Connection& connection) : connection_{connection} {
  connection_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!is_open_) return;
  try {
    connection_.execute("ROLLBACK");
  } catch (const SqliteError&) {
    // After a full disk or an I/O error, SQLite has already rolled back, and reports that no transaction is open.
  }
}

void Transaction::commit() {
  connection_.execute("COMMIT");
  is_open_ = false;
}

}  // namespace tbench::sqlite
