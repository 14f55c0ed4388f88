#include "kiln/store/shared_groups.h"

namespace kiln::store {

static constexpr const char *kContradiction =
    "a finished group takes no more rows, so one of the two stores was changed by hand, or is damaged";

// Tables of what a finished group holds. That a group was interrupted is no part of it: earlier versions said so of
// groups that were finished in another copy.
static bool isPartOfGroups(const FactTable &table) {
  return table.columns.starts_with("grp,") && table.name != "grp_end";
}

Result<SharedGroups> SharedGroups::open(Connection &store, Connection &shard) {
  KILN_ASSIGN_OR_RETURN(Statement find, store.prepare("SELECT 1 FROM grp_end WHERE grp = ?1"));
  return SharedGroups(store, shard, std::move(find));
}

// Before the other store's facts came.
Result<bool> SharedGroups::wasFinished(const std::string &group) {
  if (news.contains(group))
    return false;
  if (auto known = hadEnds.find(group); known != hadEnds.end())
    return known->second;
  findEnd.reset();
  findEnd.bindAll(group);
  KILN_ASSIGN_OR_RETURN(bool finished, findEnd.step());
  findEnd.reset();
  hadEnds[group] = finished;
  return finished;
}

// "group 1f09... of matmul_64x64x64_f32"
Result<std::string> SharedGroups::nameOf(const std::string &group) {
  KILN_ASSIGN_OR_RETURN(Statement find, store->prepare("SELECT p.name FROM grp g JOIN problem p ON p.key = g.problem "
                                                       "WHERE g.key = ?1"));
  find.bindAll(group);
  KILN_ASSIGN_OR_RETURN(bool known, find.step());
  return fmt::format("group {} of {}", group, known ? find.text(0) : "an unknown problem");
}

Status SharedGroups::added(const FactTable &table, const Statement &row) {
  if (table.name == "grp")
    news.insert(row.text(0));
  else if (table.name == "grp_end" && !news.contains(row.text(0)))
    hadEnds[row.text(0)] = false;
  if (!isPartOfGroups(table))
    return okStatus();
  const std::string group = row.text(0);
  KILN_ASSIGN_OR_RETURN(bool finished, wasFinished(group));
  if (!finished)
    return okStatus();
  std::string which;
  for (int i = 1; i < table.keyColumns; ++i)
    which += fmt::format("{}{} {}", i > 1 ? ", " : ", of ", row.columnName(i), row.text(i));
  KILN_ASSIGN_OR_RETURN(std::string name, nameOf(group));
  return dataLoss("{} is finished in '{}', which lacks a row of it in table '{}'{}: {}", name, store->path(),
                  table.name, which, kContradiction);
}

// The store that takes facts has all rows of the other one by now: it has more of a group where it had others.
Status SharedGroups::checkRows(const FactTable &table, const std::string &group) {
  const std::string count = fmt::format("SELECT count(*) FROM {} WHERE grp = ?1", table.name);
  int64_t counts[2] = {};
  for (Connection *of : {store, shard}) {
    KILN_ASSIGN_OR_RETURN(Statement rows, of->prepare(count));
    rows.bindAll(group);
    KILN_RETURN_IF_ERROR(rows.step().status());
    counts[of == shard] = rows.integer(0);
  }
  if (counts[0] == counts[1])
    return okStatus();
  KILN_ASSIGN_OR_RETURN(std::string name, nameOf(group));
  return dataLoss("{} is finished in this store, which lacks {} of its rows in table '{}' that '{}' holds: {}", name,
                  counts[0] - counts[1], table.name, store->path(), kContradiction);
}

Status SharedGroups::checkFinished() {
  KILN_ASSIGN_OR_RETURN(Statement finished, shard->prepare("SELECT grp FROM grp_end"));
  while (true) {
    KILN_ASSIGN_OR_RETURN(bool more, finished.step());
    if (!more)
      return okStatus();
    if (const std::string group = finished.text(0); !news.contains(group))
      for (const FactTable &table : factTables())
        if (isPartOfGroups(table))
          KILN_RETURN_IF_ERROR(checkRows(table, group));
  }
}

} // namespace kiln::store
