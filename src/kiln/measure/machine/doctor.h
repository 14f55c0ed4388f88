// Whether this machine can be trusted today: what `kiln doctor` finds, and sweeps look at before they start.
#ifndef KILN_MEASURE_MACHINE_DOCTOR_H
#define KILN_MEASURE_MACHINE_DOCTOR_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/measure/machine/counters.h"
#include "kiln/measure/machine/libraries.h"
#include "kiln/measure/machine/neighbours.h"
#include "kiln/measure/machine/noise.h"
#include "kiln/measure/machine/provenance.h"

namespace kiln::measure {

enum class Health {
  Good,
  Warning,     // results may suffer
  Unavailable, // cannot be told, or cannot be used
};
const char *healthName(Health health); // "good", "warning", "not available"

// One line of the report.
struct Finding {
  std::string topic; // "noise", "frequency"
  Health health = Health::Good;
  std::string text;   // what was found
  std::string advice; // what to do about it, if anything
};

// Whether none is a warning.
bool areTrustworthy(const std::vector<Finding> &findings);
// One sentence: of "this machine", whose differences below the noise floor cannot be told. Nothing of it where noise
// was not measured.
std::string summaryOf(std::string_view what, const std::vector<Finding> &findings, std::optional<double> noiseFloor);
// Of the same work again and again, on "1 thread".
Finding judgeNoise(const Noise &noise, std::string_view where);

struct DoctorOptions {
  double seconds = 2;                // that noise and neighbours are watched
  std::function<bool()> isOver = {}; // asked meanwhile: whether to watch no longer
  std::string peersFolder = {};      // with the libraries; empty: they are not loaded, which may start threads
  std::string coreType = {};         // what OPENBLAS_CORETYPE said, which is not to be set any more: no worker sees it
};

struct Diagnosis {
  Provenance machine;
  std::vector<Noise> noise; // with one thread, and with one on each CPU
  std::optional<ClockRate> clock;
  Neighbours neighbours;
  std::vector<CounterProbe> counters;
  std::vector<FoundLibrary> libraries;
  // The settings of the system, as they stand in /sys.
  Fact currentFrequency, turbo, smt, hugePages, quota;

  static Diagnosis make(const DoctorOptions &options = {}, const SystemFiles &files = SystemFiles());

  // The larger of the noise floors: what differs by less cannot be ranked by short measurements.
  double noiseFloor() const;
  // In the order in which they are shown.
  std::vector<Finding> findings() const;
  // No warnings.
  bool trustworthy() const;
  // One sentence.
  std::string summary() const;

  // An object with all of it: machine, measurements, findings, summary.
  std::string json() const;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_DOCTOR_H
