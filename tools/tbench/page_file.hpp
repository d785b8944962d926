// Where an HTML page goes.
#pragma once

#include <span>
#include <string>

namespace tbench::tool {

/// @param inputs  files that the page is made from: it must not replace one of them
/// @throws        UsageError  if it would
void check_page_path(const std::string& path, std::span<const std::string> inputs);

/// Writes the page that `-o` asks for, as a whole or not at all.
/// @throws  UsageError  if it cannot be written
void write_page(const std::string& path, const std::string& page);

}  // namespace tbench::tool
