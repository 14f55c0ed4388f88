#include "kiln/store/testing/sample_store.h"

#include <algorithm>
#include <array>
#include <random>

#include "kiln/measure/statistics/rounds.h"

namespace kiln::store::testing {

Machine sampleMachine() {
  return {R"({"host":"test-node"})", R"({"cpu":"Test CPU","cores":2,"kernel":"6.1","governor":"performance"})",
          R"({"processors":[0,1]})"};
}

Run sampleRun(int64_t started) {
  Run run;
  run.sweep = contentKey({"sweep"});
  run.started = started;
  run.machine = sampleMachine().keys();
  run.commandLine = "kiln-dispatch sweep --problem-m=256";
  run.flags = R"({"problem-m":"256"})";
  run.seed = 0xFFFFFFFFFFFFFFFF;
  run.cacheMode = "cold";
  run.dataDistribution = "integers -7..7";
  run.tags = {{"branch", "main"}, {"note", "a, \"b\""}};
  run.kilnVersion = "0.1.0";
  return run;
}

Problem sampleProblem(uint64_t m, uint64_t n, uint64_t k) {
  auto mf = static_cast<double>(m), nf = static_cast<double>(n), kf = static_cast<double>(k);
  return {fmt::format("matmul_{}x{}x{}_f32t_f32t_f32t", m, n, k),
          "matmul",
          {{"m", std::to_string(m)},
           {"n", std::to_string(n)},
           {"k", std::to_string(k)},
           {"lhs", "f32t"},
           {"rhs", "f32t"},
           {"result", "f32t"}},
          2 * mf * nf * kf,
          4 * (mf * kf + kf * nf + mf * nf)};
}

Candidate sampleCandidate(const std::string &problem, const std::string &provider, const std::string &configuration) {
  return {problem, provider, "1.0", configuration, "", "-O3", configuration.empty() ? "" : contentKey({configuration}),
          2};
}

namespace {

// One group as it is made up: what the candidates are, and how long they take.
struct Sample {
  Candidate candidate;
  double nanoseconds = 0;
  CandidateResult result;
  CandidateEstimate estimate;
};

class GroupMaker {
public:
  GroupMaker(const SampleOptions &options, const Problem &problem, uint64_t index)
      : options(options), problem(problem), random(options.seed * 1000 + index) {}

  std::vector<Sample> make(const std::string &group);
  std::vector<Round> rounds(const std::vector<Sample> &samples, uint64_t index);

private:
  void addKiln(std::vector<Sample> &samples);
  void fail(std::vector<Sample> &samples);
  static void rank(std::vector<Sample> &samples);
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); }

  const SampleOptions &options;
  const Problem &problem;
  std::mt19937_64 random;
};

} // namespace

void GroupMaker::addKiln(std::vector<Sample> &samples) {
  static constexpr std::array kTileM = {32, 64, 96, 128};
  static constexpr std::array kTileN = {64, 128, 256};
  for (uint64_t i = 0; i < options.configurations; ++i) {
    std::string configuration = fmt::format("tile_config_{}x{}_{}x1_fma_{}x32{}", kTileM[i % 4], kTileN[i / 4 % 3],
                                            128 * (1 + i / 12 % 4), 6 + 2 * (i / 48), i % 2 ? "_packb" : "");
    double efficiency = 0.3 + 0.06 * static_cast<double>(i % 4) + 0.05 * static_cast<double>(i / 4 % 3);
    samples.push_back({sampleCandidate(problem.key(), "kiln", configuration),
                       problem.flops / (170 * efficiency) * options.slowdown * uniform(0.99, 1.01),
                       {},
                       {}});
  }
  if (!options.defaultSpeed)
    return;
  double fastest = std::ranges::min(samples, {}, &Sample::nanoseconds).nanoseconds;
  samples.push_back(
      {sampleCandidate(problem.key(), "kiln", "tile_config_default"), fastest / *options.defaultSpeed, {}, {}});
}

// The first configurations fail, each in another way.
void GroupMaker::fail(std::vector<Sample> &samples) {
  auto set = [&](size_t i, Outcome outcome, const char *error) {
    if (i + 1 >= samples.size())
      return;
    samples[i].result.outcome = outcome;
    samples[i].result.error = error;
  };
  set(0, Outcome::Wrong,
      "pass 'sums': dropped tail: the last 3 columns of each row are 0; 768 of 131072 elements are wrong");
  samples[0].result.verification.cause = "dropped tail";
  samples[0].result.verification.explanation = "the last 3 columns of each row are 0; 768 of 131072 elements are wrong";
  samples[0].result.verification.details =
      R"({"wrong":768,"total":131072,"examples":[{"index":[0,509],"expected":14,"actual":0,"ulps":1e9}],)"
      R"("tilePattern":"...x\n...x","ulpHistogram":"inf: 768"})";
  set(1, Outcome::Crashed, "the worker was killed by signal 11 (segmentation fault) while it ran round 3");
  set(2, Outcome::TimedOut, "no answer within 10 s; raise --timeout if the problem is that large");
  set(3, Outcome::Unsupported, "the tile does not divide the problem");
}

