#include "actors/torch/torch.hpp"

#include "actors/networks/actor_critic.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "actors/environments/obs_scale.hpp"
#include "actors/networks/mlp_autograd.hpp"

namespace troupe {
namespace {

const network_shape& checked(const network_shape& shape, const network_options& options) {
  const bool is_tuple =
      shape.is_continuous() || !shape.multi_discrete.empty() || shape.multi_binary > 0;
  auto positive = [](int size) { return size > 0; };
  if (shape.obs_size < 1 || (shape.discrete_actions > 0) == is_tuple ||
      shape.discrete_actions < 0 || shape.continuous_size < 0 || shape.multi_binary < 0 ||
      !std::ranges::all_of(shape.multi_discrete, positive) ||
      !std::ranges::all_of(options.hidden, positive) ||
      !std::ranges::all_of(options.shared_hidden, positive) ||
      !std::ranges::all_of(options.critic_hidden.value_or(std::vector<int>{}), positive)) {
    throw std::invalid_argument("network (" + to_string(shape, options) +
                                "): expected obs_size >= 1, actions and positive sizes");
  }
  const auto options_of = shape.categories();
  const int logits = std::accumulate(options_of.begin(), options_of.end(), 0);
  if (shape.critic_only < 0 || shape.actor_inputs() < 1 ||
      (shape.mask_size != 0 && shape.mask_size != logits)) {
    throw std::invalid_argument(
        "network (" + to_string(shape, options) + "): expected a mask of 0 or " +
        std::to_string(logits) + " floats and observations for the actor, got a mask of " +
        std::to_string(shape.mask_size) + " and " + std::to_string(shape.actor_inputs()));
  }
  if (options.use_sde && (!shape.is_continuous() || shape.choice_count() > 0)) {
    throw std::invalid_argument("network (" + to_string(shape, options) +
                                "): use_sde of true, expected false where actions are discrete");
  }
  return shape;
}

// The weights and their gradients.
std::size_t bytes_on_device(const detail::mlp& actor, const detail::mlp& critic,
                            const std::optional<detail::feature_extractor>& extractor) {
  const auto of_extractor = extractor ? extractor->parameter_count() : 0;
  return 2 * sizeof(float) *
         (actor.parameter_count() + critic.parameter_count() +
          static_cast<std::size_t>(of_extractor));
}

std::vector<float>& grown(std::vector<float>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
  return buffer;
}

// The logit of an option that an action mask forbids: exp of it is 0.
constexpr float forbidden = -1e8f;

at::Tensor float_rows(std::int64_t rows) { return at::empty({rows}, at::kFloat); }

}  // namespace

actor_critic::actor_critic(network_shape shape, network_options options, std::uint64_t seed)
    : shape_(checked(shape, options)),
      options_(std::move(options)),
      extractor_(detail::make_extractor(shape_, options_)),
      actor_(detail::make_mlp(options_, extractor_ ? extractor_->features() : shape_.actor_inputs(),
                              hidden_after_body(shape_, options_, options_.hidden),
                              shape_.actor_outputs())),
      critic_(detail::make_mlp(
          options_,
          extractor_ ? extractor_->features() + shape_.obs_size - extractor_->inputs()
                     : shape_.obs_size,
          hidden_after_body(shape_, options_, options_.critic_hidden.value_or(options_.hidden)),
          1)),
      link_(options_.device, bytes_on_device(actor_, critic_, extractor_)),
      backend_(detail::choose_backend(options_.backend,
                                      {.net = &actor_,
                                       .extractor = extractor_ ? extractor_->obstacle() : "",
                                       .is_on_host = link_.is_host()})),
      head_(shape_) {
  if (extractor_ && extractor_->has_convolutions() && shape_.actor_inputs() != shape_.obs_size) {
    throw std::invalid_argument("network (" + to_string(shape_, options_) +
                                "): expected no image where the critic sees more than the actor");
  }
  if (options_.use_sde) {
    noise_.emplace(actor_.features(), shape_.continuous_size, options_.use_expln);
  }
  const auto count = static_cast<std::int64_t>(actor_.parameter_count() + log_std_count() +
                                               critic_.parameter_count()) +
                     (extractor_ ? extractor_->parameter_count() : 0);
  parameters_ = link_.host_zeros(count + (options_.normalize_obs ? 2 * shape_.obs_size : 0));
  gradient_ = link_.host_zeros(count);
  if (options_.normalize_obs) std::fill_n(obs_inverse_scale(), shape_.obs_size, 1.0f);

  action_random random(seed);
  if (options_.ortho_init) {
    actor_.initialise_orthogonal(random, 0.01, actor_parameters());
    critic_.initialise_orthogonal(random, 1.0, critic_parameters());
  } else {
    actor_.initialise_uniform(random, actor_parameters());
    critic_.initialise_uniform(random, critic_parameters());
  }
  std::fill_n(log_std(), log_std_count(), options_.log_std_init);

  actor_views_ = views_of(actor_, 0);
  critic_views_ = views_of(critic_, critic_offset());
  if (shape_.is_continuous()) {
    const std::int64_t size = shape_.continuous_size;
    const auto per_feature = std::vector<std::int64_t>{actor_.features(), size};
    const auto alone = std::vector<std::int64_t>{size};
    log_std_view_ = view_of(log_std_offset(), noise_ ? per_feature : alone);
  }
  if (extractor_) {
    extractor_->initialise(random, options_.ortho_init, extractor_parameters());
    extractor_views_ =
        extractor_->parts(view_of(extractor_offset(), {extractor_->parameter_count()}));
  }
}

at::Tensor actor_critic::view_of(std::size_t offset, at::IntArrayRef sizes) const {
  return parameters_.narrow(0, static_cast<std::int64_t>(offset), c10::multiply_integers(sizes))
      .view(sizes)
      .detach();
}

std::vector<at::Tensor> actor_critic::views_of(const detail::mlp& net, std::size_t offset) const {
  return detail::layer_parts(net,
                             view_of(offset, {static_cast<std::int64_t>(net.parameter_count())}));
}

void actor_critic::load_parameters(const at::Tensor& parameters) {
  TORCH_CHECK(parameters.scalar_type() == at::kFloat && parameters.dim() == 1 &&
                  parameters.size(0) == parameter_count(),
              "parameters must be float [", parameter_count(), "], got ", parameters.scalar_type(),
              " ", parameters.sizes());
  const auto from = parameters.contiguous();
  std::memcpy(parameters_.data_ptr<float>(), from.data_ptr<float>(), parameters_.nbytes());
  device_copy_ = at::Tensor();
}

std::vector<std::pair<std::string, at::Tensor>> actor_critic::named_parameters() const {
  std::vector<std::pair<std::string, at::Tensor>> named;
  auto add = [&](const std::vector<std::string>& names, const std::vector<at::Tensor>& views) {
    for (std::size_t i = 0; i < views.size(); ++i) named.emplace_back(names[i], views[i]);
  };
  add(detail::layer_part_names(actor_, "actor"), actor_views_);
  if (log_std_view_.defined()) named.emplace_back("log_std", log_std_view_);
  add(detail::layer_part_names(critic_, "critic"), critic_views_);
  if (extractor_) add(extractor_->part_names(), extractor_views_);
  return named;
}

std::vector<float> actor_critic::action_std() const {
  std::vector<float> std(log_std(), log_std() + log_std_count());
  for (auto& s : std) s = std::exp(s);
  return std;
}

void actor_critic::set_obs_statistics(std::span<const double> mean,
                                      std::span<const double> variance) {
  const auto width = static_cast<std::size_t>(shape_.obs_size);
  if (!options_.normalize_obs || mean.size() != width || variance.size() != width) {
    throw std::invalid_argument("network (" + to_string(shape_, options_) +
                                "): got statistics of " + std::to_string(mean.size()) + " numbers");
  }
  detail::write_obs_scale(mean, variance, obs_mean());
}

const float* actor_critic::actor_part(const float* x, int rows) {
  const int width = critic_.inputs(), own = actor_.inputs();
  if (own == width) return x;
  float* to = grown(actor_seen_, static_cast<std::size_t>(rows) * own).data();
  for (std::ptrdiff_t row = 0; row < rows; ++row) std::copy_n(x + row * width, own, to + row * own);
  return to;
}

void actor_critic::mask(const float* x, int rows, float* outputs) const {
  if (shape_.mask_size == 0) return;
  const std::ptrdiff_t width = critic_.inputs(), count = shape_.actor_outputs();
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    const float* allowed = x + row * width + actor_.inputs();
    float* logits = outputs + row * count + shape_.continuous_size;
    for (int i = 0; i < shape_.mask_size; ++i) {
      if (allowed[i] <= 0) logits[i] = forbidden;
    }
  }
}

