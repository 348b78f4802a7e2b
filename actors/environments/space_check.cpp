#include "actors/environments/space_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/environments/image_layout.hpp"

namespace troupe::detail {
namespace {

class space_checker {
 public:
  /// `prefers`: tells what other libraries don't take, too.
  space_checker(const char* place, bool prefers, check_listener& to)
      : is_action_(std::string_view(place) == "action space"),
        prefers_(prefers),
        place_(place),
        to_(to) {}

  bool usable = true;

  void check(const space& of, const std::string& key) {
    key_ = key;
    std::visit(*this, of.as_variant());
  }

  void operator()(const spaces::box& of) {
    std::size_t count = 1;
    for (const auto n : of.shape) count *= n < 0 ? 0 : static_cast<std::size_t>(n);
    if (of.low.size() != count || of.high.size() != count) {
      unusable(fmt::format("as many bounds as the shape has elements, {}", count),
               fmt::format("{} low and {} high ones", of.low.size(), of.high.size()));
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (of.low[i] <= of.high[i]) continue;
      unusable("low <= high", fmt::format("{} and {} at element {}", of.low[i], of.high[i], i));
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (of.low[i] != of.high[i]) continue;
      prefer("bounds", "low < high", fmt::format("{} for both at element {}", of.low[i], i));
      break;
    }
    const auto is_finite = [](float bound) { return std::isfinite(bound); };
    const bool bounded =
        std::ranges::all_of(of.low, is_finite) && std::ranges::all_of(of.high, is_finite);
    if (is_action_) {
      check_action_box(of, bounded);
    } else {
      check_observation_box(of, bounded);
    }
  }
  void operator()(const spaces::discrete& of) {
    if (of.n < 1) unusable("n > 0", fmt::format("{}", of.n));
    check_start(of.start != 0);
  }
  void operator()(const spaces::multi_discrete& of) {
    if (of.n.empty() || std::ranges::any_of(of.n, [](auto n) { return n < 1; }))
      unusable("numbers n > 0", to_string(of));
    if (of.start.size() != of.n.size())
      unusable(fmt::format("{} starts", of.n.size()), fmt::format("{}", of.start.size()));
    check_start(std::ranges::any_of(of.start, [](auto start) { return start != 0; }));
  }
  void operator()(const spaces::multi_binary& of) {
    if (of.n < 1) unusable("n > 0", fmt::format("{}", of.n));
  }
  void operator()(const spaces::text&) {
    if (is_action_) unusable("a space without Text", "Text");
  }
  void operator()(const spaces::tuple& of) {
    if (of.parts.empty()) unusable("a part of a known kind", "an empty Tuple");
    prefer("spaces", "no Tuple, which Stable-Baselines3 refuses", "Tuple");
    const auto key = key_;
    for (std::size_t i = 0; i < of.parts.size(); ++i)
      check(of.parts[i], key.empty() ? std::to_string(i) : fmt::format("{}/{}", key, i));
  }
  void operator()(const spaces::dict& of) {
    if (of.parts.empty()) unusable("a part of a known kind", "an empty Dict");
    if (is_action_) {
      prefer("spaces", "no Dict, which Stable-Baselines3 refuses", "Dict");
    } else if (!key_.empty()) {
      prefer("spaces", "one level of keys, as Stable-Baselines3 needs", "a Dict in a Dict");
    }
    const auto key = key_;
    for (const auto& [name, part] : of.parts)
      check(part, key.empty() ? name : fmt::format("{}/{}", key, name));
  }

 private:
  void check_action_box(const spaces::box& of, bool bounded) {
    if (!bounded) return tell(true, "bounds", "finite bounds", "an infinite bound");
    const auto all = [](const std::vector<float>& bounds, float value) {
      return std::ranges::all_of(bounds, [&](float bound) { return bound == value; });
    };
    if (!all(of.low, -1) || !all(of.high, 1))
      prefer("bounds",
             "bounds -1 and 1, for which policies are made (env.rescale_action=true scales them)",
             to_string(of));
  }
  void check_observation_box(const spaces::box& of, bool bounded) {
    if (!bounded) prefer("bounds", "finite bounds", "an infinite bound");
    const bool may_be_meant = of.shape.size() >= 3 || of.type == spaces::element::uint8;
    if (of.shape.size() >= 2 && (is_image(of) || may_be_meant)) {
      check_image(of);
    } else if (of.shape.size() != 1) {
      prefer("shape", "a vector or an image",
             fmt::format("a Box of {} dimensions", of.shape.size()));
    }
  }
  void check_image(const spaces::box& of) {
    if (!prefers_) {  // an agent's
      if (is_image(of))
        warn("image", "a vector, for algorithms for several agents take an image as plain numbers",
             to_short_string(of));
      return;
    }
    if (!is_image(of)) {
      warn("image", fmt::format("{}, and policy.kind=cnn gives them convolutions", no_image_text),
           to_short_string(of));
      return;
    }
    constexpr std::int64_t side_min = 36;  // for the convolutions of Mnih et al. 2015
    const auto layout = image_layout_of(of);
    if (layout && std::min(layout->height, layout->width) < side_min)
      warn(
          "image",
          "at least 36x36 pixels for usual convolutions (policy.kind=mlp takes images of any size)",
          fmt::format("{}x{} with {} channels", layout->height, layout->width, layout->channels));
  }
  void check_start(bool is_shifted) {
    if (is_shifted) prefer("start", "start 0, which Stable-Baselines3 needs", "another");
  }

  void tell(bool is_fault, const char* check, std::string expected, std::string got) {
    to_.found(is_fault, {.check = check,
                         .call = {place_},
                         .key = key_,
                         .expected = std::move(expected),
                         .got = std::move(got)});
  }
  void warn(const char* check, std::string expected, std::string got) {
    tell(false, check, std::move(expected), std::move(got));
  }
  void prefer(const char* check, std::string expected, std::string got) {
    if (prefers_) warn(check, std::move(expected), std::move(got));
  }
  void unusable(std::string expected, std::string got) {
    tell(true, "spaces", std::move(expected), std::move(got));
    usable = false;
  }

  bool is_action_, prefers_;
  std::string place_, key_;
  check_listener& to_;
};

}  // namespace

bool check_space(const space& of, const char* place, check_listener& to) {
  space_checker checker(place, true, to);
  checker.check(of, "");
  return checker.usable;
}

bool check_agent_space(const space& of, const char* place, const std::string& key,
                       check_listener& to) {
  space_checker checker(place, false, to);
  checker.check(of, key);
  return checker.usable;
}

}  // namespace troupe::detail
