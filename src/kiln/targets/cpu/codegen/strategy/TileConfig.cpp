#include "kiln/targets/cpu/codegen/strategy/TileConfig.h"

#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;
using llvm::Twine;

namespace kiln {

static constexpr StringRef prefix = "tile_config_";
static constexpr int64_t largest = int64_t(1) << 31;

std::string TileConfig::name() const {
  std::string text =
      (prefix + Twine(m) + "x" + Twine(n) + "_" + Twine(k) + "x" + Twine(stages) + "_" + instructions).str();
  if (rows != 0 || columns != 0)
    text += ("_" + Twine(rows) + "x" + Twine(columns)).str();
  if (lanes != 0)
    text += ("_v" + Twine(lanes)).str();
  if (packA || packB)
    text += std::string("_pack") + (packA ? "a" : "") + (packB ? "b" : "");
  return text;
}

// A number as `name` writes it: no sign, no leading zero. Anything else would not come back as it was.
static std::optional<int64_t> parseNumber(StringRef text) {
  int64_t value;
  if (text.empty() || !llvm::all_of(text, llvm::isDigit) || (text.size() > 1 && text.front() == '0') ||
      text.getAsInteger(10, value) || value > largest)
    return std::nullopt;
  return value;
}

static std::optional<std::pair<int64_t, int64_t>> parsePair(StringRef text) {
  auto [first, second] = text.split('x');
  std::optional<int64_t> a = parseNumber(first), b = parseNumber(second);
  if (!a || !b)
    return std::nullopt;
  return std::make_pair(*a, *b);
}

static bool isOption(StringRef word) {
  return parsePair(word) || (word.starts_with("v") && parseNumber(word.drop_front())) || word == "packa" ||
         word == "packb" || word == "packab";
}

static bool isInstructionWord(StringRef word) {
  return !word.empty() && llvm::isLower(word.front()) &&
         llvm::all_of(word, [](char c) { return llvm::isLower(c) || llvm::isDigit(c); });
}

llvm::Expected<TileConfig> TileConfig::parse(StringRef name) {
  auto error = [&](const Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "'" + name + "' is no configuration: " + message +
                                       "; the form is tile_config_{M}x{N}_{K}x{stages}_{class}, then optionally "
                                       "_{rows}x{columns}, _v{lanes}, _pack{a|b|ab}");
  };
  StringRef rest = name;
  if (!rest.consume_front(prefix))
    return error("it must start with tile_config_");
  llvm::SmallVector<StringRef> words;
  rest.split(words, '_');

  TileConfig config;
  auto take = [&]() { return words.empty() ? StringRef() : words.front(); };
  auto drop = [&]() { words.erase(words.begin()); };
  if (auto tile = parsePair(take()))
    std::tie(config.m, config.n) = *tile;
  else
    return error("'" + take() + "' is no tile {M}x{N}");
  drop();
  auto depth = parsePair(take());
  if (!depth)
    return error("'" + take() + "' is no {K}x{stages}");
  std::tie(config.k, config.stages) = *depth;
  if (config.stages < 1)
    return error("there must be at least one stage");
  drop();

  config.instructions.clear();
  for (; !words.empty() && !isOption(take()); drop()) {
    if (!isInstructionWord(take()))
      return error("'" + take() + "' is no word of an instruction class");
    config.instructions += (config.instructions.empty() ? "" : "_") + take().str();
  }
  if (config.instructions.empty())
    return error("it names no instruction class");

  if (auto tile = words.empty() ? std::nullopt : parsePair(take())) {
    std::tie(config.rows, config.columns) = *tile;
    if (config.rows < 1 || config.columns < 1)
      return error("a register tile must not be empty");
    drop();
  }
  if (take().starts_with("v")) {
    std::optional<int64_t> lanes = parseNumber(take().drop_front());
    if (!lanes || *lanes < 1)
      return error("'" + take() + "' is no number of lanes");
    config.lanes = *lanes;
    drop();
  }
  if (StringRef pack = take(); pack == "packa" || pack == "packb" || pack == "packab") {
    config.packA = pack != "packb";
    config.packB = pack.ends_with("b");
    drop();
  }
  if (!words.empty())
    return error("'" + take() + "' is out of place");
  return config;
}

} // namespace kiln
