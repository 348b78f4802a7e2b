// Every operation of a graph on both engines, against finite differences of the loss in double
// precision.

#include "actors/torch/torch.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "actors/gradients/kernel_graph.hpp"
#include "actors/gradients/torch_graph.hpp"
#include "actors/networks/action_head.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/random/action_random.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr int rows = 5, columns = 4;
constexpr std::size_t matrix = rows * columns;
// Matrices x and y [rows, columns], a column [rows, 1], a row [1, columns], and a layer of 4 inputs
// and 3 outputs.
constexpr std::size_t second = matrix, column_at = 2 * matrix, row_at = column_at + rows;
constexpr std::size_t weight_at = row_at + columns, bias_at = weight_at + 12, total = bias_at + 3;

const std::vector<std::int64_t> choices{3, 0, 1, 1, 2}, others{4, 4, 0, 1, 3};
const std::vector<float> weights{0.5f, 2.0f, 1.0f, 0.0f, 1.5f};
// Rows that allow all, none, one, some and some.
const std::vector<float> allowed{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0};

const std::vector<float> some_allowed{1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0};

struct arguments {
  graph& g;
  const parameter_block& block;
  variable x, y, column, row;
};

/// Heads of four outputs.
detail::action_head head_of(const network_shape& shape) { return detail::action_head(shape); }
const auto one_choice = head_of({.obs_size = 1, .discrete_actions = 4});
const auto two_choices = head_of({.obs_size = 1, .multi_discrete = {2, 2}});
const auto four_bits = head_of({.obs_size = 1, .multi_binary = 4});
const auto gaussian = head_of({.obs_size = 1, .continuous_size = 4});
const auto mixed =
    head_of({.obs_size = 1, .continuous_size = 1, .multi_discrete = {2}, .multi_binary = 1});
const std::vector<std::int64_t> bits{1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0};
const std::vector<float> moves{0.3f,  -1.0f, 0.7f, 2.0f, 0.1f,  -0.4f, 1.2f,  0.0f, -2.0f, 0.5f,
                               -0.3f, 0.9f,  1.1f, 0.2f, -0.8f, 0.6f,  -1.5f, 0.4f, 0.0f,  1.0f};

struct operation_case {
  std::string name;
  std::function<variable(const arguments&)> result;
};

variable layer_of(const arguments& in, activation kind) {
  return in.g.dense(in.x, in.block, {.in = 4, .out = 3, .weight = weight_at, .bias = bias_at},
                    kind);
}

/// The first row of y.
variable other_row(const arguments& in) { return in.g.parameter(in.block, second, 1, columns); }

variable both(const log_prob_and_entropy& terms) { return concat({terms.log_prob, terms.entropy}); }

