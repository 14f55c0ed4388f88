#include "kiln/tools/dispatch/sweep/compile_pool.h"

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "fmt/format.h"
#include "kiln/base/clock.h"
#include "kiln/base/file.h"
#include "kiln/measure/machine/provenance.h"
#include "kiln/measure/workers/worker_process.h"
#include "kiln/store/facts.h"
#include "kiln/tools/dispatch/sweep/generated.h"
#include "kiln/tools/sibling.h"

namespace kiln {

namespace fs = std::filesystem;

// The module's name for a second purpose. A link, so that it is one file; a copy where links are not to be had.
static Status linkFile(const std::string &from, const std::string &to) {
  std::error_code error;
  if (fs::equivalent(from, to, error))
    return okStatus();
  std::string fresh = fmt::format("{}.{}", to, getpid());
  fs::remove(fresh, error);
  fs::create_hard_link(from, fresh, error);
  if (error)
    fs::copy_file(from, fresh, fs::copy_options::overwrite_existing, error);
  if (!error)
    fs::rename(fresh, to, error);
  if (error)
    return errnoStatus(error.value(), fmt::format("cannot write '{}'", to));
  return okStatus();
}

// Paths may hold what is no UTF-8; that is replaced.
static std::string jsonText(const nlohmann::json &json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A file beside each module with its checksum when it was written, so that a damaged module is not measured.
static std::string sumPath(const std::string &module) {
  return module + ".sum";
}

static Result<std::string> sumOf(const std::string &module) {
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(module));
  return fmt::format("{} {}\n", file->text().size(), store::contentKey({file->text()}));
}

enum class Cached { No, Whole, Damaged };

static Cached lookFor(const std::string &module) {
  if (access(module.c_str(), R_OK) != 0)
    return Cached::No;
  Result<Ref<FileContents>> written = FileContents::open(sumPath(module));
  Result<std::string> is = sumOf(module);
  if (!written.ok()) // its compiler was ended before it was done, or it is from before there were sums
    return Cached::No;
  return is.ok() && *is == (*written)->text() ? Cached::Whole : Cached::Damaged;
}

// The compiler and its target CPU, as text: a compiler is another one when the bytes of its file are, and "host" means
// another CPU where the folder was carried to another machine.
static Result<std::string> compilerIdentity(const std::string &path) {
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(path));
  measure::Provenance machine = measure::Provenance::detect();
  return store::contentKey({file->text(), machine.architecture, machine.cpu.value, machine.identity.value,
                            fmt::format("{}", fmt::join(machine.features, ","))});
}

// What --tuning-db names counts by its content. The compiler reports a file that cannot be read.
static std::string tuningDatabaseOf(std::string_view flag) {
  constexpr std::string_view name = "-tuning-db=";
  size_t dashes = flag.starts_with("--") ? 1 : 0;
  if (!flag.substr(dashes).starts_with(name))
    return "";
  Result<Ref<FileContents>> file = FileContents::open(std::string(flag.substr(dashes + name.size())));
  return file.ok() ? std::string((*file)->text()) : "";
}

// What it took, in milliseconds; or why the program does not compile. Another program than kiln-compile may answer
// anything.
static Result<double> readAnswer(const nlohmann::json &answer) {
  auto member = [&](const char *name) { return answer.is_object() ? answer.find(name) : answer.end(); };
  auto ok = member("ok"), error = member("error"), milliseconds = member("milliseconds");
  auto isNone = [&] {
    std::string text = answer.is_discarded() ? "it is no JSON" : jsonText(answer).substr(0, 200);
    return internalError("the compiler answers what is no answer of `kiln-compile --serve`: {}", text);
  };
  if (ok == answer.end() || !ok->is_boolean())
    return isNone();
  if (!ok->get<bool>())
    return invalidArgument("{}", error != answer.end() && error->is_string() ? error->get<std::string>()
                                                                             : std::string("it says no more"));
  if (milliseconds == answer.end())
    return 0.0;
  return milliseconds->is_number() ? Result<double>(milliseconds->get<double>()) : isNone();
}

namespace {
// One thread with one compiler of its own, started when it is first needed, and again when a program has ended it.
class Compiler {
public:
  // `unusable` gets the reason why no program can be compiled.
  Compiler(const std::string &path, const CompileSettings &settings, std::string &unusable)
      : settings(settings), unusable(unusable) {
    options.command = {path, "--serve"};
    options.command.insert(options.command.end(), settings.flags.begin(), settings.flags.end());
  }

