#include "kiln/tools/dispatch/rows/hot_loop.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace kiln {

namespace {

struct Line {
  std::string text;
  bool isLabel = false;

  std::string_view label() const { return isLabel ? std::string_view(text).substr(0, text.size() - 1) : ""; }
};

struct Function {
  std::string name;
  std::vector<Line> lines;
};

// First and last line of a loop.
struct Range {
  size_t first, last;
};

bool isAarch64(std::string_view triple) {
  return triple.starts_with("aarch64") || triple.starts_with("arm64");
}

std::string_view trimmed(std::string_view text) {
  size_t start = text.find_first_not_of(" \t\r");
  if (start == std::string_view::npos)
    return {};
  return text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
}

// "jne" of "jne\t.LBB0_2"
std::string_view mnemonicOf(std::string_view instruction) {
  return instruction.substr(0, std::min(instruction.find_first_of(" \t"), instruction.size()));
}

std::string_view lastOperandOf(std::string_view instruction) {
  size_t comma = instruction.find_last_of(", \t");
  return comma == std::string_view::npos ? std::string_view() : instruction.substr(comma + 1);
}

// The operand that says how wide the instruction is: the last one in AT&T syntax, the first one in AArch64's.
std::string_view firstOperandOf(std::string_view instruction) {
  std::string_view rest = trimmed(instruction.substr(mnemonicOf(instruction).size()));
  return rest.substr(0, std::min(rest.find(','), rest.size()));
}

std::vector<Function> functionsOf(std::string_view assembly, std::string_view comment) {
  std::vector<Function> functions;
  for (size_t at = 0; at < assembly.size();) {
    size_t end = std::min(assembly.find('\n', at), assembly.size());
    std::string_view whole = assembly.substr(at, end - at);
    at = end + 1;
    std::string_view text = trimmed(whole.substr(0, std::min(whole.find(comment), whole.size())));
    if (text.empty())
      continue;
    bool isLabel = text.ends_with(':');
    if (isLabel && !text.starts_with('.')) {
      functions.push_back({std::string(text.substr(0, text.size() - 1)), {}});
      continue;
    }
    if (functions.empty() || (text.starts_with('.') && !isLabel))
      continue; // a directive
    functions.back().lines.push_back({std::string(text), isLabel});
  }
  return functions;
}

// Loops that hold no other loop.
std::vector<Range> innermostLoops(const Function &function) {
  std::map<std::string_view, size_t> labels;
  std::vector<Range> loops;
  for (size_t i = 0; i < function.lines.size(); ++i) {
    const Line &line = function.lines[i];
    if (line.isLabel) {
      labels.emplace(line.label(), i);
      continue;
    }
    // Nothing but a branch has a label that stands before it as its last operand.
    if (auto target = labels.find(lastOperandOf(line.text)); target != labels.end())
      loops.push_back({target->second, i});
  }
  std::vector<Range> inner;
  for (const Range &loop : loops)
    if (std::ranges::none_of(loops, [&](const Range &other) {
          return other.first >= loop.first && other.last <= loop.last &&
                 other.last - other.first < loop.last - loop.first;
        }))
      inner.push_back(loop);
  return inner;
}

struct Family {
  std::string_view start; // of the mnemonic
  uint32_t bits;          // of the lanes that are added to
  double flops;           // of each such lane
};

// Dot products: each lane adds several products.
constexpr Family kDots[] = {
    {"vdpbf16ps", 32, 4},  {"vdpphps", 32, 4}, {"vpdpb", 32, 8},  {"vpdpw", 32, 4}, {"vpmaddwd", 32, 4},
    {"vpmaddubsw", 16, 4}, {"pmaddwd", 32, 4}, {"bfmmla", 32, 8}, {"bfdot", 32, 4}, {"smmla", 32, 16},
    {"ummla", 32, 16},     {"usmmla", 32, 16}, {"sdot", 32, 8},   {"udot", 32, 8},  {"usdot", 32, 8},
};

// Width of an x86 register by its name; 0 for others.
uint32_t registerBits(std::string_view operand) {
  return operand.starts_with("%zmm") ? 512 : operand.starts_with("%ymm") ? 256 : operand.starts_with("%xmm") ? 128 : 0;
}

// Bits of an x86 element by the mnemonic's end, and whether there is only one.
std::optional<std::pair<uint32_t, bool>> x86Element(std::string_view mnemonic) {
  static constexpr std::pair<std::string_view, std::pair<uint32_t, bool>> kEnds[] = {
      {"ps", {32, false}}, {"pd", {64, false}}, {"ph", {16, false}}, {"bf16", {16, false}},
      {"ss", {32, true}},  {"sd", {64, true}},  {"sh", {16, true}},
  };
  for (const auto &[end, element] : kEnds)
    if (mnemonic.ends_with(end))
      return element;
  return std::nullopt;
}

double x86Flops(std::string_view instruction, bool &fused) {
  instruction = instruction.substr(0, instruction.find(" {%k")); // a mask, which says nothing of the width
  std::string_view mnemonic = mnemonicOf(instruction);
  double bits = registerBits(lastOperandOf(instruction));
  if (bits == 0)
    return 0;
  for (const Family &dot : kDots)
    if (mnemonic.starts_with(dot.start)) {
      fused = true;
      return bits / dot.bits * dot.flops;
    }
  auto element = x86Element(mnemonic);
  if (!element)
    return 0;
  double lanes = element->second ? 1 : bits / element->first;
  std::string_view name = mnemonic.starts_with('v') ? mnemonic.substr(1) : mnemonic;
  if (name.starts_with("fmadd") || name.starts_with("fmsub") || name.starts_with("fnmadd") ||
      name.starts_with("fnmsub")) {
    fused = true;
    return 2 * lanes;
  }
  for (std::string_view plain : {"mul", "add", "sub", "div", "max", "min"})
    if (name.starts_with(plain))
      return lanes;
  return 0;
}

// "v0.4s" has 4 lanes of 32 bits, "z0.s" as many as registers have; "s0" is one.
double armLanes(std::string_view operand, uint32_t vectorBits) {
  size_t point = operand.find('.');
  if (point == std::string_view::npos)
    return operand.starts_with('s') || operand.starts_with('d') || operand.starts_with('h') ? 1 : 0;
  std::string_view arrangement = operand.substr(point + 1);
  uint32_t lanes = 0;
  std::from_chars(arrangement.data(), arrangement.data() + arrangement.size(), lanes);
  if (lanes)
    return lanes;
  char type = arrangement.empty() ? 's' : arrangement.front();
  return vectorBits / (type == 'd' ? 64.0 : type == 'h' ? 16.0 : type == 'b' ? 8.0 : 32.0);
}

double armFlops(std::string_view instruction, uint32_t vectorBits, bool &fused) {
  std::string_view mnemonic = mnemonicOf(instruction);
  double lanes = armLanes(firstOperandOf(instruction), vectorBits);
  for (const Family &dot : kDots)
    if (mnemonic == dot.start) {
      fused = true;
      return lanes * dot.flops;
    }
  for (std::string_view name : {"fmla", "fmls", "fmadd", "fmsub", "fnmadd", "fnmsub", "mla", "mls", "smlal", "umlal"})
    if (mnemonic == name || (name.size() == 5 && mnemonic == std::string(name) + "2")) {
      fused = true;
      return 2 * lanes;
    }
  for (std::string_view plain : {"fmul", "fadd", "fsub", "fdiv", "fmax", "fmin"})
    if (mnemonic == plain)
      return lanes;
  return 0;
}

// The register that a multiply-add adds to.
std::string_view accumulatorOf(std::string_view instruction, std::string_view triple) {
  if (isAarch64(triple))
    return firstOperandOf(instruction);
  return lastOperandOf(instruction.substr(0, instruction.find(" {%k")));
}

// The same multiply-add with registers only, as wide as they are.
std::string peakOf(std::string_view instruction, std::string_view triple, uint32_t vectorBits) {
  std::string mnemonic(mnemonicOf(instruction));
  if (isAarch64(triple)) {
    std::string_view operand = firstOperandOf(instruction);
    size_t point = operand.find('.');
    if (point == std::string_view::npos) // one element: the vector form of the same
      return "fmla\tv0.4s, v1.4s, v2.4s";
    std::string_view rest = trimmed(instruction.substr(mnemonic.size()));
    bool narrowInputs = std::ranges::any_of(kDots, [&](const Family &dot) { return mnemonic == dot.start; });
    if (narrowInputs)
      return fmt::format("{}\t{}", mnemonic, rest);
    std::string shape(operand.substr(point));
    char name = operand.front();
    return fmt::format("{0}\t{1}0{2}, {1}1{2}, {1}2{2}", mnemonic, name, shape);
  }
  if (mnemonic.ends_with("ss") || mnemonic.ends_with("sd") || mnemonic.ends_with("sh"))
    mnemonic[mnemonic.size() - 2] = 'p';
  char width = vectorBits >= 512 ? 'z' : vectorBits >= 256 ? 'y' : 'x';
  return fmt::format("{0}\t%{1}mm0, %{1}mm1, %{1}mm2", mnemonic, width);
}

// What the lines of a loop do; nothing else is known of it.
HotLoop survey(const Function &function, std::span<const Line> lines, std::string_view triple, uint32_t vectorBits) {
  HotLoop loop;
  loop.function = function.name;
  std::map<std::string_view, double> byMnemonic;
  std::set<std::string_view> accumulators;
  double most = 0;
  std::string_view commonest;
  for (const Line &line : lines) {
    loop.lines.push_back(line.text);
    if (line.isLabel)
      continue;
    ++loop.instructions;
    bool fused = false;
    double flops = isAarch64(triple) ? armFlops(line.text, vectorBits, fused) : flopsOf(line.text, vectorBits, fused);
    loop.flops += flops;
    loop.multiplyAdds += fused;
    if (fused && accumulators.insert(accumulatorOf(line.text, triple)).second)
      loop.tileFlops += flops;
    double &sum = byMnemonic[mnemonicOf(line.text)];
    sum += fused ? flops : 0;
    if (fused && sum > most) {
      most = sum;
      commonest = line.text;
    }
  }
  if (!commonest.empty()) {
    loop.peakInstruction = peakOf(commonest, triple, vectorBits);
    bool fused = false;
    loop.peakFlops = flopsOf(loop.peakInstruction, vectorBits, fused);
  }
  return loop;
}

// Multiply-adds come before all other arithmetic: what is around a kernel has none. The kernel itself adds to the most
// registers: the loop over what is left of a tile has fewer, even where it is unrolled and so has more instructions.
bool isHotter(const HotLoop &a, const HotLoop &b) {
  if (a.tileFlops != b.tileFlops)
    return a.tileFlops > b.tileFlops;
  return a.flops > b.flops;
}

} // namespace