const std::vector<operation_case>& cases() {
  static const std::vector<operation_case> all{
      {"x + y", [](const auto& in) { return in.x + in.y; }},
      {"x - y", [](const auto& in) { return in.x - in.y; }},
      {"x * y", [](const auto& in) { return in.x * in.y; }},
      {"x + column", [](const auto& in) { return in.x + in.column; }},
      {"x - column", [](const auto& in) { return in.x - in.column; }},
      {"x * column", [](const auto& in) { return in.x * in.column; }},
      {"x + row", [](const auto& in) { return in.x + in.row; }},
      {"x * row", [](const auto& in) { return in.x * in.row; }},
      {"minimum", [](const auto& in) { return minimum(in.x, in.y); }},
      {"maximum", [](const auto& in) { return maximum(in.x, in.y); }},
      {"minimum with a column", [](const auto& in) { return minimum(in.x, in.column); }},
      {"x * x", [](const auto& in) { return in.x * in.x; }},
      {"2 x + 1", [](const auto& in) { return 2.0f * in.x + 1.0f; }},
      {"1 - x", [](const auto& in) { return 1.0f - in.x; }},
      {"-x", [](const auto& in) { return -in.x; }},
      {"exp", [](const auto& in) { return exp(in.x); }},
      {"unbounded_exp", [](const auto& in) { return unbounded_exp(in.x); }},
      {"masked by a constant",
       [](const auto& in) { return masked(in.x, in.g.constant(allowed, columns)); }},
      {"natural_log", [](const auto& in) { return natural_log(square(in.x) + 0.5f); }},
      {"square", [](const auto& in) { return square(in.x); }},
      {"abs", [](const auto& in) { return abs(in.x); }},
      {"clamp", [](const auto& in) { return clamp(in.x, -0.7f, 0.6f); }},
      {"tanh", [](const auto& in) { return tanh(in.x); }},
      {"log_slope_of_tanh", [](const auto& in) { return log_slope_of_tanh(3.0f * in.x); }},
      {"elu", [](const auto& in) { return elu(in.x); }},
      {"huber", [](const auto& in) { return huber(2.0f * in.x); }},
      {"product", [](const auto& in) { return product(in.x, slice(in.y, 0, 4)); }},
      {"product with a matrix beside a constant",
       [](const auto& in) {
         const auto fixed = stop_gradient(in.g.parameter(in.block, second, columns, 2));
         return product(in.x, concat({fixed, in.g.parameter(in.block, second + 8, columns, 2)}));
       }},
      {"row_dense of one output", [](const auto& in) { return row_dense(in.x, in.y, in.column); }},
      {"row_dense of two outputs",
       [](const auto& in) {
         return row_dense(in.x, concat({in.y, in.x}), slice(square(in.y), 1, 2));
       }},
      {"row_dense twice with the same weights",
       [](const auto& in) {
         const auto weight = concat({in.y, in.x});
         const auto bias = slice(in.y, 0, 2);
         return row_dense(in.x, weight, bias) + row_dense(square(in.x), weight, bias);
       }},
      {"row_dense of weights beside a constant",
       [](const auto& in) {
         return row_dense(in.x, concat({stop_gradient(in.x), in.y}), slice(in.y, 0, 2));
       }},
      {"row_sum", [](const auto& in) { return row_sum(in.x); }},
      {"row_mean", [](const auto& in) { return row_mean(in.x); }},
      {"row_min", [](const auto& in) { return row_min(in.x); }},
      {"row_max", [](const auto& in) { return row_max(in.x); }},
      {"log_softmax", [](const auto& in) { return log_softmax(in.x); }},
      {"layer_norm", [](const auto& in) { return layer_norm(in.x, in.row, other_row(in)); }},
      {"layer_norm of its own shift",
       [](const auto& in) { return layer_norm(in.y, in.row, other_row(in)); }},
      {"layer_norm twice with the same scale",
       [](const auto& in) {
         return layer_norm(in.x, in.row, other_row(in)) +
                layer_norm(square(in.x) + in.x, in.row, in.row);
       }},
      {"layer_norm of numbers beside a constant",
       [](const auto& in) {
         const auto x = concat({stop_gradient(slice(in.x, 0, 2)), slice(in.y, 0, 2)});
         return layer_norm(x, in.row, in.row);
       }},
      {"slice", [](const auto& in) { return slice(in.x, 1, 2); }},
      {"concat", [](const auto& in) { return concat({in.x, in.column, in.y}); }},
      {"concat beside a constant",
       [](const auto& in) { return square(concat({stop_gradient(in.y), in.x})); }},
      {"reshape", [](const auto& in) { return reshape(square(reshape(in.x, 2)) + 1.0f, 4); }},
      {"sum",
       [](const auto& in) { return in.column + sum(in.column) * sum(row_sum(in.x), weights); }},
      {"gather", [](const auto& in) { return gather(in.x, choices); }},
      {"gather of argmax among the allowed",
       [](const auto& in) { return gather(in.x, argmax(in.y, allowed)); }},
      {"gather of argmax", [](const auto& in) { return gather(in.x, argmax(in.y)); }},
      {"select_rows", [](const auto& in) { return select_rows(in.x, choices); }},
      {"select_rows twice of the same matrix",
       [](const auto& in) { return select_rows(in.x, choices) * select_rows(in.x, others); }},
      {"select_rows of a matrix beside a constant",
       [](const auto& in) {
         return select_rows(concat({stop_gradient(slice(in.x, 0, 1)), slice(in.y, 1, 3)}), choices);
       }},
      {"action_terms of one choice",
       [](const auto& in) {
         return both(in.g.action_terms(one_choice, in.x, {}, {.choice = choices.data()}));
       }},
      {"the log-probability alone of action_terms",
       [](const auto& in) {
         return in.g.action_terms(one_choice, in.x, {}, {.choice = choices.data()}).log_prob;
       }},
      {"the entropy alone of action_terms",
       [](const auto& in) {
         return in.g.action_terms(one_choice, in.x, {}, {.choice = choices.data()}).entropy;
       }},
      {"action_terms of two choices",
       [](const auto& in) {
         return both(in.g.action_terms(two_choices, in.x, {}, {.choice = bits.data()}));
       }},
      {"action_terms of masked choices",
       [](const auto& in) {
         const auto logits = masked(in.x, in.g.constant(some_allowed, columns));
         const auto terms = in.g.action_terms(one_choice, logits, {}, {.choice = choices.data()});
         return terms.entropy;  // the log-probability of what is forbidden is -1e8
       }},
      {"action_terms of bits",
       [](const auto& in) {
         return both(in.g.action_terms(four_bits, in.x, {}, {.choice = bits.data()}));
       }},
      {"action_terms of a Gaussian with one deviation for all rows",
       [](const auto& in) {
         return both(in.g.action_terms(gaussian, in.x, in.row, {.value = moves.data()}));
       }},
      {"action_terms of a Gaussian with deviations of each row",
       [](const auto& in) {
         return both(in.g.action_terms(gaussian, in.x, in.y, {.value = moves.data()}));
       }},
      {"action_terms of all kinds",
       [](const auto& in) {
         return both(in.g.action_terms(mixed, in.x, in.column,
                                       {.choice = bits.data(), .value = moves.data()}));
       }},
      {"stop_gradient", [](const auto& in) { return in.x * stop_gradient(square(in.x)); }},
      {"linear layer", [](const auto& in) { return layer_of(in, activation::linear); }},
      {"tanh layer", [](const auto& in) { return layer_of(in, activation::tanh); }},
      {"relu layer", [](const auto& in) { return layer_of(in, activation::relu); }},
      {"elu layer", [](const auto& in) { return layer_of(in, activation::elu); }},
      {"leaky_relu layer", [](const auto& in) { return layer_of(in, activation::leaky_relu); }},
      {"a layer twice",
       [](const auto& in) {
         const auto once = layer_of(in, activation::tanh);
         return once + layer_of({in.g, in.block, in.y, in.x, in.column, in.row}, activation::tanh);
       }},
      {"a layer of a concat beside a constant",
       [](const auto& in) {
         const auto x = concat({stop_gradient(slice(in.x, 0, 2)), slice(in.y, 0, 2)});
         return layer_of({in.g, in.block, x, in.y, in.column, in.row}, activation::tanh);
       }},
  };
  return all;
}

