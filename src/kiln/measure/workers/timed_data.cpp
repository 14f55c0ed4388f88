#include "kiln/measure/workers/timed_data.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include <unistd.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "kiln/measure/verify/parts.h"
#include "kiln/measure/workers/timing_data.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure {

namespace {

// Who answers before its work is done has so long to finish until the lab looks again.
constexpr auto kMoment = std::chrono::milliseconds(50);
// Of how many other sets a wrong output may be the right one; looking costs a reading of the output each.
constexpr uint32_t kOthersTried = 64;
// So many states of a set's inputs before the present one are remembered.
constexpr size_t kFormer = 8;
// Of a request with more sets, so many are held against their inputs.
constexpr uint32_t kCheckedSets = 128;
constexpr size_t kSecretsAtOnce = 32; // 256 bytes, as many as the system gives in one go

// Past the caches where the CPU can, so that a poisoned output is no nearer than others were.
void poisonBytes(std::span<uint8_t> bytes) {
#if defined(__SSE2__)
  uint8_t *at = bytes.data(), *end = at + bytes.size();
  if (reinterpret_cast<uintptr_t>(at) % 64 == 0) {
    const __m128i ones = _mm_set1_epi32(-1);
    for (; end - at >= 64; at += 64)
      for (int i = 0; i < 64; i += 16)
        _mm_stream_si128(reinterpret_cast<__m128i *>(at + i), ones);
    _mm_sfence();
  }
  std::fill(at, end, uint8_t(0xFF));
#else
  std::ranges::fill(bytes, uint8_t(0xFF));
#endif
}

void touchPages(std::span<const uint8_t> bytes) {
  constexpr size_t kPage = 4096;
  for (size_t at = 0; at < bytes.size(); at += kPage) {
    static_cast<void>(*static_cast<const volatile uint8_t *>(bytes.data() + at));
#if defined(__SSE2__)
    _mm_clflush(bytes.data() + at);
#endif
  }
}

// Elements whose bits are all set.
uint64_t poisonedElements(const io::TensorSpan &tensor) {
  size_t size = hal::elementTypeByteSize(tensor.type);
  uint64_t count = 0;
  const uint8_t *bytes = tensor.bytes.data();
  for (size_t at = 0; at + size <= tensor.bytes.size(); at += size)
    count += std::all_of(bytes + at, bytes + at + size, [](uint8_t byte) { return byte == 0xFF; });
  return count;
}

} // namespace

uint64_t timingSeed(uint64_t seed, uint32_t set, size_t tensor) {
  constexpr uint64_t prime = 1'000'003;
  return (seed * prime * prime + set) * prime + tensor;
}

Result<std::unique_ptr<TimedData>> TimedData::create(const Problem &problem, const TimedDataOptions &options) {
  std::unique_ptr<TimedData> data(new TimedData(problem));
  data->seed = options.seed;
  data->threads = options.threads;
  std::vector<TensorType> types = problem.inputs();
  uint64_t bytes = 0;
  for (const std::vector<TensorType> &list : {types, problem.outputs()})
    for (const TensorType &type : list) {
      KILN_ASSIGN_OR_RETURN(uint64_t length, hal::shapeByteLength(type.type, type.shape));
      bytes += length;
    }
  data->sets =
      options.cold ? planColdSets(bytes, options.lastLevelCacheBytes, options.dataBudget) : planWarmSets(bytes);
  // Shared memory is nobody's: where it is too much, the system ends other programs.
  if (bytes > options.freeMemory / data->sets.sets())
    return resourceExhausted("its tensors need {:.1f} GB of memory, {} times {:.1f}, and {:.1f} are free",
                             double(bytes) * data->sets.sets() * 1e-9, data->sets.sets(), double(bytes) * 1e-9,
                             double(options.freeMemory) * 1e-9);
  auto make = [&](const char *name, TensorTypes list) -> Result<std::unique_ptr<SharedTensors>> {
    Result<SharedTensors> made = SharedTensors::create(name, list, data->sets.sets(), SharedTensors::Pages::Reserved);
    if (!made.ok())
      return std::move(made).status().withContext(problem.name());
    return std::make_unique<SharedTensors>(*std::move(made));
  };
  KILN_ASSIGN_OR_RETURN(data->inputTensors, make("kiln-inputs", types));
  KILN_ASSIGN_OR_RETURN(data->outputTensors, make("kiln-outputs", problem.outputs()));
  KILN_RETURN_IF_ERROR(data->inputTensors->forbidWriting());
  KILN_RETURN_IF_ERROR(data->outputTensors->forbidSealing());
  data->expected.resize(data->sets.sets());
  std::vector<Fill> fills;
  for (uint32_t set = 1; set < data->sets.sets(); ++set)
    fills.push_back(data->drawFill(set));
  data->fill(fills, true);
  return data;
}

