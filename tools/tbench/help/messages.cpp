#include "messages.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tbench/render/terminal.hpp"
#include "tbench/render/wrap.hpp"

namespace tbench::tool {

void say(std::string_view text) {
  const std::string lines = render::wrapped_text(render::one_line(text), render::console_width(STDERR_FILENO));
  static_cast<void>(std::fputs(lines.c_str(), stderr));
}

void print_line(std::string_view text) {
  fmt::print("{}", render::wrapped_text(render::one_line(text), render::console_width(STDOUT_FILENO)));
}

void warn(std::string_view text) { say(fmt::format("warning: {}", text)); }

void note(std::string_view text) { say(fmt::format("note: {}", text)); }

}  // namespace tbench::tool