double flopsOf(std::string_view instruction, uint32_t vectorBits, bool &fused) {
  if (instruction.find('%') != std::string_view::npos)
    return x86Flops(instruction, fused);
  return armFlops(instruction, vectorBits, fused);
}

Result<HotLoop> findHotLoop(std::string_view assembly, std::string_view prefix, std::string_view triple,
                            uint32_t vectorBits) {
  std::optional<HotLoop> hottest, hottestFunction;
  for (const Function &function : functionsOf(assembly, isAarch64(triple) ? "//" : "#")) {
    if (!function.name.starts_with(prefix) || function.lines.empty())
      continue;
    for (const Range &range : innermostLoops(function)) {
      HotLoop loop = survey(function, std::span(function.lines).subspan(range.first, range.last - range.first + 1),
                            triple, vectorBits);
      loop.label = function.lines[range.first].label();
      if (!hottest || isHotter(loop, *hottest))
        hottest = std::move(loop);
    }
    HotLoop whole = survey(function, function.lines, triple, vectorBits);
    if (whole.instructions > 0 && (!hottestFunction || isHotter(whole, *hottestFunction)))
      hottestFunction = std::move(whole);
  }
  if (!hottestFunction)
    return notFound("the compiler's assembly holds no function whose name starts with '{}'", prefix);
  // A small kernel is unrolled as a whole: loops of its that compute nothing are not what takes the time.
  if (!hottest || (hottest->multiplyAdds == 0 && hottestFunction->multiplyAdds > 0))
    return *std::move(hottestFunction);
  return *std::move(hottest);
}

} // namespace kiln
