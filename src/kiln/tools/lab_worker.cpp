// kiln-lab-worker: computes problems with one provider, for the lab. See docs/lab.md for what it reads and writes.
#include <cstdio>
#include <unistd.h>

#include "kiln/base/watched_pages.h"
#include "kiln/families/families.h"
#include "kiln/measure/providers/providers.h"
#include "kiln/measure/providers/serve.h"
#include "kiln/tools/cache_path.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/driver_cache.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/peers_flag.h"

using namespace kiln;

// One line for each provider: what it is, and whether it works here.
static int listProviders(const std::string &peers) {
  findCpuDevice(peers);
  for (const measure::ProviderEntry &entry : measure::providers()) {
    std::unique_ptr<measure::Provider> provider = entry.create(peers);
    Status started = provider->start(1);
    std::string state = started.ok() ? provider->version() : fmt::format("not available: {}", started.message());
    std::printf("%s\n", fmt::format("{:<18}{} ({})", entry.name, entry.summary, state).c_str());
  }
  return finishOutput("kiln-lab-worker", 0);
}

// Answers go to what was standard output; that becomes standard error, so that what a library prints is no answer.
static Result<int> takeStandardOutput() {
  int answers = ::dup(STDOUT_FILENO);
  if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return errnoStatus(errno, "cannot redirect standard output");
  return answers;
}

static Status work(const std::string &name, const std::string &peers) {
  KILN_ASSIGN_OR_RETURN(const measure::ProviderEntry *entry, measure::findProvider(name));
  KILN_RETURN_IF_ERROR(installPageLossHandler());
  KILN_ASSIGN_OR_RETURN(int answers, takeStandardOutput());
  measure::FamilyRegistry families;
  families::registerFamilies(families);
  findCpuDevice(peers);
  auto makeProvider = [&] {
    std::unique_ptr<measure::Provider> provider = entry->create(peers);
    provider->setFamilies(families);
    return provider;
  };
  measure::Conversation conversation(std::string(entry->provider()), makeProvider,
                                     [] { return measure::openCallCounters(measure::SystemFiles()); });
  conversation.setFamilies(families);
  return measure::serve(conversation, STDIN_FILENO, answers);
}

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-lab-worker");
  FlagParser parser("kiln-lab-worker", "Computes problems with one provider, for the lab: reads requests from "
                                       "standard input, one JSON object a line, and answers each with a line on "
                                       "standard output. docs/lab.md describes them.");
  std::string provider, peers;
  bool list = false;
  parser.group("What to do");
  parser.add({"provider", "NAME", "Who computes; see --list_providers."}, provider);
  addPeersFlag(parser, peers);
  parser.add({"list_providers", "", "Lists the providers of this build, and which of them work here."}, list);
  parser.example("kiln-lab-worker --provider=onednn:preferred");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  placeDriverCache(userCachePath("executables"));
  if (list)
    return listProviders(peersFolder(peers));
  if (provider.empty())
    return reportFailure(parser.tool(), invalidArgument("--provider=NAME is missing; --list_providers says which "
                                                        "there are"));
  Status status = work(provider, peersFolder(peers));
  return status.ok() ? 0 : reportFailure(parser.tool(), status);
}
