#include "runtime/cluster/grpc_stream.hpp"

#include <grpc/support/log.h>
#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <list>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/base/freed_memory.hpp"
#include "runtime/base/log.hpp"
#include "runtime/cluster/acceptor.hpp"
#include "runtime/cluster/join_secret.hpp"

namespace troupe::detail {

namespace {

constexpr char method[] = "/troupe.link.v1/stream";
/// The largest gRPC message: the frames that are written at once, and the notes between them.
constexpr int grpc_message_max = 4 << 20;
constexpr int connect_ms_max = 5000;
/// The time after which connections without a stream are closed, and those whose other side doesn't
/// answer.
constexpr int idle_ms_max = 10'000;
/// The time after which certificates are read again, so that new ones need no restart.
constexpr unsigned certificates_every_s = 60;
constexpr std::chrono::seconds shutdown_within(2);
/// The bytes that the other side may send before they are read, so that it need not wait between
/// frames.
constexpr int lookahead_bytes = 4 << 20;

/// The least number of bytes that are read from a connection at once, so that a large message comes
/// in few slices.
constexpr int read_chunk_bytes = 256 << 10;

/// Sends gRPC's log lines to this program's log, unless gRPC's own variables are set.
void join_logs() {
  static const bool joined = [] {
    if (std::getenv("GRPC_VERBOSITY") || std::getenv("GRPC_TRACE")) return false;
    gpr_set_log_function(
        [](gpr_log_func_args* line) { log::debug("gRPC", {{"line", line->message}}); });
    return true;
  }();
  (void)joined;
}

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

/// Returns the text of a buffer; empty if it is longer than any hello.
std::string text_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (buffer.Length() > 8192 || !buffer.Dump(&slices).ok()) return text;
  for (const auto& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

// ---- certificates -------------------------------------------------------------------------------

using provider = grpc::experimental::CertificateProviderInterface;

std::shared_ptr<provider> watch_files(const credentials& own) {
  return std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      own.key_file(), own.certificate_file(), own.authority_file(), certificates_every_s);
}

/// Verifies the certificates of connecting peers, so that each refusal has its reason.
class peer_verifier final : public grpc::experimental::ExternalCertificateVerifier {
 public:
  peer_verifier(credentials own, std::shared_ptr<stream_owner> owner)
      : own_(std::move(own)), owner_(std::move(owner)) {}

  bool Verify(grpc::experimental::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)>, grpc::Status* status) override {
    const auto no = find_refusal(*request);
    *status = no ? grpc::Status(grpc::StatusCode::UNAUTHENTICATED, no->text) : grpc::Status::OK;
    if (no) owner_->failed(*no);
    return true;
  }
  void Cancel(grpc::experimental::TlsCustomVerificationCheckRequest*) override {}

 private:
  std::optional<join_refusal> find_refusal(
      const grpc::experimental::TlsCustomVerificationCheckRequest& request) const {
    const auto text = [](grpc::string_ref t) { return std::string(t.data(), t.size()); };
    // OpenSSL leaves the peer's own certificate out of the chain if the peer is the caller.
    auto chain = text(request.peer_cert());
    if (!chain.empty()) chain += text(request.peer_cert_full_chain());
    try {
      const auto found = verify_chain(chain, own_, std::chrono::system_clock::now());
      if (const auto* no = std::get_if<join_refusal>(&found)) return *no;
    } catch (const std::runtime_error& e) {
      return join_refusal{"certificate", e.what()};
    }
    return {};
  }

