#include "kiln/schema/tuning_database.h"

#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "kiln/base/file.h"

namespace kiln {

using Json = nlohmann::ordered_json;

// The members' names, for the writer and the reader.
static constexpr const char *kVersionMember = "kiln_tuning";

static Result<std::string> textOf(const Json &object, const char *name) {
  auto found = object.find(name);
  if (found == object.end() || !found->is_string())
    return invalidArgument("its \"{}\" is missing, or no text", name);
  return found->get<std::string>();
}

static Result<std::string> nonEmptyTextOf(const Json &object, const char *name) {
  KILN_ASSIGN_OR_RETURN(std::string text, textOf(object, name));
  if (text.empty())
    return invalidArgument("its \"{}\" is empty", name);
  return text;
}

static Result<double> positiveOf(const Json &object, const char *name) {
  auto found = object.find(name);
  if (found == object.end() || !found->is_number() || !(found->get<double>() > 0) ||
      !std::isfinite(found->get<double>()))
    return invalidArgument("its \"{}\" is missing, or no positive number", name);
  return found->get<double>();
}

static Status checkVersion(const Json &object) {
  auto found = object.find(kVersionMember);
  if (found == object.end() || !found->is_number_integer())
    return invalidArgument("it has no \"{}\", the version of the format, and so is no entry of a tuning database",
                           kVersionMember);
  if (*found != kTuningVersion)
    return unimplemented("it is of version {}, and this build reads version {}; make it anew with `kiln-dispatch tune`",
                         found->dump(), kTuningVersion);
  return okStatus();
}

static Result<TuningProvenance> parseProvenance(const Json &object) {
  auto found = object.find("measured");
  if (found == object.end() || !found->is_object())
    return invalidArgument("its \"measured\" is missing, or no object");
  TuningProvenance provenance;
  KILN_ASSIGN_OR_RETURN(provenance.problem, textOf(*found, "problem"));
  KILN_ASSIGN_OR_RETURN(provenance.median, positiveOf(*found, "median_ns"));
  KILN_ASSIGN_OR_RETURN(provenance.defaultRatio, positiveOf(*found, "to_default"));
  KILN_ASSIGN_OR_RETURN(provenance.date, textOf(*found, "date"));
  KILN_ASSIGN_OR_RETURN(provenance.kiln, textOf(*found, "kiln"));
  KILN_ASSIGN_OR_RETURN(provenance.run, textOf(*found, "run"));
  if (found->contains("device")) {
    KILN_ASSIGN_OR_RETURN(provenance.device, nonEmptyTextOf(*found, "device"));
  }
  return provenance;
}

static Result<Json> parseObject(std::string_view line) {
  Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object())
    return invalidArgument("this is no JSON object, which each line has to be");
  return object;
}

static Result<TuningEntry> parseEntry(std::string_view line) {
  KILN_ASSIGN_OR_RETURN(Json object, parseObject(line));
  KILN_RETURN_IF_ERROR(checkVersion(object));
  TuningEntry entry;
  KILN_ASSIGN_OR_RETURN(entry.operation, nonEmptyTextOf(object, "operation"));
  KILN_ASSIGN_OR_RETURN(entry.target, nonEmptyTextOf(object, "target"));
  auto threads = object.find("threads");
  if (threads == object.end() || !threads->is_number_unsigned() || *threads == 0 || *threads > UINT32_MAX)
    return invalidArgument("its \"threads\" is missing, or no positive whole number");
  entry.threads = threads->get<uint32_t>();
  KILN_ASSIGN_OR_RETURN(std::string configuration, textOf(object, "configuration"));
  KILN_ASSIGN_OR_RETURN(entry.configuration, TileConfig::parse(configuration));
  KILN_ASSIGN_OR_RETURN(entry.provenance, parseProvenance(object));
  return entry;
}

