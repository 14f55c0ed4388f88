#include "kiln/compiler/TransformOps/TransformSpec.h"

#include "kiln/base/exhaustion.h"
#include "kiln/compiler/TransformOps/KilnTransformOps.h"
#include "kiln/compiler/TransformOps/SpecUpdater.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"
#include <mutex>

using namespace mlir;

namespace kiln {

std::string dispatchNames(Operation *variant) {
  std::string names;
  variant->walk([&](HAL::ExecutableExportOp exportOp) {
    names += (names.empty() ? "'@" : ", '@") + exportOp.getSymName().str() + "'";
  });
  return names;
}

//===--- Loading --------------------------------------------------------------------------------------------------===//

// Where the spec starts. Null after an error.
static transform::TransformOpInterface findEntry(ModuleOp module, StringRef path, ArrayRef<StringRef> entries) {
  for (StringRef name : entries) {
    transform::TransformOpInterface found;
    module->walk([&](transform::NamedSequenceOp sequence) {
      if (sequence.getSymName() == name)
        found = cast<transform::TransformOpInterface>(sequence.getOperation());
    });
    if (found)
      return found;
  }
  SmallVector<transform::SequenceOp> sequences;
  module->walk<WalkOrder::PreOrder>([&](transform::SequenceOp sequence) {
    sequences.push_back(sequence);
    return WalkResult::skip();
  });
  if (sequences.size() == 1)
    return cast<transform::TransformOpInterface>(sequences.front().getOperation());
  InFlightDiagnostic error = emitError(sequences.empty() ? module.getLoc() : sequences[1].getLoc());
  if (sequences.empty())
    error << "the transform spec '" << path << "' holds no transform to start with";
  else
    error << "the transform spec '" << path << "' holds more than one top-level transform.sequence";
  error << "; write one transform.sequence, or a transform.named_sequence @" << entries.back();
  return {};
}

// Puts a trace before each op that runs as a step of the entry.
static void addTraces(transform::TransformOpInterface entry) {
  SmallVector<Operation *> steps;
  entry->walk([&](transform::TransformOpInterface op) {
    if (op != entry && isa<transform::TransformOpInterface>(op->getParentOp()) &&
        !op->hasTrait<OpTrait::IsTerminator>())
      steps.push_back(op);
  });
  for (Operation *step : steps) {
    OpBuilder builder(step);
    TransformOps::TraceOp::create(builder, step->getLoc());
  }
}

FailureOr<std::shared_ptr<const TransformSpec>> TransformSpec::load(MLIRContext *context, StringRef path,
                                                                    ArrayRef<StringRef> entries) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return emitError(FileLineColLoc::get(context, path, 0, 0))
           << "cannot read the transform spec '" << path << "': " << buffer.getError().message()
           << exhaustionAdvice(buffer.getError().value());

  std::shared_ptr<TransformSpec> spec(new TransformSpec());
  spec->file = path.str();
  spec->text = (*buffer)->getBuffer().str();
  spec->module = parseSourceString<ModuleOp>(updateSpec(spec->text), ParserConfig(context), /*sourceName=*/path);
  if (!spec->module)
    return failure(); // The parser has said where.
  spec->entry = findEntry(*spec->module, path, entries);
  if (!spec->entry)
    return failure();
  addTraces(spec->entry);
  return std::shared_ptr<const TransformSpec>(std::move(spec));
}

// What a spec is applied to, for messages.
static std::string nameOf(Operation *root) {
  return isa<HAL::ExecutableVariantOp>(root) ? "dispatch " + dispatchNames(root) : "the program";
}

//===--- Applying -------------------------------------------------------------------------------------------------===//

std::string TransformSpec::spelling(Operation *op) const {
  auto place = dyn_cast<FileLineColLoc>(op->getLoc());
  StringRef rest = text;
  for (unsigned line = 1; place && line < place.getLine(); ++line)
    rest = rest.split('\n').second;
  if (place && place.getColumn() > 0)
    rest = rest.split('\n').first.drop_front(std::min<size_t>(place.getColumn() - 1, rest.size()));
  StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  return word.starts_with("transform.") ? word.str() : op->getName().getStringRef().str();
}

