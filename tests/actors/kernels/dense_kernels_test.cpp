#include "actors/torch/torch.hpp"

#include "actors/kernels/dense_kernels.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "actors/networks/mlp_autograd.hpp"
#include "actors/random/action_random.hpp"
#include "tests/test.hpp"

using namespace troupe;

static at::Tensor random_matrix(action_random& random, std::int64_t rows, std::int64_t columns) {
  auto matrix = at::empty({rows, columns}, at::kFloat);
  for (std::int64_t i = 0; i < matrix.numel(); ++i) {
    matrix.data_ptr<float>()[i] = static_cast<float>(random.normal());
  }
  return matrix;
}

TEST_CASE("multiply: every size agrees with libtorch, with and without bias", "[policy]") {
  action_random random(1);
  for (int rows : {1, 3, 4, 6, 7, 64}) {
    for (int columns : {1, 2, 15, 16, 17, 64, 70}) {
      const int steps = rows + 5;
      const auto left = random_matrix(random, rows, steps);
      const auto right = random_matrix(random, steps, columns);
      const auto bias = random_matrix(random, 1, columns);
      auto result = at::empty({rows, columns}, at::kFloat);
      troupe::detail::product p{.left = left.data_ptr<float>(),
                                .row_stride = steps,
                                .step_stride = 1,
                                .right = right.data_ptr<float>(),
                                .rows = rows,
                                .steps = steps,
                                .columns = columns};
      troupe::detail::multiply(p, result.data_ptr<float>());
      CHECK(at::allclose(result, at::mm(left, right), 1e-4, 1e-4));
      p.bias = bias.data_ptr<float>();
      troupe::detail::multiply(p, result.data_ptr<float>());
      CHECK(at::allclose(result, at::mm(left, right) + bias, 1e-4, 1e-4));
    }
  }
}

TEST_CASE("multiply: strides read the left matrix transposed", "[policy]") {
  action_random random(2);
  const auto left = random_matrix(random, 9, 13);
  const auto right = random_matrix(random, 9, 20);
  auto result = at::empty({13, 20}, at::kFloat);
  troupe::detail::multiply({.left = left.data_ptr<float>(),
                            .row_stride = 1,
                            .step_stride = 13,
                            .right = right.data_ptr<float>(),
                            .rows = 13,
                            .steps = 9,
                            .columns = 20},
                           result.data_ptr<float>());
  CHECK(at::allclose(result, at::mm(left.t(), right), 1e-4, 1e-4));
}

TEST_CASE("multiply: a row is the same alone and among others", "[policy]") {
  action_random random(3);
  const auto left = random_matrix(random, 11, 8);
  const auto right = random_matrix(random, 8, 18);
  auto all = at::empty({11, 18}, at::kFloat);
  troupe::detail::product p{.left = left.data_ptr<float>(),
                            .row_stride = 8,
                            .step_stride = 1,
                            .right = right.data_ptr<float>(),
                            .rows = 11,
                            .steps = 8,
                            .columns = 18};
  troupe::detail::multiply(p, all.data_ptr<float>());
  for (int row = 0; row < 11; ++row) {
    auto alone = at::empty({18}, at::kFloat);
    p.left = left.data_ptr<float>() + row * 8;
    p.rows = 1;
    troupe::detail::multiply(p, alone.data_ptr<float>());
    CHECK(at::equal(alone, all[row]));
  }
}

TEST_CASE("multiply: few columns, read either way, agree with libtorch and are held at zero",
          "[policy]") {
  action_random random(4);
  for (int columns : {1, 2, 3, 15}) {
    for (int steps : {5, 16, 64, 67}) {
      for (int rows : {1, 5, 40}) {
        const auto left = random_matrix(random, rows, steps);
        const auto right = random_matrix(random, steps, columns);
        const auto expected = at::mm(left, right);
        auto result = at::empty({rows, columns}, at::kFloat);
        troupe::detail::product p{.left = left.data_ptr<float>(),
                                  .row_stride = steps,
                                  .step_stride = 1,
                                  .right = right.data_ptr<float>(),
                                  .rows = rows,
                                  .steps = steps,
                                  .columns = columns};
        troupe::detail::multiply(p, result.data_ptr<float>());
        CHECK(at::allclose(result, expected, 1e-4, 1e-4));
        p.relu = true;
        troupe::detail::multiply(p, result.data_ptr<float>());
        CHECK(at::allclose(result, expected.clamp_min(0), 1e-4, 1e-4));

        const auto turned = left.t().contiguous();  // [steps, rows], read down
        p.left = turned.data_ptr<float>();
        p.row_stride = 1;
        p.step_stride = rows;
        p.relu = false;
        troupe::detail::multiply(p, result.data_ptr<float>());
        CHECK(at::allclose(result, expected, 1e-4, 1e-4));
      }
    }
  }
}

