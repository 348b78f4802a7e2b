#include "actors/torch/torch.hpp"

#include "actors/gradients/own_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "actors/gradients/encoder_kernel_pass.hpp"
#include "actors/gradients/kernel_graph.hpp"
#include "actors/gradients/torch_graph.hpp"
#include "actors/kernels/activation_kernels.hpp"
#include "actors/networks/device_link.hpp"
#include "actors/networks/encoder_code.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/worlds/plugin_loader.hpp"

namespace troupe {
namespace {

std::string joined(std::string_view name, std::string_view part) {
  return fmt::format("{}.{}", name, part);
}

/// An error that names its encoder.
struct encoder_error : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

[[noreturn]] void refuse(const std::string& encoder, const std::string& what) {
  throw encoder_error(fmt::format("encoder \"{}\": {}", encoder, what));
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
    obstacle = fmt::format("the activation {} of encoder \"{}\" has no fused gradient",
                           to_string(kind), encoder_);
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
    const auto made = called(declared, g.constant(zeros, inputs));
    declare(made.columns(), std::move(declared.all), std::move(declared.obstacle));
  }

  variable features_of(variable x, const parameter_block& block, std::size_t first) const override {
    block_parameters parameters(*this, block, first, x.owner());
    const auto made = called(parameters, x);
    parameters.finish();
    return made;
  }

  std::unique_ptr<encoder_pass> make_pass() const override {
    return detail::make_kernel_pass(*this);
  }

 private:
  /// Calls the function. Whatever it throws becomes an error that names the encoder.
  variable called(network_parameters& parameters, const variable& x) const {
    variable made;
    try {
      made = function_(parameters, x);
    } catch (const encoder_error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      refuse_features(x, fmt::format("an error for {} rows: {}", x.rows(), error.what()));
    }
    if (!made.is_defined()) refuse_features(x, "no variable");
    if (&made.owner() != &x.owner()) refuse_features(x, "a variable of another graph");
    const bool has_width = features() == 0 || made.columns() == features();
    if (made.rows() != x.rows() || !has_width) {
      refuse_features(x,
                      fmt::format("[{}, {}] for {} rows", made.rows(), made.columns(), x.rows()));
    }
    return made;
  }

  [[noreturn]] void refuse_features(const variable& x, const std::string& got) const {
    refuse(name(),
           fmt::format("expected features [rows, {}] of observations [rows, {}], got {}",
                       features() == 0 ? "F" : std::to_string(features()), x.columns(), got));
  }

  encoder_function function_;
};

std::vector<float> features_on(graph& g, const encoder& of, std::span<const float> parameters,
                               std::span<const float> obs) {
  g.clear();
  const auto made = g.values(of.features_of(g.constant(obs, of.inputs()), {parameters}, 0));
  return {made.begin(), made.end()};
}

/// Throws encoder_error unless the features of two random rows are those of each row alone. Row by
/// row means that the policy that learns, with a batch, is the one that acts, with any number of
/// rows. Observations are within 0 to 1, where logarithms and roots of them are numbers.
void require_rows_alone(graph& g, const encoder& of, const char* engine) {
  constexpr std::uint64_t seed = 1;
  constexpr float tolerance = 1e-5f;
  action_random random(seed);
  std::vector<float> parameters(of.parameter_count());
  random.fill_normal(parameters);
  for (const auto& each : of.parameters()) {  // sums of products stay near 1
    const float scale = 1.0f / std::sqrt(static_cast<float>(each.inputs));
    for (std::size_t i = 0; i < each.count(); ++i) parameters[each.offset + i] *= scale;
  }
  const auto width = static_cast<std::size_t>(of.inputs());
  std::vector<float> obs(2 * width);
  for (auto& x : obs) x = static_cast<float>(random.uniform());
  const auto rows = std::span<const float>(obs);
  const auto together = features_on(g, of, parameters, rows);
  auto alone = features_on(g, of, parameters, rows.first(width));
  const auto second = features_on(g, of, parameters, rows.last(width));
  alone.insert(alone.end(), second.begin(), second.end());
  float largest = 1.0f;
  for (const float x : alone) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  const auto features = static_cast<std::size_t>(of.features());
  for (std::size_t i = 0; i < together.size(); ++i) {
    if (!std::isfinite(together[i]) && !std::isfinite(alone[i])) continue;
    if (std::abs(together[i] - alone[i]) <= tolerance * largest) continue;
    refuse(of.name(),
           fmt::format("expected features of each row that depend on that row alone; with two "
                       "random rows feature {} of row {} is {:.6g}, and {:.6g} with that row alone "
                       "({})",
                       i % features, i / features, together[i], alone[i], engine));
  }
}

struct registered_encoders {
  std::mutex guard;
  std::map<std::string, encoder_function, std::less<>> known;
  std::set<std::pair<std::string, int>> checked;  ///< Names, and numbers of an observation.
};

registered_encoders& all_encoders() {
  static registered_encoders made;
  return made;
}

/// Each replica and each model file makes an encoder, and all of one name have one function.
void require_rows_alone_once(const encoder& of) {
  auto& all = all_encoders();
  const std::pair which(of.name(), of.inputs());
  {
    const std::lock_guard lock(all.guard);
    if (all.checked.contains(which)) return;
  }
  kernel_graph kernels;
  require_rows_alone(kernels, of, "Troupe's kernels");
  torch_graph libtorch(detail::device_link("cpu"));
  require_rows_alone(libtorch, of, "libtorch");
  const std::lock_guard lock(all.guard);
  all.checked.insert(which);
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

std::unique_ptr<encoder_pass> detail::make_kernel_pass(const encoder& of) {
  return std::make_unique<kernel_pass>(of);
}

std::shared_ptr<const encoder> make_encoder(const std::string& name, int inputs) {
  auto made = std::make_shared<const function_encoder>(name, inputs, function_of(name));
  require_rows_alone_once(*made);
  return made;
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
