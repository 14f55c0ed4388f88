#include "kiln/tools/compile_server.h"

#include <chrono>
#include <iostream>
#include <unistd.h>

#include "kiln/base/exhaustion.h"
#include "kiln/base/json_depth.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

namespace kiln {

namespace json = llvm::json;

static json::Object failure(const llvm::Twine &message) {
  return json::Object{{"ok", false}, {"error", message.str()}};
}

static bool isStandardOutput(llvm::StringRef path) {
  llvm::sys::fs::file_status file, answers;
  return path == "-" || (!llvm::sys::fs::status(path, file) && !llvm::sys::fs::status(STDOUT_FILENO, answers) &&
                         llvm::sys::fs::equivalent(file, answers));
}

static json::Object serve(const CompileOne &compile, llvm::StringRef line) {
  if (jsonDepth(line) > kMostJsonDepth)
    return failure("the line is nested more than " + llvm::Twine(kMostJsonDepth) + " levels deep");
  llvm::Expected<json::Value> request = json::parse(line);
  if (!request)
    return failure("the line is no JSON: " + llvm::toString(request.takeError()));
  const json::Object *fields = request->getAsObject();
  std::optional<llvm::StringRef> input = fields ? fields->getString("input") : std::nullopt;
  std::optional<llvm::StringRef> source = fields ? fields->getString("source") : std::nullopt;
  std::optional<llvm::StringRef> output = fields ? fields->getString("output") : std::nullopt;
  if (!output || bool(input) == bool(source))
    return failure(
        "a request is an object with 'output', the path of the module to write, and either 'input', the path of "
        "a program, or 'source', its text");
  if (isStandardOutput(*output))
    return failure("'output' is '" + *output + "', where the answers go; name a file");
  std::unique_ptr<llvm::MemoryBuffer> program;
  if (source) {
    program = llvm::MemoryBuffer::getMemBufferCopy(*source, "<source>");
  } else {
    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file = llvm::MemoryBuffer::getFile(*input);
    if (!file)
      return failure("cannot read '" + *input + "': " + file.getError().message() +
                     exhaustionAdvice(file.getError().value()));
    program = std::move(*file);
  }
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  auto start = std::chrono::steady_clock::now();
  bool ok = compile(std::move(program), output->str(), errorStream);
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  if (!ok)
    return failure(errors.empty() ? "the compilation failed, and no pass said why" : errors);
  uint64_t bytes = 0;
  if (std::error_code error = llvm::sys::fs::file_size(*output, bytes))
    return failure("cannot look at '" + *output + "': " + error.message());
  json::Object answer{{"ok", true}, {"bytes", static_cast<int64_t>(bytes)}, {"milliseconds", took.count()}};
  if (!errors.empty())
    answer["remarks"] = errors;
  return answer;
}

int serveCompilations(const CompileOne &compile) {
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.empty())
      continue;
    llvm::outs() << json::Value(serve(compile, line)) << "\n";
    llvm::outs().flush();
    if (llvm::outs().has_error()) {
      llvm::errs() << "kiln-compile: cannot answer: " << llvm::outs().error().message() << "\n";
      llvm::outs().clear_error();
      return 1;
    }
  }
  return 0;
}

} // namespace kiln
