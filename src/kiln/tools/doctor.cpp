// kiln-doctor: says whether this machine can be trusted today.
#include <cstdio>
#include <cstdlib>

#include "kiln/base/file.h"
#include "kiln/measure/device/device_calibration.h"
#include "kiln/measure/device/device_doctor.h"
#include "kiln/measure/machine/doctor.h"
#include "kiln/targets/drivers.h"
#include "kiln/tools/calibration_file.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/device_lists.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/peers_flag.h"

using namespace kiln;
using measure::Diagnosis;

namespace {

struct Options {
  std::string device, output, peersFolder;
  uint32_t seconds = 2;
  bool json = false;
  bool strict = false;
};

constexpr size_t kColumns = 80;
constexpr size_t kTextColumn = 17;

// `text` from kTextColumn on, wrapped; what stands before it is in `line` already. A path too long for a line is broken
// behind a slash.
void appendWrapped(std::string &out, std::string line, std::string_view text) {
  line.resize(kTextColumn, ' ');
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    bool broken = false;
    if (end > kColumns - kTextColumn) {
      size_t slash = text.rfind('/', kColumns - kTextColumn - 1);
      broken = slash != text.npos && slash > 0;
      end = broken ? slash + 1 : end;
    }
    if (line.size() > kTextColumn && line.size() + 1 + end > kColumns) {
      out += line + "\n";
      line.assign(kTextColumn, ' ');
    }
    if (line.size() > kTextColumn)
      line += ' ';
    line += text.substr(0, end);
    text.remove_prefix(broken ? end : std::min(end + 1, text.size()));
  }
  out += line + "\n";
}

std::string findingsText(const std::vector<measure::Finding> &findings, const std::string &summary) {
  std::string text;
  for (const measure::Finding &finding : findings) {
    const char *mark = finding.health == measure::Health::Good      ? "  "
                       : finding.health == measure::Health::Warning ? "! "
                                                                    : "- ";
    appendWrapped(text, mark + finding.topic, finding.text);
    if (!finding.advice.empty())
      appendWrapped(text, "", "-> " + finding.advice);
  }
  text += "\n";
  // The summary stands alone, so it gets the whole width.
  return text + summary + "\n";
}

std::string diagnosisText(const Diagnosis &diagnosis) {
  const measure::Provenance &machine = diagnosis.machine;
  std::string text;
  appendWrapped(text, "cpu", fmt::format("{}, {}", machine.cpu.text(), machine.identity.text()));
  std::string caches;
  for (const measure::Cache &cache : machine.caches)
    caches += fmt::format("{}{} {} KiB", caches.empty() ? "" : ", ", cache.name(), cache.bytes / 1024);
  appendWrapped(text, "",
                fmt::format("{} cores, {} logical CPUs, {} for this process, {:.1f} GiB of memory", machine.cores,
                            machine.logicalCpus, machine.allowedCpus.size(),
                            static_cast<double>(machine.memoryBytes) / (1 << 30)));
  appendWrapped(text, "", caches.empty() ? "caches: the system does not tell" : caches);
  appendWrapped(text, "system",
                fmt::format("{}, {}, microcode {}, hypervisor {}", machine.kernel, machine.libc,
                            machine.microcode.text(), machine.hypervisor.text()));
  return text + "\n" + findingsText(diagnosis.findings(), diagnosis.summary());
}

std::string diagnosisText(const measure::DeviceDiagnosis &diagnosis) {
  std::string text, properties;
  appendWrapped(text, "device", diagnosis.device.name);
  for (const auto &[name, value] : diagnosis.device.properties)
    properties += fmt::format("{}{} {}", properties.empty() ? "" : ", ", name, value);
  appendWrapped(text, "", properties);
  return text + "\n" + findingsText(diagnosis.findings, diagnosis.summary());
}

// Prints, and says whether there is no warning.
template <typename Found> Result<bool> tell(const Found &diagnosis, const Options &options) {
  if (!options.output.empty())
    KILN_RETURN_IF_ERROR(writeFile(options.output, diagnosis.json()));
  std::string text = options.json ? diagnosis.json() : diagnosisText(diagnosis);
  std::fwrite(text.data(), 1, text.size(), stdout);
  KILN_RETURN_IF_ERROR(flushStandardOutput());
  return diagnosis.trustworthy();
}

Result<bool> runOnDevice(const Options &options) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  Result<measure::CalibratedDevice> device = measure::describeDevice(registry, options.device);
  if (!device.ok())
    return device.status().code() == StatusCode::NotFound
               ? notFound("--device: {}{}", device.status().message(), deviceHint(registry, options.device))
               : std::move(device).status().withContext("--device");
  const std::string path = calibrationPath(&*device);
  measure::DeviceDoctorOptions wanted;
  wanted.seconds = options.seconds;
  wanted.isOver = isInterrupted;
  wanted.calibration = path.empty() ? notFound("there is no folder for it") : readCalibrationFile(path);
  KILN_ASSIGN_OR_RETURN(const measure::DeviceDiagnosis diagnosis,
                        measure::diagnoseDevice(registry, options.device, wanted));
  return tell(diagnosis, options);
}

Result<bool> run(const Options &options) {
  measure::DoctorOptions wanted;
  wanted.seconds = options.seconds;
  wanted.isOver = isInterrupted;
  wanted.peersFolder = peersFolder(options.peersFolder);
  // OpenBLAS is to choose its code for this CPU by itself, as it does in workers.
  constexpr const char *variable = "OPENBLAS_CORETYPE";
  if (const char *value = std::getenv(variable)) {
    wanted.coreType = value;
    ::unsetenv(variable);
  }
  return tell(Diagnosis::make(wanted), options);
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-doctor");
  Options options;
  FlagParser parser(
      "kiln-doctor",
      "Says whether this machine can be trusted today: how much the same work differs from run to run, "
      "who else uses it, its clock, its settings, its counters, and the libraries that kernels are "
      "compared with; of a GPU, with --device, its driver and clock, how it is set up, and whether it was calibrated. "
      "A line with ! is a warning; one with - is not available.");
  parser.group("What to do");
  parser.add({"device", "NAME", "Look at a device, such as cuda or cuda://1, in place of the CPU."}, options.device);
  parser.add({"seconds", "N", "How long to watch."}, options.seconds);
  addPeersFlag(parser, options.peersFolder);
  parser.add({"strict", "", "Exit with 1 where there is a warning."}, options.strict);
  parser.group("Output");
  parser.add({"json", "", "Print JSON."}, options.json);
  parser.add({"output", "FILE", "Write JSON to this file as well."}, options.output);
  parser.example("kiln-doctor");
  parser.example("kiln-doctor --strict --seconds=10");
  parser.example("kiln-doctor --device=cuda");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  catchInterrupts([] { reportInterrupted("kiln-doctor"); });
  setStep("before it was seen what there is to tell");
  Result<bool> trustworthy = options.device.empty() ? run(options) : runOnDevice(options);
  if (!trustworthy.ok())
    return reportEnd(parser.tool(), trustworthy.status());
  if (isInterrupted()) {
    setStep("while watching; what was seen before is told");
    return reportInterrupted(parser.tool());
  }
  return *trustworthy || !options.strict ? 0 : 1;
}
