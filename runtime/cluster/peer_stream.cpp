#include "runtime/cluster/peer_stream.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

#include "runtime/cluster/first_bytes.hpp"
#include "runtime/cluster/link_thread.hpp"

namespace troupe::detail {

namespace {

namespace asio = boost::asio;

/// The bytes that are read at once. In TLS a read gives one record of at most 16 KiB.
constexpr std::size_t read_bytes = std::size_t{128} << 10;
constexpr std::size_t record_bytes = std::size_t{16} << 10;

}  // namespace

std::string text_of(const boost::system::error_code& error) {
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
    return "the other side closed the connection";
  }
  return error.message();
}

trust trust_by(const std::optional<credentials>& own, const std::string& secret_file) {
  if (own) return {std::make_shared<credentials>(*own), nullptr};
  return {nullptr, std::make_shared<join_secret>(secret_file)};
}

peer_stream::peer_stream(const link_options& options, trust by, std::shared_ptr<stream_owner> owner)
    : options_(options), by_(std::move(by)), owner_(std::move(owner)) {}

// ---- before the link ----------------------------------------------------------------------------

void peer_stream::say(const std::string& text, std::function<void()> then) {
  said_.clear();
  if (!std::exchange(said_magic_, true)) said_ += stream_magic;
  const auto size = static_cast<std::uint32_t>(text.size());
  said_.append(reinterpret_cast<const char*>(&size), sizeof size);
  said_ += text;
  bytes_->write_all({asio::buffer(said_)},
                    while_exchanging([this, then = std::move(then)](error_code error, std::size_t) {
                      if (error) return gone_early(text_of(error));
                      then();
                    }));
}

void peer_stream::hear(std::function<void()> then) {
  when_heard_ = std::move(then);
  const auto skipped = heard_magic_ ? stream_magic.size() : 0;
  bytes_->read_all(asio::buffer(head_) + skipped,
                   while_exchanging([this](error_code error, std::size_t) {
                     if (error) return gone_early(text_of(error));
                     head_read();
                   }));
}

void peer_stream::head_read() {
  static_assert(head_size == stream_magic.size() + sizeof(std::uint32_t));
  if (!std::exchange(heard_magic_, true)) {
    if (const auto no = judge_first_bytes({head_.data(), stream_magic.size()}, false)) {
      return refuse(*no);
    }
  }
  std::uint32_t size;
  std::memcpy(&size, head_.data() + stream_magic.size(), sizeof size);
  if (size > exchange_text_max) {
    return refuse({"garbage", "a text of " + std::to_string(size) +
                                  " bytes before the link: expected at most " +
                                  std::to_string(exchange_text_max)});
  }
  heard_.resize(size);
  bytes_->read_all(asio::buffer(heard_), while_exchanging([this](error_code error, std::size_t) {
                     if (error) return gone_early(text_of(error));
                     std::exchange(when_heard_, nullptr)();
                   }));
}

std::optional<join_refusal> peer_stream::find_refusal(const proven_identity& proven) {
  try {
    theirs_ = parse_hello(heard_);
  } catch (const std::invalid_argument& e) {
    return join_refusal{"garbage", e.what()};
  }
  if (auto no = role_contradiction(proven, theirs_.role)) return no;
  if (auto no = contradiction(proven)) return no;
  return owner_->find_refusal(theirs_, proven.certificate);
}

std::string peer_stream::hello_text(std::string proof) {
  ours_ = owner_->own_hello();
  ours_.proof = std::move(proof);
  return to_text(ours_);
}

void peer_stream::join() {
  over_ = true;
  in_.resize(bytes_->secure() ? record_bytes : read_bytes);
  link_ = std::make_shared<framed_link>(options_, ours_.self, theirs_.self, shared_from_this());
  owner_->joined(theirs_, link_);
}

void peer_stream::close() {
  over_ = true;
  // The operations under way end with an error, and refer to the object until then.
  if (bytes_) bytes_->close();
  presence_.reset();
}

bool peer_stream::end_link() {
  const auto link = link_;
  if (link) link->broken();
  return link != nullptr;
}

// ---- the link -----------------------------------------------------------------------------------

bool peer_stream::write(const std::vector<written_piece>& pieces) {
  out_.clear();
  for (const auto& piece : pieces) out_.emplace_back(piece.bytes.data(), piece.bytes.size());
  // In plain text the calling thread gives the socket what it takes, so that a short message needs
  // no other thread. The state of TLS belongs to one thread.
  if (!out_.empty() && !bytes_->secure() && bytes_->send_now(out_) == socket_stream::sent::all) {
    return true;
  }
  asio::post(link_context(), [self = shared_from_this()] { self->go_on_writing(); });
  return false;
}

void peer_stream::go_on_writing() {
  auto self = shared_from_this();
  if (bytes_->secure() && !out_.empty()) {
    return bytes_->write_all(out_, [self](error_code error, std::size_t) {
      if (error && self->fault_.empty()) self->fault_ = text_of(error);
      self->link_->written(!error);
    });
  }
  const auto sent = out_.empty() ? socket_stream::sent::all : bytes_->send_now(out_);
  if (sent != socket_stream::sent::some) return link_->written(sent == socket_stream::sent::all);
  bytes_->plain().async_wait(socket_stream::socket::wait_write, [self](error_code error) {
    if (error) return self->link_->written(false);
    self->go_on_writing();
  });
}

void peer_stream::read() {
  asio::dispatch(link_context(), [self = shared_from_this()] {
    self->bytes_->read_some(asio::buffer(self->in_), [self](error_code error, std::size_t size) {
      self->some_read(error, size);
    });
  });
}

void peer_stream::some_read(error_code error, std::size_t size) {
  if (!error) return link_->arrived(std::span(in_).first(size));
  if (fault_.empty()) fault_ = text_of(error);
  link_->read_failed();
}

void peer_stream::cancel() {
  asio::post(link_context(), [self = shared_from_this()] {
    error_code ignored;
    if (self->bytes_) self->bytes_->plain().shutdown(socket_stream::socket::shutdown_both, ignored);
  });
}

void peer_stream::finish() {
  asio::post(link_context(), [self = shared_from_this()] {
    self->bytes_.reset();
    if (const auto link = std::exchange(self->link_, nullptr)) link->gone(self->fault_);
    self->presence_.reset();
  });
}

}  // namespace troupe::detail