const float* actor_critic::convolved(const float* obs, int rows) {
  constexpr int block = 128;  // keeps the memory of the layers' results small
  const at::NoGradGuard no_grad;
  renew_device_copy();
  const std::int64_t width = actor_.inputs();
  float* features = grown(features_, static_cast<std::size_t>(rows) * width).data();
  const std::int64_t inputs = extractor_->inputs();
  for (int row = 0; row < rows; row += block) {
    const std::int64_t count = std::min(block, rows - row);
    auto* first = const_cast<float*>(obs) + std::int64_t{row} * inputs;
    const auto x = at::from_blob(first, {count, inputs}, at::kFloat);
    at::from_blob(features + row * width, {count, width}, at::kFloat)
        .copy_(link_.to_host(extract(link_.to_device(x))));
  }
  return features;
}

void actor_critic::renew_device_copy() {
  if (link_.is_host() || !keeps_device_copy_ || device_copy_.defined()) return;
  device_copy_ = link_.to_device(parameters_);
}

std::vector<at::Tensor> actor_critic::there(const std::vector<at::Tensor>& views) const {
  std::vector<at::Tensor> copies;
  for (const auto& view : views) copies.push_back(there(view));
  return copies;
}

at::Tensor actor_critic::there(const at::Tensor& view) const {
  if (!device_copy_.defined()) return link_.to_device(view);
  return device_copy_.narrow(0, view.storage_offset(), view.numel()).view(view.sizes());
}

