#include "kiln/tools/runtime_flags.h"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <span>

#include "kiln/base/elf_check.h"
#include "kiln/base/exhaustion.h"
#include "kiln/base/file.h"
#include "kiln/base/flags.h"
#include "kiln/base/watched_pages.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/schema/c_writer.h"
#include "kiln/schema/kiln_compiled.h"
#include "kiln/targets/drivers.h"
#include "kiln/tools/cache_path.h"
#include "kiln/tools/device_lists.h"
#include "kiln/tools/driver_cache.h"

namespace kiln {

std::string defaultExecutableFolder() {
  return userCachePath("executables");
}

void RuntimeFlags::addModules(FlagParser &parser) {
  parser.add({"module", "FILE",
              "A compiled module; - reads standard input. Each may import what those before it export, as "
              "NAME.FUNCTION; the last one is the main module. Of several modules without a name of their own, the "
              "second and later ones are called like their files. libNAME.so is module NAME, compiled to C and from "
              "there to machine code, which is trusted."},
             modules);
}

void RuntimeFlags::addModuleFlags(FlagParser &parser) {
  parser.group("Program");
  addModules(parser);
}

void RuntimeFlags::addProgramFlags(FlagParser &parser, bool withModules) {
  parser.group("Program");
  if (withModules)
    addModules(parser);
  parser.add({"function", "NAME", "The exported function to call; may start with @."}, function);
  parser.add(
      {"input", "INPUT",
       "An argument of the function, in order: a scalar 3.14; a tensor 4xf32=[1 2 3 4]; 3x5xf32=1 for one value "
       "everywhere; 3x5xf32 for zeros; 2x2xi32=@file.bin; @x.npy; +x.npy for the next array of a file; *x.npy for "
       "all of them."},
      inputs);
  parser.add({"parameters", "[SCOPE=]FILE",
              "Parameters that the program was compiled to be given: a file .irpa, .safetensors or .gguf. Several "
              "files may be of one scope."},
             parameters);
  parser.addChoice({"parameter_mode", "file|preload",
                    "file: a device that addresses the host's memory reads parameters from the mapped file, which may "
                    "be larger than the memory. preload: they are copied first."},
                   parameterMode);
}

void RuntimeFlags::addDeviceFlags(FlagParser &parser) {
  parser.group("Device");
  parser.add({"device", "URI",
              "A device: a driver, or driver://path; see --list_devices. The default is local-task. A program that was "
              "compiled for several devices gets them in this order."},
             devices);
  parser.addChoice({"device_allocator", "default|direct|caching|debug",
                    "direct allocates and frees each buffer; caching keeps freed memory; debug finds writes outside of "
                    "buffers. The default is caching."},
                   deviceAllocator);
  parser.add({"task_topology_group_count", "N",
              "How many workers local-task has; 0 is one for each physical core that this process may use."},
             workers);
  parser.addOptionalValue({"list_drivers", "DRIVER", "Lists the drivers of this build."}, listDrivers);
  parser.addOptionalValue({"list_devices", "DRIVER", "Lists the devices of one driver, or of all."}, listDevices);
  parser.addOptionalValue({"dump_devices", "DRIVER", "Shows what is known of each device."}, dumpDevices);

  parser.group("Diagnosis");
  parser.add({"timeout", "SECONDS",
              "Ends the tool after so many seconds, with exit code 124, and says what it did; as with Ctrl-C, what was "
              "measured or tested before is kept. 0 is no limit."},
             timeoutSeconds);
  parser.add({"print_statistics", "", "Prints the memory that each device handed out, to standard error."},
             printStatistics);
  parser.addOptionalValue(
      {"executable_folder", "DIR",
       "Where the machine code that runs is kept, so that perf shows kernels by the names of their dispatches; the "
       "newest 256 files stay. What NVIDIA's driver compiles for a GPU it keeps there, too, unless the environment "
       "names another place for its cache (CUDA_CACHE_PATH). Empty: in memory alone, where gdb sees names, but perf "
       "does not, and the driver compiles in each process. The default is ~/.cache/kiln/executables."},
      executableFolder);
  parser.add({"trace_execution", "", "Prints each instruction of the host program that runs, to standard error."},
             traceExecution);
  driverFlags.add(parser);
  trace.add(parser);
}

void RuntimeFlags::printNotes(std::string_view tool) const {
  for (const std::string &line : driverFlags.notes())
    reportNote(tool, line);
}

Result<bool> RuntimeFlags::printLists() const {
  if (!listDrivers && !listDevices && !dumpDevices)
    return false;
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  if (listDrivers)
    kiln::listDrivers(registry);
  if (listDevices)
    KILN_RETURN_IF_ERROR(kiln::listDevices(registry, *listDevices));
  if (dumpDevices)
    KILN_RETURN_IF_ERROR(kiln::dumpDevices(registry, *dumpDevices));
  KILN_RETURN_IF_ERROR(flushStandardOutput());
  return true;
}

// Each module's own name, and the name of its file where it has none of its own ("module" is what a program without a
// name is called) and another is already called so.
static Result<std::vector<std::string>> nameModules(std::span<const Ref<vm::Module>> modules) {
  std::vector<std::string> names;
  for (const Ref<vm::Module> &module : modules) {
    std::string name(module->name());
    if (name == "module" && std::ranges::find(names, name) != names.end())
      name = std::filesystem::path(module->fileName()).stem().string();
    auto taken = std::ranges::find(names, name);
    if (taken != names.end())
      return alreadyExists(
          "two modules would be called '{}': '{}' and '{}'. Give one of them a name in its source, as in "
          "`module @{}_2 {{ ... }}`, and compile it again",
          name, modules[taken - names.begin()]->fileName(), module->fileName(), name);
    names.push_back(std::move(name));
  }
  return names;
}

// A module that was compiled to C, as a shared object that is named after it: lib<module>.so. It stays loaded.
static Result<Ref<vm::Module>> loadCompiled(const std::string &path) {
  std::string name = std::filesystem::path(path).stem().string();
  name = schema::registrationName(name.starts_with("lib") ? name.substr(3) : name);
  if (Result<Ref<FileContents>> file = FileContents::open(path); file.ok())
    if (Status status = checkSharedObject((*file)->bytes()); !status.ok())
      return std::move(status).withContext(fmt::format("while loading '{}'", path));
  void *library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::string error = dlerror();
    return notFound("cannot load '{}': {}{}", path, error, exhaustionAdvice(error));
  }
  auto *registration = reinterpret_cast<const kiln_compiled_module_t *(*)()>(dlsym(library, name.c_str()));
  if (!registration)
    return notFound("'{}' exports no {}: name the file of a module that was compiled to C after the module, "
                    "lib<module>.so",
                    path, name);
  return vm::Module::fromCompiled(*registration());
}

