#pragma once
// A safe reader of Python pickles, for model files.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace troupe {

/// A tensor of floats as a pickle describes it. Its numbers are in a record of the archive, beside
/// the pickle.
struct pickled_tensor {
  std::string storage;      ///< The record's name is "data/" followed by this.
  std::int64_t offset = 0;  ///< The index of the first number in the record.
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

using plain_value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                 pickled_tensor>;
using plain_dictionary = std::map<std::string, plain_value, std::less<>>;

/// Reads the pickle that torch::pickle_save writes of a dictionary from texts to such values
/// (pickle protocol 2, PEP 307). It builds nothing else: it refuses an operation that these values
/// don't need, and a name that it would have to call. Its time and memory are bounded by the
/// pickle's size. Throws std::invalid_argument, which names the operation and its place.
plain_dictionary read_plain_pickle(std::string_view pickle);

}  // namespace troupe
