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

/// A corner between w - h d and w + h d shifts the estimate, and a smaller step leaves the corner
/// outside. A gradient that is wrong differs with each step.
constexpr double steps[] = {1e-3, 1e-4, 1e-5};
constexpr int random_directions = 3;
constexpr double of_tensor = 1e-2, of_all = 1e-5;
/// The slopes on both sides of a corner, and so the gradient between them, are estimated with this
/// share of an error: they bend, too.
constexpr double bend = 0.1;
/// Rules may train a part of their networks in some of their updates only.
constexpr int updates = 8;

/// The derivative along a direction, by the loss and by the gradient.
struct slope {
  std::vector<double> direction;
  double of_loss = 0.0;
  double of_gradient = 0.0;
  /// The gradient lies between the slopes of the loss on both sides, as it does at a corner.
  bool has_corner = false;
  std::size_t smaller_steps = 0;  ///< How many steps after the first one were tried.

  double apart() const { return std::abs(of_loss - of_gradient); }
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

  /// Returns the slopes along the gradient and along random directions, with the first step.
  std::vector<slope> slopes_of(const observed_part& part) {
    std::vector<slope> slopes;
    const auto gradient =
        std::span(loss().blocks[part.block].gradient).subspan(part.first, part.count);
    add_slope(part, {gradient.begin(), gradient.end()}, slopes);
    std::vector<float> drawn(part.count);
    for (int i = 0; i < random_directions; ++i) {
      random_.fill_normal(drawn);
      add_slope(part, {drawn.begin(), drawn.end()}, slopes);
    }
    return slopes;
  }

  /// Estimates a slope with the next smaller step. Returns false if there is none.
  bool refine(const observed_part& part, slope& what) {
    if (what.smaller_steps + 1 == std::size(steps)) return false;
    estimate(part, what, steps[++what.smaller_steps]);
    return true;
  }

 private:
  /// Where the parameters are moved to along a direction, and the loss there.
  struct moved_loss {
    double loss = 0.0;
    double squared_length = 0.0;
    double by_gradient = 0.0;  ///< The change of the loss by the gradient.
  };

  void add_slope(const observed_part& part, std::vector<double> direction, std::vector<slope>& to) {
    double squares = 0.0;
    for (const double d : direction) squares += d * d;
    if (squares == 0.0) return;
    for (double& d : direction) d /= std::sqrt(squares);
    estimate(part, to.emplace_back(slope{.direction = std::move(direction)}), steps[0]);
  }

  /// Parameters are floats, so that the way that they are moved differs from the one that is asked
  /// for. Where hardly any of them moves, the estimate with the step before is kept.
  void estimate(const observed_part& part, slope& what, double step) {
    const auto ahead = move(part, what.direction, step);
    const auto behind = move(part, what.direction, -step);
    const double length = std::sqrt(ahead.squared_length) + std::sqrt(behind.squared_length);
    if (length < step && what.smaller_steps > 0) return;
    if (length == 0.0) return;
    const double beyond = ahead.loss - here_ - ahead.by_gradient;
    const double before = here_ - behind.loss + behind.by_gradient;
    what.of_loss = (ahead.loss - behind.loss) / length;
    what.of_gradient = (ahead.by_gradient - behind.by_gradient) / length;
    what.has_corner = std::abs(beyond + before) <= (1.0 + bend) * std::abs(beyond - before);
  }

  moved_loss move(const observed_part& part, const std::vector<double>& direction,
                  double distance) {
    const auto& block = loss().blocks[part.block];
    auto& moved = values_[part.block];
    moved_loss made;
    for (std::size_t i = 0; i < part.count; ++i) {
      const auto at = part.first + i;
      moved[at] = static_cast<float>(block.values[at] + distance * direction[i]);
      const double way = static_cast<double>(moved[at]) - block.values[at];
      made.squared_length += way * way;
      made.by_gradient += block.gradient[at] * way;
    }
    made.loss = detail::loss_with(run_, losses_, which_, values_);
    std::copy_n(block.values.begin() + static_cast<std::ptrdiff_t>(part.first), part.count,
                moved.begin() + static_cast<std::ptrdiff_t>(part.first));
    return made;
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

double largest_of_all(const std::vector<std::vector<slope>>& slopes) {
  double largest = 0.0;
  for (const auto& each : slopes) largest = std::max(largest, largest_of(each));
  return largest;
}

/// Whether the gradient is another one than the loss's. A loss or a gradient that is not finite is
/// far from any other.
bool differs(const slope& each, double largest, double floor) {
  return !(each.apart() <= of_tensor * largest + floor);
}

checked_tensor judge(const std::vector<slope>& slopes, double floor) {
  checked_tensor found{.largest = largest_of(slopes)};
  double farthest = 0.0;
  bool has_gradient = false, has_corner = false, is_wrong = false;
  for (const auto& each : slopes) {
    if (!(each.apart() <= farthest)) farthest = each.apart();
    has_gradient = has_gradient || each.of_gradient != 0.0;
    if (differs(each, found.largest, floor)) (each.has_corner ? has_corner : is_wrong) = true;
  }
  if (found.largest > 0.0) found.difference = farthest / found.largest;
  if (has_corner || is_wrong) {
    found.verdict = !has_gradient ? gradient_verdict::missing
                    : is_wrong    ? gradient_verdict::wrong
                                  : gradient_verdict::rough;
  } else if (found.largest <= floor && !has_gradient) {
    found.verdict = gradient_verdict::unused;
  }
  return found;
}

/// Estimates those slopes again that differ from the gradient, with the next smaller step. Returns
/// whether there were any.
bool refine(loss_check& check, std::vector<std::vector<slope>>& slopes) {
  const double floor = of_all * largest_of_all(slopes);
  bool has_refined = false;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const double largest = largest_of(slopes[i]);
    for (auto& each : slopes[i]) {
      if (!differs(each, largest, floor)) continue;
      has_refined = check.refine(check.loss().parts[i], each) || has_refined;
    }
  }
  return has_refined;
}

void check_loss(loss_check& check, const std::string& name, rule_report& to) {
  std::vector<std::vector<slope>> slopes;
  for (const auto& part : check.loss().parts) slopes.push_back(check.slopes_of(part));
  while (refine(check, slopes)) {
  }
  const double floor = of_all * largest_of_all(slopes);
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    auto found = judge(slopes[i], floor);
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
