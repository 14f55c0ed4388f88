#include "kiln/compiler/TransformOps/TransformSpec.h"

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/TransformOps/SpecUpdater.h"

#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"

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
static transform::TransformOpInterface findEntry(ModuleOp module, StringRef path) {
  for (StringRef name : {StringRef("__kiln_codegen"), StringRef("__transform_main")}) {
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
  error << "; write one transform.sequence, or a transform.named_sequence @__transform_main";
  return {};
}

FailureOr<std::shared_ptr<const TransformSpec>> TransformSpec::load(MLIRContext *context, StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return emitError(FileLineColLoc::get(context, path, 0, 0))
           << "cannot read the transform spec '" << path << "': " << buffer.getError().message();

  std::shared_ptr<TransformSpec> spec(new TransformSpec());
  spec->file = path.str();
  spec->module =
      parseSourceString<ModuleOp>(updateSpec((*buffer)->getBuffer()), ParserConfig(context), /*sourceName=*/path);
  if (!spec->module)
    return failure(); // The parser has said where.
  spec->entry = findEntry(*spec->module, path);
  if (!spec->entry)
    return failure();
  return std::shared_ptr<const TransformSpec>(std::move(spec));
}

//===--- Applying -------------------------------------------------------------------------------------------------===//

// The place in `file` that a location stands for; null where it is elsewhere.
static FileLineColLoc locationIn(Location loc, StringRef file) {
  FileLineColLoc found;
  loc->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place || place.getFilename() != file)
      return WalkResult::advance();
    found = place;
    return WalkResult::interrupt();
  });
  return found;
}

// The innermost op of the spec at this place.
static Operation *opAt(ModuleOp spec, FileLineColLoc place) {
  Operation *found = nullptr;
  spec->walk([&](Operation *op) {
    if (op->getLoc() != place)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

LogicalResult TransformSpec::apply(Operation *root) const {
  // What is said while the spec runs is kept, so that a failure becomes one error in the terms of the spec.
  std::vector<Diagnostic> said;
  LogicalResult result = failure();
  {
    ScopedDiagnosticHandler handler(root->getContext(), [&, thread = llvm::get_threadid()](Diagnostic &diagnostic) {
      if (llvm::get_threadid() != thread)
        return failure();
      said.push_back(std::move(diagnostic));
      return success();
    });
    // Top-level sequences may be nested in a module of their own, hence no enforcement of a single one.
    transform::TransformOptions options;
    options.enableEnforceSingleToplevelTransformOp(false);
    transform::TransformOpInterface top = entry;
    if (isa<transform::NamedSequenceOp>(top.getOperation()))
      result = transform::applyTransformNamedSequence(root, top, ModuleOp(), options);
    else
      result = transform::applyTransforms(root, top, {}, options);
  }
  DiagnosticEngine &engine = root->getContext()->getDiagEngine();
  if (succeeded(result)) {
    for (Diagnostic &diagnostic : said)
      engine.emit(std::move(diagnostic));
    return success();
  }

  // The failing line: where an error, or else one of its notes, points into the spec.
  FileLineColLoc place;
  const Diagnostic *primary = nullptr;
  for (const Diagnostic &diagnostic : said) {
    if (primary || diagnostic.getSeverity() != DiagnosticSeverity::Error)
      continue;
    if ((place = locationIn(diagnostic.getLocation(), file)))
      primary = &diagnostic;
  }
  for (const Diagnostic &diagnostic : said) {
    for (const Diagnostic &note : const_cast<Diagnostic &>(diagnostic).getNotes())
      if (!place)
        place = locationIn(note.getLocation(), file);
  }
  transform::TransformOpInterface top = entry;
  Location loc = place ? Location(place) : top->getLoc();
  Operation *failing = place ? opAt(*const_cast<TransformSpec *>(this)->module, place) : nullptr;
  InFlightDiagnostic error = emitError(loc);
  error << "'" << (failing ? failing : top.getOperation())->getName() << "' on dispatch " << dispatchNames(root) << ": "
        << (primary ? primary->str() : std::string("failed"));
  for (const Diagnostic &diagnostic : said) {
    if (&diagnostic != primary)
      error.attachNote(diagnostic.getLocation()) << diagnostic.str();
    for (const Diagnostic &note : const_cast<Diagnostic &>(diagnostic).getNotes())
      error.attachNote(note.getLocation()) << note.str();
  }
  return error;
}

Operation *TransformSpec::findMatchWithoutPayload(Operation *root) const {
  llvm::StringSet<> present;
  root->walk([&](Operation *op) { present.insert(op->getName().getStringRef()); });
  transform::TransformOpInterface top = entry;
  Operation *found = nullptr;
  top->walk<WalkOrder::PreOrder>([&](transform::MatchOp match) {
    std::optional<ArrayAttr> names = match.getOps();
    if (!names || names->empty() || llvm::any_of(names->getAsValueRange<StringAttr>(), [&](StringRef name) {
          return present.contains(name);
        }))
      return WalkResult::advance();
    found = match;
    return WalkResult::interrupt();
  });
  return found;
}

} // namespace kiln
