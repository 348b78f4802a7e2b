#include "actors/gradients/own_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "actors/gradients/kernel_graph.hpp"
#include "actors/kernels/activation_kernels.hpp"
#include "actors/networks/encoder_code.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/worlds/plugin_loader.hpp"

namespace troupe {
namespace {

std::string joined(std::string_view name, std::string_view part) {
  return fmt::format("{}.{}", name, part);
}

[[noreturn]] void refuse(const std::string& encoder, const std::string& what) {
  throw std::invalid_argument(fmt::format("encoder \"{}\": {}", encoder, what));
}

/// Notes the parameters that a function asks for. It gives zeros.
class declared_parameters final : public network_parameters {
 public:
  explicit declared_parameters(const std::string& encoder, graph& g)
      : encoder_(encoder), graph_(&g) {}

  variable parameter(std::string_view name, int rows, int columns,
                     initial_values initial) override {
    add({.name = std::string(name),
         .rows = rows,
         .columns = columns,
         .initial = initial,
         .inputs = rows});
    return zeros(rows, columns);
  }

  variable dense(std::string_view name, const variable& x, int outputs, activation kind) override {
    note(kind);
    add({.name = joined(name, "weight"),
         .rows = x.columns(),
         .columns = outputs,
         .initial = initial_values::weight,
         .inputs = x.columns(),
         .is_layer = true});
    add({.name = joined(name, "bias"),
         .rows = 1,
         .columns = outputs,
         .initial = initial_values::bias,
         .inputs = x.columns()});
    return zeros(x.rows(), outputs);
  }

  variable layer_norm(std::string_view name, const variable& x, activation kind) override {
    note(kind);
    add({.name = joined(name, "weight"),
         .rows = 1,
         .columns = x.columns(),
         .initial = initial_values::ones,
         .inputs = 1});
    add({.name = joined(name, "bias"),
         .rows = 1,
         .columns = x.columns(),
         .initial = initial_values::zeros,
         .inputs = 1});
    return zeros(x.rows(), x.columns());
  }

  std::vector<encoder_parameter> all;
  std::string obstacle;

 private:
  void add(encoder_parameter made) {
    if (made.name.empty() || made.rows < 1 || made.columns < 1) {
      refuse(encoder_, fmt::format("the parameter \"{}\" is [{}, {}], expected a name and sizes of "
                                   "1 or more",
                                   made.name, made.rows, made.columns));
    }
    if (std::ranges::find(all, made.name, &encoder_parameter::name) != all.end()) {
      refuse(encoder_,
             fmt::format("expected parameters of different names, got two \"{}\"", made.name));
    }
    made.offset = all.empty() ? 0 : all.back().offset + all.back().count();
    all.push_back(std::move(made));
  }
  void note(activation kind) {
    if (detail::has_slope_of_result(kind) || !obstacle.empty()) return;
    obstacle =
        std::string("the encoder's activation ") + to_string(kind) + " has no fused gradient";
  }
  variable zeros(int rows, int columns) {
    const auto& made = zeros_.emplace_back(static_cast<std::size_t>(rows) * columns, 0.0f);
    return graph_->constant(made, columns);
  }

  const std::string& encoder_;
  graph* graph_;
  std::deque<std::vector<float>> zeros_;
};

/// Gives the parameters of a block, in the order in which they were declared.
class block_parameters final : public network_parameters {
 public:
  block_parameters(const encoder& of, const parameter_block& block, std::size_t first, graph& g)
      : encoder_(&of), block_(&block), first_(first), graph_(&g) {}

  variable parameter(std::string_view name, int rows, int columns, initial_values) override {
    return graph_->parameter(*block_, next(name, {}, rows, columns), rows, columns);
  }

  variable dense(std::string_view name, const variable& x, int outputs, activation kind) override {
    const auto weight = next(name, ".weight", x.columns(), outputs);
    const auto bias = next(name, ".bias", 1, outputs);
    return graph_->dense(x, *block_,
                         {.in = x.columns(), .out = outputs, .weight = weight, .bias = bias}, kind);
  }

  variable layer_norm(std::string_view name, const variable& x, activation kind) override {
    const int columns = x.columns();
    const auto scale = graph_->parameter(*block_, next(name, ".weight", 1, columns), 1, columns);
    const auto shift = graph_->parameter(*block_, next(name, ".bias", 1, columns), 1, columns);
    return graph_->layer_norm(x, scale, shift, kind);
  }

  /// Throws std::invalid_argument if the function has not asked for all parameters.
  void finish() const {
    const auto& all = encoder_->parameters();
    if (at_ != all.size()) fail("none");
  }