void GroupMaker::rank(std::vector<Sample> &samples) {
  std::vector<Sample *> ranked;
  for (Sample &sample : samples)
    if (isSuccess(sample.result.outcome))
      ranked.push_back(&sample);
  std::sort(ranked.begin(), ranked.end(), [](Sample *a, Sample *b) { return a->nanoseconds < b->nanoseconds; });
  for (size_t i = 0; i < ranked.size(); ++i) {
    CandidateEstimate &estimate = ranked[i]->estimate;
    estimate.rank = i + 1;
    estimate.ratio = ranked[i]->nanoseconds / ranked.front()->nanoseconds;
    estimate.ratioLow = estimate.ratio * 0.995;
    estimate.ratioHigh = estimate.ratio * 1.005;
    // Neighbours within the interval share a rank.
    if (i > 0 && ranked[i]->nanoseconds < ranked[i - 1]->nanoseconds * 1.004) {
      estimate.rank = ranked[i - 1]->estimate.rank;
      estimate.ties.push_back(ranked[i - 1]->candidate.key());
      ranked[i - 1]->estimate.ties.push_back(ranked[i]->candidate.key());
    }
  }
}

std::vector<Sample> GroupMaker::make(const std::string &group) {
  std::vector<Sample> samples;
  addKiln(samples);
  for (auto [provider, efficiency] :
       {std::pair("onednn", 0.62), std::pair("openblas", 0.6198), std::pair("reference", 0.01)})
    samples.push_back({sampleCandidate(problem.key(), provider, ""), problem.flops / (170 * efficiency), {}, {}});
  samples.push_back(samples[samples.size() - 3]);
  samples.back().candidate.variant = "preferred layout";
  samples.back().nanoseconds *= 0.97;
  for (Sample &sample : samples) {
    sample.result.verification = {"exact: projection modulo 2^61-1, 2 rounds", "none", "", 1e-30, "{}"};
    if (sample.candidate.provider == "kiln")
      sample.result.compileMilliseconds = uniform(20, 60);
  }
  if (options.failures && samples.size() > 6)
    fail(samples);
  for (Sample &sample : samples) {
    double t = sample.nanoseconds;
    sample.result.group = sample.estimate.group = group;
    sample.result.candidate = sample.estimate.candidate = sample.candidate.key();
    sample.estimate.median = t;
    sample.estimate.p10 = t * 0.985;
    sample.estimate.p90 = t * 1.04;
    sample.estimate.low = t * 0.996;
    sample.estimate.high = t * 1.004;
    sample.estimate.rounds = options.rounds;
    sample.estimate.samples = options.rounds * 20;
    sample.result.worker =
        WorkerFacts{sample.candidate.provider, "1.0",
                    sample.candidate.provider == "onednn" ? "all tensors in the problem's layouts" : "", options.rounds,
                    uint64_t(96) << 20};
    if (sample.candidate.provider == "kiln") {
      sample.estimate.deviceMedian = t * 0.98;
      sample.estimate.launchMedian = t * 0.02;
    }
  }
  rank(samples);
  return samples;
}

