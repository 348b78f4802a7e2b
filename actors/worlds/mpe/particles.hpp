#pragma once
// The physics of the particle worlds: discs in a plane that are pushed, slow down and repel each
// other where they touch. Lowe et al. 2017, https://arxiv.org/abs/1706.02275, with the constants
// and the order of operations of the Python package mpe2 1.1.1.

#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace troupe {

/// A vector in the plane.
struct vec2 {
  double x = 0, y = 0;

  friend vec2 operator+(vec2 a, vec2 b) { return {a.x + b.x, a.y + b.y}; }
  friend vec2 operator-(vec2 a, vec2 b) { return {a.x - b.x, a.y - b.y}; }
  friend vec2 operator*(vec2 a, double by) { return {a.x * by, a.y * by}; }
  bool operator==(const vec2&) const = default;
};

inline double squared_length(vec2 of) { return of.x * of.x + of.y * of.y; }
inline double length(vec2 of) { return std::sqrt(squared_length(of)); }
inline double distance(vec2 a, vec2 b) { return length(a - b); }

/// A disc of mass 1: an agent or a landmark. The worlds have no units; a step lasts 0.1.
struct particle {
  double radius = 0.05;
  bool movable = false;
  bool collides = false;             ///< It repels others that collide.
  double strength = 5;               ///< The force with which an agent pushes itself.
  double max_speed = infinite;       ///< The largest speed.
  std::array<float, 3> colour = {};  ///< Red, green and blue, which some agents observe.
  vec2 position = {}, velocity = {};

  static constexpr double infinite = std::numeric_limits<double>::infinity();
};

/// Returns whether two discs overlap.
inline bool overlap(const particle& a, const particle& b) {
  return distance(a.position, b.position) < a.radius + b.radius;
}

/// Takes a step of 0.1. The agents [n] come first among the particles; no other moves. `forces` [n]
/// are those with which the agents push themselves; the forces of contacts are added to them.
///
/// A contact pushes both particles apart with the force 100 k log(1 + exp(-d / k)), where d is the
/// distance between their edges and k = 0.001, so it begins shortly before they touch. Positions
/// move by the velocities from before the step. Then the velocities lose a quarter, and gain a
/// tenth of the forces.
void step_particles(std::span<particle> particles, std::span<vec2> forces);

}  // namespace troupe