 private:
  /// Returns the block's first number of the next parameter, which must be that one.
  std::size_t next(std::string_view name, std::string_view part, int rows, int columns) {
    const auto& all = encoder_->parameters();
    const bool is_it = at_ < all.size() && all[at_].name.size() == name.size() + part.size() &&
                       std::string_view(all[at_].name).starts_with(name) &&
                       std::string_view(all[at_].name).ends_with(part) && all[at_].rows == rows &&
                       all[at_].columns == columns;
    if (!is_it) fail(fmt::format("{}{} [{}, {}]", name, part, rows, columns));
    return first_ + all[at_++].offset;
  }

  [[noreturn]] void fail(const std::string& got) const {
    const auto& all = encoder_->parameters();
    const auto expected = at_ < all.size() ? fmt::format("{} [{}, {}]", all[at_].name,
                                                         all[at_].rows, all[at_].columns)
                                           : std::string("none");
    refuse(encoder_->name(),
           fmt::format("expected a function that asks for the same parameters in each call; the "
                       "next one was {}, got {}",
                       expected, got));
  }

  const encoder* encoder_;
  const parameter_block* block_;
  std::size_t first_;
  graph* graph_;
  std::size_t at_ = 0;
};

/// An encoder's pass on Troupe's kernels.
class kernel_pass final : public encoder_pass {
 public:
  explicit kernel_pass(const encoder& of) : encoder_(&of) {}

  const float* features_of(const float* parameters, const float* x, int rows) override {
    graph_.clear();
    const auto count = static_cast<std::size_t>(rows) * encoder_->inputs();
    const auto obs = graph_.constant({x, count}, encoder_->inputs());
    const parameter_block block{{parameters, encoder_->parameter_count()}};
    return graph_.values(encoder_->features_of(obs, block, 0)).data();
  }

 private:
  const encoder* encoder_;
  kernel_graph graph_;
};

class function_encoder final : public encoder {
 public:
  function_encoder(const std::string& name, int inputs, encoder_function function)
      : encoder(name, inputs), function_(std::move(function)) {
    constexpr int rows = 2;  // a function that mixes up rows and columns is found out
    kernel_graph g;
    declared_parameters declared(this->name(), g);
    const std::vector<float> zeros(static_cast<std::size_t>(rows) * inputs, 0.0f);
    const auto features = function_(declared, g.constant(zeros, inputs));
    if (!features.is_defined() || features.rows() != rows) {
      refuse(name, fmt::format(
                       "expected features [rows, F] of observations [rows, {}], got {}", inputs,
                       features.is_defined() ? fmt::format("[{}, {}] for {} rows", features.rows(),
                                                           features.columns(), rows)
                                             : std::string("no variable")));
    }
    declare(features.columns(), std::move(declared.all), std::move(declared.obstacle));
  }

  variable features_of(variable x, const parameter_block& block, std::size_t first) const override {
    block_parameters parameters(*this, block, first, x.owner());
    const auto features = function_(parameters, x);
    parameters.finish();
    return features;
  }

  std::unique_ptr<encoder_pass> make_pass() const override {
    return std::make_unique<kernel_pass>(*this);
  }

 private:
  encoder_function function_;
};

struct registered_encoders {
  std::mutex guard;
  std::map<std::string, encoder_function, std::less<>> known;
};

registered_encoders& all_encoders() {
  static registered_encoders made;
  return made;
}

encoder_function function_of(const std::string& name) {
  if (names_plugin(name)) return plugin_encoder_of(name).function;
  {
    auto& all = all_encoders();
    const std::lock_guard lock(all.guard);
    const auto at = all.known.find(name);
    if (at != all.known.end()) return at->second;
  }
  const auto known = known_encoders();
  throw std::invalid_argument(fmt::format(
      "policy.encoder \"{}\": expected the name of a network that this program registers, {}, or a "
      "plug-in with one, such as ./gate.so:gated",
      name,
      known.empty() ? std::string("which registers none")
                    : fmt::format("such as {}", fmt::join(known, ", "))));
}

}  // namespace

std::shared_ptr<const encoder> make_encoder(const std::string& name, int inputs) {
  return std::make_shared<const function_encoder>(name, inputs, function_of(name));
}

void register_encoder(std::string name, encoder_function function) {
  if (name.empty() || names_plugin(name) || !function) {
    throw std::invalid_argument("encoder \"" + name +
                                "\": expected a function and a name that is no path of a plug-in");
  }
  auto& all = all_encoders();
  const std::lock_guard lock(all.guard);
  const auto [at, added] = all.known.try_emplace(std::move(name), std::move(function));
  if (!added) throw std::invalid_argument("encoder \"" + at->first + "\": the name is taken");
}

void load_encoder(const std::string& name) {
  if (names_plugin(name)) plugin_encoder_of(name);
}

bool is_unloaded_plugin(const std::string& name) {
  return names_plugin(name) && !is_loaded_plugin(name);
}

std::vector<std::string> known_encoders() {
  auto& all = all_encoders();
  const std::lock_guard lock(all.guard);
  std::vector<std::string> names;
  for (const auto& [name, function] : all.known) names.push_back(name);
  return names;
}

}  // namespace troupe
