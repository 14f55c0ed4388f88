#include "kiln/base/testing/test_folder.h"
#include "kiln/store/schema.h"

#include <gtest/gtest.h>

namespace kiln::store {
namespace {

Status first(Connection &connection) {
  return migrations()[0].apply(connection);
}
Status second(Connection &connection) {
  return connection.execute("ALTER TABLE machine ADD COLUMN nickname TEXT NOT NULL DEFAULT 'none'");
}
Status third(Connection &connection) {
  return connection.execute("CREATE TABLE extra (key TEXT PRIMARY KEY) STRICT");
}
Status broken(Connection &connection) {
  KILN_RETURN_IF_ERROR(connection.execute("CREATE TABLE half (key TEXT)"));
  return connection.execute("SELECT nonsense FROM nowhere");
}
constexpr Migration kOld[] = {{"first", first}};
constexpr Migration kNew[] = {{"first", first}, {"a nickname", second}, {"an extra table", third}};
constexpr Migration kBroken[] = {{"first", first}, {"a nickname", second}, {"a mistake", broken}};

class Schema : public ::testing::Test {
protected:
  void SetUp() override {
    Result<std::unique_ptr<Connection>> opened = Connection::open(folder.file("a.db"), Connection::Mode::Write, 1000);
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    connection = *std::move(opened);
  }
  int64_t integer(const char *sql) {
    Result<int64_t> value = connection->integer(sql);
    EXPECT_TRUE(value.ok()) << value.status().toString();
    return value.ok() ? *value : -1;
  }
  TestFolder folder;
  std::unique_ptr<Connection> connection;
};

TEST_F(Schema, AnOldStoreIsBroughtUpToDateAndKeepsItsFacts) {
  ASSERT_TRUE(migrate(*connection, kOld).ok());
  ASSERT_TRUE(connection->execute("INSERT INTO machine VALUES ('k', '{}')").ok());
  Status status = migrate(*connection, kNew);
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(integer("PRAGMA user_version"), 3);
  EXPECT_EQ(integer("SELECT count(*) FROM machine WHERE key = 'k' AND nickname = 'none'"), 1);
  EXPECT_EQ(integer("SELECT count(*) FROM extra"), 0);
  EXPECT_TRUE(migrate(*connection, kNew).ok()) << "once more changes nothing";
}

// Candidate 'c' of the group 'g', in any version.
constexpr const char *kOneGroup = "INSERT INTO machine VALUES ('m', '{}');"
                                  "INSERT INTO run VALUES ('r', '', 0, 'm', '', '{}', 0, '', '', '[]', '');"
                                  "INSERT INTO problem VALUES ('p', '', '[]', 0, 0);"
                                  "INSERT INTO candidate VALUES ('c', 'p', '', '', '', '', '', '', 1);"
                                  "INSERT INTO grp VALUES ('g', 'r', 'p', 0);";

// A store of the first version gets a place for counters, and keeps its rounds.
TEST_F(Schema, CountersCameLater) {
  ASSERT_TRUE(migrate(*connection, kOld).ok());
  ASSERT_TRUE(connection->execute(kOneGroup).ok());
  ASSERT_TRUE(connection->execute("INSERT INTO round VALUES ('g', 'c', 0, 0, 0, NULL, 1, '', x'01000000')").ok());
  EXPECT_FALSE(connection->execute("SELECT * FROM counters").ok());
  Status status = migrate(*connection, migrations());
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(integer("SELECT count(*) FROM round"), 1);
  EXPECT_EQ(integer("SELECT count(*) FROM counters"), 0);
  ASSERT_TRUE(connection->execute("PRAGMA foreign_keys = ON").ok());
  EXPECT_TRUE(connection->execute("INSERT INTO counters VALUES ('g', 'c', 0, 5, 100, NULL, NULL, NULL)").ok());
  EXPECT_FALSE(connection->execute("INSERT INTO counters VALUES ('g', 'c', 1, 5, 100, NULL, NULL, NULL)").ok())
      << "there is no such round";
  EXPECT_FALSE(connection->execute("UPDATE counters SET calls = 6").ok());
}

// A store of the third version gets a place for what workers say, and keeps its results, which have none.
TEST_F(Schema, WorkersCameLater) {
  ASSERT_TRUE(migrate(*connection, migrations().first(3)).ok());
  ASSERT_TRUE(connection->execute(kOneGroup).ok());
  ASSERT_TRUE(connection->execute("INSERT INTO result VALUES ('g', 'c', 'ok', '', '', '', '', 0, '{}', NULL)").ok());
  EXPECT_FALSE(connection->execute("SELECT * FROM worker").ok());
  Status status = migrate(*connection, migrations());
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(integer("SELECT count(*) FROM result"), 1);
  EXPECT_EQ(integer("SELECT count(*) FROM worker"), 0);
  ASSERT_TRUE(connection->execute("PRAGMA foreign_keys = ON").ok());
  EXPECT_TRUE(connection->execute("INSERT INTO worker VALUES ('g', 'c', 'mine', '1', 'eager', 5, 1000)").ok());
  EXPECT_FALSE(connection->execute("INSERT INTO worker VALUES ('g', 'd', 'mine', '1', '', 5, 1000)").ok())
      << "there is no such result";
  EXPECT_FALSE(connection->execute("DELETE FROM worker").ok());
  EXPECT_EQ(integer("SELECT count(*) FROM grp_cut"), 0);
  EXPECT_TRUE(connection->execute("INSERT INTO grp_cut VALUES ('g', 600)").ok());
  EXPECT_FALSE(connection->execute("UPDATE grp_cut SET seconds = 5").ok());
}

TEST_F(Schema, AFailedMigrationLeavesTheStoreAsItWas) {
  ASSERT_TRUE(migrate(*connection, kOld).ok());
  Status status = migrate(*connection, kBroken);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("to version 3 (a mistake)"), std::string::npos) << status.message();
  EXPECT_EQ(integer("PRAGMA user_version"), 1);
  EXPECT_EQ(integer("SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
  EXPECT_EQ(integer("SELECT count(*) FROM pragma_table_info('machine')"), 2);
  EXPECT_TRUE(migrate(*connection, kNew).ok());
}

TEST_F(Schema, ANewerStoreIsRefused) {
  ASSERT_TRUE(migrate(*connection, kNew).ok());
  for (const Status &status : {migrate(*connection, kOld), readVersion(*connection, kOld).status()}) {
    EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
    EXPECT_NE(status.message().find("version 3; this build knows version 1"), std::string::npos) << status.message();
  }
}

TEST_F(Schema, EveryTableOfFactsIsThereAndCannotBeChanged) {
  ASSERT_TRUE(migrate(*connection, migrations()).ok());
  EXPECT_EQ(integer("SELECT count(*) FROM sqlite_schema WHERE type = 'table'"),
            static_cast<int64_t>(factTables().size()));
  for (const auto &[table, keyColumns, columns] : factTables())
    for (std::string_view change : {"UPDATE", "DELETE"})
      EXPECT_EQ(integer(fmt::format("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '{}' AND "
                                    "name LIKE '%never_{}'",
                                    table, change)
                            .c_str()),
                1)
          << table;
  ASSERT_TRUE(connection->execute("INSERT INTO node VALUES ('k', '{}')").ok());
  for (const char *sql : {"UPDATE node SET description = ''", "DELETE FROM node"}) {
    Status status = connection->execute(sql);
    ASSERT_FALSE(status.ok()) << sql;
    EXPECT_NE(status.message().find("never changed or removed"), std::string::npos) << status.message();
  }
}

TEST_F(Schema, UnknownArithmeticGivesNoSpeed) {
  ASSERT_TRUE(migrate(*connection, kOld).ok());
  Status status = connection->execute(R"sql(
    INSERT INTO machine VALUES ('m', '{}');
    INSERT INTO run VALUES ('r', '', 0, 'm', '', '{}', 0, '', '', '[]', '');
    INSERT INTO problem VALUES ('known', '', '[]', 1000, 0), ('unknown', '', '[]', 0, 0);
    INSERT INTO candidate VALUES ('k', 'known', '', '', '', '', '', '', 1), ('u', 'unknown', '', '', '', '', '', '', 1);
    INSERT INTO grp VALUES ('gk', 'r', 'known', 0), ('gu', 'r', 'unknown', 0);
    INSERT INTO grp_end VALUES ('gk', 'finished', 0), ('gu', 'finished', 0);
    INSERT INTO result VALUES ('gk', 'k', 'ok', '', '', '', '', 0, '{}', NULL), ('gu', 'u', 'ok', '', '', '', '', 0, '{}', NULL);
    INSERT INTO estimate VALUES ('gk', 'k', 10, 9, 11, 9, 11, NULL, NULL, 3, 3, 1, '[]', 1, 1, 1, 0),
                                ('gu', 'u', 10, 9, 11, 9, 11, NULL, NULL, 3, 3, 1, '[]', 1, 1, 1, 0);
  )sql");
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(integer("SELECT count(*) FROM dispatch WHERE gflops = 0"), 1) << "as it was in the first version";
  status = migrate(*connection, migrations());
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(integer("SELECT count(*) FROM dispatch WHERE problem = 'unknown' AND gflops IS NULL AND ms > 0"), 1);
  EXPECT_EQ(integer("SELECT count(*) FROM dispatch WHERE problem = 'known' AND gflops = 100"), 1);
}

} // namespace
} // namespace kiln::store
