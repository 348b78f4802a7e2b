#include "actors/torch/torch.hpp"

#include "actors/networks/actor_critic.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
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

using log_prob_and_entropy = std::pair<at::Tensor, at::Tensor>;

// Returns the sums over categories of log p(choice) and of the entropy. `logits` has those of all
// categories one after another, `chosen` is [N, categories].
log_prob_and_entropy evaluate_categories(const at::Tensor& logits,
                                         const std::vector<int>& categories,
                                         const at::Tensor& chosen) {
  at::Tensor log_prob, entropy;
  std::int64_t from = 0;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const auto log_p = at::log_softmax(logits.narrow(1, from, categories[i]), 1);
    const auto log_prob_i = log_p.gather(1, chosen.narrow(1, i, 1)).squeeze(1);
    const auto entropy_i = -(log_p.exp() * log_p).sum(1);
    log_prob = i == 0 ? log_prob_i : log_prob + log_prob_i;
    entropy = i == 0 ? entropy_i : entropy + entropy_i;
    from += categories[i];
  }
  return {log_prob, entropy};
}

// Returns the sums over zeros and ones of log p(bit) and of the entropy, for logits [N, bits]:
// log p(1) = -softplus(-logit), log p(0) = -softplus(logit).
log_prob_and_entropy evaluate_bits(const at::Tensor& logits, const at::Tensor& bits) {
  const auto log_prob = bits.to(logits.scalar_type()) * logits - at::softplus(logits);
  const auto entropy = at::softplus(logits) - at::sigmoid(logits) * logits;
  return {log_prob.sum(1), entropy.sum(1)};
}

// Returns log-probability and entropy. log_std is [A] or [N, A].
log_prob_and_entropy evaluate_gaussian(const at::Tensor& mean, const at::Tensor& log_std,
                                       const at::Tensor& action) {
  const double half_log_two_pi = 0.5 * std::log(2.0 * std::numbers::pi);
  const auto z = (action - mean) * (-log_std).exp();
  const auto log_prob = (-0.5 * z * z - log_std - half_log_two_pi).sum(1);
  const auto entropy = (log_std + 0.5 + half_log_two_pi).sum(-1).expand({mean.size(0)});
  return {log_prob, entropy};
}

// Returns the sums over all parts of an action, whose outputs are one after another.
log_prob_and_entropy evaluate_parts(const network_shape& shape, const at::Tensor& outputs,
                                    const at::Tensor& log_std, const at::Tensor& choices,
                                    const at::Tensor& continuous) {
  at::Tensor log_prob, entropy;
  const auto add = [&](const log_prob_and_entropy& part) {
    log_prob = log_prob.defined() ? log_prob + part.first : part.first;
    entropy = entropy.defined() ? entropy + part.second : part.second;
  };
  const auto rows = outputs.size(0);
  const std::int64_t floats = shape.continuous_size, bits = shape.multi_binary;
  const auto categories = shape.categories();
  const auto count = static_cast<std::int64_t>(categories.size());
  if (floats > 0) add(evaluate_gaussian(outputs.narrow(1, 0, floats), log_std, continuous));
  if (count + bits == 0) return {log_prob, entropy};
  const auto chosen = choices.reshape({rows, count + bits});
  const auto logits = outputs.narrow(1, floats, outputs.size(1) - floats);
  if (count > 0) add(evaluate_categories(logits, categories, chosen.narrow(1, 0, count)));
  if (bits > 0) {
    add(evaluate_bits(logits.narrow(1, logits.size(1) - bits, bits),
                      chosen.narrow(1, count, bits)));
  }
  return {log_prob, entropy};
}

}  // namespace

