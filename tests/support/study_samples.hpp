// Makes a study's tables for tests: a number, a status and a case that was not measured.
#pragma once

#include "tbench/studies/study_report.hpp"

namespace tbench::support {

inline studies::StudyReport study_report_sample() {
  return {.title = "mine: A study",
          .sources = {"a_1.json: GPU H200"},
          .answers = {},
          .sections = {{.caption = "Caption & more",
                        .columns = {{"size", render::Align::kLeft},
                                    {"ms", render::Align::kRight},
                                    {"r²", render::Align::kRight}},
                        .rows = {{{"small", 0}, {"1.5*", 0}, {"0.99", 0}},
                                 {{"a<b|c", 0}, {"", 2}, {"", 0}},
                                 {{"x_y", 0}, {"OOM", 0}, {"", 0}}}}},
          .notes = {"* unstable"},
          .commands = {"bench --all", "bench --filter='a|b'"}};
}

}  // namespace tbench::support
