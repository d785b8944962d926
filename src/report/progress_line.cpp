#include "tbench/report/progress_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "tbench/report/number_format.hpp"
#include "tbench/report/text_width.hpp"

namespace tbench::report {
namespace {

constexpr std::size_t kDefaultWidth = 80;  // of a terminal that does not tell
constexpr std::size_t kLeastNameWidth = 8;
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

std::optional<std::size_t> terminal_width(int descriptor) {
  if (::isatty(descriptor) == 0) return std::nullopt;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col;
}

std::string progress_text(const Progress& progress, std::size_t width) {
  const std::string before = fmt::format("[{}/{}] ", progress.number, progress.count);
  std::string after = fmt::format(" · {} · {} elapsed", progress.activity, format_clock(progress.elapsed));
  if (progress.remaining) after += fmt::format(", about {} left", format_clock(*progress.remaining));
  const std::size_t taken = display_width(before) + display_width(after);
  const std::size_t room = std::max(kLeastNameWidth, width > taken ? width - taken : 0);
  return fit(before + fit(progress.name, room) + after, width);
}

void ProgressLine::update(const Progress& progress) {
  if (!width_) return;
  // A full last column makes some terminals go to the next line.
  const std::size_t width = *width_ > 1 ? *width_ - 1 : 1;
  fmt::print(out_, "{}{}", kEraseLine, progress_text(progress, width));
  std::fflush(out_);
  is_shown_ = true;
}

void ProgressLine::clear() {
  if (!is_shown_) return;
  fmt::print(out_, "{}", kEraseLine);
  std::fflush(out_);
  is_shown_ = false;
}

}  // namespace tbench::report
