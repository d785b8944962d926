// Tests the buffers of a fused step on the host, for the sizes of the studies. Buffers with overlapping lifetimes do
// not overlap in memory, gradients reuse the memory of activations that are no longer needed, and the bytes equal a
// count by hand.
#include "model/fused/step_buffers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tbench/core/model_size.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kVocab = 10'000;

StepExtents extents_of(const ModelSize& size, bool has_backward) {
  return {.batch = 4,
          .context = 512,
          .d_model = size.d_model,
          .d_ff = size.d_ff,
          .q_width = size.q_width(),
          .kv_width = size.kv_width(),
          .num_layers = size.num_layers,
          .num_heads = size.num_heads,
          .vocab_size = kVocab,
          .tied = size.tied,
          .qk_norm = size.qk_norm,
          .element_bytes = 2,
          .has_backward = has_backward,
          .attention_workspace_bytes = 1'000,
          .norm_workspace_bytes = 3'000,
          .qk_norm_workspace_bytes = size.qk_norm ? 2'000 : 0};
}

std::vector<std::int64_t> gradient_bytes(const ModelSize& size) {
  std::vector<std::int64_t> bytes{4 * kVocab * size.d_model};
  const std::int64_t output = 4 * size.d_model * size.q_width(), wide = 4 * size.d_model * size.d_ff;
  const std::int64_t qkv = output + 8 * size.d_model * size.kv_width();
  for (std::int64_t layer = 0; layer < size.num_layers; ++layer) {
    for (const std::int64_t of_leaf : {4 * size.d_model, qkv, output, 2 * wide, wide, 4 * size.d_model}) {
      bytes.push_back(of_leaf);
    }
    if (size.qk_norm) bytes.insert(bytes.end(), kQkNormLeavesOfLayer, 4 * size.head_dim());
  }
  bytes.push_back(4 * size.d_model);
  if (!size.tied) bytes.push_back(4 * kVocab * size.d_model);
  return bytes;
}

ModelSize size_called(const std::string& name) {
  return *std::ranges::find(builtin_model_sizes(), name, &ModelSize::name);
}

std::int64_t sum_of(const std::vector<std::int64_t>& values) {
  std::int64_t sum = 0;
  for (const std::int64_t value : values) sum += value;
  return sum;
}

/// Range of addresses that are never read.
struct Place {
  std::uintptr_t begin{}, end{};
};

Place place_of(const void* buffer, std::int64_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
  return {.begin = begin, .end = begin + static_cast<std::uintptr_t>(bytes)};
}

bool overlap(const Place& a, const Place& b) { return a.begin < b.end && b.begin < a.end; }

TEST(StepBuffers, EveryBufferOfATrainingStepHasAPlace) {
  const ModelSize size = size_called("small");
  StepBuffers buffers{extents_of(size, true), gradient_bytes(size)};
  std::vector<std::byte> block(1);
  buffers.set_block(block.data());
  for (const LayerBuffers& layer : buffers.layers) {
    for (const void* const place :
         {static_cast<const void*>(layer.x), static_cast<const void*>(layer.normed),
          static_cast<const void*>(layer.rstd), static_cast<const void*>(layer.qkv),
          static_cast<const void*>(layer.attended), static_cast<const void*>(layer.lse),
          static_cast<const void*>(layer.x_mid), static_cast<const void*>(layer.normed_mid),
          static_cast<const void*>(layer.rstd_mid), static_cast<const void*>(layer.gate_up)}) {
      EXPECT_NE(place, nullptr);
    }
  }
  EXPECT_NE(buffers.head.dlogits, nullptr);
  EXPECT_NE(buffers.head.dlogits, buffers.head.logits);
  EXPECT_NE(buffers.scratch.dx[0], buffers.scratch.dx[1]);
  EXPECT_EQ(std::ranges::count(buffers.gradients, nullptr), 0);
}

TEST(StepBuffers, BytesOfActivationsAreThoseCountedByHand) {
  // Per token and layer: the residual stream twice in float32; the norms' outputs, qkv, attention's output, gate and up
  // in 16 bits; two rstd and lse in float32.
  const ModelSize size = size_called("small");
  const std::int64_t tokens = 2'048;
  const std::int64_t layer = tokens * (8 * size.d_model + 12 * size.d_model + 4 * size.d_ff + 8 + 4 * size.num_heads);
  // The peak is in the first layer of backward. The buffers of all layers are live then. The head's stream, norm,
  // gradients and two matrices of logits are also live, because the gradient of its weight may still read the logits.
  // Then come the layer's gradients, and the buffers between operations, twice where a weight's gradient reads them.
  const std::vector<std::int64_t> gradients = gradient_bytes(size);
  std::int64_t head = tokens * (6 * size.d_model + 4 * kVocab + 8) + gradients.back();
  for (std::size_t leaf = gradients.size() - 2 - kFusedLeavesOfLayer; leaf < gradients.size() - 2; ++leaf) {
    head += gradients[leaf];
  }
  const std::int64_t scratch = tokens * (32 * size.d_model + 6 * size.d_ff);
  const StepBuffers buffers{extents_of(size, true), gradients};
  const auto expected = static_cast<double>(size.num_layers * layer + head + scratch);
  EXPECT_NEAR(static_cast<double>(buffers.plan().least_bytes()) / expected, 1.0, 0.01);
}

TEST(StepBuffers, FewerKeyHeadsTakeAsManyFewerBytes) {
  // Heads of 64: q has 2,048 columns, k and v 512 each. The layers of `plain` have as many heads of k and v.
  const ModelSize grouped = parse_model_size("grouped:512,1024,4,32,kv_heads=8,head_dim=64");
  const ModelSize plain = parse_model_size("plain:512,1024,4,32,head_dim=64");
  const auto activations_of = [](const ModelSize& size) {
    const StepBuffers buffers{extents_of(size, true), gradient_bytes(size)};
    return buffers.plan().least_bytes();
  };
  // At the peak, four layers hold qkv, and there are two gradients of it. The gradient of its weight has d_model
  // elements fewer for each column that k and v together do not have.
  const std::int64_t columns = 2 * (2'048 - 512), of_qkv = 6 * 2 * 2'048 * columns, of_weight = 4 * 512 * columns;
  EXPECT_NEAR(static_cast<double>(activations_of(plain) - activations_of(grouped)),
              static_cast<double>(of_qkv + of_weight), 0.01 * static_cast<double>(of_qkv));
}

TEST(StepBuffers, NormsOfQAndKKeepTheirResultsToo) {
  const ModelSize plain = parse_model_size("plain:512,1024,4,8,kv_heads=2"), normed = [&] {
    ModelSize size = plain;
    size.qk_norm = true;
    return size;
  }();
  StepBuffers with{extents_of(normed, true), gradient_bytes(normed)};
  const StepBuffers without{extents_of(plain, true), gradient_bytes(plain)};
  const std::int64_t of_qk = 4 * 2 * 2'048 * (512 + 128);  // four layers in 16 bits
  EXPECT_NEAR(static_cast<double>(with.plan().least_bytes() - without.plan().least_bytes()), static_cast<double>(of_qk),
              0.01 * static_cast<double>(of_qk));
  std::vector<std::byte> block(1);
  with.set_block(block.data());
  EXPECT_EQ(with.gradients.size(), 1 + 4 * (kFusedLeavesOfLayer + kQkNormLeavesOfLayer) + 2);
  for (const LayerBuffers& layer : with.layers) EXPECT_NE(layer.qk, nullptr);
  EXPECT_NE(with.scratch.qk_norm_workspaces[0], with.scratch.qk_norm_workspaces[kPendingQkNorms - 1]);
  EXPECT_EQ(without.scratch.qk_norm_workspaces[0], nullptr);
  EXPECT_THROW((StepBuffers{extents_of(normed, true), gradient_bytes(plain)}), std::invalid_argument);
}

TEST(StepBuffers, ATiedTablesGradientHasAPlaceFromTheHeadOn) {
  const ModelSize size = parse_model_size("tied:512,1024,4,8,tied");
  const std::vector<std::int64_t> bytes = gradient_bytes(size);
  StepBuffers buffers{extents_of(size, true), bytes};
  std::vector<std::byte> block(1);
  buffers.set_block(block.data());
  ASSERT_EQ(buffers.gradients.size(), 1 + 4 * kFusedLeavesOfLayer + 1);
  const Place table = place_of(buffers.gradients.front(), bytes.front());
  for (std::size_t leaf = 1; leaf < bytes.size(); ++leaf) {
    EXPECT_FALSE(overlap(table, place_of(buffers.gradients[leaf], bytes[leaf]))) << leaf;
  }
  const std::int64_t logits = 2 * 2'048 * kVocab, stream = 4 * 2'048 * size.d_model;
  for (const Place& live : {place_of(buffers.head.dlogits, logits), place_of(buffers.scratch.dx[0], stream),
                            place_of(buffers.layers[0].x, stream), place_of(buffers.layers[3].x, stream)}) {
    EXPECT_FALSE(overlap(table, live));
  }
}

TEST(StepBuffers, ThePlanLosesLittleInEverySizeOfTheCourse) {
  for (const std::string& name : course_size_names()) {
    const ModelSize size = size_called(name);
    const StepBuffers buffers{extents_of(size, true), gradient_bytes(size)};
    EXPECT_LE(static_cast<double>(buffers.bytes()), 1.05 * static_cast<double>(buffers.plan().least_bytes())) << name;
    EXPECT_LE(buffers.gradient_bytes_at_peak(), sum_of(gradient_bytes(size))) << name;
  }
}

TEST(StepBuffers, GradientsTakeThePlacesOfActivations) {
  const ModelSize size = size_called("xl");
  const StepBuffers with_backward{extents_of(size, true), gradient_bytes(size)};
  const StepBuffers forward{extents_of(size, false), gradient_bytes(size)};
  const std::int64_t gradients = sum_of(gradient_bytes(size));
  EXPECT_GT(with_backward.bytes(), gradients);
  EXPECT_LT(with_backward.bytes(), gradients * 3 / 2) << "of 8 GB of gradients and 6 GB of activations";
  EXPECT_LT(forward.bytes(), with_backward.bytes() / 20) << "nothing is kept";
}

TEST(StepBuffers, WhatWeightsGradientsReadOutlivesTheNextLayer) {
  const ModelSize size = size_called("small");
  const std::vector<std::int64_t> bytes = gradient_bytes(size);
  StepBuffers buffers{extents_of(size, true), bytes};
  std::vector<std::byte> block(1);
  buffers.set_block(block.data());
  const std::int64_t narrow = 2 * 2'048 * size.d_model, wide = 2 * 2'048 * size.d_ff;
  for (std::size_t layer = 1; layer < buffers.layers.size(); ++layer) {
    const LayerBuffers& of = buffers.layers[layer];
    for (const Place& read : {place_of(of.normed, narrow), place_of(of.attended, narrow),
                              place_of(of.normed_mid, narrow), place_of(of.gate_up, 2 * wide)}) {
      for (std::size_t part = 0; part < kFusedLeavesOfLayer; ++part) {
        const std::size_t leaf = 1 + kFusedLeavesOfLayer * (layer - 1) + part;
        EXPECT_FALSE(overlap(read, place_of(buffers.gradients[leaf], bytes[leaf]))) << layer << ' ' << part;
      }
    }
  }
  const auto& [one, other] = buffers.scratch.of_layer;
  EXPECT_FALSE(overlap(place_of(one.h, wide), place_of(other.h, wide)));
  EXPECT_FALSE(overlap(place_of(one.dqkv, 3 * narrow), place_of(other.dqkv, 3 * narrow)));
  EXPECT_FALSE(overlap(place_of(one.dffn, narrow), place_of(other.dffn, narrow)));
  EXPECT_FALSE(overlap(place_of(one.dattention, narrow), place_of(other.dattention, narrow)));
}

TEST(StepBuffers, AChunkedHeadHoldsOneChunkOfLogits) {
  const ModelSize size = size_called("small");
  StepExtents extents = extents_of(size, true);
  const std::vector<std::int64_t> bytes = gradient_bytes(size);
  const std::int64_t whole = StepBuffers{extents, bytes}.bytes();
  extents.head_rows = 512;
  StepBuffers buffers{extents, bytes};
  std::vector<std::byte> block(1);
  buffers.set_block(block.data());
  EXPECT_EQ(buffers.head.dlogits, nullptr);
  EXPECT_NE(buffers.head.lse, nullptr);
  // Two matrices of 2,048 rows were live in backward; now one of 512 rows is live before it.
  EXPECT_LT(buffers.bytes(), whole - 2 * 2'048 * kVocab);
  const Place logits = place_of(buffers.head.logits, 2 * extents.head_rows * kVocab);
  const Place dnormed = place_of(buffers.scratch.dnormed, 2 * 2'048 * size.d_model);
  const Place dweight = place_of(buffers.gradients.back(), bytes.back());
  for (const Place& written : {dnormed, dweight}) {
    EXPECT_FALSE(overlap(written, logits));
    EXPECT_FALSE(overlap(written, place_of(buffers.head.x, 4 * 2'048 * size.d_model)));
    EXPECT_FALSE(overlap(written, place_of(buffers.head.normed, 2 * 2'048 * size.d_model)));
    EXPECT_FALSE(overlap(written, place_of(buffers.head.losses, 4 * 2'048)));
    EXPECT_FALSE(overlap(written, place_of(buffers.layers.back().x_mid, 4 * 2'048 * size.d_model)));
  }
  EXPECT_FALSE(overlap(dnormed, dweight));
}

TEST(StepBuffers, AForwardPassAloneHasNoGradients) {
  const ModelSize size = size_called("small");
  StepBuffers buffers{extents_of(size, false), gradient_bytes(size)};
  std::vector<std::byte> block(1);
  buffers.set_block(block.data());
  EXPECT_TRUE(buffers.gradients.empty());
  EXPECT_EQ(buffers.gradient_bytes_at_peak(), 0);
  EXPECT_EQ(buffers.head.dlogits, nullptr);
  EXPECT_EQ(buffers.scratch.dh, nullptr);
}

TEST(StepBuffers, AForwardPassNeedsWhatItsHeadOrOneLayerDoes) {
  for (const std::string& name : course_size_names()) {
    const ModelSize size = size_called(name);
    const StepBuffers buffers{extents_of(size, false), gradient_bytes(size)};
    const std::int64_t tokens = 2'048;
    const std::int64_t head = tokens * (2 * size.d_model + 2 * kVocab);
    const std::int64_t gate_up = tokens * (12 * size.d_model + 4 * size.d_ff);
    const std::int64_t feed_forward = tokens * (6 * size.d_model + 6 * size.d_ff);
    const std::int64_t expected = std::max({head, gate_up, feed_forward});
    EXPECT_NEAR(static_cast<double>(buffers.bytes()) / static_cast<double>(expected), 1.0, 0.08) << name;
  }
}

TEST(StepBuffers, BytesOfTheWrongNumberOfLeavesAreRefused) {
  const ModelSize size = size_called("small");
  std::vector<std::int64_t> bytes = gradient_bytes(size);
  bytes.pop_back();
  EXPECT_THROW((StepBuffers{extents_of(size, true), bytes}), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::model
