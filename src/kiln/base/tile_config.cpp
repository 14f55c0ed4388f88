#include "kiln/base/tile_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <tuple>
#include <vector>

#include "kiln/base/split.h"

namespace kiln {

static constexpr std::string_view kPrefix = "tile_config_";
static constexpr std::string_view kCluster = "cluster", kStreamK = "streamk";
static constexpr int64_t kLargest = int64_t(1) << 31;
static constexpr int64_t kMostThreads = 4096; // what a worker takes

std::string TileConfig::name() const {
  std::string text = fmt::format("{}{}x{}_{}x{}_{}", kPrefix, m, n, k, stages, instructions);
  if (rows != 0 || columns != 0)
    text += fmt::format("_{}x{}", rows, columns);
  if (lanes != 0)
    text += fmt::format("_v{}", lanes);
  if (packA || packB)
    text += fmt::format("_pack{}{}", packA ? "a" : "", packB ? "b" : "");
  if (hasCluster())
    text += fmt::format("_{}{}", streamK ? "" : kCluster, clusterName());
  if (threads != 0)
    text += fmt::format("_t{}", threads);
  return text;
}

std::string TileConfig::clusterName() const {
  if (streamK)
    return fmt::format("{}{}", kStreamK, clusterK);
  return fmt::format("{}x{}{}", clusterM, clusterN, clusterK == 1 ? "" : fmt::format("x{}", clusterK));
}

static bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
static bool isLower(char c) {
  return c >= 'a' && c <= 'z';
}

// A number as `name` writes it: no sign, no leading zero. Anything else would not come back as it was.
static std::optional<int64_t> parseNumber(std::string_view text) {
  int64_t value = 0;
  if (text.empty() || !std::ranges::all_of(text, isDigit) || (text.size() > 1 && text.front() == '0'))
    return std::nullopt;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc() || value > kLargest)
    return std::nullopt;
  return value;
}

static std::optional<std::pair<int64_t, int64_t>> parsePair(std::string_view text) {
  size_t x = text.find('x');
  if (x == std::string_view::npos)
    return std::nullopt;
  std::optional<int64_t> a = parseNumber(text.substr(0, x)), b = parseNumber(text.substr(x + 1));
  if (!a || !b)
    return std::nullopt;
  return std::make_pair(*a, *b);
}

// "2x1", or "1x1x4" where the reduction has parts.
static std::optional<std::array<int64_t, 3>> parseCluster(std::string_view text) {
  size_t third = text.find('x', text.find('x') + 1);
  std::optional<std::pair<int64_t, int64_t>> pair = parsePair(text.substr(0, third));
  std::optional<int64_t> parts = third == std::string_view::npos ? 1 : parseNumber(text.substr(third + 1));
  if (!pair || !parts || (third != std::string_view::npos && *parts == 1))
    return std::nullopt;
  return std::array{pair->first, pair->second, *parts};
}

static bool isOption(std::string_view word) {
  bool isCount = (word.starts_with("v") || word.starts_with("t")) && parseNumber(word.substr(1));
  bool isCluster = word.starts_with(kCluster) && parseCluster(word.substr(kCluster.size()));
  bool isStreamK = word.starts_with(kStreamK) && parseNumber(word.substr(kStreamK.size()));
  return isCount || isCluster || isStreamK || parsePair(word) || word == "packa" || word == "packb" || word == "packab";
}

static bool isInstructionWord(std::string_view word) {
  return !word.empty() && isLower(word.front()) &&
         std::ranges::all_of(word, [](char c) { return isLower(c) || isDigit(c); });
}