actor_critic::actor_critic(network_shape shape, network_options options, std::uint64_t seed)
    : shape_(checked(shape, options)),
      options_(std::move(options)),
      extractor_(detail::make_extractor(shape_, options_)),
      actor_(extractor_ ? extractor_->features() : shape_.actor_inputs(),
             hidden_after_body(shape_, options_, options_.hidden), shape_.actor_outputs(),
             options_.hidden_activation),
      critic_(extractor_ ? extractor_->features() : shape_.obs_size,
              hidden_after_body(shape_, options_, options_.critic_hidden.value_or(options_.hidden)),
              1, options_.hidden_activation),
      link_(options_.device, bytes_on_device(actor_, critic_, extractor_)),
      backend_(detail::choose_backend(options_.backend, {.net = &actor_,
                                                         .has_convolutions = extractor_.has_value(),
                                                         .is_on_host = link_.is_host()})),
      head_(shape_) {
  if (extractor_ && shape_.actor_inputs() != shape_.obs_size) {
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

  actor_leaves_ = make_leaves(actor_, 0);
  critic_leaves_ = make_leaves(critic_, critic_parameters() - actor_parameters());
  if (shape_.is_continuous()) {
    const std::int64_t size = shape_.continuous_size;
    log_std_leaf_ = noise_ ? make_leaf(log_std() - actor_parameters(), {actor_.features(), size})
                           : make_leaf(log_std() - actor_parameters(), {size});
  }
  if (extractor_) {
    extractor_->initialise(random, options_.ortho_init, extractor_parameters());
    make_extractor_leaves();
  }
}

void actor_critic::make_extractor_leaves() {
  const auto offset = extractor_parameters() - actor_parameters();
  const auto gradients =
      extractor_->parts(gradient_.narrow(0, offset, extractor_->parameter_count()));
  for (const auto& part :
       extractor_->parts(parameters_.narrow(0, offset, extractor_->parameter_count()))) {
    auto leaf = part.detach();
    leaf.set_requires_grad(true);
    leaf.mutable_grad() = gradients[extractor_leaves_.size()];
    extractor_leaves_.push_back(std::move(leaf));
  }
}

at::Tensor actor_critic::make_leaf(std::int64_t offset, at::IntArrayRef sizes) const {
  const auto count = c10::multiply_integers(sizes);
  auto leaf = parameters_.narrow(0, offset, count).view(sizes).detach();
  leaf.set_requires_grad(true);
  leaf.mutable_grad() = gradient_.narrow(0, offset, count).view(sizes);
  return leaf;
}

std::vector<actor_critic::leaf_layer> actor_critic::make_leaves(const detail::mlp& net,
                                                                std::int64_t offset) const {
  std::vector<leaf_layer> leaves;
  for (const auto& layer : net.layers()) {
    leaves.push_back({make_leaf(offset + layer.weight, {layer.in, layer.out}),
                      make_leaf(offset + layer.bias, {layer.out})});
  }
  return leaves;
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
  auto add = [&](const std::string& net, const std::vector<leaf_layer>& layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      named.emplace_back(net + "." + std::to_string(i) + ".weight", layers[i].weight);
      named.emplace_back(net + "." + std::to_string(i) + ".bias", layers[i].bias);
    }
  };
  add("actor", actor_leaves_);
  if (log_std_leaf_.defined()) named.emplace_back("log_std", log_std_leaf_);
  add("critic", critic_leaves_);
  for (std::size_t i = 0; i < extractor_leaves_.size(); ++i) {
    named.emplace_back(extractor_->part_names()[i], extractor_leaves_[i]);
  }
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
  const std::ptrdiff_t width = shape_.obs_size, count = shape_.actor_outputs();
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    const float* allowed = x + row * width + shape_.actor_inputs();
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
  float* features = grown(seen_, static_cast<std::size_t>(rows) * width).data();
  for (int row = 0; row < rows; row += block) {
    const std::int64_t count = std::min(block, rows - row);
    auto* first = const_cast<float*>(obs) + std::int64_t{row} * shape_.obs_size;
    const auto x = at::from_blob(first, {count, shape_.obs_size}, at::kFloat);
    at::from_blob(features + row * width, {count, width}, at::kFloat)
        .copy_(link_.to_host(extract(link_.to_device(x))));
  }
  return features;
}

void actor_critic::renew_device_copy() {
  if (link_.is_host() || !keeps_device_copy_ || device_copy_.defined()) return;
  device_copy_ = link_.to_device(parameters_);
}

at::Tensor actor_critic::leaf_there(const at::Tensor& leaf) const {
  if (!device_copy_.defined()) return link_.to_device(leaf);
  return device_copy_.narrow(0, leaf.storage_offset(), leaf.numel()).view(leaf.sizes());
}

