// The strategies of data parallelism, each as the exchange of a trainer's step.
#pragma once

#include <cstdint>
#include <memory>

#include "model/training/gradient_exchange.hpp"
#include "model/training/trainer.hpp"
#include "tbench/model/data_parallel_case.hpp"
#include "tbench/ranks/group.hpp"

namespace tbench::model {

/// Allocates its buffers. All ranks make one.
/// @param bucket_bytes  read where the strategy has buckets
/// @param trainer       of a train step, which outlives the exchange; with a share of the optimizer its parameters have
///                      one storage (ParameterLayout::shares)
/// @param group         outlives the exchange
/// @return              null for `none`
[[nodiscard]] std::unique_ptr<GradientExchange> make_exchange(ParallelStrategy strategy, std::int64_t bucket_bytes,
                                                              Trainer& trainer, ranks::Group& group);

// The parts of make_exchange().
[[nodiscard]] std::unique_ptr<GradientExchange> make_naive_exchange(Trainer& trainer, ranks::Group& group);
[[nodiscard]] std::unique_ptr<GradientExchange> make_flat_exchange(Trainer& trainer, ranks::Group& group);
[[nodiscard]] std::unique_ptr<GradientExchange> make_bucketed_exchange(Trainer& trainer, ranks::Group& group,
                                                                       std::int64_t bucket_bytes);
[[nodiscard]] std::unique_ptr<GradientExchange> make_overlapped_exchange(Trainer& trainer, ranks::Group& group,
                                                                         std::int64_t bucket_bytes);
[[nodiscard]] std::unique_ptr<GradientExchange> make_reducer_exchange(Trainer& trainer, ranks::Group& group,
                                                                      std::int64_t bucket_bytes);
[[nodiscard]] std::unique_ptr<GradientExchange> make_sharded_exchange(Trainer& trainer, ranks::Group& group);

}  // namespace tbench::model
