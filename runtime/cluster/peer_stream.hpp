#pragma once
// A stream to another process over TCP, in TLS or in plain text. It carries a framed_link once both
// sides have said hello, after a challenge from both sides if there are no certificates. The
// stream's owner decides who may join. Internal to runtime/.
//
//   each side first     the magic, which names the protocol and its version (first_bytes.hpp)
//   before the link     texts: the size in bytes, u32 in little-endian order, at most
//                       exchange_text_max, and then the text (hello.hpp, join_secret.hpp)
//   the link            frames (frame.hpp)

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cluster/credentials.hpp"
#include "runtime/cluster/framed_link.hpp"
#include "runtime/cluster/hello.hpp"
#include "runtime/cluster/join_secret.hpp"
#include "runtime/cluster/refusal.hpp"
#include "runtime/cluster/socket_stream.hpp"
#include "runtime/cluster/transport.hpp"

namespace troupe::detail {

/// The largest text before the link, in bytes.
inline constexpr std::size_t exchange_text_max = 4096;

/// Receives the events of streams, on the thread of link_context(). It must not wait.
class stream_owner {
 public:
  virtual ~stream_owner() = default;
  /// Returns the hello of this side.
  virtual hello own_hello() = 0;
  /// Decides about a peer whose hello agrees with its certificate (PEM) or, without certificates,
  /// which knows the join secret. Returns nothing to admit it. Each admitted peer leads to a call
  /// of `joined` or `left`.
  virtual std::optional<join_refusal> find_refusal(const hello& theirs,
                                                   const std::string& certificate) = 0;
  virtual void joined(const hello& theirs, std::shared_ptr<framed_link> way) = 0;
  /// An admitted peer has gone before the link was made.
  virtual void left(const hello& theirs) = 0;
  /// A stream, or an attempt to make one, has ended without a link. On the calling side `reason`
  /// may also be "refused" (by the peer) or "unreachable".
  virtual void failed(const join_refusal& why) = 0;
};

/// The means by which the two sides of a stream know each other. One pointer is set, the other is
/// null.
struct trust {
  std::shared_ptr<const credentials> certificates;
  std::shared_ptr<const join_secret> secret;
};

/// Throws as join_secret does.
trust trust_by(const std::optional<credentials>& own, const std::string& secret_file);

/// The part that both sides of a stream share. Runs on the thread of link_context(), apart from
/// what a transport's users call. Handlers of the socket keep it alive, and its link does.
class peer_stream : public transport, public std::enable_shared_from_this<peer_stream> {
 public:
  bool write(const std::vector<written_piece>& pieces) override;
  void read() override;
  std::chrono::milliseconds unacknowledged_for() override { return bytes_->unacknowledged_for(); }
  void cancel() override;
  void finish() override;

 protected:
  using error_code = socket_stream::error_code;

  peer_stream(const link_options& options, trust by, std::shared_ptr<stream_owner> owner);

  /// The exchange before the link has ended because the other side has gone or went silent.
  virtual void gone_early(const std::string& why) = 0;
  /// The other side has sent what no peer sends.
  virtual void refuse(const join_refusal& no) = 0;

  /// Returns a handler that does nothing once the exchange is over, and keeps this object alive.
  template <class Then>
  auto while_exchanging(Then then) {
    return [self = shared_from_this(), then = std::move(then)](const auto&... results) mutable {
      if (!self->over_) then(results...);
    };
  }
  /// Writes a text, after the magic if it is the first one.
  void say(const std::string& text, std::function<void()> then);
  /// Reads a text into `heard_`.
  void hear(std::function<void()> then);

  /// Reads the hello that was heard and asks the owner. `proven` is the identity in the other
  /// side's certificate.
  std::optional<join_refusal> find_refusal(const proven_identity& proven);
  /// Returns why the other side isn't the one in its hello.
  virtual std::optional<join_refusal> contradiction(const proven_identity& proven) const = 0;
  std::string hello_text(std::string proof);

  /// Makes the link. The exchange is over.
  void join();
  /// Closes the socket. The exchange is over.
  void close();
  /// Ends the link, even if nothing is read or written. Returns false if there is none.
  bool end_link();

  const link_options options_;
  const trust by_;
  const std::shared_ptr<stream_owner> owner_;
  std::optional<socket_stream> bytes_;  ///< Empty before there is a socket, and after finish().
  join_nonces nonces_;
  hello ours_, theirs_;
  std::string heard_;
  bool over_ = false;  ///< True if the exchange has led to a link or has failed.
  /// Set by join(), before the link begins its first read or write, and cleared by finish().
  std::shared_ptr<framed_link> link_;
  /// Released when the exchange has failed or the link is gone.
  std::shared_ptr<const void> presence_;

 private:
  static constexpr std::size_t head_size = 12;  // The magic and a size.

  void head_read();
  void go_on_writing();
  void some_read(error_code error, std::size_t size);

  bool said_magic_ = false, heard_magic_ = false;
  std::string said_;
  std::array<char, head_size> head_;
  std::function<void()> when_heard_;

  std::vector<std::byte> in_;
  socket_stream::buffers out_;  ///< What is left of the write under way.
  std::string fault_;           ///< Why reading or writing failed.
};

/// Returns a sentence about a failed operation of a socket.
std::string text_of(const boost::system::error_code& error);

}  // namespace troupe::detail