  const credentials own_;
  const std::shared_ptr<stream_owner> owner_;
};

std::shared_ptr<grpc::ServerCredentials> listening_credentials(
    const std::optional<credentials>& own, const std::shared_ptr<stream_owner>& owner) {
  if (!own) return grpc::InsecureServerCredentials();
  grpc::experimental::TlsServerCredentialsOptions options(watch_files(*own));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  // The verifier checks the certificate, because gRPC wouldn't say why it refuses one.
  options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_BUT_DONT_VERIFY);
  options.set_certificate_verifier(peer_verifier::Create<peer_verifier>(*own, owner));
  return grpc::experimental::TlsServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> calling_credentials(
    const std::optional<credentials>& own) {
  if (!own) return grpc::InsecureChannelCredentials();
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(watch_files(*own));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_verify_server_certs(true);
  options.set_certificate_verifier(
      std::make_shared<grpc::experimental::HostNameCertificateVerifier>());
  return grpc::experimental::TlsCredentials(options);
}

/// Returns the identity in the peer's verified certificate.
proven_identity identity_of(const std::shared_ptr<const grpc::AuthContext>& context, bool secure) {
  if (!secure) return {};
  const auto shown = context ? context->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME)
                             : std::vector<grpc::string_ref>{};
  if (shown.empty()) return {.secure = true};
  return identity_in({shown[0].data(), shown[0].size()});
}

// ---- streams ------------------------------------------------------------------------------------

/// The means by which the two sides of a stream know each other. One pointer is set, the other is
/// null.
struct trust {
  std::shared_ptr<const credentials> certificates;
  std::shared_ptr<const join_secret> secret;
};

trust trust_by(const std::optional<credentials>& own, const std::string& secret_file) {
  if (own) return {std::make_shared<credentials>(*own), nullptr};
  return {nullptr, std::make_shared<join_secret>(secret_file)};
}

/// The exchanges before the link. With certificates there is no challenge.
enum class stage { challenge, hello };

/// The part that both sides of a stream share. It keeps itself alive until gRPC has finished with
/// it.
template <class Reactor>
class stream : public Reactor, public transport {
 public:
  stream(const link_options& options, trust by, std::shared_ptr<stream_owner> owner)
      : options_(options),
        certificates_(std::move(by.certificates)),
        secret_(std::move(by.secret)),
        owner_(std::move(owner)),
        stage_(secret_ ? stage::challenge : stage::hello) {}

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
    if (!link_) return text_read(ok);
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
    if (!link_) return text_written(ok);
    link_->written(ok);
  }

 protected:
  virtual void text_read(bool ok) = 0;
  virtual void text_written(bool ok) = 0;
  /// Returns why the other side isn't the one in its hello; `proven` is its certificate's identity.
  virtual std::optional<join_refusal> contradiction(const proven_identity& proven) const = 0;

  void say(const std::string& text) {
    out_ = buffer_of(text);
    this->StartWrite(&out_);
  }
  void say_hello(std::string proof) {
    ours_ = owner_->own_hello();
    ours_.proof = std::move(proof);
    say(to_text(ours_));
  }
  /// Returns the text that was read.
  std::string heard() {
    auto text = text_of(in_);
    in_.Clear();
    return text;
  }

  /// Reads the other side's hello and asks the owner.
  std::optional<join_refusal> find_refusal(
      const std::shared_ptr<const grpc::AuthContext>& context) {
    try {
      theirs_ = parse_hello(heard());
    } catch (const std::invalid_argument& e) {
      return join_refusal{"garbage", e.what()};
    }
    const auto proven = identity_of(context, !secret_);
    if (auto no = revoked(proven)) return no;
    if (auto no = role_contradiction(proven, theirs_.role)) return no;
    if (auto no = contradiction(proven)) return no;
    return owner_->find_refusal(theirs_, proven.certificate);
  }

  void join() {
    link_ = std::make_shared<framed_link>(options_, ours_.self, theirs_.self, self_);
    owner_->joined(theirs_, link_);
  }

  /// Called when gRPC has finished with this object.
  void end(const std::string& why) {
    if (const auto link = std::exchange(link_, nullptr)) link->gone(why);
    const auto last = std::exchange(self_, nullptr);
  }

  const link_options options_;
  const std::shared_ptr<const credentials> certificates_;
  const std::shared_ptr<const join_secret> secret_;
  const std::shared_ptr<stream_owner> owner_;
  stage stage_;
  join_nonces nonces_;
  hello ours_, theirs_;
  /// Needs no lock. join() sets it before the link begins its first read or write, whose ends
  /// OnReadDone and OnWriteDone report, and end() clears it in OnDone, which gRPC calls when
  /// everything else has returned. Only OnCancel may come at any time before that; it uses joined_
  /// instead.
  std::shared_ptr<framed_link> link_;

 private:
  /// Checks for a revocation. gRPC verifies the certificate of a called peer but doesn't know
  /// crl.pem, and a caller may begin a stream on a connection that is older than its revocation.
  std::optional<join_refusal> revoked(const proven_identity& proven) const {
    if (!certificates_) return {};
    try {
      return revocation(proven.certificate, *certificates_);
    } catch (const std::runtime_error& e) {
      return join_refusal{"certificate", e.what()};
    }
  }

  std::shared_ptr<stream> self_;
  grpc::ByteBuffer in_, out_;
  std::vector<grpc::Slice> slices_in_, slices_out_;
  std::vector<std::span<const std::byte>> spans_;
};

