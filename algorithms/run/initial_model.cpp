#include "actors/torch/torch.hpp"

#include "algorithms/run/initial_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "actors/environments/obs_scale.hpp"
#include "actors/networks/named_tensors.hpp"
#include "algorithms/run/model_path.hpp"

namespace troupe {

namespace {

/// The first difference between the network of a model and that of a run; empty if there is none.
std::string first_difference(const saved_model& model, const network_shape& shape,
                             const network_options& network) {
  if (model.options.kind != network.kind) {
    return fmt::format("its kind of network is {}, expected {}", to_string(model.options.kind),
                       to_string(network.kind));
  }
  if (!fits(model.shape, shape) && model.shape.parts != shape.parts) {
    return fmt::format("its network is for {}, expected {}", to_string(model.shape),
                       to_string(shape));
  }
  const auto layout = layout_of(model.shape, model.options);
  const auto tensors = difference(layout, layout_of(shape, network));
  if (!tensors.empty()) return tensors;
  if (model.options.hidden_activation != network.hidden_activation) {
    return fmt::format("its activation is {}, expected {}",
                       to_string(model.options.hidden_activation),
                       to_string(network.hidden_activation));
  }
  if (layout.count != model.parameters.numel()) {
    return fmt::format("it has {} parameters, expected {}", model.parameters.numel(), layout.count);
  }
  return {};
}

}  // namespace

std::shared_ptr<const initial_model> read_initial_model(const std::filesystem::path& path) {
  const auto file = model_path(path, "best_model");
  return std::make_shared<const initial_model>(initial_model{file, load_model(file)});
}

void require_initial_model(const algorithm& what) {
  const auto& settings = what.settings;
  const auto file = settings.init->path.string();
  if (!settings.model.empty()) {
    throw std::invalid_argument(
        fmt::format("init: {}: {} begins with the language model of model.path; expected no model "
                    "of an environment",
                    file, settings.algo));
  }
  const auto& model = settings.init->model;
  const auto shape = shape_for(settings, spec_of(settings.env));
  const auto found = first_difference(model, shape, settings.network);
  if (!found.empty()) {
    throw std::invalid_argument(
        fmt::format("init: {}: {} by {} on {}; the model, which was written by {}, is ({}), the "
                    "run's network is ({})",
                    file, found, settings.algo, settings.env.id, writer_of(model),
                    to_string(model.shape, model.options), to_string(shape, settings.network)));
  }
  if (!what.check_model) return;
  try {
    what.check_model(model);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(
        fmt::format("init: {}: {} by {} on {}", file, e.what(), settings.algo, settings.env.id));
  }
}

running_moments obs_statistics_of(const saved_model& model, std::size_t policy) {
  // The statistics are the last of a policy's parameters.
  auto width = static_cast<std::size_t>(model.shape.obs_size);
  auto end = model.parameters.numel();
  if (!model.shape.policies.empty()) {
    width = static_cast<std::size_t>(model.shape.policies.at(policy).obs_size);
    end = 0;
    for (std::size_t i = 0; i <= policy; ++i) {
      end += layout_of(shape_of(model.shape.policies[i]), model.options).count;
    }
  }
  const float* mean = model.parameters.data_ptr<float>() + end - 2 * width;
  const float* inverse_scale = mean + width;
  std::vector<double> means(mean, mean + width), variances;
  for (std::size_t i = 0; i < width; ++i) {
    variances.push_back(detail::variance_of(inverse_scale[i]));
  }
  const auto rows = static_cast<double>(std::max<std::int64_t>(model.steps, 1));
  return running_moments::of(rows, means, variances);
}

}  // namespace troupe
