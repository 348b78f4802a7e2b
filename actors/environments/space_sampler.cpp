#include "actors/environments/space_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

namespace troupe {
namespace {

double exponential(numpy_random& random) { return -std::log1p(-random.random()); }

// Draws a standard normal number by the method of Box and Muller 1958.
double normal(numpy_random& random) {
  const double radius = std::sqrt(2.0 * exponential(random));
  return radius * std::cos(2.0 * std::numbers::pi * random.random());
}

// Gymnasium first draws all elements without bounds, then those with only a lower bound, then those
// with only an upper bound, then the rest.
space_value draw(const spaces::box& of, numpy_random& random) {
  const auto count = of.low.size();
  std::vector<float> floats(count);
  auto fill = [&](bool below, bool above, auto value) {
    for (std::size_t i = 0; i < count; ++i)
      if (std::isfinite(of.low[i]) == below && std::isfinite(of.high[i]) == above)
        floats[i] = static_cast<float>(value(i));
  };
  fill(false, false, [&](std::size_t) { return normal(random); });
  fill(true, false, [&](std::size_t i) { return exponential(random) + of.low[i]; });
  fill(false, true, [&](std::size_t i) { return -exponential(random) + of.high[i]; });
  const bool whole = of.type == spaces::element::uint8;
  fill(true, true, [&](std::size_t i) {
    if (whole) return std::floor(random.uniform(of.low[i], of.high[i] + 1.0));
    return random.uniform(of.low[i], of.high[i]);
  });
  return floats;
}

space_value draw(const spaces::discrete& of, numpy_random& random) {
  return of.start + random.integers(0, of.n);
}

space_value draw(const spaces::multi_discrete& of, numpy_random& random) {
  std::vector<std::int64_t> integers(of.n.size());
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const double scaled = random.random() * static_cast<double>(of.n[i]);
    integers[i] = of.start[i] + static_cast<std::int64_t>(scaled);
  }
  return integers;
}

space_value draw(const spaces::multi_binary& of, numpy_random& random) {
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(of.n));
  random.bits(bits);
  return bits;
}

// NumPy's `choice` with probabilities is a search in their running sum, which is divided by its
// last element because the sum rounds.
space_value draw(const spaces::text& of, numpy_random& random) {
  const auto length = random.integers(of.min_length, of.max_length + 1);
  std::vector<double> cumulative;
  const double each = 1.0 / static_cast<double>(of.charset.size());
  for (std::size_t i = 0; i < of.charset.size(); ++i)
    cumulative.push_back(cumulative.empty() ? each : cumulative.back() + each);
  for (auto& sum : cumulative) sum /= cumulative.back();
  std::string string;
  for (std::int64_t i = 0; i < length; ++i) {
    const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), random.random());
    string += of.charset[static_cast<std::size_t>(at - cumulative.begin())];
  }
  return string;
}

const space& sampled(const space& of) { return of; }
const space& sampled(const std::pair<std::string, space>& of) { return of.second; }

}  // namespace

space_sampler::space_sampler(space what, std::optional<std::uint64_t> seed)
    : space_(std::move(what)), random_(seed ? numpy_random(*seed) : numpy_random::from_entropy()) {
  auto make_parts = [this](const auto& of) {
    if constexpr (requires { of.parts; })
      for (const auto& each : of.parts) {
        const auto part_seed = random_.integers(0, std::numeric_limits<std::int32_t>::max());
        parts_.emplace_back(sampled(each), static_cast<std::uint64_t>(part_seed));
      }
  };
  std::visit(make_parts, space_.as_variant());
}

space_value space_sampler::sample() {
  auto draw_one = [this](const auto& of) -> space_value {
    if constexpr (requires { of.parts; }) {
      std::vector<space_value> values;
      for (auto& each : parts_) values.push_back(each.sample());
      return values;
    } else {
      return draw(of, random_);
    }
  };
  return std::visit(draw_one, space_.as_variant());
}

}  // namespace troupe
