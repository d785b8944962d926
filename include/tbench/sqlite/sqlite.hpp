// SQLite with owners: a connection, a statement, a transaction. A file may come from anybody, so its schema runs no
// code, and the work of a statement is bounded.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tbench/core/units.hpp"

namespace tbench::sqlite {

/// An error of SQLite, with SQLite's message.
class SqliteError : public std::runtime_error {
 public:
  SqliteError(int code, const std::string& message) : std::runtime_error{message}, code_{code} {}
  /// The primary result code, SQLITE_BUSY for instance.
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

/// The work that one run of a statement may take, in steps of SQLite's virtual machine. A file with ordinary rows needs
/// a few steps per byte; one with endless generated rows would need them for ever.
struct WorkLimit {
  std::int64_t file_bytes{};
  std::int64_t blocks_left{};  // of the statement that runs, in calls of the progress handler
};

/// One prepared statement. Parameters are bound in order; text is copied. A run that takes more steps than its file can
/// need fails with SQLITE_INTERRUPT.
class Statement {
 public:
  /// @param limit  limit of the connection; must outlive this
  /// @throws       SqliteError
  Statement(sqlite3* connection, WorkLimit& limit, std::string_view sql);

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view value);
  Statement& bind_null();
  template <class T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }

  /// The next row; false after the last one. The statement is then ready to be bound and run again.
  /// @throws  SqliteError
  [[nodiscard]] bool step();
  /// Runs a statement without rows.
  void run();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_integer(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void check(int code) const;

  sqlite3* connection_;
  WorkLimit* limit_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_parameter_{1};
  bool is_running_{};
};

class Connection {
 public:
  enum class Mode { kRead, kReadImmutable, kWrite, kMemory };

  /// @param wait  how long to wait for another process's lock
  /// @throws      SqliteError
  Connection(const std::string& path, Mode mode, Seconds wait);

  [[nodiscard]] Statement prepare(std::string_view sql) const { return Statement{connection_.get(), *limit_, sql}; }
  /// Statements without parameters, separated by semicolons; rows are dropped.
  void execute(const std::string& sql) const;
  /// The only value of the only row.
  [[nodiscard]] std::int64_t integer(std::string_view sql) const;
  [[nodiscard]] std::string text(std::string_view sql) const;
  [[nodiscard]] bool is_read_only() const;
  [[nodiscard]] std::int64_t last_row_id() const { return sqlite3_last_insert_rowid(connection_.get()); }
  /// Replaces the contents of `target` with a copy of this database.
  void copy_to(Connection& target) const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
  };
  std::unique_ptr<WorkLimit> limit_;  // SQLite has its address
  std::unique_ptr<sqlite3, Close> connection_;
};

/// The first thing in the file that is no plain table or index, but runs code of its own when a table is read or
/// written: `the view 'run'`, `the trigger 'x'`, `the virtual table 'x'`, `the generated column 'x' of 'run'`. Nothing
/// where there is none.
/// @param tables  looks at these names alone, in any case of letters, and at triggers on them; empty: at all
/// @throws        SqliteError
[[nodiscard]] std::optional<std::string> active_object(const Connection& connection,
                                                       std::span<const std::string_view> tables = {});

/// A transaction: without `commit`, everything is rolled back. Takes the write lock at once.
class Transaction {
 public:
  explicit Transaction(const Connection& connection);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  const Connection& connection_;
  bool is_open_{true};
};

}  // namespace tbench::sqlite