/// x y^T for a case whose second matrix has another shape.
variable square_product(const arguments& in) {
  const auto y = in.g.parameter(in.block, second, columns, rows);
  return product(in.x, y);
}

/// The mean over rows of a column that weighs every element of the result differently.
variable loss_of(graph& g, const parameter_block& block, const operation_case& what,
                 const std::vector<float>& shares) {
  g.clear();
  const arguments in{g,
                     block,
                     g.parameter(block, 0, rows, columns),
                     g.parameter(block, second, rows, columns),
                     g.parameter(block, column_at, rows, 1),
                     g.parameter(block, row_at, 1, columns)};
  const auto result = what.name == "product" ? square_product(in) : what.result(in);
  const auto count = static_cast<std::size_t>(result.rows()) * result.columns();
  const auto share = g.constant(std::span(shares).first(count), result.columns());
  return mean(row_sum(result * share), weights);
}

detail::float_block random_block(std::uint64_t seed, std::size_t size) {
  action_random random(seed);
  detail::float_block block(size);
  random.fill_normal(block);
  return block;
}

struct engines {
  kernel_graph kernels;
  torch_graph exact{detail::device_link("cpu"), at::kDouble};
};

TEST_CASE("graph: each operation's derivative is that of finite differences, on both engines") {
  for (const auto& each : cases()) {
    CAPTURE(each.name);
    auto block = random_block(11, total);
    const auto drawn = random_block(12, 100);
    const std::vector<float> shares(drawn.begin(), drawn.end());
    engines on;
    detail::float_block by_kernels(total, 7.0f), by_torch(total, 7.0f), expected(total);

    const auto loss = loss_of(on.kernels, {block, by_kernels}, each, shares);
    on.kernels.backward(loss);
    const auto exact = loss_of(on.exact, {block, by_torch}, each, shares);
    CHECK(on.kernels.number(loss) == Approx(on.exact.number(exact)).epsilon(1e-5).margin(1e-6));
    on.exact.backward(exact);

    constexpr float step = 1.0f / 4096;
    for (std::size_t i = 0; i < total; ++i) {
      const float kept = block[i];
      const auto at = [&](float value) {
        block[i] = value;
        return on.exact.number(loss_of(on.exact, {block}, each, shares));
      };
      // stop_gradient and argmax are no functions of finite differences: see the case below.
      const float up = kept + step, down = kept - step;
      expected[i] = static_cast<float>((at(up) - at(down)) / (double(up) - double(down)));
      block[i] = kept;
    }
    const bool stops = each.name == "stop_gradient" || each.name.ends_with("a constant");
    for (std::size_t i = 0; i < total; ++i) {
      CAPTURE(i);
      CHECK(by_kernels[i] == Approx(by_torch[i]).epsilon(1e-4).margin(2e-6));
      if (!stops) CHECK(by_torch[i] == Approx(expected[i]).epsilon(1e-3).margin(1e-5));
    }
  }
}

