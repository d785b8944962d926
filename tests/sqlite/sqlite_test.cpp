// Tests files from other programs: their schema runs nothing, and their queries end.
#include "tbench/sqlite/sqlite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "support/sample_results.hpp"

namespace tbench::sqlite {
namespace {

using Mode = Connection::Mode;

/// A query that counts without end.
constexpr const char* kEndless =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

class SqliteFile : public testing::Test {
 protected:
  /// Writes a new file with the tables of these statements.
  Connection written(const std::string& sql) const {
    Connection connection{path_, Mode::kWrite, Seconds{0}};
    connection.execute(sql);
    return connection;
  }
  Connection read() const { return Connection{path_, Mode::kRead, Seconds{0}}; }

  support::TemporaryFolder folder_;
  std::string path_{folder_.file("a file.db")};
};

int code_of(const Connection& connection, std::string_view sql) {
  try {
    static_cast<void>(connection.integer(sql));
  } catch (const SqliteError& error) {
    return error.code();
  }
  return SQLITE_OK;
}

TEST_F(SqliteFile, AnEndlessQueryIsInterrupted) {
  const Connection connection = written("CREATE TABLE t (x INT)");
  EXPECT_EQ(code_of(connection, kEndless), SQLITE_INTERRUPT);
  EXPECT_EQ(code_of(connection, "SELECT count(*) FROM t"), SQLITE_OK) << "the next statement has its own limit";
  try {
    connection.execute(kEndless);
    ADD_FAILURE();
  } catch (const SqliteError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("more steps than a file of its size needs"));
  }
}

TEST_F(SqliteFile, ViewsAndTriggersDoNotRun) {
  {
    const Connection connection = written("CREATE TABLE t (x INT); CREATE TABLE log (x INT)");
    connection.execute("CREATE VIEW v AS SELECT 1 AS x");
    connection.execute("CREATE TRIGGER on_t AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.x); END");
    connection.execute("INSERT INTO t VALUES (7)");
    EXPECT_EQ(connection.integer("SELECT count(*) FROM log"), 0);
  }
  EXPECT_EQ(code_of(read(), "SELECT x FROM v"), SQLITE_ERROR);
  EXPECT_EQ(read().integer("SELECT x FROM t"), 7);
}

TEST_F(SqliteFile, AHugeValueIsRefused) {
  EXPECT_EQ(code_of(written("CREATE TABLE t (x INT)"), "SELECT length(zeroblob(900000000))"), SQLITE_TOOBIG);
}

TEST_F(SqliteFile, PlainTablesAndIndexesAreNotActive) {
  const Connection connection = written("CREATE TABLE t (x INT PRIMARY KEY, y TEXT); CREATE INDEX by_y ON t (y)");
  EXPECT_EQ(active_object(connection), std::nullopt);
}

TEST_F(SqliteFile, WhatRunsCodeIsNamed) {
  using Optional = std::optional<std::string>;
  const Connection connection = written("CREATE TABLE t (x INT, y INT AS (x + 1))");
  EXPECT_EQ(active_object(connection), Optional{"the generated column 'y' of 't'"});
  connection.execute("CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT 1; END");
  EXPECT_EQ(active_object(connection), Optional{"the trigger 'tr'"});
  connection.execute("CREATE VIEW v AS SELECT 1 AS x");
  EXPECT_EQ(active_object(connection), Optional{"the view 'v'"});
}

TEST_F(SqliteFile, OnlyTheTablesThatAreReadCount) {
  constexpr std::array<std::string_view, 1> kRead{"t"};
  const Connection connection = written("CREATE TABLE t (x INT); CREATE TABLE other (x INT, y INT AS (x + 1))");
  connection.execute("CREATE VIEW v AS SELECT 1 AS x");
  connection.execute("CREATE TRIGGER tr AFTER INSERT ON other BEGIN SELECT 1; END");
  EXPECT_EQ(active_object(connection, kRead), std::nullopt);
}

}  // namespace
}  // namespace tbench::sqlite
