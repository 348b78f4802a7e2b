#include "actors/llm/model/model_config.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace troupe::llm {

void check_sizes(const model_config& c) {
  const auto check = [](const char* name, std::int64_t value, std::int64_t most) {
    if (value < 1 || value > most)
      throw std::invalid_argument(std::string(name) + ": expected 1 to " + std::to_string(most) +
                                  ", got " + std::to_string(value));
  };
  check("hidden_size", c.hidden_size, 1 << 17);
  check("intermediate_size", c.intermediate_size, 1 << 19);
  check("num_hidden_layers", c.layers, 1 << 10);
  check("num_attention_heads", c.heads, 1 << 10);
  check("num_key_value_heads", c.kv_heads, 1 << 10);
  check("head_dim", c.head_dim, 1 << 10);
  check("vocab_size", c.vocab_size, 1 << 24);
  check("max_position_embeddings", c.max_positions, 1 << 24);
  if (c.heads % c.kv_heads != 0)
    throw std::invalid_argument(
        "num_attention_heads: expected a multiple of num_key_value_heads, " +
        std::to_string(c.kv_heads) + ", got " + std::to_string(c.heads));
  if (c.head_dim % 2 != 0)
    throw std::invalid_argument("head_dim: expected an even number, got " +
                                std::to_string(c.head_dim));
  const auto positive = [](const char* name, double value) {
    if (!(value > 0) || !std::isfinite(value))
      throw std::invalid_argument(std::string(name) + ": expected a number > 0, got " +
                                  std::to_string(value));
  };
  positive("rms_norm_eps", c.rms_norm_eps);
  positive("rope_theta", c.rope_theta);
  positive("rope factor", c.scaling.factor);
  positive("rope attention_factor", c.scaling.attention_factor);
  if (c.scaling.type == rope_scaling::kind::llama3 || c.scaling.type == rope_scaling::kind::yarn)
    check("original_max_position_embeddings", c.scaling.original_max_positions, 1 << 24);
  if (c.scaling.type == rope_scaling::kind::llama3 &&
      !(c.scaling.high_freq_factor > c.scaling.low_freq_factor && c.scaling.low_freq_factor > 0))
    throw std::invalid_argument("rope high_freq_factor: expected more than low_freq_factor, " +
                                std::to_string(c.scaling.low_freq_factor) + ", got " +
                                std::to_string(c.scaling.high_freq_factor));
  if (!c.rope_divisors.empty() && std::int64_t(c.rope_divisors.size()) != c.head_dim / 2)
    throw std::invalid_argument("rope_freqs.weight: expected " + std::to_string(c.head_dim / 2) +
                                " divisors, got " + std::to_string(c.rope_divisors.size()));
}

namespace {

// Wavelengths above (old context / low_freq_factor) are stretched, those below (old context /
// high_freq_factor) are kept, and those in between are interpolated linearly.
float llama3_frequency(float frequency, const rope_scaling& s) {
  const auto old = static_cast<double>(s.original_max_positions);
  const double wavelength = 2 * std::numbers::pi / frequency;
  if (wavelength < old / s.high_freq_factor) return frequency;
  if (wavelength > old / s.low_freq_factor) return static_cast<float>(frequency / s.factor);
  const double smooth =
      (old / wavelength - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
  return static_cast<float>((1 - smooth) * frequency / s.factor + smooth * frequency);
}

// YaRN (Peng et al. 2023, arXiv:2309.00071): dimensions with more than beta_fast rotations in the
// old context are kept, those with fewer than beta_slow rotations are stretched, with a ramp in
// between.
void stretch_yarn(std::vector<float>& frequencies, const model_config& c) {
  const auto& s = c.scaling;
  const auto dimension_of = [&](double turns) {
    return static_cast<double>(c.head_dim) *
           std::log(static_cast<double>(s.original_max_positions) /
                    (turns * 2 * std::numbers::pi)) /
           (2 * std::log(c.rope_theta));
  };
  double low = dimension_of(s.beta_fast), high = dimension_of(s.beta_slow);
  if (s.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(c.head_dim - 1));
  if (low == high) high += 0.001;
  for (std::size_t j = 0; j < frequencies.size(); ++j) {
    const double ramp = std::clamp((static_cast<double>(j) - low) / (high - low), 0.0, 1.0);
    frequencies[j] =
        static_cast<float>(frequencies[j] / s.factor * ramp + frequencies[j] * (1 - ramp));
  }
}

}  // namespace

std::vector<float> rope_frequencies(const model_config& c) {
  std::vector<float> frequencies;
  for (std::int64_t j = 0; j < c.head_dim / 2; ++j) {
    const auto exponent = static_cast<float>(2 * j) / static_cast<float>(c.head_dim);
    const auto power = static_cast<float>(std::pow(c.rope_theta, static_cast<double>(exponent)));
    float frequency = 1.0f / power;
    if (!c.rope_divisors.empty()) frequency /= static_cast<float>(c.rope_divisors[std::size_t(j)]);
    if (c.scaling.type == rope_scaling::kind::linear)
      frequency /= static_cast<float>(c.scaling.factor);
    if (c.scaling.type == rope_scaling::kind::llama3)
      frequency = llama3_frequency(frequency, c.scaling);
    frequencies.push_back(frequency);
  }
  if (c.scaling.type == rope_scaling::kind::yarn) stretch_yarn(frequencies, c);
  return frequencies;
}

}  // namespace troupe::llm
