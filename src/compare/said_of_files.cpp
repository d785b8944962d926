#include "compare/said_of_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tbench/core/text.hpp"

namespace tbench::compare {

using Texts = std::vector<std::string>;

Texts said_once(const Texts& of_base, const Texts& of_next) {
  struct Said {
    std::string file;  // name in quotes; empty if the sentence is not about a file
    std::string text;
    std::size_t others{};
  };
  std::vector<Said> all;
  for (const Texts* const side : {&of_base, &of_next}) {
    for (const std::string& sentence : *side) {
      const std::size_t end = sentence.starts_with('\'') ? sentence.find("': ") : std::string::npos;
      Said said{.file = end == std::string::npos ? "" : sentence.substr(0, end + 1),
                .text = end == std::string::npos ? sentence : sentence.substr(end + 1)};
      const auto before = std::ranges::find(all, said.text, &Said::text);
      if (said.file.empty() || before == all.end()) {
        all.push_back(std::move(said));
      } else if (before->file != said.file) {
        ++before->others;
      }
    }
  }
  Texts sentences;
  for (const auto& [file, text, others] : all) {
    sentences.push_back(others == 0 ? file + text : fmt::format("{} and {}{}", file, counted(others, "other"), text));
  }
  return sentences;
}

}  // namespace tbench::compare