/// The numbers of a row with the mean 0 and, but for 1e-5, the variance 1.
std::vector<double> normalised(const float* row, int count) {
  double mean = 0, variance = 0;
  for (int k = 0; k < count; ++k) mean += row[k] / double(count);
  for (int k = 0; k < count; ++k) variance += std::pow(row[k] - mean, 2) / count;
  std::vector<double> n;
  for (int k = 0; k < count; ++k) n.push_back((row[k] - mean) / std::sqrt(variance + 1e-5));
  return n;
}

TEST_CASE("graph: layer_norm and its derivatives are those of its equation, on both engines") {
  constexpr int height = 3, width = 6;
  // A row of usual numbers, one of large numbers that hardly differ, and one of equal numbers.
  const std::vector<float> x{0.5f, -1.0f, 2.0f, 0.25f, -3.0f, 1.5f,  //
                             1000, 1001,  999,  1000,  1002,  998,   //
                             4,    4,     4,    4,     4,     4};
  const std::vector<float> scale{1, 2, 0.5f, -1, 3, 0.25f}, shift{0, 1, -1, 2, 0.5f, -2};
  const std::vector<float> d{1, -2, 0.5f, 3, 0.25f, -1, 2, 1, 0, -1, 3, 0.5f, 1, 1, -2, 0, 2, 1};
  std::vector<float> parameters(scale);
  parameters.insert(parameters.end(), shift.begin(), shift.end());
  parameters.insert(parameters.end(), x.begin(), x.end());
  engines on;
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&on.exact)}) {
    std::vector<float> gradient(parameters.size());
    const parameter_block block{parameters, gradient};
    const auto y =
        layer_norm(g->parameter(block, 2 * width, height, width), g->parameter(block, 0, 1, width),
                   g->parameter(block, width, 1, width));
    g->backward(sum(row_sum(y * g->constant(d, width))));
    std::vector<double> d_scale(width), d_shift(width);
    for (int row = 0; row < height; ++row) {
      CAPTURE(row);
      const float* of_row = x.data() + row * width;
      const auto n = normalised(of_row, width);
      double variance = 0, sum = 0, products = 0;
      for (int k = 0; k < width; ++k) {
        const int i = row * width + k;
        CHECK(g->values(y)[i] == Approx(scale[k] * n[k] + shift[k]).epsilon(1e-6).margin(1e-6));
        d_scale[k] += n[k] * d[i];
        d_shift[k] += d[i];
        sum += scale[k] * d[i] / width;
        products += scale[k] * d[i] * n[k] / width;
        for (int j = 0; j < width; ++j) {
          variance += std::pow(double(of_row[k]) - of_row[j], 2) / (2.0 * width * width);
        }
      }
      for (int k = 0; k < width; ++k) {
        const int i = row * width + k;
        const double expected =
            (scale[k] * d[i] - sum - n[k] * products) / std::sqrt(variance + 1e-5);
        CHECK(gradient[2 * width + i] == Approx(expected).epsilon(1e-5).margin(1e-5));
      }
    }
    for (int k = 0; k < width; ++k) {
      CHECK(gradient[k] == Approx(d_scale[k]).epsilon(1e-5).margin(1e-5));
      CHECK(gradient[width + k] == Approx(d_shift[k]).epsilon(1e-5));
    }
  }
}