// Both obs and the returned features are on the device.
at::Tensor actor_critic::extract(const at::Tensor& obs) const {
  return extractor_->forward(there(extractor_views_), obs);
}

const float* actor_critic::forward(const detail::mlp& net, const std::vector<at::Tensor>& layers,
                                   const float* parameters, const float* x, int rows,
                                   detail::mlp_buffers& buffers) {
  if (link_.is_host()) return net.forward(parameters, x, rows, buffers);
  const at::NoGradGuard no_grad;
  renew_device_copy();
  const auto input = at::from_blob(const_cast<float*>(x), {rows, net.inputs()}, at::kFloat);
  const auto [features, outputs] = detail::forward(net, there(layers), link_.to_device(input));
  const auto count = net.layers().size();
  buffers.outputs.resize(count);
  const auto keep = [&](const at::Tensor& there, detail::float_block& here) {
    const auto size = static_cast<std::size_t>(there.numel());
    at::from_blob(detail::grown(here, size), there.sizes(), at::kFloat).copy_(link_.to_host(there));
  };
  if (count > 1) keep(features, buffers.outputs[count - 2]);
  keep(outputs, buffers.outputs.back());
  return buffers.outputs.back().data();
}

void actor_critic::infer(const detail::mlp& net, const std::vector<at::Tensor>& layers,
                         const float* parameters, const float* x, int rows,
                         detail::mlp_buffers& buffers, float* y) {
  if (link_.is_host()) return net.infer(parameters, x, rows, buffers, y);
  const float* outputs = forward(net, layers, parameters, x, rows, buffers);
  std::copy_n(outputs, static_cast<std::size_t>(rows) * net.outputs(), y);
}

const float* actor_critic::seen(const float* obs, int rows) {
  const float* x = normalised(obs, rows);
  return extractor_ ? extracted(x, rows) : x;
}

const float* actor_critic::normalised(const float* obs, int rows) {
  if (!normalizes_obs()) return obs;
  const int width = shape_.obs_size;
  float* to = grown(normalised_, static_cast<std::size_t>(rows) * width).data();
  detail::scale_obs(obs, rows, width, obs_mean(), to);
  return to;
}

namespace {

/// Copies `count` columns of a matrix [rows, width] to one [rows, to_width].
void copy_columns(const float* from, int width, int count, int rows, float* to, int to_width) {
  for (int row = 0; row < rows; ++row, from += width, to += to_width) {
    std::copy_n(from, count, to);
  }
}

}  // namespace

