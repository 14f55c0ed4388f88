#include "kiln/measure/machine/provenance.h"

#include <algorithm>
#include <sys/utsname.h>

#include "kiln/measure/machine/machine_json.h"

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

namespace kiln::measure {

std::string Cache::name() const {
  const char *suffix = type == "Data" ? "d" : type == "Instruction" ? "i" : "";
  return fmt::format("L{}{}", level, level == 1 ? suffix : "");
}

const Cache *Provenance::dataCache(unsigned level) const {
  auto found = std::ranges::find_if(
      caches, [&](const Cache &cache) { return cache.level == level && cache.type != "Instruction"; });
  return found == caches.end() ? nullptr : &*found;
}

const Cache *Provenance::lastLevel() const {
  const Cache *last = nullptr;
  for (const Cache &cache : caches)
    if (cache.type != "Instruction" && (!last || cache.level > last->level))
      last = &cache;
  return last;
}

//===--- Detection ------------------------------------------------------------------------------------------------===//

static Fact fieldOf(const Result<std::string> &text, std::string_view name) {
  if (!text.ok())
    return Fact::missing(std::string(text.status().message()));
  std::optional<std::string> value = findField(*text, name);
  return value ? Fact::of(*value) : Fact::missing(fmt::format("/proc/cpuinfo has no '{}'", name));
}

std::vector<Cache> cachesOf(const task::Topology &topology, unsigned processor) {
  std::vector<Cache> caches;
  for (const task::Cache *cache : topology.cachesOf(processor))
    caches.push_back({cache->level, cache->type, cache->bytes, static_cast<unsigned>(cache->cpus.size())});
  return caches;
}

static std::vector<std::string> readFeatures(const Result<std::string> &cpuinfo) {
  static constexpr std::string_view wanted[] = {
      "sse4_2",   "avx",         "f16c",        "fma",         "avx2",     "avx_vnni", "avx512f",  "avx512bw",
      "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "asimd",
      "asimdhp",  "asimddp",     "bf16",        "i8mm",        "sve",      "sve2"};
  std::vector<std::string> features;
  if (!cpuinfo.ok())
    return features;
  std::string flags = findField(*cpuinfo, "flags").value_or(findField(*cpuinfo, "Features").value_or(""));
  std::vector<std::string_view> words = splitWords(flags);
  for (std::string_view feature : wanted)
    if (std::ranges::find(words, feature) != words.end())
      features.emplace_back(feature);
  return features;
}

static Fact hypervisorOf(const SystemFiles &files, const Result<std::string> &cpuinfo) {
  std::string text = cpuinfo.ok() ? findField(*cpuinfo, "flags").value_or("") : "";
  std::vector<std::string_view> flags = splitWords(text);
  bool guest = std::ranges::find(flags, "hypervisor") != flags.end();
  Fact product = files.fact("/sys/class/dmi/id/product_name");
  if (guest)
    return Fact::of(product.available() ? product.value : "of unknown kind");
  return text.empty() ? Fact::missing("this CPU does not tell") : Fact::of("none");
}

Provenance Provenance::detect(const SystemFiles &files, const task::Topology &topology) {
  Provenance machine;
  utsname names{};
  if (::uname(&names) == 0) {
    machine.architecture = static_cast<const char *>(names.machine);
    machine.kernel =
        fmt::format("{} {}", static_cast<const char *>(names.sysname), static_cast<const char *>(names.release));
  }
#if defined(__GLIBC__)
  machine.libc = fmt::format("glibc {}", ::gnu_get_libc_version());
#else
  machine.libc = "unknown";
#endif
  Result<std::string> cpuinfo = files.read("/proc/cpuinfo");
  machine.cpu = fieldOf(cpuinfo, "model name");
  machine.microcode = fieldOf(cpuinfo, "microcode");
  Fact family = fieldOf(cpuinfo, "cpu family"), model = fieldOf(cpuinfo, "model"), step = fieldOf(cpuinfo, "stepping");
  machine.identity =
      family.available() && model.available() && step.available()
          ? Fact::of(fmt::format("family {} model {} stepping {}", family.value, model.value, step.value))
          : Fact::missing("/proc/cpuinfo has no family, model and stepping");
  machine.features = readFeatures(cpuinfo);
  machine.hypervisor = hypervisorOf(files, cpuinfo);
  machine.logicalCpus = static_cast<unsigned>(topology.machineCpus.size());
  machine.cores = topology.machineCores;
  machine.sockets = topology.packages;
  machine.allowedCpus = topology.cpus;
  machine.caches = cachesOf(topology, topology.cpus.front());
  machine.governor = files.governor(topology.cpus.front());
  if (Result<std::string> memory = files.read("/proc/meminfo"); memory.ok()) {
    std::string total = findField(*memory, "MemTotal").value_or("");
    std::vector<std::string_view> words = splitWords(total);
    machine.memoryBytes = words.empty() ? 0 : parseUnsigned(words[0]).value_or(0) * 1024;
  }
  return machine;
}

//===--- JSON -----------------------------------------------------------------------------------------------------===//

Json toJson(const Fact &fact) {
  return fact.available() ? Json(fact.value) : Json{{"unavailable", fact.whyNot}};
}

Json cachesJson(const std::vector<Cache> &caches) {
  Json json = Json::array();
  for (const Cache &cache : caches)
    json.push_back(
        {{"level", cache.level}, {"type", cache.type}, {"bytes", cache.bytes}, {"shared_by", cache.sharedBy}});
  return json;
}

Json toJson(const Provenance &machine) {
  return {{"architecture", machine.architecture},
          {"cpu", toJson(machine.cpu)},
          {"identity", toJson(machine.identity)},
          {"logical_cpus", machine.logicalCpus},
          {"cores", machine.cores},
          {"sockets", machine.sockets},
          {"allowed_cpus", machine.allowedCpus},
          {"caches", cachesJson(machine.caches)},
          {"memory_bytes", machine.memoryBytes},
          {"kernel", machine.kernel},
          {"libc", machine.libc},
          {"microcode", toJson(machine.microcode)},
          {"governor", toJson(machine.governor)},
          {"hypervisor", toJson(machine.hypervisor)},
          {"features", machine.features}};
}

static void readCache(JsonReader &reader, Cache &cache) {
  reader.get("level", cache.level);
  reader.get("type", cache.type);
  reader.get("bytes", cache.bytes);
  reader.get("shared_by", cache.sharedBy);
}

void read(JsonReader &reader, Provenance &machine) {
  reader.get("architecture", machine.architecture);
  reader.get("cpu", machine.cpu);
  reader.get("identity", machine.identity);
  reader.get("logical_cpus", machine.logicalCpus);
  reader.get("cores", machine.cores);
  reader.get("sockets", machine.sockets);
  reader.get("allowed_cpus", machine.allowedCpus);
  reader.getObjects("caches", machine.caches, readCache);
  reader.get("memory_bytes", machine.memoryBytes);
  reader.get("kernel", machine.kernel);
  reader.get("libc", machine.libc);
  reader.get("microcode", machine.microcode);
  reader.get("governor", machine.governor);
  reader.get("hypervisor", machine.hypervisor);
  reader.get("features", machine.features);
}

std::string Provenance::json() const {
  // What the system says of itself may be no UTF-8.
  return toJson(*this).dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<Provenance> Provenance::parse(std::string_view json) {
  KILN_ASSIGN_OR_RETURN(Json object, parseObject(json));
  Provenance machine;
  JsonReader reader(object, "");
  read(reader, machine);
  KILN_RETURN_IF_ERROR(reader.status());
  return machine;
}

} // namespace kiln::measure