static std::string entryText(const TuningEntry &entry) {
  const TuningProvenance &measured = entry.provenance;
  Json object = {{kVersionMember, kTuningVersion},
                 {"operation", entry.operation},
                 {"target", entry.target},
                 {"threads", entry.threads},
                 {"configuration", entry.configuration.name()},
                 {"measured",
                  {{"problem", measured.problem},
                   {"median_ns", measured.median},
                   {"to_default", measured.defaultRatio},
                   {"date", measured.date},
                   {"kiln", measured.kiln},
                   {"run", measured.run}}}};
  if (!measured.device.empty())
    object["measured"]["device"] = measured.device;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Whether `a` stays where both are for the same. Which one stood first must not matter, so that files merge alike in
// either order.
static bool isNewer(const TuningEntry &a, const TuningEntry &b) {
  auto rank = [](const TuningEntry &entry) {
    return std::tuple(std::string_view(entry.provenance.date), -entry.provenance.defaultRatio,
                      entry.configuration.name(), std::string_view(entry.provenance.run));
  };
  return rank(a) > rank(b);
}

Result<TuningDatabase> TuningDatabase::parse(std::string_view text) {
  TuningDatabase database;
  for (size_t at = 0, line = 1; at < text.size(); ++line) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string_view content = text.substr(at, end - at);
    at = end + 1;
    if (content.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    Result<TuningEntry> entry = parseEntry(content);
    if (!entry.ok())
      return std::move(entry).status().withContext(fmt::format("line {}", line));
    const TuningEntry *old = database.find(entry->operation, entry->target, entry->threads);
    if (!old || isNewer(*entry, *old))
      database.set(*std::move(entry));
  }
  return database;
}

Result<TuningDatabase> TuningDatabase::open(const std::string &path) {
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(path));
  Result<TuningDatabase> database = parse(file->text());
  if (!database.ok())
    return std::move(database).status().withContext(fmt::format("tuning database '{}'", path));
  return database;
}

void TuningDatabase::set(TuningEntry entry) {
  Key key(entry.operation, entry.target, entry.threads);
  entries.insert_or_assign(std::move(key), std::move(entry));
}

bool TuningDatabase::erase(std::string_view operation, std::string_view target, uint32_t threads) {
  return entries.erase(Key(operation, target, threads)) > 0;
}

const TuningEntry *TuningDatabase::find(std::string_view operation, std::string_view target, uint32_t threads) const {
  auto found = entries.find(Key(operation, target, threads));
  return found == entries.end() ? nullptr : &found->second;
}

const TuningEntry *TuningDatabase::findAny(std::string_view operation, std::string_view target) const {
  auto next = entries.upper_bound(Key(operation, target, UINT32_MAX));
  if (next == entries.begin())
    return nullptr;
  const TuningEntry &last = std::prev(next)->second;
  return last.operation == operation && last.target == target ? &last : nullptr;
}

std::vector<std::string> TuningDatabase::targets() const {
  std::set<std::string> targets;
  for (const auto &[key, entry] : entries)
    targets.insert(entry.target);
  return {targets.begin(), targets.end()};
}

std::string TuningDatabase::text() const {
  std::string text;
  for (const auto &[key, entry] : entries)
    text += entryText(entry);
  return text;
}

std::string TuningKeyRecord::text() const {
  Json object = {{kVersionMember, kTuningVersion}, {"function", function}, {"operation", operation}, {"target", target},
                 {"configuration", configuration}, {"source", source}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<TuningKeyRecord> TuningKeyRecord::parse(std::string_view line) {
  KILN_ASSIGN_OR_RETURN(Json object, parseObject(line));
  KILN_RETURN_IF_ERROR(checkVersion(object));
  TuningKeyRecord record;
  KILN_ASSIGN_OR_RETURN(record.function, nonEmptyTextOf(object, "function"));
  KILN_ASSIGN_OR_RETURN(record.operation, nonEmptyTextOf(object, "operation"));
  KILN_ASSIGN_OR_RETURN(record.target, nonEmptyTextOf(object, "target"));
  KILN_ASSIGN_OR_RETURN(record.configuration, nonEmptyTextOf(object, "configuration"));
  KILN_ASSIGN_OR_RETURN(record.source, nonEmptyTextOf(object, "source"));
  return record;
}

} // namespace kiln
