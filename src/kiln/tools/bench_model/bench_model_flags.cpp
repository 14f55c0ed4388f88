#include "kiln/tools/bench_model/bench_model_flags.h"

#include <algorithm>
#include <charconv>

#include "fmt/format.h"
#include "kiln/tools/bench_model/model_inputs.h"
#include "kiln/tools/bench_model/rival_settings.h"
#include "kiln/tools/peers_flag.h"

namespace kiln {

void BenchModelFlags::add(FlagParser &parser) {
  parser.addPositional({"MODEL", "FILE", "An ONNX file, a program in MLIR, or a compiled module (.vmfb)."}, models);
  parser.group("Inputs");
  parser.add({"input", "[SHAPExTYPE][=VALUE]",
              "One for each input, as kiln-run-module takes it. Without a value it is random; without the flag it has "
              "the shape that the model says."},
             runtime.inputs);
  parser.add({"lengths", "N,...",
              "Measures once with each of these lengths, which stand for N in --input=1xNxi64, or for the one open "
              "extent of an input without the flag. Nothing is compiled or loaded again in between."},
             lengths);
  parser.add({"function", "NAME", "The function to call; not needed where there is one."}, runtime.function);
  parser.add({"seed", "N", "Of random inputs."}, seed);
  parser.add({"largest_integer", "N", "Random integers are 0 to N."}, largest);
  parser.add({"parameters", "[SCOPE=]FILE", "Files of parameters that Kiln's module needs."}, runtime.parameters);
  parser.group("Against");
  parser.add({"against", "NAME,...",
              "Runtimes to compare with: onnxruntime, openvino, torch, torch-compile and iree. The model is the same "
              "file, but for torch: model.pt2 beside model.onnx, which torch.export.save writes."},
             against);
  addPeersFlag(parser, peersDir);
  parser.add(
      {"tolerance", "SHARE",
       "How far outputs may be from the first runtime's, as a share of the largest of them, what a mask fills in "
       "aside; integers are the same. Where they are further, the exit code is 1."},
      tolerance);
  parser.add({"answer_seconds", "S", "How long another runtime may take to load or to answer."}, answerSeconds);
  parser.add({"contest_seconds", "S",
              "Where threads of a runtime can be bound or spin in several ways, each is tried for so long, and the "
              "fastest is measured; 0 takes the first of them."},
             contestSeconds);
  parser.group("Measurement");
  parser.add({"threads", "N",
              "Of each runtime; 0 is one for each hardware thread, and for others also one for each core, if that is "
              "faster."},
             threads);
  parser.add({"rounds", "N", "Each runtime is measured once in a round, in random order, while the others stand."},
             rounds);
  parser.add({"seconds", "S", "Of calls in a round; at least three."}, seconds);
  parser.group("Report");
  parser.addChoice({"format", "table|csv|json|html",
                    "csv has the columns of SHARK's runner, and more; json is lines; html is one page that needs "
                    "nothing else. Where it is not given, --output's name says it, or else it is a table."},
                   format);
  parser.add({"output", "FILE",
              "Where it goes, while the table is printed. Rows are appended to a CSV file that there is, and so are "
              "lines of JSON; a page takes the place of the one before."},
             output);
  parser.add({"items", "auto|none|COUNT",
              "How many things a call is about: so many a second are told, too. `auto` counts the elements of a first "
              "input of integers and rank 2 as tokens, and pictures of a first input of rank 4 as images."},
             items);
  parser.add({"item-name", "NAME", "What they are called: tokens, images."}, itemName);
  parser.add({"tokens", "N", "Short for --items=N --item-name=tokens."}, tokens);
  parser.add({"per-dispatch", "",
              "Also tell where Kiln's own time goes: of each kernel how often it is launched, what it takes, and the "
              "nodes of the model that it computes. Not in CSV."},
             perDispatch);
  parser.add({"batch", "N", "What a row calls its batch size."}, batch);
  parser.group("Store");
  parser.add({"store", "FILE",
              "Also stores the samples of all rounds, with where and how they came about, in a store of the lab's kind "
              "(docs/store.md). A measurement that was interrupted goes on with the models and lengths that are "
              "missing when the same command is given again."},
             store);
  parser.add(
      {"fresh", "", "Measures all models and lengths again, also where the store has some of an interrupted call."},
      fresh);
  parser.add({"from-store", "FILE",
              "Measures nothing, and prints what a store has: a table, CSV, JSON or a page, computed from its samples. "
              "With names of models, of these alone."},
             fromStore);
  parser.add({"run", "NAME", "Which of the store's runs: the start of its key, `latest`, or `latest~1`."}, storedRun);
  parser.add({"allow-network-store", "",
              "Writes the store also on a network file system. Only where one node at a time does: its locks do not "
              "reach others."},
             allowNetworkStore);
  parser.group("Kiln");
  parser.add({"compile_flag", "FLAG", "For kiln-compile, beside the target of the device."}, compileFlags);
  runtime.addDeviceFlags(parser);
  parser.example("kiln bench-model resnet50.onnx --against=onnxruntime,iree --threads=2");
  parser.example("kiln bench-model bert.onnx --input=1x128xi64 --input=1x128xi64=1 --output=bert.html");
  parser.example("kiln bench-model bert.onnx --input=1xNxi64 --input=1xNxi64=1 --lengths=64,128,256");
  parser.example("kiln bench-model bert.onnx --store=models.db && kiln bench-model --from-store=models.db");
}

Result<std::vector<std::string>> rivalsOf(const std::string &list) {
  std::vector<std::string> rivals;
  const std::vector<std::string> known = knownRivals();
  for (size_t at = 0; at <= list.size() && list != "none";) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, end - at);
    if (std::ranges::find(known, name) == known.end())
      return invalidArgument("--against={}: '{}' is no runtime that is known; there are {}", list, name,
                             fmt::join(known, ", "));
    if (std::ranges::find(rivals, name) == rivals.end())
      rivals.push_back(name);
    at = end + 1;
  }
  return rivals;
}