TEST_CASE("graph: a row that isn't finite spoils no other row of a layer_norm") {
  engines on;
  const std::vector<float> numbers{1, std::nanf(""), 1, 3}, scale{1, 1}, shift{0, 0};
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&on.exact)}) {
    const auto y =
        layer_norm(g->constant(numbers, 2), g->constant(scale, 2), g->constant(shift, 2));
    CHECK(std::isnan(g->values(y)[0]));
    CHECK(g->values(y)[2] == Approx(-1).epsilon(1e-4));
    CHECK(g->values(y)[3] == Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("graph: select_rows takes rows, whose derivatives are summed, on both engines") {
  engines on;
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6, 7, 8}, d{1, 10, 100, 1000, 2, 20};
  const std::vector<std::int64_t> chosen{2, 0, 2};
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&on.exact)}) {
    for (int step = 0; step < 2; ++step) {
      g->clear();
      std::vector<float> gradient(8, 7.0f);
      const auto y = select_rows(g->parameter({numbers, gradient}, 0, 4, 2), chosen);
      CHECK(y.rows() == 3);
      CHECK(y.columns() == 2);
      const auto values = g->values(y);
      CHECK(std::vector(values.begin(), values.end()) == std::vector<float>{5, 6, 1, 2, 5, 6});
      g->backward(sum(row_sum(y * g->constant(d, 2))));
      CHECK(gradient == std::vector<float>{100, 1000, 0, 0, 3, 30, 0, 0});
    }
  }
}

TEST_CASE("graph: argmax chooses among what is allowed, among all where nothing is") {
  engines on;
  std::vector<float> numbers(matrix);
  for (std::size_t i = 0; i < matrix; ++i) numbers[i] = i % 4 == 3 ? 1.0f : 2.0f + i % 4;
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&on.exact)}) {
    const auto x = g->constant(numbers, columns);
    const auto best = argmax(x), among = argmax(x, allowed);
    CHECK(std::vector(best.begin(), best.end()) == std::vector<std::int64_t>{2, 2, 2, 2, 2});
    CHECK(std::vector(among.begin(), among.end()) == std::vector<std::int64_t>{2, 2, 2, 0, 2});
  }
}

TEST_CASE("graph: no derivative flows through stop_gradient") {
  engines on;
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&on.exact)}) {
    const std::vector<float> values{3.0f};
    std::vector<float> gradient{7.0f};
    const auto x = g->parameter({values, gradient}, 0, 1, 1);
    g->backward(mean(x * stop_gradient(square(x))));
    CHECK(gradient[0] == 9.0f);
  }
}

