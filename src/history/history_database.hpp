// Opens the file of a history, and describes its errors.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/history/history.hpp"
#include "tbench/sqlite/sqlite.hpp"

namespace tbench::history {

using sqlite::Connection;
using sqlite::SqliteError;
using sqlite::Statement;
using sqlite::Transaction;

/// @throws  UsageError  naming the file, the problem and the remedy
[[noreturn]] void refuse_database(const std::string& path, const SqliteError& error);

struct History::Database {
  std::string path;
  Connection connection;

  [[nodiscard]] static Database open(const std::string& path, Seconds wait);
  [[nodiscard]] static Database open_copy(const std::string& path, Seconds wait);
  [[nodiscard]] static Database in_memory();
  static void back_up(const std::string& path, const std::string& to, Seconds wait);

  /// Returns the result of `work`; an error of SQLite, or of JSON in the database, becomes a UsageError.
  template <class Work>
  auto explained(Work work) const {
    try {
      return work();
    } catch (const SqliteError& error) {
      refuse_database(path, error);
    } catch (const UsageError&) {
      throw;
    } catch (const std::runtime_error& error) {  // for JSON in the database that this program did not write
      refuse_database(path, SqliteError{SQLITE_CORRUPT, error.what()});
    } catch (const nlohmann::json::exception& error) {
      refuse_database(path, SqliteError{SQLITE_CORRUPT, error.what()});
    }
  }
};

}  // namespace tbench::history
