#include "actors/worlds/box2d/lunar_lander.hpp"

#include <box2d/box2d.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "actors/environments/canvas.hpp"

namespace troupe {
namespace {

constexpr double fps = 50;
constexpr double scale = 30;                         // pixels a metre
constexpr double width = 600 / scale;                // m, width of the screen
constexpr double height = 400 / scale;               // m, height of the screen
constexpr double pad_height = height / 4;            // m
constexpr double main_power = 13, side_power = 0.6;  // N s an impulse, for each metre of its arm
constexpr double start_force = 1000;                 // N, the largest start force along either axis
constexpr double leg_away = 20 / scale;              // m
constexpr double leg_down = 18 / scale;              // m
constexpr std::size_t chunks = 11;                   // number of pieces of terrain

constexpr std::uint16_t ground_bits = 0x0001, lander_bits = 0x0010, leg_bits = 0x0020;

b2Vec2 vector(double x, double y) { return {static_cast<float>(x), static_cast<float>(y)}; }

// A function of the step's index that is never periodic.
double gust(std::int64_t index) {
  const auto i = static_cast<double>(index);
  return std::tanh(std::sin(0.02 * i) + std::sin(std::numbers::pi * 0.01 * i));
}

void check(bool held, const char* name, const char* range, double value) {
  if (!held)
    throw std::invalid_argument(
        fmt::format("LunarLander: expected a {} {}, got {}", name, range, value));
}

}  // namespace

/// The bodies (ground, lander and legs) and their contacts.
struct lunar_lander::world final : b2ContactListener {
  world(double gravity, const std::array<double, chunks + 1>& heights)
      : physics(vector(0, gravity)) {
    physics.SetContactListener(this);
    make_ground(heights);
    make_lander();
  }

  void BeginContact(b2Contact* contact) override {
    if (involves(contact, lander)) has_crashed = true;
    for (std::size_t i = 0; i < 2; ++i)
      if (involves(contact, legs[i])) touches[i] = true;
  }
  void EndContact(b2Contact* contact) override {
    for (std::size_t i = 0; i < 2; ++i)
      if (involves(contact, legs[i])) touches[i] = false;
  }

  void make_legs();
  /// Returns the corners of the ground from the left to the right, in metres.
  std::vector<b2Vec2> skyline() const;

  b2World physics;
  b2Body* ground = nullptr;
  b2Body* lander = nullptr;
  std::array<b2Body*, 2> legs{};
  std::array<bool, 2> touches{};
  bool has_crashed = false;

