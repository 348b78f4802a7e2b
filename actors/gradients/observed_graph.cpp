#include "actors/torch/torch.hpp"

#include "actors/gradients/observed_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "actors/gradients/torch_graph.hpp"
#include "actors/networks/feature_extractor.hpp"
#include "actors/networks/mlp.hpp"

namespace troupe::detail {
namespace {

[[noreturn]] void other() {
  throw std::runtime_error(
      "rule: expected one that does the same in each repetition of an update, got another step");
}

/// Thrown through a learner where its update needs not go on.
struct observation_ended {};

/// The loss that is computed again, and the numbers of its blocks.
struct repetition {
  std::size_t which = 0;
  const std::vector<std::vector<float>>* values = nullptr;
  std::optional<double> result = {};
};

struct observation {
  std::vector<observed_loss> losses;
  std::optional<repetition> again;  ///< None while losses are observed for the first time.
  std::size_t graphs = 0;
  std::size_t losses_seen = 0;

  bool has_loss_of_each_graph() const {
    std::vector<bool> seen(graphs, false);
    for (const auto& loss : losses) seen[loss.graph] = true;
    return std::ranges::find(seen, false) == seen.end();
  }
};

thread_local observation* under_way = nullptr;

/// Makes an observation the one of this thread.
class observing {
 public:
  explicit observing(observation& what) : before_(std::exchange(under_way, &what)) {}
  ~observing() { under_way = before_; }
  observing(const observing&) = delete;
  observing& operator=(const observing&) = delete;

 private:
  observation* before_;
};

/// Passes all operations on to an engine. Variables belong to it, so that a rule's operators and
/// `backward` come here, too.
class observed_graph final : public graph {
 public:
  observed_graph(std::unique_ptr<graph> engine, observation& of)
      : engine_(std::move(engine)), of_(of), index_(of.graphs++) {}

  void clear() override {
    ++step_;
    now_ = {.graph = index_, .step = step_};
    used_.clear();
    stopped_ = chosen_ = 0;
    engine_->clear();
  }

  variable constant(std::span<const float> numbers, int columns) override {
    return outer(engine_->constant(numbers, columns));
  }
  variable parameter(const parameter_block& block, std::size_t first, int rows,
                     int columns) override {
    const auto& used = use(block);
    note(used, first, static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns),
         fmt::format("parameter [{}, {}]", rows, columns));
    return outer(engine_->parameter(block_of(used, block), first, rows, columns));
  }
  variable dense(variable x, const parameter_block& block, const dense_layer& layer,
                 activation kind) override {
    const auto& used = use(block);
    note(used, layer.weight, static_cast<std::size_t>(layer.in) * layer.out,
         fmt::format("weight [{}, {}]", layer.in, layer.out));
    note(used, layer.bias, static_cast<std::size_t>(layer.out),
         fmt::format("bias [{}]", layer.out));
    return outer(engine_->dense(inner(x), block_of(used, block), layer, kind));
  }
  variable features(variable x, const parameter_block& block, std::size_t first,
                    const feature_extractor& extractor) override {
    const auto& used = use(block);
    const auto count = static_cast<std::size_t>(extractor.parameter_count());
    note(used, first, count, fmt::format("extractor [{}]", count));
    return outer(engine_->features(inner(x), block_of(used, block), first, extractor));
  }

  variable element(element_operation operation, variable x, float a, float b) override {
    return outer(engine_->element(operation, inner(x), a, b));
  }
  variable pair(pair_operation operation, variable x, variable y) override {
    return outer(engine_->pair(operation, inner(x), inner(y)));
  }
  variable product(variable x, variable y) override {
    return outer(engine_->product(inner(x), inner(y)));
  }
  variable row_dense(variable x, variable weight, variable bias) override {
    return outer(engine_->row_dense(inner(x), inner(weight), inner(bias)));
  }
  variable reduce_rows(row_operation operation, variable x) override {
    return outer(engine_->reduce_rows(operation, inner(x)));
  }
  variable log_softmax(variable x) override { return outer(engine_->log_softmax(inner(x))); }
  variable layer_norm(variable x, variable scale, variable shift, activation kind) override {
    return outer(engine_->layer_norm(inner(x), inner(scale), inner(shift), kind));
  }
  variable slice(variable x, int first, int count) override {
    return outer(engine_->slice(inner(x), first, count));
  }
  variable reshape(variable x, int columns) override {
    return outer(engine_->reshape(inner(x), columns));
  }
  variable concat(std::span<const variable> parts) override {
    std::vector<variable> inner_parts;
    for (const auto& part : parts) inner_parts.push_back(inner(part));
    return outer(engine_->concat(inner_parts));
  }
  variable gather(variable x, std::span<const std::int64_t> chosen) override {
    return outer(engine_->gather(inner(x), chosen));
  }
  variable select_rows(variable x, std::span<const std::int64_t> chosen) override {
    return outer(engine_->select_rows(inner(x), chosen));
  }
  log_prob_and_entropy action_terms(const action_head& head, variable outputs, variable log_std,
                                    const action_rows& actions) override {
    const auto terms = engine_->action_terms(
        head, inner(outputs), log_std.is_defined() ? inner(log_std) : variable(), actions);
    return {outer(terms.log_prob), outer(terms.entropy)};
  }

