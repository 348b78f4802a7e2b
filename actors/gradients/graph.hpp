#pragma once
// A reverse-mode graph over matrices of floats, in which update rules are written.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "actors/kernels/activation.hpp"

namespace troupe {

namespace detail {
struct dense_layer;
class action_head;
class feature_extractor;
}  // namespace detail

struct action_rows;

class graph;

/// A matrix [rows, columns] that an operation of a graph has computed. It is a handle, which is
/// copied freely and is valid until the graph's next clear().
class variable {
 public:
  variable() = default;
  variable(graph& owner, std::size_t index, int rows, int columns)
      : owner_(&owner), index_(index), rows_(rows), columns_(columns) {}

  /// Returns whether it is a matrix; a default-constructed one is not.
  bool is_defined() const { return owner_ != nullptr; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  graph& owner() const { return *owner_; }
  std::size_t index() const { return index_; }

  /// Returns whether both are the result of the same operation.
  friend bool operator==(const variable&, const variable&) = default;

 private:
  graph* owner_ = nullptr;
  std::size_t index_ = 0;
  int rows_ = 0;
  int columns_ = 0;
};

/// The log-probabilities and the entropies of actions, [rows, 1] each.
struct log_prob_and_entropy {
  variable log_prob;
  variable entropy;
};

/// A network's flat block of parameters as a rule sees it. graph::backward writes the derivative of
/// the loss to `gradient`, which has the size of `values`. Without a gradient the parameters are
/// constants: the loss is not differentiated by them.
struct parameter_block {
  std::span<const float> values;
  std::span<float> gradient = {};

  /// The same parameters as constants.
  parameter_block frozen() const { return {values}; }
};

/// The functions of single elements. `a` and `b` are the operation's numbers.
enum class element_operation {
  scale,          ///< a x
  shift,          ///< x + a
  exp,            ///< e^x; x is clipped to -80..80
  unbounded_exp,  ///< e^x, which is infinite for large x
  log,            ///< the natural logarithm
  square,         ///< x^2
  abs,            ///< |x|
  clamp,          ///< x within a..b; no derivative flows beyond the bounds
  tanh,           ///< tanh x
  elu,            ///< x for x > 0, otherwise e^x - 1
  /// log(1 - tanh(x)^2) = 2 (log 2 - |x| - log(1 + e^(-2|x|))), which is exact for any x.
  log_slope_of_tanh,
  huber,  ///< Huber's loss with delta 1: x^2 / 2 if |x| < 1, otherwise |x| - 1/2
};

/// The functions of two elements.
enum class pair_operation {
  add,
  subtract,
  multiply,
  minimum,
  maximum,
  mask,  ///< x where y is above 0, otherwise -1e8: the logit of what has a probability of 0
};

/// The functions of a row, whose results are a column [rows, 1].
enum class row_operation { sum, mean, min, max };

/// A training step as a graph of operations on matrices. Each operation computes its result when it
/// is called, and `backward` carries the derivative of a loss back to the blocks of parameters.
/// Two engines implement it: kernel_graph runs on Troupe's kernels, torch_graph on libtorch. A rule
/// is a function that takes a graph, so one text serves both.
///
/// A rule calls the same operations in each step, and a graph keeps the memory of the step before:
/// kernel_graph does not allocate after the first step. A graph belongs to one thread.
///
/// Operations throw std::invalid_argument if the sizes of their arguments don't fit.
class graph {
 public:
  virtual ~graph() = default;

  /// Begins a step. All variables of the step before become invalid.
  virtual void clear() = 0;

  /// A matrix [size / columns, columns] of numbers that are not trained. The memory must stay as it
  /// is until the next clear().
  virtual variable constant(std::span<const float> numbers, int columns = 1) = 0;
  /// The matrix [rows, columns] that begins at the block's number `first`.
  virtual variable parameter(const parameter_block& block, std::size_t first, int rows,
                             int columns) = 0;

  /// activation(x W + b) for x [rows, in]; W [in, out] and b [out] are at the layer's place in the
  /// block.
  virtual variable dense(variable x, const parameter_block& block, const detail::dense_layer& layer,
                         activation kind) = 0;
  /// The features [rows, F] of observations with images; the extractor's parameters begin at the
  /// block's number `first`. Only torch_graph has it.
  virtual variable features(variable x, const parameter_block& block, std::size_t first,
                            const detail::feature_extractor& extractor) = 0;