Result<TileConfig> TileConfig::parse(std::string_view name) {
  auto error = [&](const std::string &message) {
    return invalidArgument(
        "'{}' is no configuration: {}; the form is tile_config_{{M}}x{{N}}_{{K}}x{{stages}}_{{class}}, "
        "then optionally _{{rows}}x{{columns}}, _v{{lanes}}, _pack{{a|b|ab}}, _cluster{{M}}x{{N}}[x{{K}}] or "
        "_streamk{{K}}, _t{{threads}}",
        name, message);
  };
  if (!name.starts_with(kPrefix))
    return error("it must start with tile_config_");
  std::vector<std::string_view> words = split(name.substr(kPrefix.size()), '_');
  size_t at = 0;
  auto word = [&] { return at < words.size() ? words[at] : std::string_view(); };

  TileConfig config;
  std::optional<std::pair<int64_t, int64_t>> tile = parsePair(word());
  if (!tile)
    return error(fmt::format("'{}' is no tile {{M}}x{{N}}", word()));
  std::tie(config.m, config.n) = *tile;
  ++at;
  std::optional<std::pair<int64_t, int64_t>> depth = parsePair(word());
  if (!depth)
    return error(fmt::format("'{}' is no {{K}}x{{stages}}", word()));
  std::tie(config.k, config.stages) = *depth;
  if (config.stages < 1)
    return error("there must be at least one stage");
  ++at;

  config.instructions.clear();
  for (; at < words.size() && !isOption(word()); ++at) {
    // A cluster that is none is no class either.
    bool isCluster =
        word().starts_with(kCluster) && word().size() > kCluster.size() && isDigit(word()[kCluster.size()]);
    if (isCluster)
      return error(fmt::format("'{}' is no cluster of two workgroups or more", word()));
    if (word().starts_with(kStreamK))
      return error(fmt::format("'{}' is no number of workgroups, from 2 on, that share a tile", word()));
    if (!isInstructionWord(word()))
      return error(fmt::format("'{}' is no word of an instruction class", word()));
    config.instructions += config.instructions.empty() ? "" : "_";
    config.instructions += word();
  }
  if (config.instructions.empty())
    return error("it names no instruction class");

  if (std::optional<std::pair<int64_t, int64_t>> registers = parsePair(word())) {
    std::tie(config.rows, config.columns) = *registers;
    if (config.rows < 1 || config.columns < 1)
      return error("a register tile must not be empty");
    ++at;
  }
  if (word().starts_with("v")) {
    std::optional<int64_t> lanes = parseNumber(word().substr(1));
    if (!lanes || *lanes < 1)
      return error(fmt::format("'{}' is no number of lanes", word()));
    config.lanes = *lanes;
    ++at;
  }
  if (std::string_view pack = word(); pack == "packa" || pack == "packb" || pack == "packab") {
    config.packA = pack != "packb";
    config.packB = pack.ends_with("b");
    ++at;
  }
  if (word().starts_with(kCluster)) {
    std::optional<std::array<int64_t, 3>> cluster = parseCluster(word().substr(kCluster.size()));
    if (!cluster || std::ranges::min(*cluster) < 1 || std::ranges::max(*cluster) == 1)
      return error(fmt::format("'{}' is no cluster of two workgroups or more", word()));
    std::tie(config.clusterM, config.clusterN, config.clusterK) = std::tuple_cat(*cluster);
    ++at;
  } else if (word().starts_with(kStreamK)) {
    std::optional<int64_t> parts = parseNumber(word().substr(kStreamK.size()));
    if (!parts || *parts < 2)
      return error(fmt::format("'{}' is no number of workgroups, from 2 on, that share a tile", word()));
    config.clusterK = *parts;
    config.streamK = true;
    ++at;
  }
  if (word().starts_with("t")) {
    std::optional<int64_t> threads = parseNumber(word().substr(1));
    if (!threads || *threads < 1 || *threads > kMostThreads)
      return error(fmt::format("'{}' is no number of threads, from 1 to {}", word(), kMostThreads));
    config.threads = *threads;
    ++at;
  }
  if (at < words.size())
    return error(fmt::format("'{}' is out of place", word()));
  return config;
}

} // namespace kiln
