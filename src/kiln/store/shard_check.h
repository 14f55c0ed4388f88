// Whether the facts of a store that is merged are what their keys and samples say. It finds what was edited; a store
// that was made up as a whole, samples and keys included, looks like one that was measured.
#ifndef KILN_STORE_SHARD_CHECK_H
#define KILN_STORE_SHARD_CHECK_H

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "kiln/store/database.h"
#include "kiln/store/schema.h"

namespace kiln::store {

class ShardCheck {
public:
  // The store that is merged, which must outlive this.
  static Result<ShardCheck> open(Connection &shard);

  // Of the row that a statement with the table's columns has reached. Tables come in the order of factTables(), whole.
  Status check(const FactTable &table, const Statement &row);

private:
  ShardCheck(Statement rounds, Statement results) : rounds(std::move(rounds)), results(std::move(results)) {}
  Result<bool> hasItsKey(std::string_view table, const Statement &row);
  static Status checkRound(const Statement &row);
  Status checkEnd(const Statement &row);
  Status checkMedian(const Statement &row);

  Statement rounds, results;                                 // of a group
  std::unordered_map<std::string, std::string> problemNames; // by key
  std::unordered_map<std::string, bool> isOfEarlierVersion;  // of groups, by key
  std::unordered_set<std::string> finished;                  // groups, by key
};

} // namespace kiln::store

#endif // KILN_STORE_SHARD_CHECK_H
