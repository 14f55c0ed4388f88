// The worker's side of the protocol: reads requests, has a provider do them, answers.
#ifndef KILN_MEASURE_PROVIDERS_SERVE_H
#define KILN_MEASURE_PROVIDERS_SERVE_H

#include <memory>
#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/measure/machine/call_counters.h"
#include "kiln/measure/providers/provider.h"
#include "kiln/measure/workers/protocol.h"

namespace kiln::measure {

// One conversation. Whatever is asked, there is an answer.
class Conversation {
public:
  using OpenCounters = std::unique_ptr<CallCounters> (*)();
  // `name` is what `hello` is answered with. Counters, where there are any, are opened before the provider starts, so
  // that its threads are counted.
  Conversation(std::string name, Provider &provider, OpenCounters openCounters = nullptr)
      : name(std::move(name)), provider(provider), openCounters(openCounters) {}
  // The answer to a line; empty for `quit`.
  std::string answer(std::string_view line);
  bool over() const { return ended; }

private:
  Result<Answer> handle(const Request &request);
  Result<Answer> hello(const HelloRequest &request);
  Result<Answer> load(const LoadRequest &request);
  Result<Answer> run(const RunRequest &request);
  Result<Answer> time(const TimeRequest &request);
  Status checkSet(uint32_t set) const;

  const std::string name;
  Provider &provider;
  const OpenCounters openCounters;
  std::unique_ptr<CallCounters> counters;
  TensorMemory tensors;
  bool started = false, loaded = false, loadTried = false, ended = false;
};

// Until `quit`, or the end of the input, which is how the end of the parent shows. Fails where it cannot read or write.
Status serve(Conversation &conversation, int input, int output);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_SERVE_H