  CompileResult compile(const CompileJob &job, const std::string &key) {
    CompileResult result{key, std::nullopt, ""};
    Status status = run(job, fmt::format("{}/{}.vmfb", settings.cache, key), result);
    if (!status.ok())
      result.error = status.message();
    return result;
  }

private:
  Status run(const CompileJob &job, const std::string &module, CompileResult &result) {
    Cached cached = lookFor(module);
    if (settings.force || cached != Cached::Whole) {
      result.damaged = cached == Cached::Damaged;
      KILN_ASSIGN_OR_RETURN(nlohmann::json answer, ask({{"input", job.source}, {"output", module}}));
      KILN_ASSIGN_OR_RETURN(result.milliseconds, readAnswer(answer));
      KILN_ASSIGN_OR_RETURN(std::string sum, sumOf(module));
      KILN_RETURN_IF_ERROR(writeFile(sumPath(module), sum));
    }
    for (const std::string &output : job.outputs)
      KILN_RETURN_IF_ERROR(linkFile(module, output));
    return okStatus();
  }

  Result<nlohmann::json> ask(const nlohmann::json &request) {
    if (!process || !process->alive()) {
      KILN_ASSIGN_OR_RETURN(process, measure::WorkerProcess::start(options));
      answered = false;
    }
    Result<std::string> line = process->exchange(jsonText(request) + "\n", Deadline::after(settings.timeout));
    if (line.ok()) {
      answered = true;
      return nlohmann::json::parse(*line, nullptr, /*allow_exceptions=*/false);
    }
    std::string said(process->errorOutput());
    said.erase(said.find_last_not_of(" \n") + 1);
    // One that ends by itself before its first answer does not like its flags, whatever the program.
    if (!answered && process->outcome() == Outcome::Exited && !said.empty()) {
      unusable = said;
      return invalidArgument("{}", said);
    }
    bool late = process->outcome() == Outcome::TimedOut;
    return internalError("kiln-compile {} this program{}{}",
                         late ? fmt::format("did not end within {} s with", settings.timeout / 1'000'000'000)
                              : std::string("was ended by"),
                         said.empty() ? "" : ", and said last: ", said);
  }

  const CompileSettings &settings;
  std::string &unusable;
  measure::WorkerOptions options;
  std::unique_ptr<measure::WorkerProcess> process;
  bool answered = false;
};
} // namespace

Result<std::vector<CompileResult>> compileAll(std::span<const CompileJob> jobs, const CompileSettings &settings,
                                              const CompileProgress &progress) {
  std::string compiler = settings.compiler;
  if (compiler.empty()) {
    KILN_ASSIGN_OR_RETURN(compiler, siblingTool("kiln-compile"));
  }
  KILN_ASSIGN_OR_RETURN(std::string identity, compilerIdentity(compiler));
  KILN_RETURN_IF_ERROR(makeFolder(settings.cache));
  std::string flags;
  for (const std::string &flag : settings.flags)
    flags += flag + "\n" + tuningDatabaseOf(flag);

  std::vector<CompileResult> results(jobs.size());
  std::atomic<size_t> next = 0;
  std::mutex told;
  std::string unusable;
  auto work = [&] {
    std::string reason;
    Compiler resident(compiler, settings, reason);
    for (size_t i = next++; i < jobs.size(); i = next++) {
      if (monotonicNanoseconds() > settings.beginUntil) {
        results[i].late = true;
        continue;
      }
      Result<Ref<FileContents>> text = FileContents::open(jobs[i].source);
      results[i] = text.ok() ? resident.compile(jobs[i], store::contentKey({(*text)->text(), flags, identity}))
                             : CompileResult{"", std::nullopt, std::string(text.status().message())};
      std::lock_guard lock(told);
      if (!reason.empty()) {
        unusable = reason;
        next = jobs.size();
        return;
      }
      progress(i, results[i]);
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min<size_t>(settings.workers, jobs.size()); ++i) {
    try {
      threads.emplace_back(work);
    } catch (const std::system_error &) {
      break; // fewer threads do the same work
    }
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (!unusable.empty())
    return invalidArgument("'{}' does not start: {}", compiler, unusable);
  return results;
}

} // namespace kiln