// ---- the listening side -------------------------------------------------------------------------

/// The listening side, which reads and answers in turn: the challenge, if there is one, and the
/// hello.
class accepted_stream final : public stream<grpc::ServerGenericBidiReactor> {
 public:
  accepted_stream(grpc::GenericCallbackServerContext& context, const link_options& options,
                  trust by, std::shared_ptr<stream_owner> owner)
      : stream(options, std::move(by), std::move(owner)), context_(context) {}

  void begin() { read(); }

  /// Ends the stream if the hellos have not been exchanged.
  void expire() {
    const std::lock_guard held(mutex_);
    if (!waiting_) return;
    expired_ = true;
    context_.TryCancel();
  }
  bool waiting() const {
    const std::lock_guard held(mutex_);
    return waiting_;
  }

  void cancel() override { context_.TryCancel(); }
  void finish() override { Finish(grpc::Status::OK); }

  void OnCancel() override {
    std::shared_ptr<framed_link> way;
    {
      const std::lock_guard held(mutex_);
      cancelled_ = true;
      way = joined_.lock();
    }
    if (way) way->broken();
  }
  void OnDone() override { end(""); }

 private:
  void text_read(bool ok) override {
    if (!ok) return refuse(silence());
    const auto no = stage_ == stage::challenge ? answer_challenge() : answer_hello();
    if (no) refuse(*no);
  }
  void text_written(bool ok) override {
    if (stage_ == stage::hello) return hello_written(ok);
    if (!ok) return refuse(silence());
    stage_ = stage::hello;
    read();
  }

  std::optional<join_refusal> answer_challenge() {
    try {
      nonces_.caller = parse_challenge(heard()).nonce;
    } catch (const std::invalid_argument& e) {
      return join_refusal{"garbage", e.what()};
    }
    nonces_.listener = random_digits();
    say(to_text(join_challenge{nonces_.listener, secret_->proof(prover::listener, nonces_)}));
    return {};
  }
  std::optional<join_refusal> answer_hello() {
    auto no = find_refusal(context_.auth_context());
    if (!no) say_hello("");
    return no;
  }
  std::optional<join_refusal> contradiction(const proven_identity& proven) const override {
    if (secret_ && !secret_->is_proof(theirs_.proof, prover::caller, nonces_)) {
      return join_refusal{"secret",
                          "expected a proof that the node knows the controller's join secret; both "
                          "have to run as the same user, or with the same --join-secret FILE"};
    }
    return name_contradiction(proven, theirs_.name);
  }

  void hello_written(bool ok) {
    stop_waiting();
    if (ok) return join_unless_cancelled();
    owner_->left(theirs_);
    Finish(grpc::Status::CANCELLED);
  }
  /// Joins, and tells the link about a cancel that came before OnCancel could reach the link.
  void join_unless_cancelled() {
    join();
    bool cancelled;
    {
      const std::lock_guard held(mutex_);
      joined_ = link_;
      cancelled = cancelled_;
    }
    if (cancelled) link_->broken();
  }