std::vector<SharedTensor> TimedData::describeInputs() const {
  std::vector<SharedTensor> described = inputTensors->describe();
  for (size_t i = 0; i < described.size(); ++i)
    described[i].weight = problem.isWeight(i);
  return described;
}

SetRange TimedData::range(uint32_t start, uint64_t calls) const {
  return {start, uint32_t(std::min<uint64_t>(calls, sets.timingSets))};
}

uint32_t TimedData::advance(uint32_t start, uint64_t calls) const {
  return 1 + uint32_t((start - 1 + calls) % sets.timingSets);
}

void TimedData::forEach(size_t count, const std::function<void(size_t)> &function) const {
  const uint64_t bytesOfSet = inputTensors->bytes(0).size() + outputTensors->bytes(0).size();
  verify::forParts(int64_t(count), int64_t(count * bytesOfSet), threads, [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin)
      function(size_t(begin));
  });
}

TimedData::Fill TimedData::drawFill(uint32_t set) {
  Fill one{set, {}};
  for (size_t i = 0; i < problem.inputs().size(); ++i)
    one.seeds.push_back(expected[set].generation ? draw() : timingSeed(seed, set, i));
  return one;
}

void TimedData::fill(const std::vector<Fill> &fills, bool weights) {
  forEach(fills.size(), [&](size_t index) {
    std::vector<MutableTensor> tensors = inputTensors->set(fills[index].set);
    for (size_t i = 0; i < tensors.size(); ++i)
      if (weights || !problem.isWeight(i))
        fillForTiming(fills[index].seeds[i], tensors[i], problem.timingNumbers(i));
  });
}

uint64_t TimedData::draw() {
  if (secrets.empty()) {
    secrets.resize(kSecretsAtOnce);
    // So few bytes come whole, and at once.
    if (::getentropy(secrets.data(), secrets.size() * sizeof(uint64_t)) != 0)
      std::abort();
  }
  uint64_t drawn = secrets.back();
  secrets.pop_back();
  return drawn;
}

void TimedData::refresh(SetRange range, bool weights) {
  makeChecks(drawSets(range), 0); // of the inputs that are about to go: answers from memory are told by it
  std::vector<Fill> fills;
  for (uint32_t i = 0; i < range.count; ++i) {
    uint32_t set = advance(range.first, i);
    Expected &one = expected[set];
    ++one.generation;
    if (one.former.size() == kFormer)
      one.former.erase(one.former.begin());
    if (one.made)
      one.former.push_back(std::move(one.current));
    one.made = false;
    fills.push_back(drawFill(set));
  }
  fill(fills, weights);
}

void TimedData::poison(SetRange range) {
  // What lies between tensors belongs to nobody.
  forEach(range.count, [&](size_t i) { poisonBytes(outputTensors->bytes(advance(range.first, i))); });
}

void TimedData::touch(SetRange range) {
  for (size_t i = 0; i < range.count; ++i)
    touchPages(inputTensors->bytes(advance(range.first, i)));
}

// Those of these sets that are missing and that the problem does not leave out. At least `required` of all are there
// afterwards.
void TimedData::makeChecks(const std::vector<uint32_t> &of, uint64_t required) {
  std::vector<MissingCheck> missing;
  for (uint32_t set : of) {
    Expected &one = expected[set];
    if (!one.made) {
      const uint64_t secret = draw();
      if (required == 0 && problem.leavesOutTimedCheck(secret))
        continue;
      missing.push_back({set, secret});
      one.made = true; // once, where a set is named twice
    }
    required -= required > 0;
  }
  forEach(missing.size(), [&](size_t i) {
    expected[missing[i].set].current =
        problem.timedCheck(std::as_const(*inputTensors).view(missing[i].set), missing[i].secret);
  });
}

const verify::TimedCheck *TimedData::checkOf(uint32_t set) {
  makeChecks({set}, 0);
  return expected[set].current.get();
}

