#include "algorithms/learner/rule_check.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "actors/gradients/observed_graph.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {
namespace {

using detail::observed_loss;
using detail::observed_part;

constexpr double step = 1e-3;
constexpr int random_directions = 3;
constexpr double of_tensor = 1e-2, of_all = 1e-5;
/// A corner lies between w - h d and w + h d if the slopes on both sides differ by this share.
constexpr double corner = 0.05;
/// Rules may train a part of their networks in some of their updates only.
constexpr int updates = 8;

/// The derivative along a direction, by the loss and by the gradient.
struct slope {
  double of_loss = 0.0;
  double of_gradient = 0.0;
  bool has_corner = false;
};

class loss_check {
 public:
  loss_check(const std::function<void()>& run, const std::vector<observed_loss>& losses,
             std::size_t which, action_random& random)
      : run_(run), losses_(losses), which_(which), random_(random) {
    for (const auto& block : loss().blocks) values_.push_back(block.values);
    here_ = detail::loss_with(run_, losses_, which_, values_);
  }

  const observed_loss& loss() const { return losses_[which_]; }
  /// The loss of the parameters as they are, in double precision.
  double here() const { return here_; }

  std::vector<slope> slopes_of(const observed_part& part) {
    std::vector<slope> slopes;
    const auto gradient =
        std::span(loss().blocks[part.block].gradient).subspan(part.first, part.count);
    std::vector<double> direction(gradient.begin(), gradient.end());
    if (normalise(direction)) slopes.push_back(slope_along(part, direction));
    std::vector<float> drawn(part.count);
    for (int i = 0; i < random_directions; ++i) {
      random_.fill_normal(drawn);
      direction.assign(drawn.begin(), drawn.end());
      if (normalise(direction)) slopes.push_back(slope_along(part, direction));
    }
    return slopes;
  }

 private:
  static bool normalise(std::vector<double>& direction) {
    double squares = 0.0;
    for (const double d : direction) squares += d * d;
    if (squares == 0.0) return false;
    for (double& d : direction) d /= std::sqrt(squares);
    return true;
  }

  /// Parameters are floats, so that the step that is taken differs from the one that is asked for.
  slope slope_along(const observed_part& part, const std::vector<double>& direction) {
    const auto& block = loss().blocks[part.block];
    auto& moved = values_[part.block];
    double by_gradient = 0.0;
    const auto loss_at = [&](double distance) {
      for (std::size_t i = 0; i < part.count; ++i) {
        const auto at = part.first + i;
        moved[at] = static_cast<float>(block.values[at] + distance * direction[i]);
        by_gradient += block.gradient[at] * (distance > 0 ? 1.0 : -1.0) *
                       (static_cast<double>(moved[at]) - block.values[at]);
      }
      return detail::loss_with(run_, losses_, which_, values_);
    };
    const double ahead = loss_at(step), behind = loss_at(-step);
    std::copy_n(block.values.begin() + static_cast<std::ptrdiff_t>(part.first), part.count,
                moved.begin() + static_cast<std::ptrdiff_t>(part.first));
    const double forward = ahead - here_, backward = here_ - behind;
    return {.of_loss = (ahead - behind) / (2 * step),
            .of_gradient = by_gradient / (2 * step),
            .has_corner = std::abs(forward - backward) >
                          corner * std::max(std::abs(forward), std::abs(backward))};
  }

  const std::function<void()>& run_;
  const std::vector<observed_loss>& losses_;
  const std::size_t which_;
  action_random& random_;
  std::vector<std::vector<float>> values_;
  double here_ = 0.0;
};

double largest_of(const std::vector<slope>& slopes) {
  double largest = 0.0;
  for (const auto& each : slopes) {
    largest = std::max({largest, std::abs(each.of_loss), std::abs(each.of_gradient)});
  }
  return largest;
}

checked_tensor judge(const std::vector<slope>& slopes, double largest_of_all) {
  checked_tensor found{.largest = largest_of(slopes)};
  double farthest = 0.0;
  bool has_gradient = false, has_corner = false;
  for (const auto& each : slopes) {
    const double apart = std::abs(each.of_loss - each.of_gradient);
    // A loss or a gradient that is not finite is far from any other.
    if (!(apart <= farthest)) farthest = apart;
    has_gradient = has_gradient || each.of_gradient != 0.0;
    has_corner = has_corner || (each.has_corner && apart > of_tensor * found.largest);
  }
  const double floor = of_all * largest_of_all;
  if (found.largest > 0.0) found.difference = farthest / found.largest;
  if (farthest <= of_tensor * found.largest + floor) {
    if (found.largest <= floor && !has_gradient) found.verdict = gradient_verdict::unused;
    return found;
  }
  found.verdict = !has_gradient ? gradient_verdict::missing
                  : has_corner  ? gradient_verdict::rough
                                : gradient_verdict::wrong;
  return found;
}

void check_loss(loss_check& check, const std::string& name, rule_report& to) {
  std::vector<std::vector<slope>> slopes;
  double largest = 0.0;
  for (const auto& part : check.loss().parts) {
    slopes.push_back(check.slopes_of(part));
    largest = std::max(largest, largest_of(slopes.back()));
  }
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    auto found = judge(slopes[i], largest);
    found.loss = name;
    found.tensor = check.loss().parts[i].name;
    to.tensors.push_back(std::move(found));
  }
}

}  // namespace

bool rule_report::is_right() const {
  return std::ranges::all_of(tensors, [](const checked_tensor& each) {
    return each.verdict == gradient_verdict::right || each.verdict == gradient_verdict::unused;
  });
}

rule_report check_rule(const std::function<std::function<void()>()>& make, std::uint64_t seed) {
  const std::function<void()> run = [&make] {
    const auto update = make();
    for (int i = 0; i < updates; ++i) update();
  };
  const auto losses = detail::observe_losses(run);
  if (losses.empty()) {
    throw std::runtime_error("rule: expected one that differentiates a loss on a graph, got none");
  }
  action_random random(seed);
  rule_report report;
  std::vector<std::size_t> graphs;
  for (std::size_t which = 0; which < losses.size(); ++which) {
    if (std::ranges::find(graphs, losses[which].graph) != graphs.end()) continue;
    graphs.push_back(losses[which].graph);
    loss_check check(run, losses, which, random);
    check_loss(check, fmt::format("loss {}", graphs.size()), report);
  }
  return report;
}

std::string to_string(gradient_verdict verdict) {
  switch (verdict) {
    case gradient_verdict::right:
      return "right";
    case gradient_verdict::unused:
      return "unused";
    case gradient_verdict::missing:
      return "missing";
    case gradient_verdict::wrong:
      return "wrong";
    case gradient_verdict::rough:
      break;
  }
  return "rough";
}

std::string advice_of(gradient_verdict verdict) {
  switch (verdict) {
    case gradient_verdict::right:
    case gradient_verdict::unused:
      return "";
    case gradient_verdict::missing:
      return "missing: the loss depends on the tensor, but its gradient is 0. The loss takes "
             "numbers "
             "out of the graph, by values() or number(), and computes with them; what shall be a "
             "constant must go through stop_gradient().";
    case gradient_verdict::wrong:
      return "wrong: a part of the loss has no gradient, or another one. Look for numbers that "
             "values() or number() has read and that a later term uses, and for memory of a "
             "constant that changes before the graph's next clear().";
    case gradient_verdict::rough:
      break;
  }
  return "rough: the slopes of the loss on both sides differ, so that it has no derivative here. "
         "Look for abs, minimum, maximum, clamp and masked at equal numbers, and for comparisons; "
         "another --seed draws another batch.";
}

}  // namespace troupe
