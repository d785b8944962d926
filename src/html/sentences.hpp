// How the summary's sentences are put together.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tbench::html {

/// `1 case`, `2 cases`.
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

/// What a program said, so that it does not fill the page: the table has all of it.
[[nodiscard]] std::string shortened(std::string_view text);

/// With a capital and a full stop.
[[nodiscard]] std::string sentence(std::string text);

/// The first three, and how many there are besides.
[[nodiscard]] std::string listed(std::span<const std::string> entries, std::string_view separator);

}  // namespace tbench::html