  void refuse(const join_refusal& no) {
    stop_waiting();
    owner_->failed(no);
    Finish({grpc::StatusCode::PERMISSION_DENIED, no.text});
  }
  /// Returns why nothing more comes.
  join_refusal silence() const {
    const std::lock_guard held(mutex_);
    if (expired_ || nonces_.listener.empty()) return {"silent", "said no hello"};
    return {"secret", "the caller went when it had seen the proof of " + secret_->file().string() +
                          ": it may have another join secret"};
  }
  /// From now on the stream may end and its context be destroyed.
  void stop_waiting() {
    const std::lock_guard held(mutex_);
    waiting_ = false;
  }

  grpc::GenericCallbackServerContext& context_;
  mutable std::mutex mutex_;  // Guards everything below.
  /// True while it waits for a challenge or a hello, so that the context exists.
  bool waiting_ = true;
  bool expired_ = false;               ///< True if it has waited too long.
  bool cancelled_ = false;             ///< True if OnCancel was called.
  std::weak_ptr<framed_link> joined_;  ///< The same link as link_, for OnCancel.
};

/// Refuses a call of another method.
class refused_stream final : public grpc::ServerGenericBidiReactor {
 public:
  refused_stream() { Finish({grpc::StatusCode::UNIMPLEMENTED, "no such method"}); }
  void OnDone() override { delete this; }
};

}  // namespace

class grpc_listener::service final : public grpc::CallbackGenericService {
 public:
  service(listener_options options, std::shared_ptr<stream_owner> owner)
      : options_(std::move(options)), owner_(std::move(owner)) {
    join_logs();
    keep_freed_memory();
    const auto within = static_cast<int>(options_.hello_within.count());
    door_.emplace(
        acceptor_options{.address = options_.address,
                         .secure = options_.own.has_value(),
                         .first_bytes_within = options_.hello_within},
        acceptor::handlers{.let_in = [this](int connection) { let_in(connection); },
                           .refuse = [this](const join_refusal& no) { owner_->failed(no); }});
    trust_ = trust_by(options_.own, options_.secret_file);
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(this);
    builder.SetMaxReceiveMessageSize(grpc_message_max);
    builder.SetMaxSendMessageSize(grpc_message_max);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, lookahead_bytes);
    builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, read_chunk_bytes);
    builder.AddChannelArgument(GRPC_ARG_TCP_MIN_READ_CHUNK_SIZE, read_chunk_bytes);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, within);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, idle_ms_max);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, idle_ms_max);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, within);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        listening_credentials(options_.own, owner_));
    server_ = builder.BuildAndStart();
    if (!server_) throw std::runtime_error("cannot listen at " + options_.address);
    door_->open();
  }
  ~service() {
    door_.reset();
    server_->Shutdown(std::chrono::system_clock::now() + shutdown_within);
    server_->Wait();
  }

  std::uint16_t port() const { return door_->port(); }

  void tick(std::chrono::steady_clock::time_point now) {
    const auto begun_before = now - options_.hello_within;
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
    const auto made = std::make_shared<accepted_stream>(*context, options_.link, trust_, owner_);
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

  void let_in(int connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = connection;
    acceptor_->HandleNewConnection(&parameters);
  }

  const listener_options options_;
  const std::shared_ptr<stream_owner> owner_;
  trust trust_;
  std::mutex mutex_;
  std::list<waiting> waiting_;  ///< The streams that wait for a challenge or a hello.
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<acceptor> door_;
};

grpc_listener::grpc_listener(listener_options options, std::shared_ptr<stream_owner> owner)
    : service_(std::make_unique<service>(std::move(options), std::move(owner))) {}

grpc_listener::~grpc_listener() = default;

std::uint16_t grpc_listener::port() const { return service_->port(); }

void grpc_listener::tick(std::chrono::steady_clock::time_point now) { service_->tick(now); }

// ---- the calling side ---------------------------------------------------------------------------

