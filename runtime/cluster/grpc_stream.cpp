#include "runtime/cluster/grpc_stream.hpp"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace troupe::detail {

namespace {

constexpr char method[] = "/troupe.link.v1/stream";
/// A gRPC message: as many frames as are written at once, and the notes between them.
constexpr int grpc_message_max = 4 << 20;
constexpr int connect_ms_max = 5000;
constexpr std::chrono::seconds shutdown_within(2);

void release(void* keeper) { delete static_cast<std::shared_ptr<const void>*>(keeper); }

grpc::Slice slice_of(const written_piece& piece) {
  const auto [data, size] = std::pair(piece.bytes.data(), piece.bytes.size());
  if (!piece.keeper) return {data, size};
  return {const_cast<std::byte*>(data), size, release,
          new std::shared_ptr<const void>(piece.keeper)};
}

grpc::ByteBuffer buffer_of(const std::string& text) {
  const grpc::Slice slice(text);
  return {&slice, 1};
}

/// Empty for what is longer than any hello.
std::string text_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (buffer.Length() > 8192 || !buffer.Dump(&slices).ok()) return text;
  for (const auto& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

proven_identity identity_of(const std::shared_ptr<const grpc::AuthContext>&) { return {}; }

/// What the two sides of a stream have in common. Keeps itself until gRPC has done with it.
template <class Reactor>
class stream : public Reactor, public carrier {
 public:
  stream(const link_options& options, std::shared_ptr<stream_owner> owner)
      : options_(options), owner_(std::move(owner)) {}

  void keep(std::shared_ptr<stream> self) { self_ = std::move(self); }

  void write(const std::vector<written_piece>& pieces) override {
    slices_out_.clear();
    for (const auto& piece : pieces) slices_out_.push_back(slice_of(piece));
    out_ = grpc::ByteBuffer(slices_out_.data(), slices_out_.size());
    slices_out_.clear();
    this->StartWrite(&out_);
  }
  void read() override { this->StartRead(&in_); }

  void OnReadDone(bool ok) final {
    if (!link_) return hello_arrived(ok);
    if (!ok) return link_->read_failed();
    slices_in_.clear();
    spans_.clear();
    if (!in_.Dump(&slices_in_).ok()) return link_->read_failed();
    for (const auto& slice : slices_in_) {
      spans_.push_back({reinterpret_cast<const std::byte*>(slice.begin()), slice.size()});
    }
    link_->arrived(spans_);
  }
  void OnWriteDone(bool ok) final {
    out_.Clear();
    if (!link_) return hello_written(ok);
    link_->written(ok);
  }

 protected:
  virtual void hello_arrived(bool ok) = 0;
  virtual void hello_written(bool ok) = 0;

  void write_hello(const hello& ours) {
    ours_ = ours;
    out_ = buffer_of(to_text(ours));
    this->StartWrite(&out_);
  }

  /// Reads theirs, and asks the owner.
  std::optional<refusal> judge(const proven_identity& proven) {
    try {
      theirs_ = parse_hello(text_of(in_));
    } catch (const std::invalid_argument& e) {
      return refusal{"garbage", e.what()};
    }
    in_.Clear();
    return owner_->judge(theirs_, proven);
  }

  void join() {
    link_ = std::make_shared<framed_link>(options_, ours_.self, theirs_.self, self_);
    owner_->joined(theirs_, link_);
  }

  /// gRPC has done with this.
  void end(const std::string& why) {
    if (const auto link = std::exchange(link_, nullptr)) link->gone(why);
    const auto last = std::exchange(self_, nullptr);
  }

  const link_options options_;
  const std::shared_ptr<stream_owner> owner_;
  hello ours_, theirs_;
  std::shared_ptr<framed_link> link_;

 private:
  std::shared_ptr<stream> self_;
  grpc::ByteBuffer in_, out_;
  std::vector<grpc::Slice> slices_in_, slices_out_;
  std::vector<std::span<const std::byte>> spans_;
};

// ---- the listening side -------------------------------------------------------------------------

class accepted_stream final : public stream<grpc::ServerGenericBidiReactor> {
 public:
  accepted_stream(grpc::GenericCallbackServerContext& context, const link_options& options,
                  std::shared_ptr<stream_owner> owner)
      : stream(options, std::move(owner)), context_(context) {}

  void begin() { read(); }

  /// Ends it where no hello has come.
  void expire() {
    const std::lock_guard held(mutex_);
    if (waiting_) context_.TryCancel();
  }
  bool waiting() const {
    const std::lock_guard held(mutex_);
    return waiting_;
  }

  void cancel() override { context_.TryCancel(); }
  void finish() override { Finish(grpc::Status::OK); }

  void OnCancel() override {
    if (link_) link_->broken();
  }
  void OnDone() override { end(""); }

 private:
  void hello_arrived(bool ok) override {
    {
      const std::lock_guard held(mutex_);
      waiting_ = false;
    }
    if (!ok) {
      owner_->failed({"silent", "said no hello"});
      return Finish(grpc::Status::CANCELLED);
    }
    const auto no = judge(identity_of(context_.auth_context()));
    if (!no) return write_hello(owner_->own_hello());
    owner_->failed(*no);
    Finish({grpc::StatusCode::PERMISSION_DENIED, no->text});
  }
  void hello_written(bool ok) override {
    if (ok) return join();
    owner_->left(theirs_);
    Finish(grpc::Status::CANCELLED);
  }

  grpc::GenericCallbackServerContext& context_;
  mutable std::mutex mutex_;
  bool waiting_ = true;  ///< For the hello, so the context is there.
};

/// Refuses what is no stream of ours.
class refused_stream final : public grpc::ServerGenericBidiReactor {
 public:
  refused_stream() { Finish({grpc::StatusCode::UNIMPLEMENTED, "no such method"}); }
  void OnDone() override { delete this; }
};

}  // namespace

class grpc_listener::service final : public grpc::CallbackGenericService {
 public:
  service(const std::string& address, const link_options& options,
          std::shared_ptr<stream_owner> owner)
      : options_(options), owner_(std::move(owner)) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(this);
    builder.SetMaxReceiveMessageSize(grpc_message_max);
    builder.SetMaxSendMessageSize(grpc_message_max);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    if (!server_ || port == 0) throw std::runtime_error("cannot listen at " + address);
    port_ = static_cast<std::uint16_t>(port);
  }
  ~service() {
    server_->Shutdown(std::chrono::system_clock::now() + shutdown_within);
    server_->Wait();
  }

