#include "actors/llm/generator/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "actors/llm/model/softmax_row.hpp"
#include "runtime/actor/splitmix.hpp"

namespace troupe::llm {
namespace {

void expect(bool good, const char* name, double value, const char* expected) {
  if (!good)
    throw std::invalid_argument(fmt::format("{}: expected {}, got {}", name, expected, value));
}

}  // namespace

void check_sampling(const sampling_options& o) {
  expect(o.temperature == 0 || (o.temperature >= 0.001 && o.temperature <= 1000), "temperature",
         o.temperature, "0, or a number from 0.001 to 1000");
  expect(o.top_k >= 0, "top_k", static_cast<double>(o.top_k), "a number of tokens, 0 for all");
  expect(o.top_p > 0 && o.top_p <= 1, "top_p", o.top_p, "a number above 0, at most 1");
  expect(o.min_p >= 0 && o.min_p <= 1, "min_p", o.min_p, "a number from 0 to 1");
  expect(o.repetition_penalty >= 0.001 && o.repetition_penalty <= 1000, "repetition_penalty",
         o.repetition_penalty, "a number from 0.001 to 1000");
}

// A hash of key and counter, after Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2,
// 3".
double uniform_of(std::uint64_t seed, std::uint64_t position) {
  auto counter = detail::next_of(seed) + position * 0x9e3779b97f4a7c15u;
  return static_cast<double>(detail::next_of(counter) >> 11) * 0x1p-53;
}

/// Fills kept_ with all tokens of at least this weight, sorted by falling weight and then by id.
void sampler::gather(float least) {
  kept_.clear();
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] >= least) kept_.push_back(static_cast<token_id>(i));
  }
  std::ranges::stable_sort(kept_, std::greater<>(),
                           [&](token_id id) { return weights_[static_cast<std::size_t>(id)]; });
}

/// Fills kept_ with the tokens that the filters keep. `sum` is the sum of all weights.
void sampler::keep_likeliest(const sampling_options& o, double sum) {
  const auto weight_at = [&](std::size_t place) {
    return static_cast<double>(weights_[static_cast<std::size_t>(kept_[place])]);
  };
  const auto sum_of_kept = [&] {
    double kept = 0;
    for (std::size_t i = 0; i < kept_.size(); ++i) kept += weight_at(i);
    return kept;
  };
  const auto k = o.top_k > 0 ? std::min(static_cast<std::size_t>(o.top_k), weights_.size()) : 0;
  const auto enough = [&] {
    if (k > 0) return kept_.size() >= k;
    return o.top_p == 1 || sum_of_kept() >= o.top_p * sum;
  };
  // A few tokens have nearly all of the probability, so they are tried first. Sorting all tokens
  // takes longer than computing a token of a small model.
  const bool all = k == 0 && o.top_p == 1;
  for (float least = all ? static_cast<float>(o.min_p) : 0.01f;; least *= 0.01f) {
    if (least < 1e-12f) least = 0;
    gather(least);
    if (least == 0 || enough()) break;
  }
  if (k > 0) {
    auto count = k;
    while (count < kept_.size() && weight_at(count) == weight_at(k - 1)) ++count;
    kept_.resize(count);
    sum = sum_of_kept();
  }
  if (o.top_p < 1) {
    double so_far = 0;
    std::size_t count = 0;
    while (count < kept_.size() && so_far < o.top_p * sum) so_far += weight_at(count++);
    kept_.resize(count);
  }
  while (weight_at(kept_.size() - 1) < o.min_p) kept_.pop_back();
}

/// Fills penalised_ with the logits after the repetition penalty, which counts once however often
/// the text has a token.
void sampler::penalise(std::span<const float> logits, double penalty, const text_before& before) {
  penalised_.assign(logits.begin(), logits.end());
  for (const auto tokens : {before.prompt, before.answer}) {
    for (const auto id : tokens) {
      const auto at = static_cast<std::size_t>(id);
      const auto logit = static_cast<double>(logits[at]);
      penalised_[at] = static_cast<float>(logit < 0 ? logit * penalty : logit / penalty);
    }
  }
}

drawn_token sampler::draw(std::span<const float> logits, const sampling_options& o, double uniform,
                          const text_before& before) {
  const bool greedy = o.temperature == 0;
  weights_.resize(logits.size());
  const auto softmax = [&](std::span<const float> of) {
    const auto row = softmax_of(of, greedy ? 1.0 : o.temperature, weights_);
    if (!std::isfinite(row.sum) || !std::isfinite(row.most))
      throw std::runtime_error("sampler: expected logits that are finite");
    return row;
  };
  const auto whole = softmax(logits);
  const auto drawn = [&](std::size_t id) {
    return drawn_token{static_cast<token_id>(id), whole.log_prob(logits[id])};
  };
  auto row = whole;
  auto scores = logits;
  if (o.repetition_penalty != 1) {
    penalise(logits, o.repetition_penalty, before);
    scores = penalised_;
    row = softmax(scores);
  }
  if (greedy)
    return drawn(static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin()));

  if (o.top_k == 0 && o.top_p == 1 && o.min_p == 0) {
    double left = uniform * row.sum;
    std::size_t last = 0;  // the result if rounding leaves a remainder
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] > 0) last = i;
      left -= static_cast<double>(weights_[i]);
      if (left < 0) break;
    }
    return drawn(last);
  }
  keep_likeliest(o, row.sum);
  row.sum = 0;
  for (const auto id : kept_)
    row.sum += static_cast<double>(weights_[static_cast<std::size_t>(id)]);
  double left = uniform * row.sum;
  for (const auto id : kept_) {
    left -= static_cast<double>(weights_[static_cast<std::size_t>(id)]);
    if (left < 0) return drawn(static_cast<std::size_t>(id));
  }
  return drawn(static_cast<std::size_t>(kept_.back()));
}

}  // namespace troupe::llm
