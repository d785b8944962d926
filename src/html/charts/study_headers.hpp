// What the headers and captions of a study's tables say that their numbers are.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbench::html {

/// Keys whose values have a colour each: of a section the first that has several.
inline constexpr std::array<std::string_view, 3> kColouredKeys{"impl", "op", "strategy"};

using StudyKeys = std::vector<std::pair<std::string, std::string>>;  // and values

/// A column of numbers: `ctx:512 impl:flash forward ms` is of these keys, and its quantity is `forward ms`.
struct StudyQuantity {
  StudyKeys keys;
  std::string name;
};

[[nodiscard]] StudyQuantity quantity_of(const std::string& header);

/// Whether a quantity follows from others: a speed-up, a change, a fit, a deviation.
[[nodiscard]] bool is_derived(const std::string& quantity);

/// What a caption says that its numbers are, where no header does: `Median ms` of `Model batch:4. Median ms by context;
/// ...`.
[[nodiscard]] std::string quantity_of_caption(const std::string& caption);

/// Empty for a key that there is not.
[[nodiscard]] std::string value_of(const StudyKeys& keys, std::string_view key);

/// The values of `of` as a name, numbers behind their key: `ctx 512 flash`.
[[nodiscard]] std::string joined(const StudyKeys& keys, const std::vector<std::string>& of);
/// Of all keys.
[[nodiscard]] std::string joined(const StudyKeys& keys);

}  // namespace tbench::html
