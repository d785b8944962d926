// Feeds any bytes as the JSON report of a nightly run. It is read or refused. A report that was read is written and
// read again unchanged, and can be printed.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "tbench/gate/gate_output.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbench::gate;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  GateReport night;
  try {
    night = report_from_json(tbench::results::Json::parse(text));
  } catch (const nlohmann::json::exception&) {
    return 0;
  } catch (const std::runtime_error&) {
    return 0;
  }
  if (report_from_json(report_to_json(night)) != night) std::abort();
  static_cast<void>(report_page(night, {.markdown = true}));
  static_cast<void>(report_page(night, {.max_width = 40}));
  static_cast<void>(report_to_junit(night, true));
  return 0;
}