Result<Program> Program::open(const RuntimeFlags &flags, Ref<vm::Module> compiled) {
  if (flags.modules.empty() && !compiled)
    return invalidArgument("no module is named; --module=FILE says what to run, and --help lists the flags");

  // A module's constants that are lost while they are read fail the call, not the process.
  KILN_RETURN_IF_ERROR(installPageLossHandler());
  Program program;
  program.trace = flags.traceExecution;
  KILN_ASSIGN_OR_RETURN(program.recording, TraceRecording::start(flags.trace));
  // Modules first: that a file is missing is told before any device is started.
  for (const std::string &path : flags.modules) {
    setStep(fmt::format("while loading '{}'", path));
    KILN_ASSIGN_OR_RETURN(Ref<vm::Module> module,
                          path.ends_with(".so") ? loadCompiled(path) : vm::Module::loadFile(path));
    program.modules.push_back(std::move(module));
  }
  if (compiled)
    program.modules.push_back(std::move(compiled));
  KILN_ASSIGN_OR_RETURN(program.names, nameModules(program.modules));
  program.parameters =
      makeRef<ParameterSet>(flags.parameterMode == "preload" ? ParameterMode::Preload : ParameterMode::File);
  for (const std::string &given : flags.parameters) {
    setStep(fmt::format("while reading --parameters={}", given));
    auto [scope, path] = splitScope(given);
    Status added = program.parameters->add(scope, path);
    if (!added.ok())
      return std::move(added).withContext(fmt::format("--parameters={}", given));
  }

  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  hal::DeviceOptions options;
  options.allocator = flags.deviceAllocator == "caching"  ? hal::AllocatorKind::Caching
                      : flags.deviceAllocator == "debug"  ? hal::AllocatorKind::Debug
                      : flags.deviceAllocator == "direct" ? hal::AllocatorKind::Direct
                                                          : hal::AllocatorKind::Default;
  options.task.workerCount = flags.workers;
  options.executableFolder = flags.executableFolder ? *flags.executableFolder : defaultExecutableFolder();
  placeDriverCache(options.executableFolder);
  std::vector<std::string> uris = flags.devices;
  if (uris.empty())
    uris.push_back("local-task");
  for (const std::string &given : uris) {
    const std::string uri = flags.driverFlags.deviceOf(given);
    Result<Ref<hal::Device>> device = registry.createDevice(uri, options);
    if (!device.ok())
      return Status(device.status().code(),
                    fmt::format("--device={}: {}{}", uri, device.status().message(), deviceHint(registry, uri)));
    program.devices.push_back(*std::move(device));
  }
  return program;
}