std::vector<Round> GroupMaker::rounds(const std::vector<Sample> &samples, uint64_t index) {
  std::vector<Round> rounds;
  for (const Sample &sample : samples) {
    if (!isSuccess(sample.result.outcome))
      continue;
    Round round;
    round.group = sample.result.group;
    round.candidate = sample.result.candidate;
    round.index = index;
    round.started = options.started + static_cast<int64_t>(index) * 1'000'000'000;
    round.load = 0.5;
    round.megahertz = 3000;
    round.cacheMode = "cold";
    for (int i = 0; i < 20; ++i) {
      // Most calls near the fastest, some much slower: as times are.
      double slow = std::exponential_distribution<double>(40)(random);
      auto call = static_cast<int64_t>(sample.nanoseconds * (0.983 + slow));
      round.samples.call.push_back(call);
      if (sample.candidate.provider == "kiln") {
        round.samples.device.push_back(call - call / 50);
        round.samples.launch.push_back(call / 50);
      }
    }
    // Of one provider only, as where others are programs that do not count.
    if (sample.candidate.provider == "kiln") {
      auto cycles = static_cast<uint64_t>(sample.nanoseconds * 3);
      round.counters = {{20 * cycles, 20 * cycles * 2, 20 * 64, 20 * cycles * 16}, 20};
      round.device = {1980, 1980, 512.5, 61, ""};
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

// An estimate's median is that of its samples.
static void conclude(CandidateEstimate &estimate, const std::vector<Round> &rounds) {
  measure::CandidateRounds pooled;
  for (const Round &round : rounds)
    if (round.candidate == estimate.candidate)
      pooled.add({round.samples.call.begin(), round.samples.call.end()});
  if (pooled.rounds() == 0)
    return;
  estimate.median = pooled.median();
  estimate.low = std::min(estimate.low, estimate.median);
  estimate.high = std::max(estimate.high, estimate.median);
}

static Status fillGroup(Writer &writer, const SampleOptions &options, const std::string &run, uint64_t index,
                        bool finish) {
  Problem problem = sampleProblem(256 + 64 * index, 512, 128 + 128 * (index % 5));
  KILN_RETURN_IF_ERROR(writer.addProblem(problem));
  Group group{run, problem.key(), options.started + static_cast<int64_t>(index + 1) * 60'000'000'000};
  KILN_RETURN_IF_ERROR(writer.startGroup(group));
  GroupMaker maker(options, problem, index);
  std::vector<Sample> samples = maker.make(group.key());
  std::vector<CandidateResult> results;
  std::vector<CandidateEstimate> estimates;
  std::vector<Candidate> candidates;
  std::vector<Round> rounds;
  for (uint64_t i = 0; i < options.rounds; ++i)
    for (Round &round : maker.rounds(samples, i))
      rounds.push_back(std::move(round));
  for (const Sample &sample : samples) {
    candidates.push_back(sample.candidate);
    results.push_back(sample.result);
    if (!isSuccess(sample.result.outcome))
      continue;
    estimates.push_back(sample.estimate);
    conclude(estimates.back(), rounds);
  }
  KILN_RETURN_IF_ERROR(writer.addCandidates(candidates));
  KILN_RETURN_IF_ERROR(writer.addRounds(rounds));
  return finish ? writer.finishGroup(group.key(), results, estimates, options.cutSeconds)
                : writer.interruptGroup(group.key());
}

Status fillSampleStore(Writer &writer, const SampleOptions &options) {
  Run run = sampleRun(options.started);
  if (options.planned)
    run.flags = fmt::format(R"({{"problems":{}}})", options.planned);
  if (!options.device.empty())
    run.flags = fmt::format(R"({{"device":"cuda","deviceName":"{}"}})", options.device);
  KILN_RETURN_IF_ERROR(writer.addMachine(sampleMachine()));
  KILN_RETURN_IF_ERROR(writer.addRun(run));
  for (uint64_t i = 0; i < options.problems; ++i)
    KILN_RETURN_IF_ERROR(fillGroup(writer, options, run.key(), i, true));
  if (options.interrupted)
    KILN_RETURN_IF_ERROR(fillGroup(writer, options, run.key(), options.problems, false));
  KILN_RETURN_IF_ERROR(writer.addCalibration({run.machine.hardware, run.machine.allocation, options.started - 3,
                                              R"({"threads":2,"gflops":{"f32":170.5,"f16":85},"gb_per_s":21.5})"}));
  return options.interrupted ? okStatus() : writer.endRun(run.key());
}

Status readEverything(Reader &reader) {
  KILN_ASSIGN_OR_RETURN(std::vector<StoredRun> runs, reader.runs());
  for (const StoredRun &run : runs) {
    KILN_RETURN_IF_ERROR(reader.problems(run.key()).status());
    KILN_RETURN_IF_ERROR(reader.candidates(run.key()).status());
    KILN_RETURN_IF_ERROR(reader.results(run.key()).status());
    KILN_RETURN_IF_ERROR(reader.estimates(run.key()).status());
    KILN_RETURN_IF_ERROR(reader.counters(run.key()).status());
    KILN_RETURN_IF_ERROR(reader.deviceStates(run.key()).status());
    KILN_ASSIGN_OR_RETURN(std::vector<StoredGroup> groups, reader.groups(run.key()));
    for (const StoredGroup &group : groups)
      KILN_RETURN_IF_ERROR(reader.rounds(group.key()).status());
  }
  return reader.check();
}

Status readEverything(const std::string &path) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Reader> reader, Reader::open(path));
  return readEverything(*reader);
}

} // namespace kiln::store::testing
