#include "tbench/render/wrap.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/core/text.hpp"

namespace tbench::render {
namespace {

/// Divides a command at the spaces outside of quotation marks. The words keep their quotation marks.
std::vector<std::string> shell_words(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char c : command) {
    if (c == ' ' && quote == 0) {
      words.push_back(std::exchange(word, {}));
      continue;
    }
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    word += c;
  }
  words.push_back(std::move(word));
  return words;
}

}  // namespace

std::string divided_names(std::string_view text, std::size_t room) {
  std::string divided;
  for (std::string word : split(text, ' ')) {
    if (!divided.empty()) divided += ' ';
    while (word.size() > room) {
      const std::size_t slash = room == 0 ? std::string::npos : word.rfind('/', room - 1);
      if (slash == std::string::npos) break;
      divided += word.substr(0, slash + 1) + " ";
      word.erase(0, slash + 1);
    }
    divided += word;
  }
  return divided;
}

std::string wrapped_text(std::string_view text, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  std::vector<std::string> lines;
  add_wrapped(lines, "", text, kIndent, width);
  return join(lines, "\n") + "\n";
}

std::string command_lines(std::string_view begin, std::string_view command, std::size_t indent, std::size_t width) {
  constexpr std::size_t kContinuation = 2;  // a space and a backslash
  std::string text;
  std::string line{begin};
  bool is_begin = true;
  for (const std::string& word : shell_words(command)) {
    if (!is_begin && display_width(line) + 1 + display_width(word) + kContinuation > width) {
      text += line + " \\\n";
      line = std::string(indent, ' ');
      is_begin = true;
    }
    line += is_begin ? word : " " + word;
    is_begin = false;
  }
  return text + line + "\n";
}

}  // namespace tbench::render