 private:
  static bool involves(b2Contact* contact, const b2Body* body) {
    return contact->GetFixtureA()->GetBody() == body || contact->GetFixtureB()->GetBody() == body;
  }
  void make_ground(const std::array<double, chunks + 1>& heights);
  void add_edge(b2Vec2 from, b2Vec2 to, float friction);
  void make_lander();
};

void lunar_lander::world::make_ground(const std::array<double, chunks + 1>& heights) {
  const b2BodyDef still;
  ground = physics.CreateBody(&still);
  add_edge(vector(0, 0), vector(width, 0), 0.2F);
  const auto corner = [&heights](std::size_t i) {
    const double left = heights[i == 0 ? chunks : i - 1];  // Python's index -1
    return vector(width / (chunks - 1) * static_cast<double>(i),
                  0.33 * (left + heights[i] + heights[i + 1]));
  };
  for (std::size_t i = 0; i + 1 < chunks; ++i) add_edge(corner(i), corner(i + 1), 0.1F);
}

void lunar_lander::world::add_edge(b2Vec2 from, b2Vec2 to, float friction) {
  b2EdgeShape edge;
  edge.SetTwoSided(from, to);
  b2FixtureDef fixture;
  fixture.shape = &edge;
  fixture.friction = friction;
  ground->CreateFixture(&fixture);
}

void lunar_lander::world::make_lander() {
  b2BodyDef body;
  body.type = b2_dynamicBody;
  body.position = vector(width / 2, height);
  lander = physics.CreateBody(&body);

  const std::array outline{
      vector(-14 / scale, 17 / scale), vector(-17 / scale, 0), vector(-17 / scale, -10 / scale),
      vector(17 / scale, -10 / scale), vector(17 / scale, 0),  vector(14 / scale, 17 / scale)};
  b2PolygonShape hull;
  hull.Set(outline.data(), static_cast<int>(outline.size()));
  b2FixtureDef fixture;
  fixture.shape = &hull;
  fixture.density = 5;
  fixture.friction = 0.1F;
  fixture.filter.categoryBits = lander_bits;
  fixture.filter.maskBits = ground_bits;
  lander->CreateFixture(&fixture);
}

void lunar_lander::world::make_legs() {
  for (const int side : {-1, 1}) {
    b2BodyDef body;
    body.type = b2_dynamicBody;
    body.position = vector(width / 2 - side * leg_away, height);
    body.angle = static_cast<float>(side * 0.05);
    auto* leg = physics.CreateBody(&body);
    legs[side < 0 ? 0 : 1] = leg;

    b2PolygonShape shape;
    shape.SetAsBox(static_cast<float>(2 / scale), static_cast<float>(8 / scale));
    b2FixtureDef fixture;
    fixture.shape = &shape;
    fixture.density = 1;
    fixture.filter.categoryBits = leg_bits;
    fixture.filter.maskBits = ground_bits;
    leg->CreateFixture(&fixture);

    b2RevoluteJointDef spring;
    spring.bodyA = lander;
    spring.bodyB = leg;
    spring.localAnchorB = vector(side * leg_away, leg_down);
    spring.referenceAngle = body.angle;  // pybox2d sets it too
    spring.enableMotor = true;
    spring.maxMotorTorque = 40;
    spring.motorSpeed = static_cast<float>(0.3 * side);
    spring.enableLimit = true;
    spring.lowerAngle = side < 0 ? 0.4F : -0.9F;
    spring.upperAngle = side < 0 ? 0.9F : -0.4F;
    physics.CreateJoint(&spring);
  }
}

std::vector<b2Vec2> lunar_lander::world::skyline() const {
  std::vector<b2Vec2> corners;
  for (const auto* fixture = ground->GetFixtureList(); fixture; fixture = fixture->GetNext()) {
    const auto* edge = static_cast<const b2EdgeShape*>(fixture->GetShape());
    const bool is_terrain = edge->m_vertex1.y > 0 || edge->m_vertex2.y > 0;
    if (is_terrain) corners.insert(corners.end(), {edge->m_vertex1, edge->m_vertex2});
  }
  std::ranges::sort(corners, {}, &b2Vec2::x);
  return corners;
}

lunar_lander::lunar_lander(const lunar_lander_options& options) : options_(options) {
  const auto& [continuous, gravity, wind, power, turbulence] = options_;
  check(gravity > -12 && gravity < 0, "gravity", "between -12 and 0", gravity);
  check(power >= 0 && power <= 20, "wind_power", "from 0 to 20", power);
  check(turbulence >= 0 && turbulence <= 2, "turbulence_power", "from 0 to 2", turbulence);
}

lunar_lander::lunar_lander(lunar_lander&&) noexcept = default;
lunar_lander& lunar_lander::operator=(lunar_lander&&) noexcept = default;
lunar_lander::~lunar_lander() = default;

env_spec lunar_lander::spec() const {
  const auto turn = static_cast<float>(2 * std::numbers::pi);
  return {.id = options_.continuous ? "LunarLanderContinuous-v3" : "LunarLander-v3",
          .observation_space = spaces::box({-2.5F, -2.5F, -10, -10, -turn, -10, 0, 0},
                                           {2.5F, 2.5F, 10, 10, turn, 10, 1, 1}),
          .action_space = options_.continuous ? space(spaces::box(-1.0F, 1.0F, {2}))
                                              : space(spaces::discrete(4)),
          .max_episode_steps = 1000,
          .reward_threshold = 200.0,
          .render_fps = fps};
}

void lunar_lander::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  random_.begin_episode(seed);
  random_at_reset_ = random_;
  begin(obs);
}

// The random draws are the same as Gymnasium's, in the same order.
void lunar_lander::begin(std::span<float> obs) {
  flown_.clear();
  std::array<double, chunks + 1> heights;
  for (auto& each : heights) each = random_->uniform(0, height / 2);
  std::fill_n(heights.begin() + chunks / 2 - 2, 5, pad_height);
  world_ = std::make_unique<world>(options_.gravity, heights);

  const double force_x = random_->uniform(-start_force, start_force);
  const double force_y = random_->uniform(-start_force, start_force);
  world_->lander->ApplyForceToCenter(vector(force_x, force_y), true);
  if (options_.enable_wind) {
    wind_index_ = random_->integers(-9999, 9999);
    torque_index_ = random_->integers(-9999, 9999);
  }
  world_->make_legs();
  shaping_before_.reset();
  advance({}, obs);
}