static std::string formatOf(const std::string &output) {
  for (const char *format : {"csv", "json", "html"})
    if (output.ends_with(std::string(".") + format))
      return format;
  return "table";
}

static Status checkItems(const std::string &items) {
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(items.data(), items.data() + items.size(), count);
  const bool isCount = error == std::errc() && end == items.data() + items.size() && count > 0;
  return items == "auto" || items == "none" || isCount
             ? okStatus()
             : invalidArgument("--items={}: it takes auto, none or how many there are", items);
}

Status BenchModelFlags::check() {
  if (format.empty())
    format = formatOf(output);
  if (tokens > 0 && (items != "auto" || !itemName.empty()))
    return invalidArgument("--tokens={} says what --items and --item-name do: give one of them", tokens);
  if (tokens > 0) {
    items = std::to_string(tokens);
    itemName = "tokens";
  }
  KILN_RETURN_IF_ERROR(checkItems(items));
  constexpr size_t kLongestName = 12;
  if (itemName.size() > kLongestName ||
      std::ranges::any_of(itemName, [](char c) { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_'; }))
    return invalidArgument("--item-name={}: it takes a word of at most {} letters", itemName, kLongestName);
  if (perDispatch && format == "csv" && output.empty())
    return invalidArgument("--per-dispatch is not in CSV; --output=FILE takes the rows, and the table is printed");
  if (!fromStore.empty()) {
    if (!store.empty())
      return invalidArgument("--from-store measures nothing, so that there is nothing for --store");
    return okStatus();
  }
  if (models.empty())
    return invalidArgument("which model? kiln bench-model MODEL.onnx --against=onnxruntime");
  if (models.size() > 1 && !runtime.inputs.empty())
    return invalidArgument("--input is for one model, and {} are given", models.size());
  if (rounds < 3 || !(seconds > 0))
    return invalidArgument("--rounds={} --seconds={}: three rounds and some time are needed for an interval", rounds,
                           seconds);
  KILN_RETURN_IF_ERROR(parseLengths(lengths).status());
  for (const std::string &spec : runtime.inputs)
    if (lengths.empty() && (spec.starts_with("Nx") || spec.substr(0, spec.find('=')).find("xNx") != std::string::npos))
      return invalidArgument("--input={}: N is a length, and there is none; as in --lengths=64,128", spec);
  return rivalsOf(against).status();
}

} // namespace kiln