LogicalResult TransformSpec::apply(Operation *root) const {
  // What is said while the spec runs is kept, so that a failure becomes one error in the terms of the spec.
  std::vector<Diagnostic> said;
  transform::TransformOpInterface top = entry;
  Operation *current = top;
  LogicalResult result = failure();
  bool survived = true;
  {
    ScopedDiagnosticHandler handler(root->getContext(), [&, thread = llvm::get_threadid()](Diagnostic &diagnostic) {
      if (llvm::get_threadid() != thread)
        return failure();
      said.push_back(std::move(diagnostic));
      return success();
    });
    // The entry may be nested in a module, and may stand beside other sequences.
    transform::TransformOptions options;
    options.enableEnforceSingleToplevelTransformOp(false);
    // Ops of MLIR's take much for granted of what they are given.
    static std::once_flag enabled;
    std::call_once(enabled, llvm::CrashRecoveryContext::Enable);
    llvm::CrashRecoveryContext recovery;
    survived = recovery.RunSafely([&] {
      result = transform::applyTransforms(
          root, top, /*extraMapping=*/{}, options, /*enforceToplevelTransformOp=*/false,
          [&](transform::TransformState &state) { state.addExtension<TraceExtension>(current); });
    });
  }
  if (!survived)
    return emitError(current->getLoc())
           << "'" << spelling(current) << "' on " << nameOf(root)
           << ": it crashed on what the steps before it have made, which is a bug of the op: it should say what it "
              "cannot take";
  if (succeeded(result)) {
    for (Diagnostic &diagnostic : said)
      root->getContext()->getDiagEngine().emit(std::move(diagnostic));
    return success();
  }

  // The first error is the message, all else are notes; without the ops in full that MLIR likes to add.
  InFlightDiagnostic error = emitError(current->getLoc());
  error << "'" << spelling(current) << "' on " << nameOf(root) << ": ";
  bool first = true;
  for (Diagnostic &diagnostic : said) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && first &&
        diagnostic.getLocation() == current->getLoc()) {
      error << diagnostic.str();
      first = false;
    }
  }
  if (first)
    error << "failed";
  for (Diagnostic &diagnostic : said) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error || diagnostic.getLocation() != current->getLoc())
      error.attachNote(diagnostic.getLocation()) << diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes())
      if (!StringRef(note.str()).starts_with("see current operation"))
        error.attachNote(note.getLocation()) << note.str();
  }
  return error;
}

static bool isMappedToThreads(scf::ForallOp loop) {
  std::optional<ArrayAttr> mapping = loop.getMapping();
  return mapping && !mapping->empty() && !isa<gpu::GPUBlockMappingAttr>((*mapping)[0]);
}

// What a spec has to have done, and has not; empty where all is done.
static std::optional<SpecFault> findUnfinished(HAL::ExecutableExportOp exportOp, func::FuncOp function,
                                               TransformSpec::Finish finish) {
  std::string unfinished;
  function.walk([&](Operation *op) {
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    if (llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor))
      unfinished = "'" + op->getName().getStringRef().str() + "' on tensors: bufferize it (transform.iree.bufferize)";
    else if (auto loop = dyn_cast<scf::ForallOp>(op))
      unfinished = isMappedToThreads(loop) ? "an scf.forall over threads: map it "
                                             "(transform.gpu.map_nested_forall_to_threads)"
                                           : "an scf.forall: distribute it (transform.iree.forall_to_workgroup)";
    return unfinished.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (unfinished.empty() && finish)
    if (std::optional<SpecFault> fault = finish(function))
      return fault;
  if (unfinished.empty() && exportOp.getWorkgroupCount().empty())
    unfinished = "an open workgroup count: fill it in "
                 "(transform.iree.populate_workgroup_count_region_using_num_threads_slice)";
  return unfinished.empty() ? std::nullopt : std::optional(SpecFault{function.getLoc(), unfinished});
}

LogicalResult TransformSpec::applyInsteadOfStrategy(HAL::ExecutableVariantOp variant, Finish finish) const {
  variant.walk([](func::FuncOp function) { function->removeAttr("lowering"); });
  // Names that match nothing are looked for before the spec changes what is there.
  Operation *unmatched = findMatchWithoutPayload(variant);
  if (failed(apply(variant)))
    return failure();
  for (auto exportOp : variant.getBody().getOps<HAL::ExecutableExportOp>()) {
    auto function = variant.getInnerModule().lookupSymbol<func::FuncOp>(exportOp.getSymName());
    if (!function)
      continue;
    std::optional<SpecFault> unfinished = findUnfinished(exportOp, function, finish);
    if (!unfinished)
      continue;
    // At the locations only: these ops in full would bury the message.
    if (unmatched && !unfinished->isLimit)
      return emitError(unmatched->getLoc())
                 .append("'", unmatched->getName(), "' matches nothing in dispatch ", dispatchNames(variant),
                         ", and the spec leaves it with ", unfinished->what)
                 .attachNote(function.getLoc())
             << "the dispatch";
    return emitError(unfinished->loc) << "dispatch " << dispatchNames(variant) << " is left by the transform spec '"
                                      << file << "' with " << unfinished->what;
  }
  // What a user's spec has made may be nothing that the passes behind it can take.
  return mlir::verify(variant);
}

Operation *TransformSpec::findMatchWithoutPayload(Operation *root) const {
  llvm::StringSet<> present;
  root->walk([&](Operation *op) { present.insert(op->getName().getStringRef()); });
  transform::TransformOpInterface top = entry;
  Operation *found = nullptr;
  top->walk<WalkOrder::PreOrder>([&](transform::MatchOp match) {
    std::optional<ArrayAttr> names = match.getOps();
    if (!names || names->empty() ||
        llvm::any_of(names->getAsValueRange<StringAttr>(), [&](StringRef name) { return present.contains(name); }))
      return WalkResult::advance();
    found = match;
    return WalkResult::interrupt();
  });
  return found;
}

} // namespace kiln
