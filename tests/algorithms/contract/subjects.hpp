#pragma once
// The short runs on which contract_test.cpp tests what every built-in algorithm promises.

#include <filesystem>
#include <string>
#include <vector>

#include "algorithms/program/built_in_algorithms.hpp"

namespace troupe::testing {

/// Options as OPTION=VALUE, as on the command line.
using options = std::vector<std::string>;

inline options operator+(options all, const options& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// A short run of one algorithm.
struct subject {
  std::string name;
  std::string algo;
  testing::options options = {};
  bool has_async = true;
  /// True if checkpoints change nothing in sync mode. They do if environments can't be saved, since
  /// their episodes end, and with several rollouts at once, since another one may be the first.
  bool ignores_checkpoints = true;
  /// True if restored environments have the state that was saved. They don't if they can't be
  /// saved, and if they are told anew which task is next.
  bool restores_environments = true;
};

/// All that the troupe command has.
const std::vector<named_algorithm>& known_algorithms();

/// Registers the environments of the subjects, and writes their data into `folder`.
std::vector<subject> make_subjects(const std::filesystem::path& folder);

/// The algorithm of a subject with more options. Throws config_error.
algorithm algorithm_of_subject(const subject& one, const options& more);

}  // namespace troupe::testing
