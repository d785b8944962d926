// Owners of SQLite's objects: a connection, a statement and a transaction. A database file may come from anybody.
// Therefore code in its schema does not run, and the work of a statement is limited.
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
  /// Returns the primary result code, e.g. SQLITE_BUSY.
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

/// Limits the steps of SQLite's virtual machine in one run of a statement. Ordinary rows take a few steps per byte of
/// the file. Rows that the file's schema generates without end would take steps for ever.
struct WorkLimit {
  std::int64_t file_bytes{};
  std::int64_t blocks_left{};  // blocks of steps that the running statement has left, counted by the progress handler
};

/// One prepared statement. Parameters are bound in order; text is copied. A run that exceeds its WorkLimit fails with
/// SQLITE_INTERRUPT.
class Statement {
 public:
  /// @param limit  limit of the connection; must outlive the statement
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

  /// Moves to the next row. After the last row the statement can be bound and run again.
  /// @return  whether there is a row
  /// @throws  SqliteError
  [[nodiscard]] bool step();
  /// Runs the statement to its end, and discards its rows.
  /// @throws  SqliteError
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
  /// Runs statements without parameters, separated by semicolons, and discards their rows.
  /// @throws  SqliteError
  void execute(const std::string& sql) const;
  /// Returns the first value of the first row, or 0 if there is no row.
  [[nodiscard]] std::int64_t integer(std::string_view sql) const;
  /// Returns the first value of the first row, or an empty text if there is no row.
  [[nodiscard]] std::string text(std::string_view sql) const;
  [[nodiscard]] bool is_read_only() const;
  [[nodiscard]] std::int64_t last_row_id() const { return sqlite3_last_insert_rowid(connection_.get()); }
  /// Replaces the contents of `target` with a copy of this database.
  void copy_to(Connection& target) const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
  };
  std::unique_ptr<WorkLimit> limit_;  // on the heap, since SQLite keeps its address
  std::unique_ptr<sqlite3, Close> connection_;
};

/// Returns the first object in the database that runs code of its own when a table is read or written, as `the view
/// 'run'`, `the trigger 'x'`, `the virtual table 'x'` or `the generated column 'x' of 'run'`. Returns nullopt if there
/// is none.
/// @param tables  names to search, in upper or lower case, and their triggers; empty for all names
/// @throws        SqliteError
[[nodiscard]] std::optional<std::string> active_object(const Connection& connection,
                                                       std::span<const std::string_view> tables = {});

/// A transaction. Takes the write lock at once. The destructor rolls everything back unless commit() succeeded.
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
