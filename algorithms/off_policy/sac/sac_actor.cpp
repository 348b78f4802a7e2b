#include "algorithms/off_policy/sac/sac_actor.hpp"

namespace troupe::detail {

sac_actor::sac_actor(const acting_policy& of) : gaussian_(of.shape().continuous_size) {
  if (!of.use_sde()) return;
  noise_.emplace(of.network().features(), of.shape().continuous_size, of.use_expln());
}

std::size_t sac_actor::noise_size(int rows) const {
  return noise_ ? noise_->size() : static_cast<std::size_t>(rows) * gaussian_.size();
}

void sac_actor::draw(const acting_policy& of, const float* obs, int rows, const float* noise) {
  const auto& net = of.network();
  const float* outputs = net.forward(of.parameters().data(), obs, rows, buffers_);
  if (noise_) {
    noise_->sample(outputs, net.features_of(obs, buffers_), of.log_std().data(), noise, rows);
  } else {
    gaussian_.sample(outputs, noise, rows);
  }
}

void sac_actor::backward(const acting_policy& of, const float* obs, int rows, const float* noise,
                         float d_log_prob, const float* d_action, float* gradient) {
  const auto& net = of.network();
  const float* outputs = buffers_.outputs.back().data();
  const auto n = static_cast<std::size_t>(rows);
  float* d_outputs = grown(d_outputs_, n * net.outputs());
  const float* d_features = nullptr;
  if (noise_) {
    float* d_phi = grown(d_features_, n * net.features());
    noise_->backward(outputs, net.features_of(obs, buffers_), noise, rows, d_log_prob, d_action,
                     d_outputs, d_phi, gradient + net.parameter_count());
    d_features = d_phi;
  } else {
    gaussian_.backward(outputs, noise, rows, d_log_prob, d_action, d_outputs);
  }
  net.backward(of.parameters().data(), obs, rows, d_outputs, buffers_, gradient, d_features);
}

}  // namespace troupe::detail
