// The flags that every tool shares which runs modules, and what they open: devices, modules, sessions.
#ifndef KILN_TOOLS_RUNTIME_FLAGS_H
#define KILN_TOOLS_RUNTIME_FLAGS_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/module/module.h"
#include "kiln/runtime/parameters/parameter_set.h"
#include "kiln/runtime/vm/session.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/driver_flags.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/trace_recording.h"

namespace kiln {

// Where machine code that runs is kept as files, for perf to read when the process has ended: in the user's cache.
// Empty where there is no such place, and code is then in memory alone.
std::string defaultExecutableFolder();

struct RuntimeFlags {
  std::vector<std::string> modules;
  std::string function;
  std::vector<std::string> inputs;

  std::vector<std::string> devices; // local-task where none is named
  DriverFlags driverFlags;
  std::string deviceAllocator = "default";
  uint32_t workers = 0;                        // 0: the device's choice
  std::optional<std::string> executableFolder; // defaultExecutableFolder() where it is not given
  bool printStatistics = false;
  bool traceExecution = false;
  TraceFlags trace;
  double timeoutSeconds = 0; // 0: none

  std::optional<std::string> listDrivers, listDevices, dumpDevices;
  std::vector<std::string> parameters;
  std::string parameterMode = "file";

  // Each adds its flags under headings of their own. `modules` is left out where the tool has another source of
  // modules.
  void addProgramFlags(FlagParser &parser, bool withModules);
  void addModuleFlags(FlagParser &parser); // of a tool that chooses functions itself
  void addDeviceFlags(FlagParser &parser);

  // Prints the lists that were asked for. True where there were any, and the tool is done.
  Result<bool> printLists() const;

  // Prints a line to standard error for each flag that was given and has no effect here.
  void printNotes(std::string_view tool) const;

  // After catchInterrupts, for --timeout.
  Status startTimeout() const { return interruptAfter(timeoutSeconds); }

private:
  void addModules(FlagParser &parser);
};

// Open devices and loaded modules, from which sessions are made. Sessions may outlive it.
class Program {
public:
  // `compiled` is a module that comes after those of --module, or null.
  static Result<Program> open(const RuntimeFlags &flags, Ref<vm::Module> compiled = nullptr);

  // A session of its own for each thread that calls functions. With --trace_execution it prints to standard error.
  // `more` is what its modules may import besides the runtime's own functions, or null.
  Result<std::unique_ptr<vm::Session>> createSession(const Ref<vm::NativeModule> &more = nullptr) const;

  // Where inputs are put: the first device.
  hal::Device &device() const { return *devices.front(); }
  const vm::Module &mainModule() const { return *modules.back(); }

  // For --print_statistics, to standard error: what each device's allocator handed out since it was opened.
  void printStatistics() const;
  // What a debugging allocator has found.
  Status verifyMemory() const;

private:
  TraceRecording recording; // ends after all else is gone
  std::vector<Ref<hal::Device>> devices;
  Ref<ParameterSet> parameters;
  std::vector<Ref<vm::Module>> modules;
  std::vector<std::string> names; // of the modules, as sessions know them
  bool trace = false;
};

// The export that --function names, with or without '@'; the only one where the name is empty. The error suggests the
// nearest and lists what there is.
Result<vm::Function> findFunction(const vm::Session &session, std::string_view name);

} // namespace kiln

#endif // KILN_TOOLS_RUNTIME_FLAGS_H
