// The worker's side of the protocol: reads requests, has a provider do them, answers.
#ifndef KILN_MEASURE_PROVIDERS_SERVE_H
#define KILN_MEASURE_PROVIDERS_SERVE_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/measure/machine/call_counters.h"
#include "kiln/measure/providers/device_verification.h"
#include "kiln/measure/providers/provider.h"
#include "kiln/measure/workers/protocol.h"

namespace kiln::measure {

// One conversation. Every line gets an answer, which may be an error.
class Conversation {
public:
  using MakeProvider = std::function<std::unique_ptr<Provider>()>;
  using OpenCounters = std::unique_ptr<CallCounters> (*)();
  // `name` is what `hello` is answered with. Counters, where there are any, are opened before the first provider
  // starts, so that its threads are counted.
  Conversation(std::string name, MakeProvider makeProvider, OpenCounters openCounters = nullptr)
      : name(std::move(name)), makeProvider(std::move(makeProvider)), openCounters(openCounters) {}
  // The families that make problems from their names, which checks on devices need; they outlive the conversation.
  void setFamilies(const FamilyRegistry &registry) { families = &registry; }
  // The answer to a line; empty for `quit`.
  std::string answer(std::string_view line);
  bool over() const { return ended; }

private:
  // A problem with its tensors, and its provider.
  struct Slot {
    TensorMemory tensors; // outlives the provider
    ProblemText problem;
    std::unique_ptr<Provider> provider;
    std::unique_ptr<DeviceVerification> verification; // once it was asked for
    PrepareRequest prepared;                          // what `batches` are for
    std::vector<Ref<hal::TimedWork>> batches = {};    // calls that were put together
  };

  Result<Answer> handle(const Request &request);
  Result<Answer> hello(const HelloRequest &request);
  Result<Answer> load(const LoadRequest &request);
  Result<Answer> prepare(const PrepareRequest &request);
  Result<Answer> verify(const VerifyRequest &request);
  Result<Answer> time(const TimeRequest &request);
  Result<std::unique_ptr<Provider>> startProvider();
  Result<Slot *> find(uint32_t slot, SetRange sets);

  const std::string name;
  const MakeProvider makeProvider;
  const OpenCounters openCounters;
  const FamilyRegistry *families = nullptr;
  std::unique_ptr<CallCounters> counters;
  uint32_t threads = 0;            // 0: before hello
  std::string device;              // of hello
  std::unique_ptr<Provider> spare; // started for hello, and not loaded yet
  std::map<uint32_t, Slot> slots;
  bool ended = false;
};

// Until `quit`, or the end of the input, which is how the end of the parent shows. Fails where it cannot read or write.
Status serve(Conversation &conversation, int input, int output);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_SERVE_H
