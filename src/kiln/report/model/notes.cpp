#include "kiln/report/model/notes.h"

#include <algorithm>
#include <map>

namespace kiln::report {

std::string shortKey(const store::StoredRun &run) {
  constexpr size_t digits = 8;
  return run.key().substr(0, digits);
}

namespace {
struct Note {
  std::string provider, text;
  std::vector<const store::StoredRun *> runs;
};
} // namespace

static void addOnce(std::vector<const store::StoredRun *> &runs, const store::StoredRun *run) {
  if (std::ranges::find(runs, run) == runs.end())
    runs.push_back(run);
}

// "run 1a2b3c4d", "runs 1a2b3c4d, 5e6f7a8b and 3 more"
static std::string listText(const std::vector<const store::StoredRun *> &runs) {
  constexpr size_t shown = 3;
  std::string text = runs.size() == 1 ? "run " : "runs ";
  for (size_t i = 0; i < std::min(runs.size(), shown); ++i)
    text += (i ? ", " : "") + shortKey(*runs[i]);
  return text + (runs.size() > shown ? fmt::format(" and {} more", runs.size() - shown) : std::string());
}

std::vector<std::string> providerNotes(const Table &table) {
  std::vector<Note> notes;
  std::map<std::string, std::vector<const store::StoredRun *>> measured; // by provider
  for (const Row &row : table.rows) {
    if (!row.result->worker || !isSuccess(row.result->outcome))
      continue;
    std::string provider = row.provider();
    addOnce(measured[provider], row.run);
    const std::string &text = row.result->worker->note;
    if (text.empty())
      continue;
    auto known =
        std::ranges::find_if(notes, [&](const Note &note) { return note.provider == provider && note.text == text; });
    if (known == notes.end())
      known = notes.insert(notes.end(), {provider, text, {}});
    addOnce(known->runs, row.run);
  }
  std::vector<std::string> texts;
  for (const Note &note : notes) {
    bool all = note.runs.size() == measured[note.provider].size();
    texts.push_back(
        fmt::format("{}{}: {}", note.provider, all ? "" : fmt::format(" ({})", listText(note.runs)), note.text));
  }
  return texts;
}

std::string defaultNote(const ProblemRows &problem) {
  auto isKiln = [](const Row &row) { return row.candidate->provider == "kiln" && row.ranked(); };
  const Row *own = std::find_if(problem.begin, problem.end, [&](const Row &row) {
    return isKiln(row) && row.isKilnsDefault() && row.candidate->variant.empty();
  });
  if (own == problem.end || std::count_if(problem.begin, problem.end, isKiln) < 2)
    return "";
  const Row *tied = nullptr;
  for (const Row *row = problem.begin; row != problem.end; ++row)
    if (isKiln(*row) && std::ranges::find(own->estimate->ties, row->candidateKey) != own->estimate->ties.end() &&
        (!tied || row->estimate->ratio < tied->estimate->ratio))
      tied = row;
  if (tied && (own->bestKiln == own->estimate || own->bestKiln == tied->estimate))
    return fmt::format("Kiln's default configuration ties with the best other one found, {}", tied->shortName());
  if (own->bestKiln == own->estimate)
    return "Kiln's default configuration is its fastest here";
  const Row *best =
      std::find_if(problem.begin, problem.end, [&](const Row &row) { return row.estimate == own->bestKiln; });
  return fmt::format("Kiln's default configuration has {:.2f} of the speed of the best found{}",
                     own->bestKiln->ratio / own->estimate->ratio,
                     best == problem.end ? "" : fmt::format(", {}", best->shortName()));
}

std::string clockNote(const ProblemRows &problem) {
  DeviceState all;
  uint64_t rounds = 0, moved = 0;
  for (const Row *row = problem.begin; row != problem.end; ++row)
    if (const store::DeviceStates *states = row->deviceStates) {
      all.add(states->state);
      rounds += states->rounds;
      moved += states->moved;
    }
  if (moved == 0 && all.throttling.empty())
    return "";
  std::string text = fmt::format("the device's clock moved in {} of {} turns", moved, rounds);
  if (all.moved())
    text += fmt::format(", {:.0f} to {:.0f} MHz in all", *all.lowMegahertz, *all.highMegahertz);
  return all.throttling.empty() ? text : fmt::format("{}; it was held down by: {}", text, all.throttling);
}

std::string cutNote(double seconds, size_t candidates, std::string_view flag) {
  std::string text = fmt::format("time was up after {:.3g} s of rounds", seconds);
  return candidates > 1 ? fmt::format("{}: give more `{}` to settle ranks", text, flag) : text;
}

std::string cutNote(const ProblemRows &problem) {
  const Row &front = problem.front();
  if (!front.group->cutSeconds)
    return "";
  auto timed = std::count_if(problem.begin, problem.end, [](const Row &row) { return row.estimate != nullptr; });
  bool isTuning = std::ranges::any_of(front.run->tags, [](const auto &tag) { return tag.first == "tuning"; });
  return cutNote(*front.group->cutSeconds, static_cast<size_t>(timed), isTuning ? "--budget-minutes" : "--minutes");
}

} // namespace kiln::report
