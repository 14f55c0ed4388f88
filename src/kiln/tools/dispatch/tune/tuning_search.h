// Which configurations to measure next, of a space that is too large to measure all: batch by batch, each chosen by
// what the ones before have shown. No clock and no process; the same answers and the same seed lead to the same
// proposals.
//
//   TuningSearch search(features, options);
//   for (std::vector<size_t> batch = search.propose(); !batch.empty(); batch = search.propose())
//     for (size_t candidate : batch)
//       search.tell(candidate, log(time));
//
// The first batch holds the best guesses, each of another kind, and what is spread over all of it. From then on a model
// of the times (regression_forest.h) is asked where an improvement is most to be expected; part of each batch is what
// lies next to the best so far, and a small part is drawn at random, so that a wrong model is corrected.
#ifndef KILN_TOOLS_DISPATCH_TUNE_TUNING_SEARCH_H
#define KILN_TOOLS_DISPATCH_TUNE_TUNING_SEARCH_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kiln/base/random.h"

namespace kiln {

struct SearchOptions {
  uint64_t seed = 1;
  size_t batch = 16;
  // Spaces up to this size are gone through in their order.
  size_t exhaustive = 64;
};

class TuningSearch {
public:
  // Numbers that describe each candidate, of the same length and scaled so that 1 is a noticeable step; the best guess
  // first. Candidates that differ in the first `kinds` numbers are of different kinds.
  TuningSearch(std::vector<std::vector<double>> features, size_t kinds, const SearchOptions &options);

  // At most a batch of candidates that were never proposed; empty: there are no others.
  std::vector<size_t> propose();
  // Of those that were proposed, what was not measured after all: it may be proposed again.
  void giveBack(std::span<const size_t> candidates);
  // Goes into the next batch, such as what was the best when it was last tuned.
  void suggest(size_t candidate);
  // The logarithm of its time, in whatever unit; nothing: it failed.
  void tell(size_t candidate, std::optional<double> logTime);

  size_t size() const { return features.size(); }
  size_t tried() const { return triedCount; }
  bool isExhaustive() const { return size() <= options.exhaustive; }
  // The fastest so far, at most `count`.
  std::vector<size_t> best(size_t count) const;
  std::optional<double> logTime(size_t candidate) const { return times[candidate]; }

private:
  bool take(size_t candidate, std::vector<size_t> &batch);
  void takeInOrder(std::vector<size_t> &batch);
  void takeGuesses(std::vector<size_t> &batch, size_t upTo);
  void takeSpread(std::vector<size_t> &batch, size_t upTo);
  void takeNeighbours(std::vector<size_t> &batch, size_t upTo);
  void takeExpected(std::vector<size_t> &batch, size_t upTo);
  bool isOfKind(size_t a, size_t b) const;
  double distance(size_t a, size_t b) const;

  std::vector<std::vector<double>> features;
  size_t kinds;
  SearchOptions options;
  Random random;
  std::vector<char> proposed;
  std::vector<size_t> suggested;
  std::vector<std::optional<double>> times;
  size_t triedCount = 0;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_TUNE_TUNING_SEARCH_H
