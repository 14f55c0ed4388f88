#include "kiln/measure/machine/gpus.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace kiln::measure {

// The first word of a text that begins with a digit and has a dot: "550.54.15".
static std::string versionIn(std::string_view text) {
  for (std::string_view word : splitWords(text))
    if (std::isdigit(static_cast<unsigned char>(word.front())) && word.find('.') != std::string_view::npos)
      return std::string(word);
  return {};
}

// "name version", or the name alone where the driver's version is not told.
static Fact driverOf(const SystemFiles &files, const std::string &name) {
  for (const std::string &path :
       {fmt::format("/sys/module/{}/version", name), fmt::format("/proc/driver/{}/version", name)})
    if (Result<std::string> text = files.read(path); text.ok())
      if (std::string version = versionIn(*text); !version.empty())
        return Fact::of(fmt::format("{} {}", name, version));
  return Fact::of(name);
}

// Drivers that keep a folder of their own: /proc/driver/NAME/gpus/BUS/information.
static void listOwnFolders(const SystemFiles &files, std::vector<Gpu> &gpus, std::vector<std::string> &drivers) {
  for (const std::string &driver : files.list("/proc/driver")) {
    std::string folder = fmt::format("/proc/driver/{}/gpus", driver);
    for (const std::string &bus : files.list(folder)) {
      Result<std::string> text = files.read(fmt::format("{}/{}/information", folder, bus));
      std::optional<std::string> model = text.ok() ? findField(*text, "Model") : std::nullopt;
      gpus.push_back({model ? Fact::of(*model) : Fact::missing("the driver does not tell its model"),
                      driverOf(files, driver), Fact::missing("the driver's files do not tell it")});
      drivers.push_back(driver);
    }
  }
}

// The value of "NAME=value" in the lines of a uevent file.
static std::optional<std::string> valueIn(std::string_view text, std::string_view name) {
  for (std::string_view line : splitWords(text))
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == '=')
      return std::string(line.substr(name.size() + 1));
  return std::nullopt;
}

// /sys/class/drm/card0; what is behind a dash is a connector: card0-DP-1.
static void listDisplayClass(const SystemFiles &files, std::vector<Gpu> &gpus, const std::vector<std::string> &known) {
  for (const std::string &card : files.list("/sys/class/drm")) {
    if (!card.starts_with("card") || card.find('-') != std::string::npos)
      continue;
    std::string folder = "/sys/class/drm/" + card;
    Result<std::string> text = files.read(folder + "/device/uevent");
    std::optional<std::string> driver = text.ok() ? valueIn(*text, "DRIVER") : std::nullopt;
    std::optional<std::string> id = text.ok() ? valueIn(*text, "PCI_ID") : std::nullopt;
    if (!id || (driver && std::ranges::find(known, *driver) != known.end()))
      continue; // no device on the bus, or one that was listed by its driver
    gpus.push_back({Fact::of(*id), driver ? driverOf(files, *driver) : Fact::missing("it has no driver"),
                    files.fact(folder + "/gt_max_freq_mhz")});
  }
}

std::vector<Gpu> listGpus(const SystemFiles &files) {
  std::vector<Gpu> gpus;
  std::vector<std::string> drivers;
  listOwnFolders(files, gpus, drivers);
  listDisplayClass(files, gpus, drivers);
  for (Gpu &gpu : gpus)
    if (!gpu.maximumMegahertz.available())
      gpu.maximumMegahertz = Fact::missing("the driver's files do not tell it");
  std::ranges::sort(gpus, {}, [](const Gpu &gpu) {
    return std::tuple(gpu.name.value, gpu.driver.value, gpu.maximumMegahertz.value);
  });
  return gpus;
}

} // namespace kiln::measure
