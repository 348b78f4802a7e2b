#pragma once
// Sends the making of an on-policy learner to the trainer's replica.

#include <nlohmann/json.hpp>
#include <string>

#include "algorithms/on_policy/rollout_learner.hpp"
#include "runtime/config/config.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe {

/// A function that makes the learner of a configuration inside the trainer's replica. It can be
/// sent to another process; the configuration travels as JSON. Learner is made from what
/// make_learner(shape, config) returns.
template <class Config, class Learner = rollout_learner>
struct learner_factory {
  network_shape shape;
  Config config;

  Learner operator()() const { return Learner(make_learner(shape, config)); }
};

template <class Config, class Learner>
struct wire_codec<learner_factory<Config, Learner>> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const learner_factory<Config, Learner>& of) {
    return wire_size(of.shape) + wire_size(text_of(of));
  }
  static void write(const learner_factory<Config, Learner>& of, wire_writer& to) {
    to.write(of.shape);
    to.write(text_of(of));
  }
  static learner_factory<Config, Learner> read(wire_reader& from) {
    const auto shape = from.read<network_shape>();
    const auto text = from.read<std::string>();
    return {shape, parse_config<Config>(nlohmann::json::parse(text))};
  }

 private:
  /// The configuration as JSON, with the algorithm's name in the schema; a run may have another
  /// name.
  static std::string text_of(const learner_factory<Config, Learner>& of) {
    auto config = of.config;
    config.algo = Config{}.algo;
    return to_json(config).dump();
  }
};

}  // namespace troupe
