#pragma once
// The services whose handles were sent over a link: all that its other side may ask for, call and
// name. Any thread. Internal to runtime/.

#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace troupe::detail {

class given_services {
 public:
  using names = std::set<std::string>;

  /// What the other side may ask for before it is given: a node that comes back asks at once for
  /// all that it knows.
  static constexpr std::size_t early_max = 4096;
  static constexpr std::size_t early_name_max = 4096;  ///< Bytes.

  bool has(const std::string& name) const;
  /// The other side asks for it. Whether it has been given; if not, `add` tells of it once it is.
  /// Throws wire_error where too many have been asked for early.
  bool asked_for(const std::string& name);
  /// Handles are about to be sent. Those of them that were asked for before.
  std::vector<std::string> add(const names& given);

  /// While a message is written on this thread: `into` gets the names of the handles in it.
  class writing {
   public:
    explicit writing(names& into) noexcept;
    writing(const writing&) = delete;
    ~writing();

   private:
    names* before_;
  };
  /// A handle of that service is being written, into a message or elsewhere.
  static void note(const std::string& name);

 private:
  mutable std::mutex mutex_;
  names given_;
  names early_;
};

/// A service's name that has come over a link, for a message of ours.
std::string shown(const std::string& name);

}  // namespace troupe::detail
