// The protocol of the lab's workers, both sides: each line as a request in a conversation, and as an answer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "kiln/measure/providers/serve.h"
#include "tests/fuzz/scratch_folder.h"

using namespace kiln;
using namespace kiln::measure;

namespace {

// Has everything that a provider may have, and fails after some calls, so that none of its requests takes long.
class ShortProvider final : public Provider {
public:
  Status start(uint32_t) override { return okStatus(); }
  std::string version() const override { return "1"; }
  std::string note() const override { return "a note"; }
  Status load(const LoadRequest &request, TensorMemory &) override {
    return request.problem.family == "unknown" ? unimplemented("not this family") : okStatus();
  }
  std::optional<double> flops() const override { return 12; }
  Status call(uint32_t) override { return ++calls % 500 == 0 ? internalError("the call failed") : okStatus(); }
  bool tellsDeviceTimes() const override { return true; }
  DeviceTimes takeDeviceTimes() override {
    DeviceTimes times;
    times.clock = "a clock";
    times.started = times.ended = {1, 2, 3};
    return times;
  }
  bool makesEmptyCalls() const override { return true; }
  Status emptyCall() override { return call(0); }

private:
  uint64_t calls = 0;
};

std::unique_ptr<Provider> makeProvider() {
  return std::make_unique<ShortProvider>();
}

bool isOwnFile(const SharedTensor &tensor) {
  return tensor.path.find('/') == std::string::npos;
}

// Other files than the target's own are none of its business.
bool namesOtherFiles(const Request &request) {
  const auto *load = std::get_if<LoadRequest>(&request);
  return load && !(std::ranges::all_of(load->inputs, isOwnFile) && std::ranges::all_of(load->outputs, isOwnFile));
}

void takeRequest(Conversation &conversation, std::string_view line) {
  Result<Request> request = parseRequest(line);
  if (request.ok()) {
    if (namesOtherFiles(*request))
      return;
    // What is written of a request is read as the same.
    const std::string text = encodeRequest(*request);
    Result<Request> again = parseRequest(text);
    if (!again.ok() || encodeRequest(*again) != text)
      std::abort();
  }
  const std::string answer = conversation.answer(line);
  if (answer.empty() ? !conversation.over() : !parseAnswer(answer).ok())
    std::abort();
}

void takeAnswer(std::string_view line) {
  if (Result<Answer> answer = parseAnswer(line); answer.ok())
    (void)encodeAnswer(*answer);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::ScratchFolder folder;
  static const bool prepared = [] {
    folder.write("in", std::string(4096, '\0'));
    folder.write("out", std::string(4096, '\0'));
    return true;
  }();
  (void)prepared;
  Conversation conversation("fuzz", makeProvider);
  std::string_view rest(reinterpret_cast<const char *>(data), size);
  while (!rest.empty() && !conversation.over()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    takeRequest(conversation, rest.substr(0, end));
    takeAnswer(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return 0;
}
