#pragma once
// What the states of the off-policy learners are made of, as named values.

#include <string>

#include "actors/checkpoint/state.hpp"
#include "actors/policy/action_random.hpp"
#include "actors/trainer/adam.hpp"

namespace troupe {

/// A generator's words and an optimiser's moments: `Each` is put_value or get_value.
inline void put_value(state_writer& to, const std::string& name, const adam_state& state) {
  to.put(name + "_step", state.step);
  to.put(name + "_first_moment", state.first_moment);
  to.put(name + "_second_moment", state.second_moment);
}
inline void get_value(const state_reader& from, const std::string& name, adam_state& state) {
  from.get(name + "_step", state.step);
  from.get(name + "_first_moment", state.first_moment);
  from.get(name + "_second_moment", state.second_moment);
}

inline void put_value(state_writer& to, const std::string& name,
                      const action_random::state_type& words) {
  action_random random(0);
  random.set_state(words);
  put_random(to, name, random);
}
inline void get_value(const state_reader& from, const std::string& name,
                      action_random::state_type& words) {
  words = get_action_random(from, name).state();
}

template <class T>
  requires requires(state_writer& to, const T& value) { to.put("", value); }
void put_value(state_writer& to, const std::string& name, const T& value) {
  to.put(name, value);
}
template <class T>
  requires requires(const state_reader& from, T& value) { from.get("", value); }
void get_value(const state_reader& from, const std::string& name, T& value) {
  from.get(name, value);
}

/// A learner's state as bytes, and back. for_each_value(state, each) calls each(name, member).
template <class State>
std::string state_bytes(const State& state) {
  state_writer to;
  for_each_value(state, [&](const char* name, const auto& value) { put_value(to, name, value); });
  return to.bytes();
}
/// Throws state_error.
template <class State>
State state_of(const std::string& bytes) {
  const state_reader from(bytes);
  State state;
  for_each_value(state, [&](const char* name, auto& value) { get_value(from, name, value); });
  return state;
}

}  // namespace troupe