TEST_CASE("multiply: a row is the same alone and among others at every width", "[policy]") {
  action_random random(5);
  for (int columns : {1, 2, 7, 16, 40, 64, 100}) {
    for (int steps : {1, 4, 33, 300}) {
      const int rows = 29;
      const auto left = random_matrix(random, rows, steps);
      const auto right = random_matrix(random, steps, columns);
      auto all = at::empty({rows, columns}, at::kFloat), alone = at::empty({columns}, at::kFloat);
      troupe::detail::product p{.left = left.data_ptr<float>(),
                                .row_stride = steps,
                                .step_stride = 1,
                                .right = right.data_ptr<float>(),
                                .rows = rows,
                                .steps = steps,
                                .columns = columns};
      troupe::detail::multiply(p, all.data_ptr<float>());
      for (int row : {0, 6, 28}) {
        auto one = p;
        one.left += row * steps;
        one.rows = 1;
        troupe::detail::multiply(one, alone.data_ptr<float>());
        CHECK(at::equal(alone, all[row]));
      }
    }
  }
}

TEST_CASE("transpose and sum_rows: every size", "[policy]") {
  action_random random(6);
  for (int rows : {1, 2, 15, 16, 17, 50}) {
    for (int columns : {1, 2, 3, 16, 31, 33}) {
      const auto matrix = random_matrix(random, rows, columns);
      auto turned = at::empty({columns, rows}, at::kFloat);
      troupe::detail::transpose(matrix.data_ptr<float>(), rows, columns, turned.data_ptr<float>());
      CHECK(at::equal(turned, matrix.t()));
      auto sum = at::empty({columns}, at::kFloat);
      troupe::detail::sum_rows(matrix.data_ptr<float>(), rows, columns, sum.data_ptr<float>());
      CHECK(at::allclose(sum, matrix.sum(0), 1e-4, 1e-4));
    }
  }
}

TEST_CASE("activations: all agree with libtorch, and so do their slopes", "[policy]") {
  const auto x = at::arange(-25.0, 25.0, 0.037, at::kFloat);
  for (auto kind : {activation::tanh, activation::relu, activation::elu, activation::leaky_relu,
                    activation::silu, activation::linear}) {
    INFO(to_string(kind));
    auto leaf = x.clone().set_requires_grad(true);
    const auto expected = troupe::detail::activate(kind, leaf);
    auto y = x.clone();
    troupe::detail::activate(kind, y.numel(), y.data_ptr<float>());
    CHECK(at::allclose(y, expected.detach(), 1e-6, 3e-7));
    expected.sum().backward();
    auto d = at::ones_like(x);
    if (kind == activation::silu) {
      CHECK_THROWS_AS(troupe::detail::activate_backward(kind, y.numel(), y.data_ptr<float>(),
                                                        d.data_ptr<float>()),
                      std::logic_error);
      continue;
    }
    troupe::detail::activate_backward(kind, y.numel(), y.data_ptr<float>(), d.data_ptr<float>());
    CHECK(at::allclose(d, leaf.grad(), 1e-5, 1e-6));
  }
}

TEST_CASE("tanh: within 2e-7 of the exact value, and small arguments keep their precision",
          "[policy]") {
  double worst = 0.0, worst_relative = 0.0;
  for (int i = -12000; i <= 12000; ++i) {
    const float x = static_cast<float>(i) / 1000.0f;
    float y = x, tiny = x * 1e-4f;
    troupe::detail::activate(activation::tanh, 1, &y);
    worst = std::max(worst, std::abs(y - std::tanh(static_cast<double>(x))));
    const double exact = std::tanh(static_cast<double>(tiny));
    troupe::detail::activate(activation::tanh, 1, &tiny);
    if (i != 0) worst_relative = std::max(worst_relative, std::abs(tiny - exact) / std::abs(exact));
  }
  CHECK(worst < 2e-7);
  CHECK(worst_relative < 5e-7);
}

TEST_CASE("tanh: infinities give one, NaN stays NaN", "[policy]") {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> y = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 0.0f};
  troupe::detail::activate(activation::tanh, 4, y.data());
  CHECK(y[0] == 1.0f);
  CHECK(y[1] == -1.0f);
  CHECK(std::isnan(y[2]));
  CHECK(y[3] == 0.0f);
}
