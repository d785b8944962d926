// Any bytes as a night's report, which a history keeps as JSON: it is read or refused; and what was read is written and
// read again as the same, and can be printed.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "tbench/report/night_export.hpp"
#include "tbench/report/night_page.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbench::report;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  NightReport night;
  try {
    night = night_from_json(Json::parse(text));
  } catch (const nlohmann::json::exception&) {
    return 0;
  } catch (const std::runtime_error&) {
    return 0;
  }
  if (night_from_json(night_to_json(night)) != night) std::abort();
  static_cast<void>(night_page(night, {.markdown = true}));
  static_cast<void>(night_page(night, {.max_width = 40}));
  static_cast<void>(night_to_junit(night, true));
  return 0;
}
