// `causal`: the time that a causal mask saves attention. As src/studies/NAME.cpp it is a study.
#include "studies/engine/studies.hpp"

namespace tbench::studies::causal {
namespace {

Study causal_study() {
  return {.name = "causal",
          .title = "Attention with and without a causal mask",
          .grids = {{.family = "Attention",
                     .axes = {{"batch", {"8"}},
                              {"heads", {"1"}},
                              {"d_model", {"64"}},
                              {"seq_len", {"1024", "4096", "16384"}},
                              {"causal", {"0", "1"}},
                              {"pass", {"forward"}},
                              {"precision", {"bf16"}},
                              {"impl", {"naive", "sdpa_flash", "flash"}}}}},
          .tables = {{.caption = "Median ms by length and implementation. A speed-up is the time without the mask over "
                                 "the time with it: 2 where nothing masked is computed",
                      .spread = {"causal"},
                      .columns = {step_time_column()},
                      .speed_up = StudySpeedUp{.base = {{"causal", "0"}}}}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "causal", .order = 1000, .make = &causal_study});

}  // namespace
}  // namespace tbench::studies::causal
