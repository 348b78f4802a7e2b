#include "actors/gradients/joint_encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "actors/gradients/encoder_kernel_pass.hpp"
#include "actors/gradients/graph.hpp"

namespace troupe {
namespace {

class joint_encoder final : public encoder {
 public:
  joint_encoder(const std::string& name, int inputs, const std::vector<encoded_part>& parts)
      : encoder(name, inputs) {
    int next = 0;
    for (const auto& part : parts) {
      if (part.begin < next || part.size < 1 || part.size > inputs - part.begin) {
        throw std::invalid_argument(
            fmt::format("encoder \"{}\": expected parts of a row of {} numbers, one behind the "
                        "other, got one of {} from {} on",
                        name, inputs, part.size, part.begin));
      }
      add_plain(next, part.begin);
      add_encoded(part);
      next = part.begin + part.size;
    }
    add_plain(next, inputs);
    declare_all();
  }

  variable features_of(variable x, const parameter_block& block, std::size_t first) const override {
    std::vector<variable> features;
    features.reserve(runs_.size());
    for (const auto& run : runs_) {
      const auto seen = run.size == x.columns() ? x : slice(x, run.begin, run.size * run.count);
      if (!run.encoded_by) {
        features.push_back(seen);
        continue;
      }
      // Features of a row depend on that row alone, so that adjacent parts are rows of one matrix.
      const auto& by = encoders_[*run.encoded_by];
      const auto rows = run.count == 1 ? seen : reshape(seen, run.size);
      const auto made = by.of->features_of(rows, block, first + by.first);
      features.push_back(run.count == 1 ? made : reshape(made, run.count * made.columns()));
    }
    return features.size() == 1 ? features.front() : concat(features);
  }

  std::unique_ptr<encoder_pass> make_pass() const override {
    return detail::make_kernel_pass(*this);
  }

 private:
  /// Adjacent parts of one size, or numbers that are taken as they are.
  struct run {
    int begin = 0, size = 0, count = 1;
    std::optional<std::size_t> encoded_by = {};
  };
  struct part_encoder {
    std::shared_ptr<const encoder> of;
    std::size_t first = 0;  ///< Its first number among all parameters.
  };

  void add_plain(int begin, int end) {
    if (end > begin) runs_.push_back({.begin = begin, .size = end - begin});
  }
  void add_encoded(const encoded_part& part) {
    const auto known = std::ranges::find(encoders_, part.size,
                                         [](const part_encoder& e) { return e.of->inputs(); });
    const auto index = static_cast<std::size_t>(known - encoders_.begin());
    if (known == encoders_.end()) encoders_.push_back({make_encoder(name(), part.size)});
    if (!runs_.empty() && runs_.back().encoded_by == index &&
        runs_.back().begin + runs_.back().size * runs_.back().count == part.begin) {
      ++runs_.back().count;
      return;
    }
    runs_.push_back({.begin = part.begin, .size = part.size, .encoded_by = index});
  }
  void declare_all() {
    std::vector<encoder_parameter> all;
    std::string obstacle;
    std::size_t count = 0;
    for (auto& each : encoders_) {
      each.first = count;
      for (auto parameter : each.of->parameters()) {
        parameter.name = fmt::format("{}.{}", each.of->inputs(), parameter.name);
        parameter.offset += each.first;
        all.push_back(std::move(parameter));
      }
      count += each.of->parameter_count();
      if (obstacle.empty()) obstacle = each.of->obstacle();
    }
    int features = 0;
    for (const auto& run : runs_) {
      const int of_one = run.encoded_by ? encoders_[*run.encoded_by].of->features() : run.size;
      features += of_one * run.count;
    }
    declare(features, std::move(all), std::move(obstacle));
  }

  std::vector<part_encoder> encoders_;
  std::vector<run> runs_;
};

}  // namespace

std::vector<encoded_part> central_parts(const network_shape& shape, std::size_t policy, int begin) {
  const int size = shape.policies[policy].critic_only;
  if (size == 0) return {};
  const auto agent = std::ranges::find(shape.agents, static_cast<int>(policy), &agent_view::policy);
  // The observations of all agents are the first numbers of an environment's row.
  if (agent->critic_begin > 0) return {{begin, size}};
  std::vector<encoded_part> parts;
  for (const auto& each : shape.agents) {
    if (each.obs_size > 0) parts.push_back({begin + each.obs_begin, each.obs_size});
  }
  return parts;
}

std::shared_ptr<const encoder> make_joint_encoder(const std::string& name, int inputs,
                                                  const std::vector<encoded_part>& parts) {
  return std::make_shared<const joint_encoder>(name, inputs, parts);
}

}  // namespace troupe
