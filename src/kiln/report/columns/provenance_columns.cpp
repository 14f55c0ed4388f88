// Where a row comes from, and how to get it again.
#include "kiln/report/columns/columns.h"

namespace kiln::report {

static constexpr Column kColumns[] = {
    {"dispatch", "Dispatch", Unit::Text, [](const Row &row) -> Value { return row.dispatch(); }, 60, 0, Page::No,
     "The problem with its configuration, or with its provider."},
    {"variant", "Variant", Unit::Text, [](const Row &row) { return textOrNothing(row.candidate->variant); }, 10, 0,
     Page::No, "Which of a provider's ways."},
    {"provider_version", "Version", Unit::Text,
     [](const Row &row) { return textOrNothing(row.candidate->providerVersion); }, 10, 0, Page::No,
     "The provider's version."},
    {"provider_note", "Note", Unit::Text,
     [](const Row &row) { return row.result->worker ? textOrNothing(row.result->worker->note) : Value(); }, 20, 0,
     Page::More, "What the provider says that a reader of its results has to know."},
    {"compiler_flags", "Flags", Unit::Text, [](const Row &row) { return textOrNothing(row.candidate->compilerFlags); },
     20, 0, Page::No, "What the compiler was told besides the configuration."},
    {"module_hash", "Module", Unit::Text, [](const Row &row) { return textOrNothing(row.candidate->moduleHash); }, 12,
     0, Page::No, "Content of the compiled module, or of a provider's command and its files."},
    {"device", "Device", Unit::Text, [](const Row &row) { return textOrNothing(row.device); }, 10, 0, Page::More,
     "The device that computed; empty: the CPU."},
    {"threads", "Threads", Unit::Count,
     [](const Row &row) -> Value { return static_cast<int64_t>(row.candidate->threads); }, 2, 0, Page::More,
     "Threads that it may use."},
    {"data", "Data", Unit::Text, [](const Row &row) { return textOrNothing(row.run->dataDistribution); }, 16, 0,
     Page::No, "How the data were distributed while it was timed."},
    {"seed", "Seed", Unit::Count, [](const Row &row) -> Value { return row.run->seed; }, 6, 0, Page::No,
     "Seed of data and of the order of candidates."},
    {"group_status", "Group", Unit::Text,
     [](const Row &row) -> Value { return std::string(store::groupStatusName(row.group->status)); }, 11, 0, Page::No,
     "finished; interrupted and running groups are not ranked."},
    {"attempt", "Attempt", Unit::Count,
     [](const Row &row) -> Value { return static_cast<int64_t>(row.group->attempt); }, 2, 0, Page::No,
     "How often the problem was started in this run."},
    {"started", "Started", Unit::Time, [](const Row &row) -> Value { return row.group->started; }, 19, 0, Page::No,
     "When its group was started."},
    {"run", "Run", Unit::Text, [](const Row &row) -> Value { return row.run->key(); }, 12, 0, Page::No,
     "Key of the run in the store."},
    {"node", "Node", Unit::Text, [](const Row &row) -> Value { return row.machine().node; }, 12, 0, Page::No,
     "Key of the machine that it was measured on."},
    {"hardware", "Hardware", Unit::Text, [](const Row &row) -> Value { return row.machine().hardware; }, 12, 0,
     Page::No, "Key of the machine's kind: equal machines have the same."},
    {"allocation", "Allocation", Unit::Text, [](const Row &row) -> Value { return row.machine().allocation; }, 12, 0,
     Page::No, "Key of the processors and the memory that it could use."},
    {"kiln_version", "Kiln", Unit::Text, [](const Row &row) { return textOrNothing(row.run->kilnVersion); }, 8, 0,
     Page::No, "Version of Kiln."},
    {"row", "Row", Unit::Text, [](const Row &row) -> Value { return row.name(); }, 16, 0, Page::More,
     "Names this row for `explain`, `show` and `repro`."},
};

std::span<const Column> provenanceColumns() {
  return kColumns;
}

} // namespace kiln::report
