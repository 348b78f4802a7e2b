// The pictures of the built-in environments, compared with what their states say must be where.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "actors/environments/action_numbers.hpp"
#include "actors/video/cairo_canvas.hpp"
#include "actors/worlds/board_games/line_game.hpp"
#include "actors/worlds/classic_control/acrobot.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/classic_control/mountain_car.hpp"
#include "actors/worlds/classic_control/pendulum.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr canvas::colour white{255, 255, 255}, black{};

std::vector<std::uint8_t> picture(const environment& of, cairo_canvas& on) {
  REQUIRE(of.render(on));
  return on.rgb(on.width(), on.height());
}

/// Takes a step of a discrete action.
step_result act(environment& of, std::int64_t action) {
  std::vector<float> obs(of.spec().observation_space.flat_size());
  return of.step(action_view(action), obs);
}

template <class Env>
Env begun(std::uint64_t seed) {
  Env made;
  std::vector<float> obs(made.spec().observation_space.flat_size());
  made.reset(seed, obs);
  return made;
}

TEST_CASE("pictures: every built-in environment has one, which the steps change") {
  for (const auto& id : known_environments()) {
    INFO(id);
    const auto world = make_environment(id);
    const auto spec = world->spec();
    CHECK(spec.render_fps > 0);
    std::vector<float> obs(spec.observation_space.flat_size());
    world->reset(1, obs);
    cairo_canvas on;
    const auto first = picture(*world, on);
    CHECK(on.width() >= 150);
    CHECK(on.height() >= 150);
    CHECK(picture(*world, on) == first);  // drawing changes nothing
    const auto background = on.at(on.width() - 1, 0);
    std::size_t drawn = 0;
    for (int y = 0; y < on.height(); ++y)
      for (int x = 0; x < on.width(); ++x) drawn += on.at(x, y) != background;
    const bool is_empty_board = id == "TicTacToe-v0";  // lines alone
    CHECK(drawn > (is_empty_board ? 500 : 2000));

    const auto numbers = numbers_of(spec.action_space);
    const std::vector<std::int64_t> choices(numbers.integers.size(), 1);
    const std::vector<float> push(numbers.low.size(), 1.0F);
    // Agents of the particle worlds move in the second step only.
    const bool ends = world->step(action_view(choices, push), obs).terminated;
    if (!ends) world->step(action_view(choices, push), obs);
    CHECK(picture(*world, on) != first);
  }
}

TEST_CASE("pictures: the wrappers and the tasks show the environment inside") {
  cairo_canvas plain, wrapped;
  std::vector<float> obs(4), many(16);
  const auto inner = make_environment("CartPole-v1");
  const auto outer =
      make_environment({.id = "CartPole-v1", .wrappers = {.max_episode_steps = 7, .frames = 4}});
  inner->reset(3, obs);
  outer->reset(3, many);
  CHECK(picture(*inner, plain) == picture(*outer, wrapped));
  CHECK(outer->spec().render_fps == 50);
}

TEST_CASE("pictures: CartPole's cart and pole are where the state says") {
  auto pole = begun<cartpole>(1);
  for (int i = 0; i < 8; ++i) act(pole, 1);
  const auto& [x, x_dot, theta, theta_dot] = pole.state();
  cairo_canvas on;
  picture(pole, on);
  REQUIRE(on.width() == 600);
  REQUIRE(on.height() == 400);
  const double cart = 300 + x * 125;  // 4.8 m are 600 pixels
  CHECK(on.at(static_cast<int>(cart - 20), 305) == black);
  CHECK(on.at(static_cast<int>(cart + 20), 305) == black);
  CHECK(on.at(static_cast<int>(cart - 40), 305) == white);
  const auto of_pole = [&](double length) {
    return on.at(static_cast<int>(cart + std::sin(theta) * length),
                 static_cast<int>(292.5 - std::cos(theta) * length));
  };
  CHECK(of_pole(60) == canvas::colour{202, 152, 101});
  CHECK(of_pole(120) == canvas::colour{202, 152, 101});
  CHECK(of_pole(140) == white);
}

TEST_CASE("pictures: the pendulum's rod points where its angle says") {
  const auto rod = begun<pendulum>(5);
  cairo_canvas on;
  picture(rod, on);
  const double angle = rod.state()[0];
  const auto at = [&](double length) {
    return on.at(static_cast<int>(250 - std::sin(angle) * length),
                 static_cast<int>(250 - std::cos(angle) * length));
  };
  CHECK(on.at(250, 250) == black);
  CHECK(at(60) == canvas::colour{204, 77, 77});
  CHECK(at(110) == canvas::colour{204, 77, 77});
  CHECK(at(140) == white);
  CHECK(at(-60) == white);
}

TEST_CASE("pictures: Acrobot's elbow is where the angle of the first link says") {
  auto links = begun<acrobot>(1);
  cairo_canvas on;
  picture(links, on);
  const auto& state = links.state();
  // The elbow, one link (500 / 4.4 pixels) from the bar.
  const auto elbow_x = static_cast<int>(250 + std::sin(state[0]) * 500 / 4.4);
  const auto elbow_y = static_cast<int>(250 + std::cos(state[0]) * 500 / 4.4);
  CHECK(on.at(elbow_x, elbow_y) == canvas::colour{204, 204, 0});
  CHECK(on.at(250, 250) == canvas::colour{204, 204, 0});
  CHECK(on.at(250, 200) == white);
}

