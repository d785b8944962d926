// The value of --tb_size: a size in numbers, or the config.json of a published model.
#pragma once

#include <string>

#include "tbench/core/model_size.hpp"

namespace tbench::bench {

/// Parses `NAME:@FILE` or what parse_model_size() parses. FILE is a config.json as Hugging Face's transformers write
/// it, with model_type llama, mistral or qwen3. The angles of RoPE are not scaled (rope_scaling): the work is the same.
/// @throws  UsageError  naming the file and the key: a file that cannot be read, another model_type, a missing number,
///                      biases, a rotation of a part of each head, a sliding window, and what parse_model_size()
///                      refuses
[[nodiscard]] ModelSize parse_size_option(const std::string& text);

}  // namespace tbench::bench
