#include "actors/worlds/plugin.hpp"

#include <stdexcept>

#include "runtime/base/build_stamp.hpp"

namespace troupe::detail {

void refuse_plugin_options(const std::string& json) {
  if (json != "{}") {
    throw std::invalid_argument("env.options: expected none, for it has none, got " + json);
  }
}

const char* plugin_abi() {
  return
#if defined(__x86_64__)
      "x86_64"
#elif defined(__aarch64__)
      "aarch64"
#else
      "another processor"
#endif
#if !defined(__GLIBCXX__)
      ", another standard library"
#elif _GLIBCXX_USE_CXX11_ABI
      ", libstdc++ cxx11"
#else
      ", libstdc++ before cxx11"
#endif
#if defined(_GLIBCXX_DEBUG)
      ", _GLIBCXX_DEBUG"
#endif
      ;
}

const plugin_descriptor* describe_plugin(std::vector<plugin_part> parts) {
  // They are never freed, as other threads may still use them while the program ends.
  auto* worlds = new std::vector<plugin_world>();
  auto* encoders = new std::vector<plugin_encoder>();
  auto* algorithms = new std::vector<plugin_algorithm>();
  for (auto& part : parts) {
    if (auto* world = std::get_if<plugin_world>(&part)) worlds->push_back(std::move(*world));
    if (auto* network = std::get_if<plugin_encoder>(&part)) {
      encoders->push_back(std::move(*network));
    }
    if (auto* algorithm = std::get_if<plugin_algorithm>(&part)) {
      algorithms->push_back(std::move(*algorithm));
    }
  }
  return new plugin_descriptor{.magic = plugin_descriptor::magic_number,
                               .build = build_stamp().c_str(),
                               .abi = plugin_abi(),
                               .worlds = worlds,
                               .encoders = encoders,
                               .algorithms = algorithms};
}

}  // namespace troupe::detail