  virtual variable element(element_operation operation, variable x, float a = 0, float b = 0) = 0;
  /// `y` has the size of `x`, or is a column [rows, 1] or a row [1, columns] for all of x's.
  virtual variable pair(pair_operation operation, variable x, variable y) = 0;
  /// The matrix product [rows, columns] of x [rows, n] and y [n, columns].
  virtual variable product(variable x, variable y) = 0;
  /// x W + b with a matrix W [n, m] and a vector b [m] of each row, for x [rows, n], `weight`
  /// [rows, n m] and `bias` [rows, m]: a layer whose parameters other networks make.
  virtual variable row_dense(variable x, variable weight, variable bias) = 0;
  virtual variable reduce_rows(row_operation operation, variable x) = 0;
  /// log(e^x / the sum of e^x over the row).
  virtual variable log_softmax(variable x) = 0;
  /// activation(scale (x - m) / sqrt(v + 1e-5) + shift) with the mean m and the variance v of each
  /// row, for rows `scale` and `shift` [1, columns], as torch.nn.LayerNorm.
  virtual variable layer_norm(variable x, variable scale, variable shift, activation kind) = 0;

  /// The columns first to first + count - 1.
  virtual variable slice(variable x, int first, int count) = 0;
  /// The same numbers, row by row, in rows of `columns`.
  virtual variable reshape(variable x, int columns) = 0;
  /// Matrices beside each other.
  virtual variable concat(std::span<const variable> parts) = 0;
  /// The column [rows, 1] of the elements whose columns are `chosen` [rows]. The memory of `chosen`
  /// must stay as it is until the next clear().
  virtual variable gather(variable x, std::span<const std::int64_t> chosen) = 0;
  /// The rows of x whose numbers are `chosen` [chosen.size()], in that order: the embedding of
  /// choices if x is a matrix of parameters. The memory of `chosen` must stay as it is until the
  /// next clear().
  virtual variable select_rows(variable x, std::span<const std::int64_t> chosen) = 0;
  /// The log-probability and the entropy of each row's actions, whose distribution `head` makes of
  /// a network's outputs [rows, head.outputs()]. `log_std` [1, A] or [rows, A] is read only for
  /// continuous actions. The head, and the memory of the actions, must stay as they are until the
  /// next clear().
  virtual log_prob_and_entropy action_terms(const detail::action_head& head, variable outputs,
                                            variable log_std, const action_rows& actions) = 0;
  /// The columns of the largest elements of each row [rows], the first of equal ones. `allowed`
  /// [rows, columns] is above 0 for those that may be chosen; empty means all. Where a row allows
  /// none, all are allowed.
  virtual std::span<const std::int64_t> argmax(variable x, std::span<const float> allowed = {}) = 0;
  /// x as a constant: no derivative flows through it.
  virtual variable stop_gradient(variable x) = 0;

  /// The mean over all rows of weight * x, for a column x [rows, 1]. Empty weights mean 1.
  virtual variable mean(variable x, std::span<const float> weight = {}) = 0;
  /// The sum over all rows of weight * x, for a column x [rows, 1]. Empty weights mean 1.
  virtual variable sum(variable x, std::span<const float> weight = {}) = 0;

  /// Writes the derivative of `loss` [1, 1] to the gradients of all blocks that it depends on. A
  /// block's gradient is overwritten as a whole. Called at most once in a step.
  virtual void backward(variable loss) = 0;

  /// The numbers of a variable, row by row. They are valid until the next clear().
  virtual std::span<const float> values(variable x) = 0;
  /// The number of a variable [1, 1]; that of a mean or a sum has double precision.
  virtual double number(variable x) = 0;
};

variable operator+(variable x, variable y);
variable operator-(variable x, variable y);
variable operator*(variable x, variable y);
variable operator+(variable x, float y);
variable operator-(variable x, float y);
variable operator*(float x, variable y);
variable operator-(variable x);
/// x - y of a number and a matrix.
variable operator-(float x, variable y);

variable exp(variable x);
variable unbounded_exp(variable x);
variable natural_log(variable x);
variable square(variable x);
variable abs(variable x);
variable tanh(variable x);
/// 1 / (1 + e^-x), computed as (1 + tanh(x / 2)) / 2.
variable sigmoid(variable x);
variable elu(variable x);
variable log_slope_of_tanh(variable x);
variable huber(variable x);
variable clamp(variable x, float low, float high);
variable minimum(variable x, variable y);
variable maximum(variable x, variable y);
/// x where `allowed` is above 0, otherwise the logit of what has a probability of 0.
variable masked(variable x, variable allowed);
variable product(variable x, variable y);
variable row_dense(variable x, variable weight, variable bias);
variable row_sum(variable x);
variable row_mean(variable x);
variable row_min(variable x);
variable row_max(variable x);
variable log_softmax(variable x);
variable layer_norm(variable x, variable scale, variable shift,
                    activation kind = activation::linear);
variable slice(variable x, int first, int count);
variable reshape(variable x, int columns);
variable concat(std::initializer_list<variable> parts);
variable concat(std::span<const variable> parts);
variable gather(variable x, std::span<const std::int64_t> chosen);
variable select_rows(variable x, std::span<const std::int64_t> chosen);
std::span<const std::int64_t> argmax(variable x, std::span<const float> allowed = {});
variable stop_gradient(variable x);
variable mean(variable x, std::span<const float> weight = {});
variable sum(variable x, std::span<const float> weight = {});

std::span<const float> values(variable x);
double number(variable x);

}  // namespace troupe
