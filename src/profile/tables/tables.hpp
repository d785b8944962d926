// The tables of a profile, one function each. What each shows is in src/profile/README.md.
#pragma once

#include "profile/tables/table_source.hpp"
#include "tbench/render/table.hpp"

namespace tbench::profile {

/// Of class `other`, of the operations' time: with more, a reader is told.
inline constexpr double kMaxOtherShare = 0.02;

// range_tables.cpp
[[nodiscard]] render::Table ranges_table(const TableSource& source);
[[nodiscard]] render::Table softmax_vs_matmul_table(const TableSource& source);

// kernel_tables.cpp
[[nodiscard]] render::Table phases_table(const TableSource& source);
[[nodiscard]] render::Table gemm_share_table(const TableSource& source);
[[nodiscard]] render::Table top_kernels_table(const TableSource& source);
[[nodiscard]] render::Table kernels_table(const TableSource& source);
[[nodiscard]] render::Table non_gemm_table(const TableSource& source);
[[nodiscard]] render::Table classes_table(const TableSource& source);

// launch_tables.cpp
[[nodiscard]] render::Table devices_table(const TableSource& source);
[[nodiscard]] render::Table launches_table(const TableSource& source);
[[nodiscard]] render::Table calls_table(const TableSource& source);
[[nodiscard]] render::Table copies_table(const TableSource& source);

}  // namespace tbench::profile