// Both obs and the returned features are on the device.
at::Tensor actor_critic::extract(const at::Tensor& obs) const {
  std::vector<at::Tensor> parts;
  for (const auto& leaf : extractor_leaves_) parts.push_back(leaf_there(leaf));
  return extractor_->forward(parts, obs);
}

const float* actor_critic::forward(const detail::mlp& net, const std::vector<leaf_layer>& layers,
                                   const float* parameters, const float* x, int rows,
                                   detail::mlp_buffers& buffers) {
  if (link_.is_host()) return net.forward(parameters, x, rows, buffers);
  const at::NoGradGuard no_grad;
  renew_device_copy();
  const auto input = at::from_blob(const_cast<float*>(x), {rows, net.inputs()}, at::kFloat);
  const auto [features, outputs] = run_leaves(layers, link_.to_device(input));
  buffers.outputs.resize(layers.size());
  const auto keep = [&](const at::Tensor& there, detail::float_block& here) {
    const auto size = static_cast<std::size_t>(there.numel());
    at::from_blob(detail::grown(here, size), there.sizes(), at::kFloat).copy_(link_.to_host(there));
  };
  if (layers.size() > 1) keep(features, buffers.outputs[layers.size() - 2]);
  keep(outputs, buffers.outputs.back());
  return buffers.outputs.back().data();
}

void actor_critic::infer(const detail::mlp& net, const std::vector<leaf_layer>& layers,
                         const float* parameters, const float* x, int rows,
                         detail::mlp_buffers& buffers, float* y) {
  if (link_.is_host()) return net.infer(parameters, x, rows, buffers, y);
  const float* outputs = forward(net, layers, parameters, x, rows, buffers);
  std::copy_n(outputs, static_cast<std::size_t>(rows) * net.outputs(), y);
}

const float* actor_critic::seen(const float* obs, int rows) {
  if (extractor_) return convolved(obs, rows);
  if (!normalizes()) return obs;
  const int width = shape_.obs_size;
  float* seen = grown(seen_, static_cast<std::size_t>(rows) * width).data();
  detail::scale_obs(obs, rows, width, obs_mean(), seen);
  return seen_.data();
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
        forward(actor_, actor_leaves_, actor_parameters(), own, rows, actor_buffers_);
    const auto log_std = find_log_std(own, rows);
    const float* departure = nullptr;
    if (noise && !deterministic) {
      departure = noise_->depart(actor_.features_of(own, actor_buffers_), rows, noise);
    }
    head_.sample(outputs, log_std, rows, random, deterministic, departure, actions, log_prob);
  } else {
    float* outputs =
        grown(outputs_, static_cast<std::size_t>(rows) * shape_.actor_outputs()).data();
    infer(actor_, actor_leaves_, actor_parameters(), own, rows, actor_buffers_, outputs);
    mask(x, rows, outputs);
    head_.sample(outputs, {log_std()}, rows, random, deterministic, nullptr, actions, log_prob);
  }
  infer(critic_, critic_leaves_, critic_parameters(), x, rows, critic_buffers_, value);
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
  infer(critic_, critic_leaves_, critic_parameters(), x, rows, critic_buffers_, value);
}

std::pair<at::Tensor, at::Tensor> actor_critic::run_leaves(const std::vector<leaf_layer>& layers,
                                                           at::Tensor x) const {
  const auto run_layer = [&](const leaf_layer& layer, const at::Tensor& input) {
    return at::addmm(leaf_there(layer.bias), input, leaf_there(layer.weight));
  };
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    x = run_layer(layers[i], x);
    x = detail::activate(options_.hidden_activation, x);
  }
  return {x, run_layer(layers.back(), x)};
}