TEST_CASE("graph: parameters that a loss does not depend on get a derivative of zero") {
  engines on;
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&on.exact)}) {
    const std::vector<float> values{1.0f, 2.0f, 3.0f}, others{4.0f, 5.0f};
    std::vector<float> gradient(3, 7.0f), untouched(2, 7.0f);
    const auto x = g->parameter({values, gradient}, 1, 1, 1);
    g->parameter({others, untouched}, 0, 1, 1);
    g->backward(mean(square(x)));
    CHECK(gradient == std::vector<float>{0.0f, 4.0f, 0.0f});
    CHECK(untouched == std::vector<float>{0.0f, 0.0f});
  }
}

TEST_CASE("graph: parameters that several matrices share get the sum of their derivatives") {
  engines on;
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  struct part {
    std::size_t first;
    int count;
  };
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&on.exact)}) {
    for (const auto& parts : {std::vector<part>{{1, 2}, {1, 4}}, std::vector<part>{{1, 4}, {1, 2}},
                              std::vector<part>{{0, 3}, {2, 3}}, std::vector<part>{{2, 3}, {0, 3}},
                              std::vector<part>{{0, 1}, {3, 1}, {0, 5}}}) {
      std::vector<float> gradient(6, 7.0f), expected(6);
      const parameter_block block{values, gradient};
      g->clear();
      variable loss;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto [first, count] = parts[i];
        const auto each = sum(row_sum(square(g->parameter(block, first, 1, count))));
        loss = i == 0 ? each : loss + each;
        for (auto k = first; k < first + count; ++k) expected[k] += 2 * values[k];
      }
      g->backward(loss);
      CHECK(gradient == expected);
    }
  }
}

TEST_CASE("graph: sizes that don't fit are refused") {
  using Catch::Contains;
  kernel_graph g;
  const std::vector<float> numbers(12, 1.0f);
  const auto x = g.constant(numbers, 4), y = g.constant(numbers, 3);
  CHECK_THROWS_WITH(x + y, Contains("a matrix [3, 4] with one of [4, 3]"));
  CHECK_THROWS_WITH(product(x, x), Contains("a product of matrices [3, 4] and [3, 4]"));
  CHECK_THROWS_WITH(concat({x, y}), Contains("matrices of 3 and 4 rows beside each other"));
  CHECK_THROWS_WITH(slice(x, 3, 2), Contains("2 columns from column 3 on, expected some of 4"));
  CHECK_THROWS_WITH(gather(x, choices), Contains("5 choices for a matrix of 3 rows"));
  const std::vector<std::int64_t> far{0, 4, 0};
  CHECK_THROWS_WITH(gather(x, far), Contains("a choice of 4, expected 0 to 3"));
  const auto row = slice(g.constant(numbers, 12), 0, 4);
  CHECK_THROWS_WITH(layer_norm(x, row, x),
                    Contains("a layer norm of a matrix [3, 4] with the scale [1, 4] and the shift "
                             "[3, 4], expected rows of 4"));
  CHECK_THROWS_WITH(layer_norm(y, row, row), Contains("expected rows of 3"));
  CHECK_THROWS_WITH(select_rows(x, choices), Contains("a choice of 3, expected 0 to 2"));
  CHECK_THROWS_WITH(g.action_terms(gaussian, y, x, {.value = moves.data()}),
                    Contains("actions of a matrix [4, 3], expected 4 columns"));
  CHECK_THROWS_WITH(g.action_terms(gaussian, x, {}, {.value = moves.data()}),
                    Contains("log standard deviations [0, 0], expected [1, 4] or [3, 4]"));
  CHECK_THROWS_WITH(argmax(x, std::span(numbers).first(9)),
                    Contains("9 flags of what a matrix [3, 4] allows"));
  CHECK_THROWS_WITH(reshape(x, 5), Contains("a matrix [3, 4] in rows of 5, expected whole rows"));
  CHECK_THROWS_WITH(
      row_dense(x, x, slice(x, 0, 2)),
      Contains("a layer of the rows of [3, 4] with weights [3, 4] and biases [3, 2], expected"));
  CHECK_THROWS_WITH(row_dense(x, x, slice(y, 0, 1)), Contains("and biases [4, 1], expected"));
  CHECK_THROWS_WITH(mean(x), Contains("a mean or sum of a matrix [3, 4] with 0 weights"));
  CHECK_THROWS_WITH(sum(x), Contains("a mean or sum of a matrix [3, 4] with 0 weights"));
  CHECK_THROWS_WITH(g.constant(numbers, 5), Contains("12 numbers in rows of 5"));
  CHECK_THROWS_WITH(g.backward(x), Contains("a loss [3, 4], expected one number"));
  CHECK_THROWS_WITH(g.parameter({numbers}, 10, 1, 3), Contains("from parameter 10 on"));
}

