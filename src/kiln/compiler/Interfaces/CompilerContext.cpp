#include "kiln/compiler/Interfaces/CompilerContext.h"

#include "kiln/base/flags.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

using Names = std::vector<std::string>;

static Names backendNames(const TargetBackendRegistry &registry) {
  Names names;
  for (const auto &backend : registry.backends())
    names.push_back(backend->name().str());
  return names;
}

// Of the devices, and then of the backends, which stand for the devices that they are for.
static Names deviceNames(const TargetBackendRegistry &registry) {
  llvm::SmallSetVector<StringRef, 8> names;
  for (const auto &backend : registry.backends())
    names.insert_range(backend->devices());
  for (const auto &backend : registry.backends())
    names.insert(backend->name());
  return Names(names.begin(), names.end());
}

static LogicalResult reportUnknown(Location loc, StringRef kind, const std::string &name, const Names &known) {
  std::string_view nearest = nearestName(name, known);
  return emitError(loc) << "there is no target " << kind << " '" << name
                        << "' in this build; there are: " << llvm::join(known, ", ")
                        << (nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?");
}

using Backends = llvm::SmallSetVector<TargetBackend *, 2>;

static LogicalResult addBackends(const TargetBackendRegistry &registry, const Names &names, Location loc,
                                 Backends &selected) {
  for (const std::string &name : names) {
    TargetBackend *backend = registry.find(name);
    if (!backend)
      return reportUnknown(loc, "backend", name, backendNames(registry));
    selected.insert(backend);
  }
  return success();
}

FailureOr<SmallVector<TargetBackend *>> CompilerContext::selectedBackends(Location loc) const {
  Backends selected, local;
  if (failed(addBackends(backends, options.targetBackends, loc, selected)) ||
      failed(addBackends(backends, options.localTargetDeviceBackends, loc, local)))
    return failure();
  for (StringRef device : options.targetDevices) {
    // "a=local" is a device that the program calls `a`; all of its work is for one device, whatever it is called.
    StringRef type = device.contains('=') ? device.split('=').second : device;
    bool isKnown = false;
    for (const auto &backend : backends.backends()) {
      if (type != backend->name() && !llvm::is_contained(backend->devices(), type))
        continue;
      isKnown = true;
      if (!type.starts_with("local") || local.empty() || local.contains(backend.get()))
        selected.insert(backend.get());
    }
    if (!isKnown)
      return reportUnknown(loc, "device", type.str(), deviceNames(backends));
  }
  if (selected.empty())
    return emitError(loc) << "no target is given; say --kiln-hal-target-backends=<name>, with one of: "
                          << llvm::join(backendNames(backends), ", ");
  return llvm::to_vector(selected);
}

FailureOr<DispatchLimits> CompilerContext::dispatchLimits(Location loc) const {
  if (options.targetBackends.empty() && options.targetDevices.empty())
    return DispatchLimits();
  FailureOr<SmallVector<TargetBackend *>> selected = selectedBackends(loc);
  if (failed(selected))
    return failure();
  DispatchLimits limits = selected->front()->dispatchLimits(loc);
  for (TargetBackend *backend : llvm::drop_begin(*selected)) {
    DispatchLimits others = backend->dispatchLimits(loc);
    limits.mostOperands = std::min(limits.mostOperands, others.mostOperands);
    limits.mostUses = std::min(limits.mostUses, others.mostUses);
    if (limits.panelBytes != others.panelBytes)
      limits.panelBytes = 0;
    limits.channelsLast &= others.channelsLast;
    limits.mostWindowBytes = std::min(limits.mostWindowBytes, others.mostWindowBytes);
    limits.laysOutPadding &= others.laysOutPadding;
    limits.reassociates &= others.reassociates;
    limits.keptRowBytes = std::min(limits.keptRowBytes, others.keptRowBytes);
  }
  return limits;
}

} // namespace kiln
