// Feeds any bytes as rules for classes of kernels. They are read and can be applied, or refused with a message of one
// line.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tbench/core/error.hpp"
#include "tbench/profile/kernel_rules.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbench::profile;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const KernelRules rules = KernelRules::parse(text, "rules.txt");
    for (const char* name :
         {"nvjet_sm90_hsh_64x256_64x5_1x2_h_bz_NTN", "_Z4spiny", "",
          "void at::native::(anonymous namespace)::softmax_warp_forward<float, float, float, 9, false, "
          "false>(float*, float const*, int, int, int, bool const*, int, bool)"}) {
      static_cast<void>(rules.classify(name));
    }
  } catch (const tbench::UsageError& error) {
    if (std::string_view{error.what()}.empty()) std::abort();
  }
  return 0;
}