TEST_CASE("pictures: the car stands on its hill and the flag at the goal") {
  const auto car = begun<mountain_car>(1);
  cairo_canvas on;
  picture(car, on);
  const auto hill_x = [](double at) { return (at + 1.2) * 600 / 1.8; };
  const auto hill_y = [](double at) { return 400 - (std::sin(3 * at) * 0.45 + 0.55) * 600 / 1.8; };
  const double at = car.state()[0];
  // The middle of the body, 20 pixels away from the hill.
  const double slope = std::cos(3 * at);
  CHECK(on.at(static_cast<int>(hill_x(at) - 20 * std::sin(slope)),
              static_cast<int>(hill_y(at) - 20 * std::cos(slope))) == black);
  CHECK(on.at(static_cast<int>(hill_x(0.5) + 5), static_cast<int>(hill_y(0.5) - 45)) ==
        canvas::colour{204, 204, 0});
}

TEST_CASE("pictures: LunarLander's pad lies between the flags, and an engine has a flame") {
  const auto world = make_environment("LunarLander-v3");
  cairo_canvas on;
  CHECK_FALSE(world->render(on));  // there is nothing before the first reset
  std::vector<float> obs(8);
  world->reset(1, obs);
  picture(*world, on);
  REQUIRE(on.width() == 600);
  // The pad is at a quarter of the height, from 40 % to 60 % of the width.
  for (const int x : {250, 300, 350}) {
    CHECK(on.at(x, 310) == white);
    CHECK(on.at(x, 290) == black);
  }
  for (const int flag : {240, 360}) CHECK(on.at(flag + 5, 255) == canvas::colour{204, 204, 0});
  std::vector<std::int64_t> none{0}, main{2};
  for (int i = 0; i < 30; ++i) world->step(action_view(none), obs);  // it begins at the upper edge
  picture(*world, on);
  // The lander, whose place the observation says: x from -1 to 1, y from the pad.
  const auto lander = [&] {
    const auto x = static_cast<int>(300 + obs[0] * 300);
    const auto y = static_cast<int>(400 - (obs[1] * 200 + 100 + 18));
    return std::pair{x, y};
  };
  const canvas::colour hull{128, 102, 230}, fire{255, 150, 40};
  CHECK(on.at(lander().first, lander().second) == hull);
  CHECK(on.at(lander().first, lander().second + 15) != fire);
  world->step(action_view(main), obs);
  picture(*world, on);
  CHECK(on.at(lander().first, lander().second + 15) == fire);
}

TEST_CASE("pictures: a board shows whose mark is in each cell") {
  const canvas::colour red{214, 54, 54}, yellow{242, 203, 44}, blue{40, 90, 200};
  line_game four(connect_four_options()), three;
  for (auto* game : {&four, &three}) {
    const bool falls = game == &four;
    std::vector<float> obs(game->spec().observation_space.flat_size());
    game->reset(2, obs);
    act(*game, 4);
    cairo_canvas on;
    picture(*game, on);
    const int columns = falls ? 7 : 3, rows = falls ? 6 : 3;
    const int cell = on.width() / columns;
    CHECK(on.height() == rows * cell);
    std::size_t own = 0, others = 0;
    for (int i = 0; i < rows * columns; ++i) {
      const int x = i % columns * cell + cell / 2;
      const int row = falls ? rows - 1 - i / columns : i / columns;
      const int y = row * cell + cell / 2;
      const auto whose = game->cells()[static_cast<std::size_t>(i)];
      const auto centre = on.at(x, y), rim = on.at(x, y - cell * 7 / 20);
      own += whose == mark::own;
      others += whose == mark::opponent;
      if (whose == mark::own) CHECK(centre == red);
      if (whose == mark::none) CHECK(centre == white);
      if (whose == mark::opponent) CHECK((falls ? centre == yellow : rim == blue));
    }
    CHECK(own == 1);
    CHECK(others == 1);
  }
}

TEST_CASE("pictures: a board of the greatest number of cells fits into a picture") {
  for (const auto& [rows, columns] : {std::pair{1, 4096}, {4096, 1}, {64, 64}}) {
    line_game game({.rows = rows, .columns = columns});
    std::vector<float> obs(game.spec().observation_space.flat_size());
    game.reset(1, obs);
    cairo_canvas on;
    CHECK(game.render(on));
  }
}

TEST_CASE("pictures: Catch shows the ball and the paddle as its observation does") {
  const auto world = make_environment("Catch-v0");
  std::vector<float> obs(84 * 84);
  world->reset(4, obs);
  cairo_canvas on;
  for (int i = 0; i < 5; ++i) {
    picture(*world, on);
    for (std::size_t row = 0; row < 10; ++row) {
      for (std::size_t column = 0; column < 5; ++column) {
        const auto x = column * 84 / 5 + 8, y = row * 84 / 10 + 4;
        const bool is_lit = obs[y * 84 + x] > 0;
        const auto seen =
            on.at(static_cast<int>(40 * column + 20), static_cast<int>(40 * row + 20));
        CHECK((seen == white) == is_lit);
      }
    }
    world->step(action_view(std::vector<std::int64_t>{2}), obs);
  }
}

}  // namespace
}  // namespace troupe
