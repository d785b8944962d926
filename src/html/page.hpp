// The parts that the pages of this layer share: their frame and embedded files, the form of their data, and the data of
// a record.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "html/plots/compared_files.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/step_trace.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::html {

// The assembly of the pages, with scripts and without, and the form of their data.

/// A file of src/html/assets/: frame, style or script.
struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view content;
};

/// The embedded files, in no particular order. The definition is written at build time (tools/cmake/EmbedFiles.cmake).
[[nodiscard]] std::span<const EmbeddedFile> html_assets();

/// Returns the content of an embedded file.
/// @throws  std::logic_error  for an unknown name
[[nodiscard]] std::string_view html_asset(std::string_view name);

/// The parts in which a page differs from others; assets/frame.html has the rest. Texts are inserted as markup.
struct HtmlPage {
  std::string_view title;
  std::string_view heading;
  std::string_view filter_label;
  std::string_view main;                  // the embedded file with the content below the filters
  std::vector<std::string_view> scripts;  // embedded files, which run in this order after the frame's scripts
  std::string figures{};                  // markup of the charts; may be empty
};

/// Returns the frame with `{{data}}` and `{{figures}}` replaced by the packed() data and charts, and any other
/// `{{name}}` by the page's member or the embedded file of that name. Inserted text is not searched again. The list
/// `records` of the data becomes an object of columns.
[[nodiscard]] std::string html_page(const HtmlPage& page, const results::Json& data);

/// Returns a text in the form that the frame's scripts inflate: gzip in base64, or an empty text for an empty one.
/// Charts and records are a tenth to a quarter as long in it.
[[nodiscard]] std::string packed(std::string_view text);

/// Rounds `value` to the given number of significant digits, which keeps its JSON text short.
[[nodiscard]] double rounded(double value, int digits);

/// Converts a number for the page: exact if it is whole, otherwise with six digits.
[[nodiscard]] results::Json page_number(double value);

/// The families of a page, each with the union of its cases' keys. Cases refer to their family by index and have one
/// value per key, so that no name is written twice.
class PageFamilies {
 public:
  /// Returns the index of the case's family. Adds the family and the keys that are new.
  std::size_t index_of(const CaseId& id);
  /// Returns one value per key of the case's family, null where the case has none.
  [[nodiscard]] results::Json values(const CaseId& id) const;
  /// Returns an object with `name` and `keys` per family.
  [[nodiscard]] results::Json json() const;

 private:
  struct Family {
    std::string name;
    std::vector<std::string> keys;
  };
  std::vector<Family> families_;
};

/// Returns html_data() with comparisons that were made before.
[[nodiscard]] results::Json report_data(std::span<const results::NamedResults> results,
                                        std::span<const FileComparison> comparisons);

/// Returns one object per comparison, in the form that html_data() describes.
/// @param families  the families of all files
[[nodiscard]] results::Json html_comparisons(std::span<const FileComparison> comparisons, PageFamilies& families);

/// Returns a whole document with the pages' style, which neither loads files nor runs scripts.
/// @param title  text, which is escaped here
/// @param body   markup below the title
[[nodiscard]] std::string plain_page(std::string_view title, std::string_view body);

/// Returns a paragraph of small print.
/// @param text  text, which is escaped here
[[nodiscard]] std::string note_html(std::string_view text);

// Data of a record other than its counters: from its trace, the gaps between kernels, and the GPU's time by phase,
// class of operation and range.

/// The names of the phases, classes and ranges in all traces of a page. Traces refer to them by index.
class TraceNames {
 public:
  /// Returns one trace, all per step, as three lists of numbers:
  ///   span, device, gaps of the host, the device's own and others in ms; the longest gap in us; kernels; launches
  ///   four numbers for each class in each phase, in the order of the trace: phase and class (indexes), ms, operations
  ///   three numbers for each range with time on the GPU, in the order of the trace: its path relative to the enclosing
  ///   range (index of a name), the enclosing range (index in this list, -1 if there is none), ms
  [[nodiscard]] results::Json trace(const StepTrace& trace);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  [[nodiscard]] results::Json ranges(const StepTrace& trace);
  std::size_t index_of(const std::string& name);
  std::vector<std::string> names_;
};

}  // namespace tbench::html
