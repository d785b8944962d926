#include "page_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "tbench/core/error.hpp"
#include "tbench/report/durable_file.hpp"

namespace tbench::tool {

void check_page_path(const std::string& path, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code missing;
    if (!std::filesystem::equivalent(input, path, missing)) continue;
    throw UsageError{fmt::format("-o: '{}' is what the page is made from; give the page another name", path)};
  }
}

void write_page(const std::string& path, const std::string& page) {
  try {
    report::write_atomically(path, page);
  } catch (const std::system_error& error) {
    throw UsageError{fmt::format("-o: {}; give a file in a folder that exists and can be written", error.what())};
  }
}

}  // namespace tbench::tool