const float* actor_critic::extracted(const float* obs, int rows) {
  const int width = shape_.obs_size, own = extractor_->inputs(), rest = width - own;
  const float* x = obs;
  if (rest > 0) {
    float* to = grown(extractor_seen_, static_cast<std::size_t>(rows) * own).data();
    copy_columns(obs, width, own, rows, to, own);
    x = to;
  }
  const bool by_kernels = !extractor_->has_convolutions() && link_.is_host();
  const float* features =
      by_kernels ? extractor_->infer(extractor_parameters(), x, rows, extractor_buffers_)
                 : convolved(x, rows);
  if (rest == 0) return features;
  const int count = extractor_->features(), all = count + rest;
  float* joined = grown(joined_, static_cast<std::size_t>(rows) * all).data();
  copy_columns(features, count, count, rows, joined, all);
  copy_columns(obs + own, width, rest, rows, joined + count, all);
  return joined;
}

void actor_critic::check_obs(const at::Tensor& obs) const {
  TORCH_CHECK(obs.dim() == 2 && obs.size(1) == shape_.obs_size && obs.scalar_type() == at::kFloat,
              "obs must be float [N, ", shape_.obs_size, "], got ", obs.scalar_type(), " ",
              obs.sizes());
}

action_batch actor_critic::act(const at::Tensor& obs, action_random& random, bool deterministic) {
  check_obs(obs);
  const auto rows = obs.size(0);
  const auto input = obs.contiguous();
  action_batch result{.log_prob = float_rows(rows), .value = float_rows(rows)};
  action_rows_out out;
  if (shape_.is_continuous()) {
    result.continuous = at::empty({rows, shape_.continuous_size}, at::kFloat);
    out.value = result.continuous.data_ptr<float>();
  }
  if (shape_.choice_count() > 0) {
    result.action = shape_.discrete_actions > 0
                        ? at::empty({rows}, at::kLong)
                        : at::empty({rows, shape_.choice_count()}, at::kLong);
    out.choice = result.action.data_ptr<std::int64_t>();
  } else {
    result.action = std::exchange(result.continuous, {});
  }
  act(input.data_ptr<float>(), static_cast<int>(rows), random, deterministic, out,
      result.log_prob.data_ptr<float>(), result.value.data_ptr<float>());
  return result;
}

void actor_critic::act(const float* obs, int rows, action_random& random, bool deterministic,
                       action_rows_out actions, float* log_prob, float* value,
                       const float* const* noise) {
  const float* x = seen(obs, rows);
  const float* own = actor_part(x, rows);
  if (noise_) {
    const float* outputs =
        forward(actor_, actor_views_, actor_parameters(), own, rows, actor_buffers_);
    const float* phi = actor_.features_of(own, actor_buffers_);
    const auto log_std = noise_->log_std(this->log_std(), phi, rows);
    const float* departure = nullptr;
    if (noise && !deterministic) {
      departure = noise_->depart(phi, rows, noise);
    }
    head_.sample(outputs, {log_std, shape_.continuous_size}, rows, random, deterministic, departure,
                 actions, log_prob);
  } else {
    float* outputs =
        grown(outputs_, static_cast<std::size_t>(rows) * shape_.actor_outputs()).data();
    infer(actor_, actor_views_, actor_parameters(), own, rows, actor_buffers_, outputs);
    mask(x, rows, outputs);
    head_.sample(outputs, {log_std()}, rows, random, deterministic, nullptr, actions, log_prob);
  }
  infer(critic_, critic_views_, critic_parameters(), x, rows, critic_buffers_, value);
}

at::Tensor actor_critic::values(const at::Tensor& obs) {
  check_obs(obs);
  const auto input = obs.contiguous();
  auto value = float_rows(obs.size(0));
  values(input.data_ptr<float>(), static_cast<int>(obs.size(0)), value.data_ptr<float>());
  return value;
}

void actor_critic::values(const float* obs, int rows, float* value) {
  const float* x = seen(obs, rows);
  infer(critic_, critic_views_, critic_parameters(), x, rows, critic_buffers_, value);
}

}  // namespace troupe