step_result lunar_lander::step(action_view action, std::span<float> obs) {
  thrust engines;
  if (options_.continuous) {
    const auto throttles = action.continuous();
    const double main = std::clamp(throttles[0], -1.0F, 1.0F);
    const double side = std::clamp(throttles[1], -1.0F, 1.0F);
    if (main > 0) engines.main = (main + 1) * 0.5;
    if (std::abs(side) > 0.5) engines.side = side;
  } else {
    const auto choice = action.discrete();
    if (choice < 0 || choice > 3)
      throw std::invalid_argument(
          fmt::format("LunarLander: expected action 0, 1, 2 or 3, got {}", choice));
    engines = {.main = choice == 2 ? 1.0 : 0.0,
               .side = choice == 1   ? -1.0
                       : choice == 3 ? 1.0
                                     : 0.0};
  }
  flown_.insert(flown_.end(), {engines.main, engines.side});
  return advance(engines, obs);
}

step_result lunar_lander::advance(thrust engines, std::span<float> obs) {
  if (options_.enable_wind && !world_->touches[0] && !world_->touches[1]) blow();
  fire(engines);
  // Box2D 2.3 solved a leg's hinge and its limit at once, and 2.4 solves them in turn. Under load
  // it needs four times Gymnasium's 180 iterations to get as far; with 180 a lander rests 14 steps
  // later.
  const bool is_loaded = world_->touches[0] || world_->touches[1];
  world_->physics.Step(static_cast<float>(1 / fps), is_loaded ? 720 : 180, 60);

  const auto position = world_->lander->GetPosition();
  const auto velocity = world_->lander->GetLinearVelocity();
  const std::array<double, 8> seen{
      (position.x - width / 2) / (width / 2),
      (position.y - (pad_height + leg_down)) / (height / 2),
      velocity.x * (width / 2) / fps,
      velocity.y * (height / 2) / fps,
      world_->lander->GetAngle(),
      20.0 * world_->lander->GetAngularVelocity() / fps,
      world_->touches[0] ? 1.0 : 0.0,
      world_->touches[1] ? 1.0 : 0.0,
  };
  for (std::size_t i = 0; i < seen.size(); ++i) obs[i] = static_cast<float>(seen[i]);

  const double shaped = shaping(seen);
  step_result result;
  if (shaping_before_) result.reward = shaped - *shaping_before_;
  shaping_before_ = shaped;
  result.reward -= 0.3 * engines.main;
  result.reward -= 0.03 * std::abs(engines.side);
  if (world_->has_crashed || std::abs(seen[0]) >= 1) result = {.reward = -100, .terminated = true};
  if (!world_->lander->IsAwake()) result = {.reward = 100, .terminated = true};
  return result;
}

void lunar_lander::blow() {
  const double force = gust(wind_index_++) * options_.wind_power;
  world_->lander->ApplyForceToCenter(vector(force, 0), true);
  const double torque = gust(torque_index_++) * options_.turbulence_power;
  world_->lander->ApplyTorque(static_cast<float>(torque), true);
}

// Every step draws two numbers, also if no engine fires. They make the arm of an engine uncertain,
// and its impulse is along that arm.
void lunar_lander::fire(thrust engines) {
  const double along = random_->uniform(-1, 1) / scale;
  const double across = random_->uniform(-1, 1) / scale;
  auto* lander = world_->lander;
  const double sine = std::sin(double{lander->GetAngle()});
  const double cosine = std::cos(double{lander->GetAngle()});
  // `down` and `left` are metres along the lander's own axes.
  const auto push = [&](double down, double left, double up_from_arm_x, double up_from_arm_y,
                        double power) {
    const double arm_x = sine * down - cosine * left;
    const double arm_y = -cosine * down - sine * left;
    const auto centre = lander->GetPosition();
    lander->ApplyLinearImpulse(
        vector(-arm_x * power, -arm_y * power),
        vector(centre.x + arm_x - sine * up_from_arm_x, centre.y + arm_y + cosine * up_from_arm_y),
        true);
  };
  if (engines.main > 0) push(4 / scale + 2 * along, across, 0, 0, main_power * engines.main);
  if (engines.side != 0) {
    const double direction = engines.side > 0 ? 1 : -1;
    // Gymnasium uses two heights, 17 and 14, for the same engine.
    push(along, 3 * across + direction * 12 / scale, 17 / scale, 14 / scale,
         side_power * std::abs(engines.side));
  }
}

