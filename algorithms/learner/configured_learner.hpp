#pragma once
// Sends the making of a learner to the trainer's replica.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "actors/networks/network.hpp"
#include "runtime/config/config.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe {

/// A function that makes the learner of a configuration inside the trainer's replica, by
/// make_learner(shape, config), which returns a learner or a pointer to one, or by
/// Learner::of_policies(shape, config) where Learner has it. The function can be sent to another
/// process; the configuration travels as JSON.
template <class Config, class Learner>
struct configured_learner {
  network_shape shape;
  Config config;

  std::unique_ptr<Learner> operator()() const {
    if constexpr (requires { Learner::of_policies(shape, config); }) {
      return Learner::of_policies(shape, config);
    } else if constexpr (std::is_base_of_v<Learner, decltype(make_learner(shape, config))>) {
      return std::unique_ptr<Learner>(
          new decltype(make_learner(shape, config))(make_learner(shape, config)));
    } else {
      return make_learner(shape, config);
    }
  }
};

template <class Config, class Learner>
struct wire_codec<configured_learner<Config, Learner>> {
  using function = configured_learner<Config, Learner>;
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const function& of) {
    return wire_size(of.shape) + wire_size(text_of(of));
  }
  static void write(const function& of, wire_writer& to) {
    to.write(of.shape);
    to.write(text_of(of));
  }
  static function read(wire_reader& from) {
    const auto shape = from.read<network_shape>();
    const auto text = from.read<std::string>();
    return {shape, parse_config<Config>(nlohmann::json::parse(text))};
  }

 private:
  /// The configuration as JSON, with the algorithm's name in the schema; a run may have another
  /// name.
  static std::string text_of(const function& of) {
    auto config = of.config;
    config.algo = Config{}.algo;
    return to_json(config).dump();
  }
};

}  // namespace troupe
