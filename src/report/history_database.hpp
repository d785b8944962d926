// A history's file: opening it, and saying what is wrong with it. Private to the report layer.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "sqlite.hpp"
#include "tbench/core/error.hpp"
#include "tbench/report/history.hpp"

namespace tbench::report {

/// @throws  UsageError  naming the file, the problem and the remedy
[[noreturn]] void refuse_database(const std::string& path, const SqliteError& error);

/// A name that the history has from a plain program is no `Family/key:value`: it is a family of its own.
[[nodiscard]] CaseId case_of_name(const std::string& name);

struct History::Database {
  std::string path;
  Connection connection;

  [[nodiscard]] static Database open(const std::string& path, Seconds wait);
  [[nodiscard]] static Database open_copy(const std::string& path, Seconds wait);
  [[nodiscard]] static Database in_memory();

  /// What `work` returns; an error of SQLite, or of JSON in the database, becomes a UsageError.
  template <class Work>
  auto explained(Work work) const {
    try {
      return work();
    } catch (const SqliteError& error) {
      refuse_database(path, error);
    } catch (const UsageError&) {
      throw;
    } catch (const std::runtime_error& error) {  // JSON in the database that this program did not write
      refuse_database(path, SqliteError{SQLITE_CORRUPT, error.what()});
    } catch (const nlohmann::json::exception& error) {
      refuse_database(path, SqliteError{SQLITE_CORRUPT, error.what()});
    }
  }
};

}  // namespace tbench::report
