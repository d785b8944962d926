#include "history/history_database.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "history/schema.hpp"
#include "tbench/core/error.hpp"

namespace tbench::history {
namespace {

using Mode = Connection::Mode;

constexpr const char* kMemory = ":memory:";
constexpr const char* kNewHistory =
    "restore a backup, or make a new history from the results: 'tbench history --import=FOLDER'";

/// Copies the file before its tables change, for example to FILE.version3. An existing copy is not replaced.
void keep_version(const std::string& path, const Connection& connection) {
  const std::string copy = fmt::format("{}.version{}", path, connection.integer("PRAGMA user_version"));
  if (std::filesystem::exists(copy)) return;
  const std::string unfinished = fmt::format("{}.{}", copy, ::getpid());
  connection.prepare("VACUUM INTO ?").bind(std::string_view{unfinished}).run();
  std::error_code error;
  std::filesystem::create_hard_link(unfinished, copy, error);  // fails if another program was faster
  std::filesystem::remove(unfinished, error);
}

[[noreturn]] void refuse(const std::string& path, const std::string& problem, const std::string& remedy) {
  throw UsageError{fmt::format("history '{}': {}; {}", path, problem, remedy)};
}

/// Checks that the database is a history that this program can read.
/// @return  true if it is empty, so that it is not a history yet
bool check_kind(const std::string& path, const Connection& connection) {
  connection.execute("BEGIN");  // one snapshot, since another program may create the history at the same time
  const std::int64_t id = connection.integer("PRAGMA application_id");
  const std::int64_t version = connection.integer("PRAGMA user_version");
  const bool is_empty = connection.integer("SELECT count(*) FROM sqlite_master") == 0;
  connection.execute("COMMIT");
  if (id == 0 && version == 0 && is_empty) return true;
  if (id != kHistoryId) {
    refuse(path, "a SQLite database, but not a history of tbench", "give another file, or one that does not exist yet");
  }
  if (version > kHistoryVersion) {
    refuse(path,
           fmt::format("version {} is newer than the version {} that this program knows", version, kHistoryVersion),
           "use the newer tbench that wrote it");
  }
  if (const auto active = sqlite::active_object(connection)) {
    refuse(path, fmt::format("it has {}, which no history has", *active), kNewHistory);
  }
  return false;
}

/// Reads every page, so that damage is found before the first write.
void check_whole(const Connection& connection) {
  const std::string found = connection.text("PRAGMA quick_check(1)");
  if (found != "ok") throw SqliteError{SQLITE_CORRUPT, found};
}

/// Turns on the write-ahead log, and retries for up to `wait`. The change needs exclusive access, for which SQLite does
/// not wait as it does for a write.
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
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    refuse(path, "a device or a pipe", "give a file");
  }
  if (must_exist && !std::filesystem::exists(status)) {
    refuse(path, "no such file", "create it with 'tbench gate' or 'tbench history --import=FOLDER'");
  }
}

/// Opens the file for reading. To read a write-ahead log, SQLite needs two more files next to the database. If they
/// cannot be created and there is no log, the database file by itself is complete.
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

/// Returns the result of `open`; its exceptions become a UsageError about the file.
template <class Open>
auto opened(const std::string& path, const Open& open) {
  try {
    return open();
  } catch (const SqliteError& error) {
    refuse_database(path, error);
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {  // for an environment that this program did not write
    refuse_database(path, SqliteError{SQLITE_CORRUPT, error.what()});
  }
}

/// Returns why no file can be created in the folder of a path, or nullopt if it can. SQLite does not report this
/// reason.
std::optional<std::string> folder_problem(const std::string& path) {
  const std::string folder = std::filesystem::path{path}.parent_path().string();
  if (::faccessat(AT_FDCWD, folder.empty() ? "." : folder.c_str(), W_OK, AT_EACCESS) == 0) return std::nullopt;
  return std::generic_category().message(errno);
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
      refuse(path, "cannot be opened (" + folder_problem(path).value_or(what) + ")",
             "give a file in a folder that exists and that you can read and write");
    case SQLITE_FULL:
      refuse(path, "the disk is full", "nothing was recorded; make room and run the command again");
    case SQLITE_IOERR:
      refuse(path, "the disk failed or is full (" + what + ")",
             "nothing was recorded; make room and run the command again");
    case SQLITE_NOTADB:
      refuse(path, "not a SQLite database",
             "give a history written by 'tbench gate', or a file that does not exist yet");
    case SQLITE_CORRUPT:
      refuse(path, "damaged (" + what + ")", kNewHistory);
    case SQLITE_INTERRUPT:
      refuse(path, what, kNewHistory);
    default:
      refuse(path, what,
             "if you cannot fix that, make a new history from the results: 'tbench history --import=FOLDER'");
  }
}

History::Database History::Database::open(const std::string& path, Seconds wait) {
  check_path(path, false);
  return opened(path, [&]() -> Database {
    Connection made{path, Mode::kWrite, wait};
    if (made.is_read_only()) throw SqliteError{SQLITE_READONLY, "read-only"};
    const bool is_empty = check_kind(path, made);
    if (!is_empty) {
      check_whole(made);
      if (made.integer("PRAGMA user_version") < kHistoryVersion) keep_version(path, made);
    }
    use_write_ahead_log(made, wait);
    made.execute("PRAGMA foreign_keys = ON");
    migrate(made);
    return {path, std::move(made)};
  });
}

History::Database History::Database::open_copy(const std::string& path, Seconds wait) {
  check_path(path, true);
  return opened(path, [&]() -> Database {
    const Connection file = open_to_read(path, wait);
    if (!check_kind(path, file)) check_whole(file);
    Connection made{kMemory, Mode::kMemory, wait};
    file.copy_to(made);
    migrate(made);
    return {path, std::move(made)};
  });
}

void History::Database::back_up(const std::string& path, const std::string& to, Seconds wait) {
  check_path(path, true);
  if (std::filesystem::exists(to)) refuse(to, "it exists", "give another file for the backup");
  const std::string unfinished = fmt::format("{}.{}", to, ::getpid());
  std::error_code error;
  try {
    opened(path, [&] {
      const Connection file = open_to_read(path, wait);
      check_kind(path, file);
      Connection copy{unfinished, Mode::kWrite, wait};
      file.copy_to(copy);
      const std::string found = copy.text("PRAGMA integrity_check(1)");
      if (found != "ok") throw SqliteError{SQLITE_CORRUPT, found};
    });
  } catch (...) {
    std::filesystem::remove(unfinished, error);
    throw;
  }
  std::filesystem::rename(unfinished, to, error);
  if (error) refuse(to, error.message(), "give a file in a folder that exists and can be written");
}

History::Database History::Database::in_memory() {
  Connection connection{kMemory, Mode::kMemory, Seconds{0}};
  migrate(connection);
  return {kMemory, std::move(connection)};
}

}  // namespace tbench::history