Result<std::unique_ptr<vm::Session>> Program::createSession(const Ref<vm::NativeModule> &more) const {
  KILN_ASSIGN_OR_RETURN(Ref<vm::NativeModule> hal, vm::createHalModule(devices, parameters));
  vm::SessionOptions options;
  options.trace = trace ? stderr : nullptr;
  options.names = names;
  std::vector<Ref<vm::NativeModule>> natives = {std::move(hal)};
  if (more)
    natives.push_back(more);
  Result<std::unique_ptr<vm::Session>> session = vm::Session::create(modules, natives, options);
  if (!session.ok() && !more && session.status().message().find("imports 'check.") != std::string::npos)
    return Status(session.status().code(),
                  fmt::format("{}; it holds tests, which kiln-check-module runs", session.status().message()));
  return session;
}

void Program::printStatistics() const {
  for (const Ref<hal::Device> &device : devices) {
    hal::AllocatorStatistics statistics = device->allocator().statistics();
    std::fprintf(stderr, "[[ memory statistics of %s ]]\n", std::string(device->uri()).c_str());
    auto line = [](const char *name, const hal::MemoryUsage &usage) {
      fmt::print(stderr, "{:>12}: {:>12}B peak / {:>12}B allocated / {:>12}B freed / {:>12}B live\n", name, usage.peak,
                 usage.allocated, usage.freed, usage.live);
    };
    line("HOST_LOCAL", statistics.hostLocal);
    line("DEVICE_LOCAL", statistics.deviceLocal);
    line("TRANSIENT", statistics.transient);
  }
}

Status Program::verifyMemory() const {
  for (const Ref<hal::Device> &device : devices)
    KILN_RETURN_IF_ERROR(device->allocator().verify());
  return okStatus();
}

Result<vm::Function> findFunction(const vm::Session &session, std::string_view name) {
  std::vector<vm::Function> exports = session.exports();
  if (name.starts_with('@'))
    name.remove_prefix(1);
  std::vector<std::string> names;
  std::string list;
  for (const vm::Function &function : exports) {
    names.emplace_back(function.name());
    list += fmt::format("{}{}", list.empty() ? "" : ", ", function.name());
  }
  if (name.empty()) {
    if (exports.size() == 1)
      return exports.front();
    if (exports.empty())
      return notFound("the module exports no function");
    return invalidArgument("the module exports {} functions; choose one with --function: {}", exports.size(), list);
  }
  Result<vm::Function> function = session.lookup(name);
  if (function.ok())
    return function;
  std::string_view nearest = nearestName(name, names);
  if (nearest.empty())
    return std::move(function).status();
  return notFound("{}; did you mean '{}'?", function.status().message(), nearest);
}

} // namespace kiln
