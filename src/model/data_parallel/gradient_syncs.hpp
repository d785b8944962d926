// The strategies of data parallelism, each as the gradient synchronization of a trainer's step.
#pragma once

#include <cstdint>
#include <memory>

#include "model/training/gradient_sync.hpp"
#include "model/training/trainer.hpp"
#include "tbench/model/data_parallel_case.hpp"
#include "tbench/ranks/group.hpp"

namespace tbench::model {

/// Makes a strategy's synchronization and allocates its buffers. All ranks have to call it.
/// @param bucket_bytes  size limit of a bucket; read only if the strategy has buckets
/// @param trainer       trainer of a train step; must outlive the result. With a sharded optimizer its parameters have
///                      one storage (ParameterLayout::shares)
/// @param group         group of the ranks; must outlive the result
/// @return              null for `none`
[[nodiscard]] std::unique_ptr<GradientSync> make_gradient_sync(ParallelStrategy strategy, std::int64_t bucket_bytes,
                                                               Trainer& trainer, ranks::Group& group);

// The parts of make_gradient_sync().
[[nodiscard]] std::unique_ptr<GradientSync> make_per_parameter_sync(Trainer& trainer, ranks::Group& group);
[[nodiscard]] std::unique_ptr<GradientSync> make_flat_sync(Trainer& trainer, ranks::Group& group);
[[nodiscard]] std::unique_ptr<GradientSync> make_bucketed_sync(Trainer& trainer, ranks::Group& group,
                                                               std::int64_t bucket_bytes);
[[nodiscard]] std::unique_ptr<GradientSync> make_overlapped_sync(Trainer& trainer, ranks::Group& group,
                                                                 std::int64_t bucket_bytes);
[[nodiscard]] std::unique_ptr<GradientSync> make_reducer_sync(Trainer& trainer, ranks::Group& group,
                                                              std::int64_t bucket_bytes);
[[nodiscard]] std::unique_ptr<GradientSync> make_sharded_sync(Trainer& trainer, ranks::Group& group);

}  // namespace tbench::model
