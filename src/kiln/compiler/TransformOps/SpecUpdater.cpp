#include "kiln/compiler/TransformOps/SpecUpdater.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace kiln {

namespace {

// A piece of the text. All pieces together are the text, byte for byte.
struct Token {
  enum Kind { Space, Comment, String, Word, Value, Punctuation } kind;
  std::string text;
};

// Words are names of ops, keywords and numbers; values start with %. Attributes and types, #a.b and !a.b, are words
// with their sign, so that nothing in them is taken for an op.
class Lexer {
public:
  explicit Lexer(std::string_view text) : rest(text) {}

  std::vector<Token> run() {
    while (!rest.empty())
      next();
    return std::move(tokens);
  }

private:
  static bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static bool isWordChar(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$';
  }

  void take(Token::Kind kind, size_t length) {
    tokens.push_back({kind, std::string(rest.substr(0, length))});
    rest.remove_prefix(length);
  }

  void next() {
    char c = rest.front();
    if (isSpace(c))
      return take(Token::Space, endOf(isSpace, 1));
    if (rest.starts_with("//"))
      return take(Token::Comment, std::min(rest.find('\n'), rest.size()));
    if (c == '"')
      return take(Token::String, stringLength());
    if (c == '%')
      return take(Token::Value, endOf(isWordChar, 1));
    if (c == '#' || c == '!' || c == '@' || c == '^')
      return take(Token::Word, endOf(isWordChar, 1));
    if (isWordChar(c))
      return take(Token::Word, endOf(isWordChar, 0));
    if (rest.starts_with("->"))
      return take(Token::Punctuation, 2);
    take(Token::Punctuation, 1);
  }

  // Of characters of a kind.
  size_t endOf(bool (*isOfKind)(char), size_t from) const {
    return static_cast<size_t>(std::find_if_not(rest.begin() + from, rest.end(), isOfKind) - rest.begin());
  }

  // With the quotes; up to the end of the line where the closing quote is missing.
  size_t stringLength() const {
    for (size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == '\\')
        ++i;
      else if (rest[i] == '"')
        return i + 1;
      else if (rest[i] == '\n')
        return i;
    }
    return rest.size();
  }

  std::string_view rest;
  std::vector<Token> tokens;
};

class Updater {
public:
  explicit Updater(std::string_view text) : tokens(Lexer(text).run()) {}

  std::string run() {
    for (size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i].kind == Token::Word)
        updateOp(i);
    std::string text;
    for (const Token &token : tokens)
      text += token.text;
    return text;
  }

