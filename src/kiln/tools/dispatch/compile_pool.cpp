#include "kiln/tools/dispatch/compile_pool.h"

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "kiln/base/file.h"
#include "kiln/measure/workers/worker_process.h"
#include "kiln/store/facts.h"
#include "kiln/tools/dispatch/generated.h"
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

// A compiler is another one when its file is.
static Result<std::string> compilerIdentity(const std::string &path) {
  std::error_code error;
  uint64_t size = fs::file_size(path, error);
  auto time = fs::last_write_time(path, error).time_since_epoch().count();
  if (error)
    return errnoStatus(error.value(), fmt::format("cannot look at '{}'", path));
  return fmt::format("{} {}", size, time);
}

// What --tuning-db names counts by its content. What cannot be read is the compiler's to tell.
static std::string tuningDatabaseOf(std::string_view flag) {
  constexpr std::string_view name = "-tuning-db=";
  size_t dashes = flag.starts_with("--") ? 1 : 0;
  if (!flag.substr(dashes).starts_with(name))
    return "";
  Result<Ref<FileContents>> file = FileContents::open(std::string(flag.substr(dashes + name.size())));
  return file.ok() ? std::string((*file)->text()) : "";
}

namespace {
// One thread with one compiler of its own, started when it is first needed, and again when a program has ended it.
class Compiler {
public:
  Compiler(const std::string &path, const CompileSettings &settings) : settings(settings) {
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
    if (settings.force || access(module.c_str(), R_OK) != 0) {
      if (!process || !process->alive()) {
        KILN_ASSIGN_OR_RETURN(process, measure::WorkerProcess::start(options));
      }
      nlohmann::json request = {{"input", job.source}, {"output", module}};
      KILN_ASSIGN_OR_RETURN(std::string line,
                            process->exchange(request.dump() + "\n", Deadline::after(settings.timeout)));
      nlohmann::json answer = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!answer.is_object() || !answer.contains("ok"))
        return internalError("kiln-compile answers what is no answer: {}", line.substr(0, 200));
      if (!answer["ok"].get<bool>())
        return invalidArgument("{}", answer.value("error", "it says no more"));
      result.milliseconds = answer.value("milliseconds", 0.0);
    }
    for (const std::string &output : job.outputs)
      KILN_RETURN_IF_ERROR(linkFile(module, output));
    return okStatus();
  }

  const CompileSettings &settings;
  measure::WorkerOptions options;
  std::unique_ptr<measure::WorkerProcess> process;
};
} // namespace

Result<std::vector<CompileResult>> compileAll(std::span<const CompileJob> jobs, const CompileSettings &settings,
                                              const CompileProgress &progress) {
  KILN_ASSIGN_OR_RETURN(std::string compiler, siblingTool("kiln-compile"));
  KILN_ASSIGN_OR_RETURN(std::string identity, compilerIdentity(compiler));
  KILN_RETURN_IF_ERROR(makeFolder(settings.cache));
  std::string flags;
  for (const std::string &flag : settings.flags)
    flags += flag + "\n" + tuningDatabaseOf(flag);

  std::vector<CompileResult> results(jobs.size());
  std::atomic<size_t> next = 0;
  std::mutex told;
  auto work = [&] {
    Compiler resident(compiler, settings);
    for (size_t i = next++; i < jobs.size(); i = next++) {
      Result<Ref<FileContents>> text = FileContents::open(jobs[i].source);
      results[i] = text.ok() ? resident.compile(jobs[i], store::contentKey({(*text)->text(), flags, identity}))
                             : CompileResult{"", std::nullopt, std::string(text.status().message())};
      std::lock_guard lock(told);
      progress(i, results[i]);
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min<size_t>(settings.workers, jobs.size()); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

} // namespace kiln
