// Whether the groups that two stores have in common are the same groups. A finished group is whole: where one of the
// two has finished it, the other has none of its results, rounds and estimates that are not there.
#ifndef KILN_STORE_SHARED_GROUPS_H
#define KILN_STORE_SHARED_GROUPS_H

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "kiln/store/database.h"
#include "kiln/store/schema.h"

namespace kiln::store {

class SharedGroups {
public:
  // The store that takes facts, and the one that is merged into it; both must outlive this.
  static Result<SharedGroups> open(Connection &store, Connection &shard);

  // Of each row of the merged store that the other one lacked, after it was added. Tables come in the order of
  // factTables().
  Status added(const FactTable &table, const Statement &row);
  // When all rows are added: what the other store had of the merged store's finished groups.
  Status checkFinished();

private:
  SharedGroups(Connection &store, Connection &shard, Statement find)
      : store(&store), shard(&shard), findEnd(std::move(find)) {}
  Result<bool> wasFinished(const std::string &group);
  Result<std::string> nameOf(const std::string &group);
  Status checkRows(const FactTable &table, const std::string &group);

  Connection *store, *shard;
  Statement findEnd;                             // in the store that takes facts
  std::unordered_set<std::string> news;          // groups that it did not have
  std::unordered_map<std::string, bool> hadEnds; // of groups that it had
};

} // namespace kiln::store

#endif // KILN_STORE_SHARED_GROUPS_H
