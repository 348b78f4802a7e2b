#pragma once
// A safe reader of Python pickles, and a writer of such ones, for model files.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
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
  std::int64_t storage_size = 0;  ///< The count of numbers in the record.
};

using plain_value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                 pickled_tensor>;
using plain_dictionary = std::map<std::string, plain_value, std::less<>>;

/// Returns the pickle of a dictionary (pickle protocol 2, PEP 307), in this order, which Python's
/// torch.load reads with weights_only=True. Tensors are on the CPU and need no gradient. A text
/// must be UTF-8.
std::string write_plain_pickle(const std::vector<std::pair<std::string, plain_value>>& dictionary);

/// Reads the pickle that write_plain_pickle, or torch::pickle_save, writes of a dictionary from
/// texts to such values. It builds nothing else: it refuses an operation that these values
/// don't need, and a name that it would have to call. Its time and memory are bounded by the
/// pickle's size. Throws std::invalid_argument, which names the operation and its place.
plain_dictionary read_plain_pickle(std::string_view pickle);

}  // namespace troupe
