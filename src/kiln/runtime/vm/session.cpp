#include "kiln/runtime/vm/session.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "kiln/base/call_limit.h"
#include "kiln/runtime/vm/interpreter.h"
#include "kiln/runtime/vm/program_objects.h"

namespace kiln::vm {

// What a call does while another thread is in a call of the session.
enum class WhenBusy { Fail, Wait };

struct Session::State {
  State(const SessionOptions &options) : interpreter(options) {}

  // Instances refer to native functions, and are destroyed first.
  std::vector<Ref<NativeModule>> natives;
  std::vector<std::unique_ptr<Instance>> instances; // in the order of loading; the last is main
  Interpreter interpreter;
  std::atomic<const void *> caller{nullptr}; // stands for the thread that is in a call
  std::vector<Ref<FileBytes>> mappedFiles;   // of the modules whose constants are mapped

  Status addNatives(std::span<const Ref<NativeModule>> modules);
  Status instantiate(const Ref<Module> &module, std::string name);
  Status checkName(std::string_view name) const;
  Result<ResolvedImport> resolve(const Instance &importer, const ImportInfo &import) const;
  const Instance *findInstance(std::string_view name) const;
  Status checkProvided(const Module &module) const;
  Status copyFrom(const State &other);
  Result<AnyRef> copyObject(const AnyRef &object) const;
  Status call(Instance &instance, const FunctionInfo &function, std::span<const Value> arguments,
              std::span<Value> results, WhenBusy whenBusy = WhenBusy::Fail);
};

Status Session::State::checkName(std::string_view name) const {
  bool taken = findInstance(name) != nullptr;
  for (const Ref<NativeModule> &native : natives)
    taken |= native->name() == name;
  if (taken)
    return alreadyExists("the session has two modules that are named '{}'", name);
  return okStatus();
}

const Instance *Session::State::findInstance(std::string_view name) const {
  for (const std::unique_ptr<Instance> &instance : instances)
    if (instance->name == name)
      return instance.get();
  return nullptr;
}

Status Session::State::addNatives(std::span<const Ref<NativeModule>> modules) {
  for (const Ref<NativeModule> &native : modules) {
    KILN_RETURN_IF_ERROR(checkName(native->name()));
    native->seal();
    natives.push_back(native);
  }
  return okStatus();
}

// The thread is in a call of the session for as long as this lives, unless another thread is and that is not awaited.
class ThreadInCall {
public:
  ThreadInCall(std::atomic<const void *> &caller, WhenBusy whenBusy) : caller(caller) {
    thread_local char here;
    const void *other = nullptr;
    while (!(entered = caller.compare_exchange_strong(other, &here)) && !(nested = other == &here) &&
           whenBusy == WhenBusy::Wait)
      caller.wait(std::exchange(other, nullptr));
  }
  ThreadInCall(const ThreadInCall &) = delete;
  ~ThreadInCall() {
    if (!entered)
      return;
    // In one order with the waiting thread's look at it, so that it is woken or does not sleep.
    caller.store(nullptr, std::memory_order_seq_cst);
    caller.notify_one();
  }
  explicit operator bool() const { return entered || nested; }

private:
  std::atomic<const void *> &caller;
  bool entered = false, nested = false;
};

// Files from which constants are read must be what they were before the call, and their contents also after it: what
// was computed from others is no result.
Status Session::State::call(Instance &instance, const FunctionInfo &function, std::span<const Value> arguments,
                            std::span<Value> results, WhenBusy whenBusy) {
  ThreadInCall thread(caller, whenBusy);
  if (!thread)
    return failedPrecondition("another thread is in a call of this session; each thread needs a session of its own");
  if (const CallLimit *limit = CallLimit::current(); limit && limit->isOver())
    return limit->status();
  for (const Ref<FileBytes> &file : mappedFiles)
    KILN_RETURN_IF_ERROR(file->checkUnchanged());
  Status status = interpreter.call(instance, function, arguments, results);
  for (const Ref<FileBytes> &file : mappedFiles)
    KILN_RETURN_IF_ERROR(file->checkContents());
  return status;
}

// The part of "<module>.<function>" after the module, empty where `name` is of another module.
static std::string_view functionWithin(std::string_view name, std::string_view module) {
  if (name.size() > module.size() + 1 && name.starts_with(module) && name[module.size()] == '.')
    return name.substr(module.size() + 1);
  return {};
}

Result<ResolvedImport> Session::State::resolve(const Instance &importer, const ImportInfo &import) const {
  auto mismatch = [&](std::string_view provided) {
    return failedPrecondition(
        "module '{}' imports '{}' with signature '{}', but it is provided with '{}': the module is "
        "of another version than what provides it",
        importer.name, import.name, import.signatureText, provided);
  };
  std::string providers;
  for (const Ref<NativeModule> &native : natives) {
    providers += (providers.empty() ? "" : ", ") + native->name();
    std::string_view name = functionWithin(import.name, native->name());
    const NativeFunction *function = name.empty() ? nullptr : native->find(name);
    if (!function)
      continue;
    if (function->signatureText != import.signatureText)
      return mismatch(function->signatureText);
    return ResolvedImport{function};
  }
  for (const std::unique_ptr<Instance> &instance : instances) {
    providers += fmt::format("{}{}", providers.empty() ? "" : ", ", instance->name);
    std::string_view name = functionWithin(import.name, instance->name);
    const ExportInfo *entry = name.empty() ? nullptr : instance->module->findExport(name);
    if (!entry)
      continue;
    const FunctionInfo &function = instance->module->functions()[entry->function];
    if (function.signatureText != import.signatureText)
      return mismatch(function.signatureText);
    return ResolvedImport{nullptr, instance.get(), &function};
  }
  return notFound("module '{}' imports '{}' ({}), which nothing provides; the session has: {}", importer.name,
                  import.name, import.signatureText, providers.empty() ? "no other module" : providers);
}

// That there is a native module for each one that a module requires a version of; loading it has checked `vm`.
Status Session::State::checkProvided(const Module &module) const {
  for (const RequirementInfo &entry : module.requirements())
    if (entry.name != "vm" &&
        std::ranges::none_of(natives, [&](const auto &native) { return native->name() == entry.name; }))
      return notFound("module '{}' needs version {}.{} of {}, which nothing provides", module.fileName(),
                      entry.version.major, entry.version.minor, entry.name);
  return okStatus();
}

Status Session::State::instantiate(const Ref<Module> &module, std::string name) {
  if (!module->verified())
    return failedPrecondition("module '{}' is damaged and cannot run", module->fileName());
  KILN_RETURN_IF_ERROR(checkName(name));
  auto instance = std::make_unique<Instance>();
  instance->module = module;
  instance->name = std::move(name);
  instance->interpreter = &interpreter;
  for (const Ref<NativeModule> &native : natives)
    KILN_RETURN_IF_ERROR(module->checkVersion(native->name(), native->version()));
  for (const ImportInfo &import : module->imports()) {
    KILN_ASSIGN_OR_RETURN(ResolvedImport resolved, resolve(*instance, import));
    instance->imports.push_back(resolved);
  }
  KILN_RETURN_IF_ERROR(checkProvided(*module));
  instance->valueGlobals.resize(module->valueGlobals());
  instance->refGlobals.resize(module->refGlobals());
  for (const RodataInfo &rodata : module->rodata())
    instance->rodata.push_back(makeRef<Rodata>(rodata.bytes, module->file().file));
  for (const ExecutableInfo &executable : module->executables())
    instance->executables.push_back(makeRef<ProgramExecutable>(module, executable));
  instances.push_back(std::move(instance));
  if (module->file().file->isMapped())
    mappedFiles.push_back(module->file().file);
  if (module->initializer() < 0)
    return okStatus();
  return call(*instances.back(), module->functions()[module->initializer()], {}, {})
      .withContext(fmt::format("initializing module '{}'", instances.back()->name));
}

// For a session that is made of another one: the object that takes the place of `object` in it.
Result<AnyRef> Session::State::copyObject(const AnyRef &object) const {
  if (!object || object.as<Rodata>() || object.as<ProgramExecutable>())
    return object;
  for (const Ref<NativeModule> &native : natives)
    if (std::optional<Result<AnyRef>> copied = native->copyForSession(object))
      return *std::move(copied);
  return failedPrecondition("a {} can be neither shared nor copied", object.typeName());
}

Status Session::State::copyFrom(const State &other) {
  natives = other.natives;
  mappedFiles = other.mappedFiles;
  // What two variables have in common, they have in common afterwards.
  std::unordered_map<const RefCounted *, AnyRef> copies;
  std::unordered_map<const Instance *, Instance *> counterparts;
  for (const std::unique_ptr<Instance> &from : other.instances) {
    auto instance = std::make_unique<Instance>();
    instance->module = from->module;
    instance->name = from->name;
    instance->interpreter = &interpreter;
    instance->valueGlobals = from->valueGlobals;
    instance->rodata = from->rodata;
    instance->executables = from->executables;
    instance->imports = from->imports;
    for (ResolvedImport &import : instance->imports)
      if (import.instance)
        import.instance = counterparts.at(import.instance);
    for (size_t i = 0; i < from->refGlobals.size(); ++i) {
      const AnyRef &object = from->refGlobals[i];
      auto [copy, isNew] = copies.try_emplace(object.pointer());
      if (isNew) {
        Result<AnyRef> copied = copyObject(object);
        if (!copied.ok())
          return std::move(copied).status().withContext(
              fmt::format("variable {} of module '{}' keeps the program from being shared by sessions", i, from->name));
        copy->second = *std::move(copied);
      }
      instance->refGlobals.push_back(copy->second);
    }
    counterparts.emplace(from.get(), instance.get());
    instances.push_back(std::move(instance));
  }
  return okStatus();
}

Session::Session() = default;
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::create(std::span<const Ref<Module>> modules,
                                                 std::span<const Ref<NativeModule>> natives,
                                                 const SessionOptions &options) {
  if (modules.empty())
    return invalidArgument("a session needs at least one module");
  if (!options.names.empty() && options.names.size() != modules.size())
    return invalidArgument("{} names are given for {} modules", options.names.size(), modules.size());
  std::unique_ptr<Session> session(new Session());
  session->state = std::make_unique<State>(options);
  KILN_RETURN_IF_ERROR(session->state->addNatives(natives));
  for (size_t i = 0; i < modules.size(); ++i)
    KILN_RETURN_IF_ERROR(session->state->instantiate(modules[i], options.names.empty() ? std::string(modules[i]->name())
                                                                                       : options.names[i]));
  return session;
}

Result<std::unique_ptr<Session>> Session::create(std::initializer_list<Ref<Module>> modules,
                                                 std::initializer_list<Ref<NativeModule>> natives,
                                                 const SessionOptions &options) {
  return create(std::span(modules.begin(), modules.size()), std::span(natives.begin(), natives.size()), options);
}

Result<std::unique_ptr<Session>> Session::copy(const SessionOptions &options) const {
  std::unique_ptr<Session> session(new Session());
  session->state = std::make_unique<State>(options);
  KILN_RETURN_IF_ERROR(session->state->copyFrom(*state));
  return session;
}

std::vector<Function> Session::exports() const {
  std::vector<Function> functions;
  Instance *instance = state->instances.back().get();
  for (const ExportInfo &entry : instance->module->exports()) {
    Function function;
    function.entry = &entry;
    function.info = &instance->module->functions()[entry.function];
    function.instance = instance;
    functions.push_back(function);
  }
  return functions;
}

Result<Function> Session::lookup(std::string_view name) const {
  Instance *owner = state->instances.back().get();
  const ExportInfo *entry = owner->module->findExport(name);
  for (const std::unique_ptr<Instance> &instance : state->instances) {
    if (entry)
      break;
    std::string_view within = functionWithin(name, instance->name);
    if (within.empty())
      continue;
    owner = instance.get();
    entry = owner->module->findExport(within);
  }
  if (!entry) {
    std::string names;
    for (const ExportInfo &other : owner->module->exports())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", other.name);
    return notFound("module '{}' exports no function '{}'; it exports: {}", owner->name, name,
                    names.empty() ? "nothing" : names);
  }
  Function function;
  function.entry = entry;
  function.info = &owner->module->functions()[entry->function];
  function.instance = owner;
  return function;
}

static std::string_view describe(const Function &function) {
  std::string_view declaration = function.attribute("kiln.abi.declaration");
  return declaration.empty() ? function.signature() : declaration;
}

Status Session::checkCounts(const Function &function, size_t argumentCount, size_t resultCount) {
  if (argumentCount != function.argumentCount())
    return invalidArgument("@{} takes {} arguments, {} are given: {}", function.name(), function.argumentCount(),
                           argumentCount, describe(function));
  if (resultCount != function.resultCount())
    return invalidArgument("@{} has {} results, room is given for {}: {}", function.name(), function.resultCount(),
                           resultCount, describe(function));
  return okStatus();
}

static Status checkArguments(const Function &function, std::span<const Value> arguments, std::span<Value> results) {
  KILN_RETURN_IF_ERROR(Session::checkCounts(function, arguments.size(), results.size()));
  std::string_view kinds = function.argumentKinds();
  for (size_t i = 0; i < kinds.size(); ++i)
    if (static_cast<char>(arguments[i].kind()) != kinds[i])
      return invalidArgument("argument {} of @{} is a {}, a {} is needed: {}", i, function.name(),
                             valueKindName(arguments[i].kind()), valueKindName(static_cast<ValueKind>(kinds[i])),
                             describe(function));
  return okStatus();
}

Status Session::call(const Function &function, std::span<const Value> arguments, std::span<Value> results) {
  KILN_RETURN_IF_ERROR(checkArguments(function, arguments, results));
  return state->call(*function.instance, *function.info, arguments, results);
}

Status Session::callInTurn(const Function &function, std::span<const Value> arguments, std::span<Value> results) {
  KILN_RETURN_IF_ERROR(checkArguments(function, arguments, results));
  return state->call(*function.instance, *function.info, arguments, results, WhenBusy::Wait);
}

} // namespace kiln::vm
