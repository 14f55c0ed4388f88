#include "kiln/tools/dispatch/sweep/known_providers.h"

#include <algorithm>

#include "fmt/format.h"
#include "kiln/base/clock.h"
#include "kiln/base/own_providers.h"
#include "kiln/measure/machine/libraries.h"
#include "kiln/measure/workers/worker_process.h"
#include "kiln/report/model/suggestion.h"
#include "kiln/tools/dispatch/duration.h"
#include "kiln/tools/dispatch/say.h"
#include "kiln/tools/dispatch/sweep/program_hash.h"
#include "kiln/tools/peers_flag.h"
#include "kiln/tools/sibling.h"

namespace kiln {

namespace {
Result<KnownProvider> probe(const DispatchFlags &flags, std::string name, std::string variant,
                            std::vector<std::string> command) {
  measure::WorkerOptions options;
  options.command = command;
  options.threads = flags.threadCount();
  const uint64_t started = monotonicNanoseconds();
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<measure::WorkerProcess> worker, measure::WorkerProcess::start(options));
  KILN_ASSIGN_OR_RETURN(measure::Answer answer, worker->ask(measure::HelloRequest{measure::kProtocolVersion,
                                                                                  options.threads, flags.labDevice.uri},
                                                            Deadline::after(flags.timeoutNanoseconds())));
  const double seconds = secondsSince(started);
  (void)worker->quit(Deadline::after(uint64_t(1'000'000'000))); // it has answered already
  KnownProvider provider{std::move(name), std::move(variant), answer.version, std::move(command), seconds};
  for (const measure::WorkerDevice &device : answer.devices) {
    provider.cacheBytes = std::max(provider.cacheBytes, device.cacheBytes);
    provider.isSimulated |= device.clock == measure::WorkerDevice::Clock::Simulated;
  }
  return provider;
}

// What was meant by a name that no worker has; empty where it is one, or near to none.
std::string misspelt(const std::string &wish) {
  std::vector<std::string> names(std::begin(kOwnProviders), std::end(kOwnProviders));
  names.emplace_back("onednn:preferred");
  return std::ranges::find(names, wish) == names.end() ? report::suggestion(wish, names) : "";
}

// The library of a provider; null where it needs none.
const measure::LibraryFile *libraryOf(std::string_view provider) {
  return provider == "onednn"     ? &measure::kOneDnnFile
         : provider == "openblas" ? &measure::kOpenBlasFile
         : provider == "mkl"      ? &measure::kMklFile
                                  : nullptr;
}

// Leaves out the libraries that are not installed, and says so once of all of them.
void leaveOutAbsent(std::vector<std::string> &wanted, const std::string &peers) {
  std::vector<std::string> absent;
  std::erase_if(wanted, [&](const std::string &wish) {
    std::string name = wish.substr(0, wish.find(':'));
    const measure::LibraryFile *file = libraryOf(name);
    if (!file || measure::SharedLibrary::isThere(peers, *file))
      return false;
    if (std::ranges::find(absent, name) == absent.end())
      absent.push_back(std::move(name));
    return true;
  });
  if (!absent.empty())
    sayLines("without {}: not in {}; `make peers` installs {}, and --peers-dir=DIR names another folder",
             fmt::join(absent, ", "), peers, absent.size() == 1 ? "it" : "them");
}

// A program that somebody else wrote. One that does not even answer `hello` has rows as well, which say why.
Result<KnownProvider> probeProgram(const DispatchFlags &flags, const std::string &text,
                                   const std::vector<KnownProvider> &others) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return invalidArgument("--provider-command={}: write NAME=COMMAND", text);
  std::string name = text.substr(0, equals);
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (name.find_first_not_of(kLetters) != name.npos)
    return invalidArgument("--provider-command={}: a name has letters, digits, '_', '-' and '.'", text);
  if (isOwnProvider(name) || std::ranges::find(others, name, &KnownProvider::name) != others.end())
    return invalidArgument("--provider-command={}: there is a provider '{}' already; give yours another name", text,
                           name);
  std::vector<std::string> command = {"/bin/sh", "-c", "exec " + text.substr(equals + 1)};
  std::string program = programHash(text.substr(equals + 1)); // before it runs
  Result<KnownProvider> provider = probe(flags, name, "", command);
  if (provider.ok()) {
    provider->program = std::move(program);
    return provider;
  }
  Status why =
      std::move(provider).status().withContext(fmt::format("provider '{}' (--provider-command={})", name, text));
  KnownProvider broken{std::move(name), "", "", std::move(command)};
  broken.obstacle = why.message();
  broken.program = std::move(program);
  return broken;
}

} // namespace

bool isLibrary(std::string_view provider) {
  return provider != "kiln" && isOwnProvider(provider);
}

Result<KnownProvider> findKiln(const DispatchFlags &flags) {
  KILN_ASSIGN_OR_RETURN(std::string tool, siblingTool("kiln-lab-worker"));
  return probe(flags, "kiln", "", {tool, "--provider=kiln"});
}

Result<std::vector<KnownProvider>> findProviders(const DispatchFlags &flags, bool withTF32) {
  std::vector<std::string> wanted;
  bool asked = !flags.providers.empty();
  for (const std::string &list : flags.providers)
    for (std::string_view name : split(list, ','))
      if (name != "none")
        wanted.emplace_back(name);
  for (auto wish = wanted.begin(); wish != wanted.end(); ++wish)
    if (std::find(wanted.begin(), wish, *wish) != wish)
      return invalidArgument("--providers: '{}' is named twice; a provider takes part once", *wish);
  // Libraries know nothing of programs that somebody else wrote, unless these are an operation that they have.
  const std::string peers = peersFolder(flags.peersDir);
  if (!asked) {
    wanted = !flags.labDevice.isCpu() ? std::vector<std::string>{"kiln", "cublas", "cublaslt", "cudnn"}
             : flags.corpus.empty() ? std::vector<std::string>{"kiln", "onednn", "onednn:preferred", "openblas", "mkl"}
                                    : std::vector<std::string>{"kiln"};
    if (!flags.labDevice.isCpu() && withTF32)
      wanted.insert(wanted.end(), {"cublas:tf32", "cublaslt:tf32"});
    leaveOutAbsent(wanted, peers);
  }
  KILN_ASSIGN_OR_RETURN(std::string tool, siblingTool("kiln-lab-worker"));
  std::vector<KnownProvider> providers;
  for (const std::string &wish : wanted) {
    size_t colon = wish.find(':');
    std::string variant = colon == std::string::npos ? "" : wish.substr(colon + 1);
    Result<KnownProvider> provider =
        probe(flags, wish.substr(0, colon), variant, {tool, "--provider=" + wish, "--peers-dir=" + peers});
    if (provider.ok())
      providers.push_back(*std::move(provider));
    else if (std::string meant = misspelt(wish); !meant.empty())
      return notFound("--providers: there is no provider '{}'{}", wish, meant);
    else if (asked || wish == "kiln")
      return std::move(provider).status().withContext(fmt::format("provider '{}'", wish));
    else if (variant.empty() ||
             std::ranges::find(providers, wish.substr(0, colon), &KnownProvider::name) != providers.end())
      sayLines("without {}: {}", wish, provider.status().message()); // of a library without variants it is said once
  }
  for (const std::string &text : flags.providerCommands) {
    KILN_ASSIGN_OR_RETURN(KnownProvider provider, probeProgram(flags, text, providers));
    providers.push_back(std::move(provider));
  }
  if (providers.empty())
    return invalidArgument("--providers=none leaves nobody; add a program of yours with --provider-command");
  if (std::ranges::none_of(providers, [](const KnownProvider &provider) { return provider.obstacle.empty(); }))
    return failedPrecondition("{}", providers.front().obstacle);
  for (const KnownProvider &provider : providers)
    if (!provider.obstacle.empty())
      sayLines("without {}, whose rows are failed: {}", provider.name, provider.obstacle);
  return providers;
}

} // namespace kiln
