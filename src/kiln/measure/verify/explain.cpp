#include "kiln/measure/verify/explain.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "kiln/measure/verify/causes.h"
#include "kiln/measure/verify/number.h"

namespace kiln::measure::verify {

namespace {

constexpr int64_t kPictureRows = 16, kPictureColumns = 32;

std::vector<uint64_t> coordinates(const ContractionCase &subject, const Element &element) {
  if (subject.coordinates)
    return subject.coordinates(element.b, element.i, element.j);
  std::vector<uint64_t> index;
  if (subject.batch > 1)
    index.push_back(element.b);
  index.push_back(element.i);
  index.push_back(element.j);
  return index;
}

// The matrix of one batch, each character for a part of it: 'x' where a wrong element was seen.
std::string tilePicture(const BatchSurvey &batch, int64_t m, int64_t n) {
  int64_t height = std::min(kPictureRows, m), width = std::min(kPictureColumns, n);
  std::vector<std::string> lines(height, std::string(width, '.'));
  for (size_t r = 0; r < batch.rows.size(); ++r)
    for (size_t c = 0; c < batch.columns.size(); ++c)
      if (batch.wrongGrid[r * batch.columns.size() + c])
        lines[batch.rows[r] * height / m][batch.columns[c] * width / n] = 'x';
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string sentence(const ContractionCase &subject, const Survey &survey, const Diagnosis &diagnosis,
                     const Verdict &verdict) {
  std::string text =
      fmt::format("{}{} of {} elements are wrong", survey.exact ? "" : "about ", verdict.wrong, verdict.total);
  if (!verdict.examples.empty()) {
    const Mismatch &first = verdict.examples.front();
    text += fmt::format(", the first {}at [{}]: {:g} instead of {:g}", survey.exact ? "" : "that was seen ",
                        fmt::join(first.index, ", "), first.actual, first.expected);
  }
  if (subject.batch > 1 && !survey.batches.empty())
    text += fmt::format("; the picture shows batch {}", survey.batches.front().lines.b);
  return text + "; " + diagnosis.reason;
}

} // namespace

void explain(const Surveyor &surveyor, const Survey &survey, Verdict &verdict) {
  const ContractionCase &subject = surveyor.subject;
  Diagnosis diagnosis = diagnose(surveyor, survey);
  verdict.cause = diagnosis.cause;
  verdict.wrong = std::max<uint64_t>(1, std::llround(survey.wrongCount));
  for (const Element &element : survey.first)
    verdict.examples.push_back({coordinates(subject, element), element.expected, element.actual,
                                ulpsBetween(subject.result, element.expected, element.actual)});
  if (!survey.batches.empty())
    verdict.tilePattern = tilePicture(survey.batches.front(), subject.m, subject.n);
  verdict.ulpHistogram = ulpHistogram(survey.ulps, survey.notFinite);
  verdict.explanation = sentence(subject, survey, diagnosis, verdict);
}

} // namespace kiln::measure::verify
