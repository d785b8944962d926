// The parts that the pages of this layer share: their frame and files, with scripts and without, the form of their
// data, and the data of a record.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/compare/comparison.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/step_trace.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::html {

// How the pages of this layer are put together, with scripts and without, and how their data is written.

/// A part of the pages as it is in src/html/assets/: frame, style, scripts, chart library.
struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view content;
};

/// The embedded files, in no particular order. The definition is written at build time (tools/cmake/EmbedFiles.cmake).
[[nodiscard]] std::span<const EmbeddedFile> html_assets();

/// Returns the content of an embedded file.
/// @throws  std::logic_error  for an unknown name
[[nodiscard]] std::string_view html_asset(std::string_view name);

/// The parts of a page that are its own: html/frame.html has the rest. Texts are markup as they are.
struct HtmlPage {
  std::string_view title;
  std::string_view heading;
  std::string_view filter_label;
  std::string_view main;                  // the embedded file with what comes below the filters
  std::vector<std::string_view> scripts;  // embedded files, run in this order after those of the frame
};

/// The frame, its `{{name}}` replaced by the page's member or else the embedded file of that name, and `{{data}}` by
/// `data`. What is put in is not looked at again, so no text of the data can name a file or be markup.
[[nodiscard]] std::string html_page(const HtmlPage& page, const results::Json& data);

/// Rounds `value` to the given number of significant digits, which keeps its JSON text short.
[[nodiscard]] double rounded(double value, int digits);

/// Converts a number for the page: exact if it is whole, otherwise with six digits.
[[nodiscard]] results::Json page_number(double value);

/// The families of a page, each with the union of its cases' keys: cases name their family by its index and have one
/// value a key, so that no name is written twice.
class PageFamilies {
 public:
  /// Adds family and keys where they are new.
  std::size_t index_of(const CaseId& id);
  /// One value a key, null where the case has none.
  [[nodiscard]] results::Json values(const CaseId& id) const;
  /// Pairs of `name` and `keys`.
  [[nodiscard]] results::Json json() const;

 private:
  struct Family {
    std::string name;
    std::vector<std::string> keys;
  };
  std::vector<Family> families_;
};

/// The comparison of `tbench diff` of a file with the first one.
struct FileComparison {
  std::size_t file{};  // index
  std::optional<compare::Comparison> comparison;
  std::string refused;  // reason if the files must not or cannot be compared
};

/// One for every file but the first.
[[nodiscard]] std::vector<FileComparison> compare_with_first(std::span<const results::NamedResults> results);

/// One object a comparison, its layout in html_data.
/// @param families  has the families of all files
[[nodiscard]] results::Json html_comparisons(std::span<const FileComparison> comparisons, PageFamilies& families);

/// A whole document with the pages' style, that loads and runs nothing.
/// @param title  a text; escaped here
/// @param body   markup, after the title
[[nodiscard]] std::string plain_page(std::string_view title, std::string_view body);

/// A paragraph of small print.
/// @param text  escaped here
[[nodiscard]] std::string note_html(std::string_view text);

// The data of a record besides its numbers: from its trace the GPU's time by phase and class of operation and by range,
// and the gaps; and the bytes of its roofline.

/// Phases, classes and ranges of all traces of a page, which name them by their indexes.
class TraceNames {
 public:
  /// Returns one trace, all per step, as three lists of numbers:
  ///   span, device, gaps of the host, the device's own and others in ms; the longest gap in us; kernels; launches
  ///   four numbers for each class in each phase, in the order of the trace: phase and class (indexes), ms, operations
  ///   three numbers for each range with time on the GPU, in the order of the trace: what its path has behind the path
  ///   of the range around it (index of a name), that range (index in this list; -1: none), ms
  [[nodiscard]] results::Json trace(const StepTrace& trace);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  [[nodiscard]] results::Json ranges(const StepTrace& trace);
  std::size_t index_of(const std::string& name);
  std::vector<std::string> names_;
};

/// Bytes that a case moves between memory and the GPU at the very least, whoever computes it: those that its family
/// counts; of matrix products, and of attention's forward and backward, inputs and outputs once. Returns nullopt for
/// other cases.
[[nodiscard]] std::optional<double> least_bytes(const Record& record);

}  // namespace tbench::html
