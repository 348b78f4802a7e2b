#include "algorithms/run/named_algorithm.hpp"

namespace troupe::detail {

nlohmann::json with_algorithm_name(nlohmann::json document, const std::string& from,
                                   const std::string& to) {
  if (document.is_object() && document.contains("algo") && document["algo"] == from)
    document["algo"] = to;
  return document;
}

}  // namespace troupe::detail
