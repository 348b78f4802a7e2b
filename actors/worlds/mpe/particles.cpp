#include "actors/worlds/mpe/particles.hpp"

#include <numbers>

namespace troupe {
namespace {

constexpr double step_time = 0.1;
constexpr double kept_speed = 1 - 0.25;
constexpr double contact_force = 1e2;
constexpr double contact_margin = 1e-3;

// log(1 + exp(x)) as numpy.logaddexp(0, x) computes it. For a number below 2^-54, log1p is that
// number itself.
double softplus(double x) {
  if (x == 0) return std::numbers::ln2;
  if (x > 0) return x + std::log1p(std::exp(-x));
  const double power = std::exp(x);
  return power < 0x1p-54 ? power : std::log1p(power);
}

// exp(-d / k) is 0 in double precision from d = 0.7452 on, and so is the force.
constexpr double reach = 0.75;

// Returns the force of `b` on `a`.
vec2 contact(const particle& a, const particle& b) {
  const vec2 apart = a.position - b.position;
  const double touching = a.radius + b.radius;
  const double squared = squared_length(apart);
  if (squared > (touching + reach) * (touching + reach)) return {};
  const double distance = std::sqrt(squared);
  if (distance == 0) return {};  // there is no direction in which to push
  const double overlap = softplus(-(distance - touching) / contact_margin) * contact_margin;
  return {contact_force * apart.x / distance * overlap,
          contact_force * apart.y / distance * overlap};
}

void move(particle& one, vec2 force) {
  one.position = one.position + one.velocity * step_time;
  one.velocity = one.velocity * kept_speed;
  one.velocity = one.velocity + force * step_time;
  if (one.max_speed == particle::infinite) return;
  const double speed = length(one.velocity);
  if (speed > one.max_speed)
    one.velocity = {one.velocity.x / speed * one.max_speed, one.velocity.y / speed * one.max_speed};
}

}  // namespace

void step_particles(std::span<particle> particles, std::span<vec2> forces) {
  const auto agents = forces.size();
  for (std::size_t i = 0; i < agents; ++i) {
    if (!particles[i].collides) continue;
    for (std::size_t j = i + 1; j < particles.size(); ++j) {
      if (!particles[j].collides) continue;
      const auto force = contact(particles[i], particles[j]);
      forces[i] = force + forces[i];
      if (j < agents) forces[j] = force * -1 + forces[j];
    }
  }
  for (std::size_t i = 0; i < agents; ++i)
    if (particles[i].movable) move(particles[i], forces[i]);
}

}  // namespace troupe