  std::uint16_t port() const { return port_; }

  void expire_hellos(std::chrono::steady_clock::time_point begun_before) {
    std::vector<std::shared_ptr<accepted_stream>> late;
    {
      const std::lock_guard held(mutex_);
      std::erase_if(waiting_, [&](const waiting& w) {
        const auto stream = w.stream.lock();
        if (!stream || !stream->waiting()) return true;
        if (w.since < begun_before) late.push_back(stream);
        return w.since < begun_before;
      });
    }
    for (const auto& stream : late) stream->expire();
  }

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    if (context->method() != method) return new refused_stream;
    const auto made = std::make_shared<accepted_stream>(*context, options_, owner_);
    made->keep(made);
    {
      const std::lock_guard held(mutex_);
      waiting_.push_back({made, std::chrono::steady_clock::now()});
    }
    made->begin();
    return made.get();
  }

 private:
  struct waiting {
    std::weak_ptr<accepted_stream> stream;
    std::chrono::steady_clock::time_point since;
  };

  const link_options options_;
  const std::shared_ptr<stream_owner> owner_;
  std::mutex mutex_;
  std::list<waiting> waiting_;  ///< For a hello.
  std::unique_ptr<grpc::Server> server_;
  std::uint16_t port_ = 0;
};

grpc_listener::grpc_listener(const std::string& address, const link_options& options,
                             std::shared_ptr<stream_owner> owner)
    : service_(std::make_unique<service>(address, options, std::move(owner))) {}

grpc_listener::~grpc_listener() = default;

std::uint16_t grpc_listener::port() const { return service_->port(); }

void grpc_listener::expire_hellos(std::chrono::steady_clock::time_point begun_before) {
  service_->expire_hellos(begun_before);
}

// ---- the calling side ---------------------------------------------------------------------------

namespace {

std::shared_ptr<grpc::Channel> make_channel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(grpc_message_max);
  arguments.SetMaxSendMessageSize(grpc_message_max);
  // Each attempt is its own: when to try again is for the owner to say.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, connect_ms_max);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

/// A channel is let go with this, not with the stream: a link's last owner may be a thread of
/// gRPC's.
class called_channel final : public grpc_call {
 public:
  explicit called_channel(const std::string& address) : stub(make_channel(address)) {}
  void cancel() override { context.TryCancel(); }

  grpc::ClientContext context;
  grpc::GenericStub stub;
};

class called_stream final
    : public stream<grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>> {
 public:
  called_stream(called_channel& channel, const link_options& options,
                std::shared_ptr<stream_owner> owner)
      : stream(options, std::move(owner)), channel_(channel) {}

  void begin() {
    channel_.stub.PrepareBidiStreamingCall(&channel_.context, method, {}, this);
    AddHold();  // until finish(): reads and writes begin on other threads than gRPC's
    read();
    write_hello(owner_->own_hello());
    StartCall();
  }

  void cancel() override { channel_.cancel(); }
  void finish() override { RemoveHold(); }

  void OnDone(const grpc::Status& status) override {
    const auto& text = status.error_message();
    if (!link_ && !failure_) {
      const bool refused = status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
      failure_ = {refused ? "refused" : "unreachable", text};
    }
    if (failure_) owner_->failed(*failure_);
    end(text);
  }

 private:
  void hello_arrived(bool ok) override {
    if (!ok) return half_done(false);
    failure_ = judge(identity_of(channel_.context.auth_context()));
    if (!failure_) return half_done(true);
    cancel();
    half_done(false);
  }
  void hello_written(bool ok) override { half_done(ok); }

  /// Both halves end on threads of gRPC's, maybe at once.
  void half_done(bool ok) {
    if (!ok) exchanged_ = false;
    if (halves_.fetch_sub(1) > 1) return;
    if (exchanged_) return join();
    finish();
  }

  called_channel& channel_;
  std::optional<refusal> failure_;
  std::atomic<bool> exchanged_{true};
  std::atomic<int> halves_{2};
};

}  // namespace

std::unique_ptr<grpc_call> call_listener(const std::string& address, const link_options& options,
                                         std::shared_ptr<stream_owner> owner) {
  auto channel = std::make_unique<called_channel>(address);
  const auto made = std::make_shared<called_stream>(*channel, options, std::move(owner));
  made->keep(made);
  made->begin();
  return channel;
}

}  // namespace troupe::detail