action_evaluation actor_critic::evaluate(const at::Tensor& obs, const at::Tensor& action,
                                         const at::Tensor& continuous) const {
  check_obs(obs);
  auto x = obs;
  if (normalizes()) {
    const auto statistics = parameters_.narrow(0, trained_count(), 2 * shape_.obs_size);
    const auto mean = statistics.narrow(0, 0, shape_.obs_size);
    const auto inverse_scale = statistics.narrow(0, shape_.obs_size, shape_.obs_size);
    x = ((x - mean) * inverse_scale).clamp(-detail::obs_clip, detail::obs_clip);
  }
  const auto on_host = x;
  x = link_.to_device(x);
  if (extractor_) x = extract(x);
  const auto own = extractor_ ? x : x.narrow(1, 0, shape_.actor_inputs());
  const auto [features, outputs_there] = run_leaves(actor_leaves_, own);
  auto outputs = link_.to_host(outputs_there);
  if (shape_.mask_size > 0) {
    const auto allowed = on_host.narrow(1, shape_.actor_inputs(), shape_.mask_size) > 0;
    const auto logits = outputs.narrow(1, shape_.continuous_size, shape_.mask_size);
    const auto masked = at::where(allowed, logits, at::full({}, forbidden, logits.options()));
    const auto rest = shape_.continuous_size + shape_.mask_size;
    outputs = at::cat({outputs.narrow(1, 0, shape_.continuous_size), masked,
                       outputs.narrow(1, rest, outputs.size(1) - rest)},
                      1);
  }
  const auto value = link_.to_host(run_leaves(critic_leaves_, x).second).squeeze(1);
  auto log_std = log_std_leaf_;
  if (noise_) {  // the noise does not train the features
    log_std = detail::state_dependent_log_std(log_std, link_.to_host(features.detach()),
                                              options_.use_expln);
  }
  const bool is_only_continuous = shape_.choice_count() == 0;
  auto [log_prob, entropy] =
      evaluate_parts(shape_, outputs, log_std, action, is_only_continuous ? action : continuous);
  return {log_prob, entropy, value};
}

void actor_critic::zero_gradient() { gradient_.zero_(); }

detail::log_std_rows actor_critic::find_log_std(const float* x, int rows) {
  if (!noise_) return {log_std()};
  return {noise_->log_std(log_std(), actor_.features_of(x, actor_buffers_), rows),
          shape_.continuous_size};
}

evaluation_rows actor_critic::evaluate_rows(const float* obs, int rows, action_rows actions) {
  const float* x = seen(obs, rows);
  const float* own = actor_part(x, rows);
  const float* outputs =
      forward(actor_, actor_leaves_, actor_parameters(), own, rows, actor_buffers_);
  mask(x, rows, actor_buffers_.outputs.back().data());
  const float* value =
      forward(critic_, critic_leaves_, critic_parameters(), x, rows, critic_buffers_);
  float* log_prob = grown(log_prob_, rows).data();
  float* entropy = grown(entropy_, rows).data();
  evaluated_log_std_ = find_log_std(own, rows);
  head_.evaluate(outputs, evaluated_log_std_, rows, actions, choices_, log_prob, entropy);
  return {log_prob, entropy, value};
}

void actor_critic::backward_rows(const float* obs, int rows, action_rows actions,
                                 const float* d_log_prob, const float* d_entropy,
                                 const float* d_value) {
  TORCH_CHECK(!extractor_ && link_.is_host(),
              "backward_rows: a network with convolutions, or on another device than the CPU, has "
              "libtorch's gradient alone");
  const auto offset_of = [this](const float* block) { return block - actor_parameters(); };
  float* gradient = gradient_.data_ptr<float>();
  const float* outputs = actor_buffers_.outputs.back().data();
  float* d_outputs =
      grown(d_outputs_, static_cast<std::size_t>(rows) * shape_.actor_outputs()).data();
  float* d_log_std = gradient + offset_of(log_std());
  if (noise_) {
    float* d_rows =
        grown(d_log_std_, static_cast<std::size_t>(rows) * shape_.continuous_size).data();
    head_.backward(outputs, evaluated_log_std_, rows, actions, choices_, d_log_prob, d_entropy,
                   d_outputs, d_rows);
    noise_->backward(rows, d_rows, d_log_std);
  } else {
    head_.backward(outputs, evaluated_log_std_, rows, actions, choices_, d_log_prob, d_entropy,
                   d_outputs, d_log_std);
  }
  const float* x = normalizes() ? seen_.data() : obs;  // evaluate_rows has filled the buffers
  const float* own = critic_.inputs() == actor_.inputs() ? x : actor_seen_.data();
  actor_.backward(actor_parameters(), own, rows, d_outputs, actor_buffers_, gradient);
  critic_.backward(critic_parameters(), x, rows, d_value, critic_buffers_,
                   gradient + offset_of(critic_parameters()));
}

}  // namespace troupe
