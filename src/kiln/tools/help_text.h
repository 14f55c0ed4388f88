// The layout of --help, the same in every tool: at most 80 columns, flags on the left, what they do on the right.
#ifndef KILN_TOOLS_HELP_TEXT_H
#define KILN_TOOLS_HELP_TEXT_H

#include <string>
#include <string_view>

namespace kiln {

class HelpText {
public:
  // Wrapped.
  void paragraph(std::string_view text);
  // An empty line, and a title that ends with a colon.
  void heading(std::string_view title);
  // "  left      right", wrapped. Backquotes only mark code in Markdown and are left out.
  void item(std::string_view left, std::string_view right);
  // A shell command, indented; a long one goes on after a backslash.
  void command(std::string_view text);

  const std::string &text() const { return out; }

private:
  std::string out;
};

} // namespace kiln

#endif // KILN_TOOLS_HELP_TEXT_H