  std::span<const std::int64_t> argmax(variable x, std::span<const float> allowed) override {
    if (const auto* known = loss_again()) return next_of(known->chosen, chosen_);
    const auto found = engine_->argmax(inner(x), allowed);
    now_.chosen.emplace_back(found.begin(), found.end());
    return found;
  }
  variable stop_gradient(variable x) override {
    if (const auto* known = loss_again()) {
      return outer(engine_->constant(next_of(known->stopped, stopped_), x.columns()));
    }
    const auto stopped = engine_->stop_gradient(inner(x));
    const auto numbers = engine_->values(stopped);
    now_.stopped.emplace_back(numbers.begin(), numbers.end());
    return outer(stopped);
  }

  variable mean(variable x, std::span<const float> weight) override {
    return outer(engine_->mean(inner(x), weight));
  }
  variable sum(variable x, std::span<const float> weight) override {
    return outer(engine_->sum(inner(x), weight));
  }

  void backward(variable loss) override {
    of_.again ? repeat_backward(loss) : observe_backward(loss);
  }

  std::span<const float> values(variable x) override { return engine_->values(inner(x)); }
  double number(variable x) override { return engine_->number(inner(x)); }

 private:
  /// A block of this step. Those with a gradient have an index among the loss's.
  struct used_block {
    parameter_block block;
    std::optional<std::size_t> trained;
  };

  variable inner(variable x) const { return {*engine_, x.index(), x.rows(), x.columns()}; }
  variable outer(variable x) { return {*this, x.index(), x.rows(), x.columns()}; }

  const used_block& use(const parameter_block& block) {
    std::size_t trained = 0;
    for (const auto& each : used_) {
      if (each.block.values.data() == block.values.data() &&
          each.block.gradient.data() == block.gradient.data()) {
        return each;
      }
      trained += each.trained ? 1 : 0;
    }
    used_.push_back({block, {}});
    if (!block.gradient.empty()) used_.back().trained = trained;
    return used_.back();
  }

  void note(const used_block& used, std::size_t first, std::size_t count, const std::string& what) {
    if (!used.trained) return;
    for (const auto& each : now_.parts) {
      if (each.block == *used.trained && each.first == first && each.count == count) return;
    }
    now_.parts.push_back({.name = fmt::format("{}: {}", now_.parts.size() + 1, what),
                          .block = *used.trained,
                          .first = first,
                          .count = count});
  }

  /// The loss that this step is computed again for, or null.
  const observed_loss* loss_again() const {
    if (!of_.again) return nullptr;
    const auto& loss = of_.losses[of_.again->which];
    return loss.graph == index_ && loss.step == step_ ? &loss : nullptr;
  }

  /// The block with the numbers of the repetition, if the step is the one that is repeated.
  parameter_block block_of(const used_block& used, const parameter_block& block) const {
    if (!used.trained || !loss_again()) return block;
    const auto& values = of_.again->values->at(*used.trained);
    if (values.size() != block.values.size()) other();
    return {values, block.gradient};
  }

  template <class Row>
  std::span<const Row> next_of(const std::vector<std::vector<Row>>& known, std::size_t& used) {
    if (used == known.size()) other();
    return known[used++];
  }

  void observe_backward(variable loss) {
    engine_->backward(inner(loss));
    now_.number = engine_->number(inner(loss));
    for (const auto& each : used_) {
      if (!each.trained) continue;
      const auto& [values, gradient] = each.block;
      now_.blocks.push_back({{values.begin(), values.end()}, {gradient.begin(), gradient.end()}});
    }
    of_.losses.push_back(std::move(now_));
    now_ = {.graph = index_, .step = step_};
    if (of_.has_loss_of_each_graph()) throw observation_ended();
  }

  void repeat_backward(variable loss) {
    const auto seen = of_.losses_seen++;
    if (seen == of_.again->which) {
      if (!loss_again()) other();
      of_.again->result = engine_->number(inner(loss));
      throw observation_ended();
    }
    const auto& known = of_.losses.at(seen);
    for (const auto& each : used_) {
      if (each.trained)
        std::ranges::copy(known.blocks.at(*each.trained).gradient, each.block.gradient.begin());
    }
  }

  std::unique_ptr<graph> engine_;
  observation& of_;
  const std::size_t index_;
  std::size_t step_ = 0;
  observed_loss now_;
  std::vector<used_block> used_;
  std::size_t stopped_ = 0, chosen_ = 0;  // how many are used in the repeated step
};

}  // namespace

std::vector<observed_loss> observe_losses(const std::function<void()>& run) {
  observation what;
  const observing here(what);
  try {
    run();
  } catch (const observation_ended&) {
  }
  return std::move(what.losses);
}

double loss_with(const std::function<void()>& run, const std::vector<observed_loss>& losses,
                 std::size_t which, const std::vector<std::vector<float>>& values) {
  observation what{.losses = losses, .again = repetition{.which = which, .values = &values}};
  const observing here(what);
  try {
    run();
  } catch (const observation_ended&) {
  }
  if (!what.again->result) other();
  return *what.again->result;
}

std::unique_ptr<graph> observed(std::unique_ptr<graph> made, const device_link& link) {
  if (under_way == nullptr) return made;
  const auto& again = under_way->again;
  // Losses of other graphs are repeated as they were, so that their numbers are the same.
  if (again && under_way->losses[again->which].graph == under_way->graphs) {
    made = std::make_unique<torch_graph>(link, at::kDouble);
  }
  return std::make_unique<observed_graph>(std::move(made), *under_way);
}

}  // namespace troupe::detail
