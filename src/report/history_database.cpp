#include "history_database.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include "history_schema.hpp"
#include "tbench/core/error.hpp"

namespace tbench::report {
namespace {

using Mode = Connection::Mode;

constexpr const char* kMemory = ":memory:";

[[noreturn]] void refuse(const std::string& path, const std::string& problem, const std::string& remedy) {
  throw UsageError{fmt::format("history '{}': {}; {}", path, problem, remedy)};
}

/// @return  true if it is empty: not a history yet
bool check_kind(const std::string& path, const Connection& connection) {
  connection.execute("BEGIN");  // all of one state: another program may be making it a history just now
  const std::int64_t id = connection.integer("PRAGMA application_id");
  const std::int64_t version = connection.integer("PRAGMA user_version");
  const bool is_empty = connection.integer("SELECT count(*) FROM sqlite_master") == 0;
  connection.execute("COMMIT");
  if (id == 0 && version == 0 && is_empty) return true;
  if (id != kHistoryId) {
    refuse(path, "a SQLite database, but not a history of tbench", "give another file, or one that does not exist yet");
  }
  if (version > kHistoryVersion) {
    refuse(path, fmt::format("version {}, and this program knows up to version {}", version, kHistoryVersion),
           "use the newer tbench that wrote it");
  }
  return false;
}

/// Reads every page: damage is found before anything is built upon it.
void check_whole(const Connection& connection) {
  const std::string found = connection.text("PRAGMA quick_check(1)");
  if (found != "ok") throw SqliteError{SQLITE_CORRUPT, found};
}

/// The change of mode needs the file for itself and does not wait for it as a write does.
void use_write_ahead_log(const Connection& connection, Seconds wait) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(wait.value);
  while (true) {
    try {
      if (connection.text("PRAGMA journal_mode") != "wal") connection.execute("PRAGMA journal_mode = WAL");
      return;
    } catch (const SqliteError& error) {
      if (error.code() != SQLITE_BUSY || std::chrono::steady_clock::now() >= end) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
  }
}

void check_path(const std::string& path, bool must_exist) {
  if (path.empty()) refuse(path, "no file name", "give a file");
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) refuse(path, "a folder", "give a file in it");
  if (must_exist && !std::filesystem::exists(status)) {
    refuse(path, "no such file", "'tbench gate' makes it, and 'tbench history --import=FOLDER' fills it");
  }
}

/// A write-ahead log is read with the help of two files beside it; where they cannot be made and none are there, the
/// database alone is all there is.
Connection open_to_read(const std::string& path, Seconds wait) {
  Connection connection{path, Mode::kRead, wait};
  try {
    static_cast<void>(connection.integer("SELECT count(*) FROM sqlite_master"));
    return connection;
  } catch (const SqliteError& error) {
    const bool is_blocked = error.code() == SQLITE_CANTOPEN || error.code() == SQLITE_READONLY;
    if (!is_blocked || std::filesystem::exists(path + "-wal")) throw;
  }
  return {path, Mode::kReadImmutable, wait};
}

}  // namespace

void refuse_database(const std::string& path, const SqliteError& error) {
  const std::string what = error.what();
  switch (error.code()) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      refuse(path, "another program is writing to it and did not finish in time",
             "try again, or give it longer with --wait");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      refuse(path, "read-only for this user", "make file and folder writable, or use --dry-run");
    case SQLITE_CANTOPEN:
      refuse(path, "cannot be opened (" + what + ")", "give a file in a folder that exists, can be read and written");
    case SQLITE_FULL:
      refuse(path, "the disk is full", "nothing was recorded: make room and run the command again");
    case SQLITE_IOERR:
      refuse(path, "the disk failed or is full (" + what + ")",
             "nothing was recorded: make room and run the command again");
    case SQLITE_NOTADB:
      refuse(path, "not a SQLite database",
             "give a history that 'tbench gate' made, or a file that does not exist yet");
    case SQLITE_CORRUPT:
      refuse(path, "damaged (" + what + ")",
             "put a copy back, or make a new one from the results: 'tbench history --import=FOLDER'");
    default:
      refuse(path, what,
             "if it is not yours to mend, make a new one from the results: 'tbench history --import=FOLDER'");
  }
}

History::Database History::Database::open(const std::string& path, Seconds wait) {
  check_path(path, false);
  try {
    Connection connection{path, Mode::kWrite, wait};
    if (connection.is_read_only()) throw SqliteError{SQLITE_READONLY, "read-only"};
    if (!check_kind(path, connection)) check_whole(connection);
    use_write_ahead_log(connection, wait);
    connection.execute("PRAGMA foreign_keys = ON");
    migrate(connection);
    return {path, std::move(connection)};
  } catch (const SqliteError& error) {
    refuse_database(path, error);
  }
}

History::Database History::Database::open_copy(const std::string& path, Seconds wait) {
  check_path(path, true);
  try {
    const Connection file = open_to_read(path, wait);
    if (!check_kind(path, file)) check_whole(file);
    Connection connection{kMemory, Mode::kMemory, wait};
    file.copy_to(connection);
    migrate(connection);
    return {path, std::move(connection)};
  } catch (const SqliteError& error) {
    refuse_database(path, error);
  }
}

History::Database History::Database::in_memory() {
  Connection connection{kMemory, Mode::kMemory, Seconds{0}};
  migrate(connection);
  return {kMemory, std::move(connection)};
}

}  // namespace tbench::report