namespace {

std::shared_ptr<grpc::Channel> make_channel(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& security) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(grpc_message_max);
  arguments.SetMaxSendMessageSize(grpc_message_max);
  // Each attempt uses its own connection, because the owner decides when to try again.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, connect_ms_max);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, lookahead_bytes);
  arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, read_chunk_bytes);
  arguments.SetInt(GRPC_ARG_TCP_MIN_READ_CHUNK_SIZE, read_chunk_bytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, security, arguments);
}

/// Owns the channel. The stream doesn't, because a link's last owner may be a thread of gRPC's.
class called_channel final : public grpc_call {
 public:
  called_channel(const std::string& address,
                 const std::shared_ptr<grpc::ChannelCredentials>& security)
      : stub(make_channel(address, security)) {}
  void cancel() override { context.TryCancel(); }

  grpc::ClientContext context;
  grpc::GenericStub stub;
};

/// The calling side, which writes and reads at the same time: the challenge, if there is one, and
/// then the hello.
class called_stream final
    : public stream<grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>> {
 public:
  called_stream(called_channel& channel, const link_options& options, trust by,
                std::shared_ptr<stream_owner> owner)
      : stream(options, std::move(by), std::move(owner)), channel_(channel) {}

  void begin() {
    channel_.stub.PrepareBidiStreamingCall(&channel_.context, method, {}, this);
    // The hold lasts until finish(), because reads and writes begin on other threads than gRPC's.
    AddHold();
    exchange();
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
  void exchange() {
    halves_ = 2;
    read();
    if (stage_ == stage::hello) {
      return say_hello(secret_ ? secret_->proof(prover::caller, nonces_) : "");
    }
    nonces_.caller = random_digits();
    say(to_text(join_challenge{nonces_.caller, ""}));
  }
  void text_read(bool ok) override { half_done(ok); }
  void text_written(bool ok) override { half_done(ok); }

  /// Called at the end of the write and of the read, which come on gRPC's threads, maybe at once.
  /// The later call goes on.
  void half_done(bool ok) {
    if (!ok) exchanged_ = false;
    if (halves_.fetch_sub(1) > 1) return;
    if (!exchanged_) return finish();
    failure_ =
        stage_ == stage::challenge ? check_answer() : find_refusal(channel_.context.auth_context());
    if (failure_) {
      cancel();
      return finish();
    }
    if (stage_ == stage::hello) return join();
    stage_ = stage::hello;
    exchange();
  }

  std::optional<join_refusal> check_answer() {
    join_challenge answer;
    try {
      answer = parse_challenge(heard());
    } catch (const std::invalid_argument& e) {
      return join_refusal{"garbage", e.what()};
    }
    nonces_.listener = answer.nonce;
    if (secret_->is_proof(answer.proof, prover::listener, nonces_)) return {};
    return join_refusal{"secret",
                        "this node does not trust who listens there, which does not know "
                        "the secret of " +
                            secret_->file().string() +
                            "; is it another user's controller, or has it another file? Both ends "
                            "read the same secret (--join-secret)"};
  }
  /// The listener has proved that it is at its host or knows the secret, so it may have any name.
  std::optional<join_refusal> contradiction(const proven_identity&) const override { return {}; }

  called_channel& channel_;
  std::optional<join_refusal> failure_;
  std::atomic<bool> exchanged_{true};
  std::atomic<int> halves_{0};
};

}  // namespace

struct caller_side::security {
  trust by;
  std::shared_ptr<grpc::ChannelCredentials> of_channels;
};

caller_side::caller_side(const std::optional<credentials>& own, const std::string& secret_file)
    : security_(std::make_unique<security>()) {
  join_logs();
  keep_freed_memory();
  security_->by = trust_by(own, secret_file);
  security_->of_channels = calling_credentials(own);
}

caller_side::~caller_side() = default;

std::unique_ptr<grpc_call> caller_side::call(const std::string& address,
                                             const link_options& options,
                                             std::shared_ptr<stream_owner> owner) {
  auto channel = std::make_unique<called_channel>(address, security_->of_channels);
  const auto made =
      std::make_shared<called_stream>(*channel, options, security_->by, std::move(owner));
  made->keep(made);
  made->begin();
  return channel;
}

}  // namespace troupe::detail
