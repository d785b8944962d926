#include "model_reference.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

namespace tbench::model {
namespace {

struct ReferenceFile {
  nlohmann::json header;
  std::map<std::string, at::Tensor> tensors;
};

at::ScalarType dtype_named(const std::string& name) {
  const std::map<std::string, at::ScalarType> dtypes{
      {"float32", at::kFloat}, {"float64", at::kDouble}, {"int64", at::kLong}};
  return dtypes.at(name);
}

ReferenceFile read_reference() {
  const std::string stem = std::string{TBENCH_TEST_DATA} + "/model_reference";
  std::ifstream json_file{stem + ".json"};
  std::ifstream data_file{stem + ".bin", std::ios::binary};
  if (!json_file || !data_file) throw std::runtime_error{"cannot read " + stem + ".json and .bin"};
  const std::vector<char> data{std::istreambuf_iterator<char>{data_file}, {}};
  ReferenceFile file{.header = nlohmann::json::parse(json_file), .tensors = {}};
  for (const auto& entry : file.header.at("tensors")) {
    const at::Tensor tensor = at::empty(entry.at("shape").get<std::vector<std::int64_t>>(),
                                        at::TensorOptions{}.dtype(dtype_named(entry.at("dtype"))));
    const std::size_t offset = entry.at("offset");
    if (offset + tensor.nbytes() > data.size()) throw std::runtime_error{stem + ".bin is too short"};
    std::memcpy(tensor.data_ptr(), data.data() + offset, tensor.nbytes());
    file.tensors.emplace(entry.at("name"), tensor);
  }
  return file;
}

const ReferenceFile& reference_file() {
  static const ReferenceFile file = read_reference();
  return file;
}

}  // namespace

at::Tensor reference_tensor(const std::string& name) {
  const auto found = reference_file().tensors.find(name);
  if (found == reference_file().tensors.end()) throw std::runtime_error{"no reference tensor " + name};
  return found->second;
}

ModelStepConfig reference_config(const std::string& impl, Pass pass, Precision precision) {
  const auto& config = reference_file().header.at("config");
  return {.size = {.name = "reference",
                   .d_model = config.at("d_model"),
                   .d_ff = config.at("d_ff"),
                   .num_layers = config.at("num_layers"),
                   .num_heads = config.at("num_heads")},
          .context = config.at("context"),
          .batch = config.at("batch"),
          .pass = pass,
          .precision = precision,
          .impl = impl,
          .device = DeviceKind::kCpu,
          .seed = 1,
          .vocab_size = config.at("vocab_size")};
}

void load_initial_values(const Parameters& parameters) {
  const at::NoGradGuard no_grad;
  for (const auto& parameter : parameters.named()) parameter.value.copy_(reference_tensor("initial/" + parameter.name));
}

double relative_error(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor wide = expected.detach().to(at::kDouble);
  return actual.detach().to(at::kDouble).sub(wide).norm().item<double>() / wide.norm().item<double>();
}

}  // namespace tbench::model