TEST_CASE("graph: memory that is shorter than what is read of it is refused by both engines") {
  using Catch::Contains;
  engines on;
  const std::vector<float> numbers(12, 1.0f);
  const auto some = std::span(numbers).first(2);
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&on.exact)}) {
    const auto column = g->constant(std::span(numbers).first(3));
    CHECK_THROWS_WITH(mean(column, some), Contains("a matrix [3, 1] with 2 weights"));
    CHECK_THROWS_WITH(sum(column, some), Contains("a matrix [3, 1] with 2 weights"));
    CHECK_THROWS_WITH(argmax(column, some), Contains("2 flags of what a matrix [3, 1] allows"));
    CHECK_THROWS_WITH(g->constant(numbers, 5), Contains("12 numbers in rows of 5"));
    CHECK_THROWS_WITH(g->constant(numbers, 0), Contains("12 numbers in rows of 0"));
    CHECK_THROWS_WITH(g->parameter({numbers}, 10, 1, 3), Contains("from parameter 10 on"));
  }
}

TEST_CASE("graph: a choice that is out of range is refused by both engines") {
  engines on;
  const std::vector<float> numbers(12, 1.0f);
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&on.exact)}) {
    const auto x = g->constant(numbers, 4);
    for (const std::int64_t each : {-1, 4}) {
      const std::vector<std::int64_t> chosen{0, each, 0};
      CHECK_THROWS_WITH(gather(x, chosen),
                        "graph: a choice of " + std::to_string(each) + ", expected 0 to 3");
    }
    for (const std::int64_t each : {-1, 3}) {
      const std::vector<std::int64_t> chosen{0, each, 0};
      CHECK_THROWS_WITH(select_rows(x, chosen),
                        "graph: a choice of " + std::to_string(each) + ", expected 0 to 2");
    }
  }
}

TEST_CASE("graph: unbounded_exp overflows, exp is clipped") {
  engines on;
  const std::vector<float> values{1000.0f};
  torch_graph single(detail::device_link("cpu"));
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&single)}) {
    CHECK(std::isinf(g->values(unbounded_exp(g->constant(values)))[0]));
    CHECK(g->values(exp(g->constant(values)))[0] == Approx(std::exp(80.0)).epsilon(1e-3));
  }
}

TEST_CASE("graph: NaN stays NaN through every operation of single elements") {
  engines on;
  const std::vector<float> values{std::nanf("")};
  for (graph* g : {static_cast<graph*>(&on.kernels), static_cast<graph*>(&on.exact)}) {
    const auto x = g->constant(values);
    for (const auto y :
         {exp(x), unbounded_exp(x), natural_log(x), square(x), abs(x), clamp(x, -1, 1), tanh(x),
          log_slope_of_tanh(x), elu(x), huber(x), 2.0f * x, x + 1.0f}) {
      CHECK(std::isnan(g->values(y)[0]));
    }
  }
}

}  // namespace
}  // namespace troupe