private:
  using Index = std::optional<size_t>;

  void updateOp(size_t at) {
    std::string &op = tokens[at].text;
    for (std::string_view prefix : {"transform.", "transform.apply_patterns."})
      if (op.starts_with(prefix) && op.compare(prefix.size(), 5, "iree.") == 0)
        op.replace(prefix.size(), 4, "kiln");
    if (op == "transform.structured.tile_to_forall_op") {
      op = "transform.structured.tile_using_forall";
      swapResults(at);
    } else if (op == "transform.structured.tile") {
      op = "transform.structured.tile_using_for";
      if (Index sizes = nextAtDepth0(at, "["))
        tokens[*sizes].text = "tile_sizes [";
    } else if (op == "transform.structured.vectorize") {
      Index colon = nextAtDepth0(at, ":");
      Index type = colon ? skipSpace(*colon + 1, +1) : std::nullopt;
      if (type && tokens[*type].text == "(")
        op = "transform.structured.vectorize_children_and_apply_patterns";
    } else if (op == "transform.structured.masked_vectorize") {
      op = "transform.structured.vectorize";
    }
  }

  // Exchanges the two results of the op at `at`: their names, and their types where these differ.
  void swapResults(size_t at) {
    Index equals = skipSpace(at, -1, /*step=*/true);
    if (!equals || tokens[*equals].text != "=")
      return;
    Index second = skipSpace(*equals, -1, true);
    if (!second)
      return;
    if (tokens[*second].text == "2") { // %r:2 = ...
      Index colon = skipSpace(*second, -1, true);
      Index pack = colon ? skipSpace(*colon, -1, true) : std::nullopt;
      if (pack && tokens[*colon].text == ":" && tokens[*pack].kind == Token::Value)
        swapPackUses(at, tokens[*pack].text);
    } else if (tokens[*second].kind == Token::Value) {
      Index comma = skipSpace(*second, -1, true);
      Index first = comma ? skipSpace(*comma, -1, true) : std::nullopt;
      if (!first || tokens[*comma].text != "," || tokens[*first].kind != Token::Value)
        return;
      std::swap(tokens[*first].text, tokens[*second].text);
    } else {
      return;
    }
    swapResultTypes(at);
  }

  // %r#0 becomes %r#1 and the other way round, up to where %r gets another meaning.
  void swapPackUses(size_t at, const std::string &pack) {
    for (size_t i = at + 1; i + 1 < tokens.size(); ++i) {
      if (tokens[i].kind != Token::Value || tokens[i].text != pack)
        continue;
      std::string &number = tokens[i + 1].text;
      if (number == "#0")
        number = "#1";
      else if (number == "#1")
        number = "#0";
      else if (number == ":")
        return;
    }
  }

  void swapResultTypes(size_t at) {
    Index arrow = nextAtDepth0(at, "->");
    Index open = arrow ? skipSpace(*arrow, +1, true) : std::nullopt;
    if (!open || tokens[*open].text != "(")
      return;
    int depth = 0;
    Index comma, close;
    for (size_t i = *open + 1; i < tokens.size() && !close; ++i) {
      std::string_view text = tokens[i].text;
      if (depth == 0 && text == ",")
        comma = i;
      else if (depth == 0 && text == ")")
        close = i;
      else if (text == "<" || text == "(" || text == "[")
        ++depth;
      else if (text == ">" || text == ")" || text == "]")
        --depth;
    }
    if (!comma || !close)
      return;
    Index from = skipSpace(*comma, +1, true);
    std::vector<Token> first(tokens.begin() + *open + 1, tokens.begin() + *comma);
    std::vector<Token> gap(tokens.begin() + *comma, tokens.begin() + *from);
    std::vector<Token> second(tokens.begin() + *from, tokens.begin() + *close);
    auto out = tokens.begin() + *open + 1;
    for (const auto *part : {&second, &gap, &first})
      out = std::copy(part->begin(), part->end(), out);
  }

  // The next token of this text outside of brackets, after `at`.
  Index nextAtDepth0(size_t at, std::string_view wanted) const {
    int depth = 0;
    for (size_t i = at + 1; i < tokens.size(); ++i) {
      if (tokens[i].kind != Token::Punctuation)
        continue;
      std::string_view text = tokens[i].text;
      if (depth == 0 && text == wanted)
        return i;
      if (text == "(" || text == "[" || text == "{")
        ++depth;
      else if (text == ")" || text == "]" || text == "}")
        --depth;
      if (depth < 0)
        return std::nullopt;
    }
    return std::nullopt;
  }

  // The first token from `at` on (beyond it, with `step`) that is neither space nor comment, in one direction.
  Index skipSpace(size_t at, int direction, bool step = false) const {
    ptrdiff_t i = static_cast<ptrdiff_t>(at) + (step ? direction : 0);
    for (; i >= 0 && i < static_cast<ptrdiff_t>(tokens.size()); i += direction)
      if (tokens[i].kind != Token::Space && tokens[i].kind != Token::Comment)
        return static_cast<size_t>(i);
    return std::nullopt;
  }

  std::vector<Token> tokens;
};

} // namespace

std::string updateSpec(std::string_view text) {
  return Updater(text).run();
}

} // namespace kiln