// All of few; of many one of each of as many parts, and the last one: work that is not done when the answer comes is
// that of the last calls.
std::vector<uint32_t> TimedData::drawSets(SetRange range) {
  uint32_t parts = std::min(range.count, kCheckedSets);
  std::vector<uint32_t> drawn;
  for (uint64_t part = 0; part < parts; ++part) {
    uint64_t begin = range.count * part / parts, end = range.count * (part + 1) / parts;
    drawn.push_back(advance(range.first, end - begin == 1 ? begin : begin + draw() % (end - begin)));
  }
  if (uint32_t last = advance(range.first, range.count - 1); !drawn.empty() && drawn.back() != last)
    drawn.push_back(last);
  // Where few of them are compared, it is any few.
  for (size_t i = drawn.size(); i > 1; --i)
    std::swap(drawn[i - 1], drawn[draw() % i]);
  return drawn;
}

std::optional<verify::Verdict> TimedData::check(SetRange range, uint64_t required, const std::function<void()> &letRun,
                                                ComparedOutputs &all) {
  const std::vector<uint32_t> drawn = drawSets(range);
  makeChecks(drawn, required);
  std::vector<verify::Verdict> verdicts(drawn.size());
  forEach(drawn.size(), [&](size_t i) {
    if (const verify::TimedCheck *check = expected[drawn[i]].current.get())
      verdicts[i] = check->check(outputsOf(drawn[i]));
  });
  for (size_t i = 0; i < drawn.size(); ++i) {
    const uint32_t set = drawn[i];
    verify::Verdict &verdict = verdicts[i];
    if (std::vector<io::TensorSpan> written = outputsOf(set); expected[set].current) {
      ++all.sets;
    } else if (std::ranges::all_of(written, [](const io::TensorSpan &tensor) {
                 return poisonedElements(tensor) == tensor.elementCount();
               })) {
      verdict.cause = verify::Cause::NothingWritten; // all that can be told of a program that nobody knows
      verdict.explanation = "no output was written";
    }
    if (verdict.ok()) {
      all.deviations += verdict.deviations;
      continue;
    }
    verdict.cause = causeOf(set, range, letRun);
    verdict.explanation = fmt::format("{}: {}", verify::causeName(verdict.cause), verdict.explanation);
    return verdict;
  }
  if (!all.deviations.tooLarge())
    return std::nullopt;
  verify::Verdict verdict;
  verdict.cause = verify::Cause::WrongWhenTimed;
  verdict.method = "projection";
  verdict.deviations = all.deviations;
  verdict.explanation = fmt::format(
      "{}: {} sums of elements of its timed calls are off by {:.1f} times what rounding does, where {:.1f} is "
      "possible",
      verify::causeName(verdict.cause), all.deviations.sums, all.deviations.mean(), all.deviations.largestMean());
  return verdict;
}

// Whether the outputs of this set are those of inputs that it had before.
bool TimedData::isFormer(uint32_t set) const {
  std::vector<io::TensorSpan> written = outputsOf(set);
  return std::ranges::any_of(expected[set].former, [&](const std::unique_ptr<verify::TimedCheck> &before) {
    return before && before->check(written).ok();
  });
}

verify::Cause TimedData::causeOf(uint32_t set, SetRange range, const std::function<void()> &letRun) {
  std::vector<io::TensorSpan> written = outputsOf(set);
  uint64_t poisoned = 0, total = 0;
  for (const io::TensorSpan &tensor : written) {
    poisoned += poisonedElements(tensor);
    total += tensor.elementCount();
  }
  if (isFormer(set))
    return verify::Cause::FromMemory;
  // Of this set that may not be known, but of others whose calls were made as this one was.
  uint32_t tried = 0;
  for (uint32_t i = 0; i < range.count && tried < kOthersTried; ++i) {
    uint32_t other = advance(range.first, i);
    tried += !expected[other].former.empty();
    if (isFormer(other))
      return verify::Cause::FromMemory;
  }
  for (uint32_t i = 0; i < std::min(range.count, kOthersTried); ++i) {
    // The set of the call before is the likeliest.
    uint32_t other = 1 + (set - 1 + sets.timingSets - 1 - i) % sets.timingSets;
    if (const verify::TimedCheck *its = other == set ? nullptr : checkOf(other); its && its->check(written).ok())
      return verify::Cause::OtherCall;
  }
  if (poisoned > 0) {
    letRun();
    std::this_thread::sleep_for(kMoment);
    if (const verify::TimedCheck *now = checkOf(set); now && now->check(written).ok())
      return verify::Cause::ReturnsEarly;
    return poisoned == total ? verify::Cause::IdleWhenTimed : verify::Cause::PartWhenTimed;
  }
  return verify::Cause::WrongWhenTimed;
}

} // namespace kiln::measure
