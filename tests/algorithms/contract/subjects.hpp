#pragma once
// The short runs on which contract_test.cpp tests what every built-in algorithm promises.

#include <filesystem>
#include <string>
#include <vector>

#include "algorithms/program/built_in_algorithms.hpp"

namespace troupe::testing {

/// A short run of one algorithm.
struct subject {
  std::string name;
  std::string algo;
  std::vector<std::string> options = {};  ///< OPTION=VALUE, as on the command line.
  /// True if its environments can be saved. A checkpoint of other environments ends their episodes.
  bool saves_environments = true;
  bool has_async = true;
};

/// All that the troupe command has.
const std::vector<named_algorithm>& known_algorithms();

/// Registers the environments of the subjects, and writes their data into `folder`.
std::vector<subject> make_subjects(const std::filesystem::path& folder);

/// The algorithm of a subject with more options. Throws config_error.
algorithm algorithm_of_subject(const subject& one, const std::vector<std::string>& more);

}  // namespace troupe::testing
