#pragma once
// The listening side of a stream. Internal to this folder.

#include <functional>
#include <memory>

#include "runtime/cluster/peer_stream.hpp"
#include "runtime/cluster/tls_context.hpp"

namespace troupe::detail {

/// Reads and answers in turn: the challenge, if there is one, and the hello.
class accepted_stream final : public peer_stream {
 public:
  /// `settled` is called once, when the peer is admitted or nothing more is awaited of it.
  /// `presence` is released when the stream has ended, after the link has told its listener so.
  accepted_stream(socket_stream::socket from, const link_options& options, trust by,
                  std::shared_ptr<stream_owner> owner, std::function<void()> settled,
                  std::shared_ptr<const void> presence);

  /// Begins the exchange. `contexts` is null in plain text.
  void begin(listening_contexts* contexts);
  /// Closes a connection that has not proved in time who it is.
  void expire();
  /// Closes a connection that makes room for another one.
  void make_room();
  using peer_stream::end_link;

 private:
  void wait_for_first();
  void look_at_first();
  void agree_on_tls();
  void tls_agreed(error_code error);
  void exchange();
  std::optional<join_refusal> answer_challenge();
  void answer_hello();
  std::optional<join_refusal> contradiction(const proven_identity& proven) const override;
  join_refusal silence() const;

  void gone_early(const std::string& why) override;
  void refuse(const join_refusal& no) override { refuse(no, no.text); }
  /// `told` is what the other side hears.
  void refuse(const join_refusal& no, const std::string& told);
  void wait_for_its_end();
  /// Closes without a word. `no` is not counted if a refusal was counted before.
  void drop(const join_refusal& no);
  void settle();

  listening_contexts* contexts_ = nullptr;
  std::function<void()> settled_;
  proven_identity proven_;
  bool first_seen_ = false;
  bool admitted_ = false;
  bool refused_ = false;
  std::array<char, 1024> unread_;  ///< What comes after a refusal.
  std::size_t unread_bytes_ = 0;
};

}  // namespace troupe::detail