double lunar_lander::shaping(const std::array<double, 8>& seen) const {
  return -100 * std::sqrt(seen[0] * seen[0] + seen[1] * seen[1]) -
         100 * std::sqrt(seen[2] * seen[2] + seen[3] * seen[3]) - 100 * std::abs(seen[4]) +
         10 * seen[6] + 10 * seen[7];
}

// The colours and sizes are Gymnasium's. Its flames are sparks that its random generator scatters;
// these are cones, as long as the engine is strong.
bool lunar_lander::render(canvas& on) const {
  if (!world_) return false;
  constexpr canvas::colour hull{128, 102, 230}, edge{77, 77, 128}, fire{255, 150, 40};
  constexpr canvas::colour snow{255, 255, 255}, cloth{204, 204, 0};
  const auto on_picture = [](b2Vec2 at) {
    return canvas::point{at.x * scale, (height - double{at.y}) * scale};
  };
  const auto fill = [&on](const std::vector<canvas::point>& corners, canvas::colour ink) {
    on.polygon(corners, ink);
  };
  on.begin(static_cast<int>(width * scale), static_cast<int>(height * scale), {0, 0, 0});
  std::vector<canvas::point> ground{{0, height * scale}};
  for (const auto& corner : world_->skyline()) ground.push_back(on_picture(corner));
  ground.push_back({width * scale, height * scale});
  fill(ground, snow);

  // In metres along the lander's own axes, to the right and up.
  const auto on_lander = [&](double right, double up) {
    return on_picture(world_->lander->GetWorldPoint(vector(right / scale, up / scale)));
  };
  const bool has_flown = flown_.size() >= 2;
  const double main = has_flown ? flown_[flown_.size() - 2] : 0;
  const double side = has_flown ? flown_.back() : 0;
  if (main > 0) fill({on_lander(-6, -10), on_lander(6, -10), on_lander(0, -10 - 25 * main)}, fire);
  if (side != 0) {
    const double from = side > 0 ? -15 : 15, to = from - 15 * side;
    fill({on_lander(from, 9), on_lander(from, 15), on_lander(to, 12)}, fire);
  }
  for (const b2Body* body : {world_->legs[0], world_->legs[1], world_->lander}) {
    const auto* shape = static_cast<const b2PolygonShape*>(body->GetFixtureList()->GetShape());
    std::vector<canvas::point> corners;
    for (int i = 0; i < shape->m_count; ++i)
      corners.push_back(on_picture(body->GetWorldPoint(shape->m_vertices[i])));
    fill(corners, hull);
    for (std::size_t i = 0; i < corners.size(); ++i)
      on.line(corners[i], corners[(i + 1) % corners.size()], 2, edge);
  }

  for (const double share : {0.4, 0.6}) {
    const auto foot = on_picture(vector(width * share, pad_height));
    const double top = foot.y - 50;
    on.line(foot, {foot.x, top}, 1, snow);
    fill({{foot.x, top}, {foot.x, top + 10}, {foot.x + 25, top + 5}}, cloth);
  }
  return true;
}

bool lunar_lander::save(state_writer& to) const {
  if (!world_) return true;
  random_at_reset_.save(to);
  to.put("flown", flown_);
  return true;
}

void lunar_lander::restore(const state_reader& from) {
  random_.restore(from);
  world_.reset();
  flown_.clear();
  if (!from.has("flown")) return;
  random_at_reset_ = random_;
  const auto flown = from.get<std::vector<double>>("flown");
  if (flown.size() % 2 != 0)
    throw state_error(
        fmt::format("LunarLander: expected two engines a step, got {} numbers", flown.size()));
  std::array<float, 8> obs;
  begin(obs);
  for (std::size_t t = 0; t < flown.size(); t += 2)
    advance({.main = flown[t], .side = flown[t + 1]}, obs);
  flown_ = flown;
}

void describe(options_schema<lunar_lander_options>& s) {
  s.field("gravity", &lunar_lander_options::gravity)
      .above(-12)
      .below(0)
      .unit("m/s^2")
      .help("The gravity.");
  s.field("enable_wind", &lunar_lander_options::enable_wind)
      .help("If true, wind blows until a leg touches the ground.");
  s.field("wind_power", &lunar_lander_options::wind_power)
      .at_least(0)
      .at_most(20)
      .unit("N")
      .help("The largest force of the wind.");
  s.field("turbulence_power", &lunar_lander_options::turbulence_power)
      .at_least(0)
      .at_most(2)
      .unit("N m")
      .help("The largest torque of the wind.");
}

}  // namespace troupe
