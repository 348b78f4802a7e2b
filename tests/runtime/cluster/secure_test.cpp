// Mutual TLS: who is admitted with which certificate.

#include <openssl/pem.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "runtime/cluster/build_id.hpp"
#include "runtime/cluster/certificate_text.hpp"
#include "runtime/cluster/certificates.hpp"
#include "runtime/cluster/credentials.hpp"
#include "runtime/cluster/openssl_handles.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/runtime/cluster/cluster.hpp"
#include "tests/runtime/cluster/raw_joiner.hpp"

namespace troupe::detail::testing {
namespace {

namespace fs = std::filesystem;

/// An authority with a controller at this machine's loopback and the node gpu-1.
struct authority : temporary_folder {
  authority() {
    make_authority(path, std::chrono::days(10));
    controller = issue_certificate(path, {"head", "controller", {"127.0.0.1", "localhost"}});
    node = issue_certificate(path, {"gpu-1", "node", {}});
  }
  fs::path controller, node;
};

raw_security security_of(const fs::path& folder, const fs::path& believed) {
  return {read_whole_file(believed / "ca.pem"), read_whole_file(folder / "cert.pem"),
          read_whole_file(folder / "key.pem")};
}

std::string hello_text(const std::string& name, const std::string& role = "node") {
  return to_text({.build = build_id(), .self = incarnation::random(), .name = name, .role = role});
}

TEST_CASE("certificates: say what was asked for, and keys are for their owner alone") {
  authority made;
  const auto facts = read_certificate(made.controller / "cert.pem");
  CHECK(facts.name == "head");
  CHECK(facts.role == "controller");
  CHECK(facts.hosts == std::vector<std::string>{"127.0.0.1", "localhost"});
  CHECK(facts.not_after - std::chrono::system_clock::now() < std::chrono::days(11));
  CHECK(read_certificate(made.path / "ca.pem").role == "authority");
  for (const auto& key : {made.path / "ca.key.pem", made.node / "key.pem"}) {
    struct stat status;
    REQUIRE(stat(key.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
  }
  CHECK(list_certificates(made.path).size() == 3);
}

TEST_CASE("certificates: nothing is overwritten, and bad input is named") {
  authority made;
  CHECK_THROWS_WITH(make_authority(made.path, std::chrono::days(10)), has_text("ca.pem exists"));
  CHECK_THROWS_WITH(issue_certificate(made.path, {"gpu-1", "node", {}}),
                    has_text("exists already"));
  CHECK_NOTHROW(issue_certificate(made.path, {"gpu-1", "node", {}}, true));
  CHECK_THROWS_WITH(issue_certificate(made.path, {"a/b", "node", {}}), has_text("\"a/b\""));
  CHECK_THROWS_WITH(issue_certificate(made.path, {"..", "node", {}}), has_text("name"));
  CHECK_THROWS_WITH(issue_certificate(made.path, {"a", "king", {}}), has_text("\"king\""));
  CHECK_THROWS_WITH(issue_certificate(made.path, {"a", "node", {"a b"}}), has_text("\"a b\""));
  CHECK_THROWS_WITH(issue_certificate(made.path, {"a", "node", {"b,URI:troupe://controller"}}),
                    has_text("host"));
  CHECK_THROWS_WITH(issue_certificate(made.path, {"a", "controller", {}}), has_text("host"));
  CHECK_THROWS_WITH(issue_certificate(made.path / "none", {"a", "node", {}}), has_text("ca.pem"));
  CHECK_THROWS_WITH(make_authority(made.path / "x", std::chrono::days(0)), has_text("days"));
}

TEST_CASE("credentials: a FIFO is refused by its name, and nothing waits for its writer") {
  authority made;
  fs::remove(made.node / "key.pem");
  REQUIRE(::mkfifo((made.node / "key.pem").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(load_credentials(made.node, "node"),
                    has_text("key.pem: cannot read it: expected a regular file, got a FIFO"));
  fs::remove(made.path / "ca.key.pem");
  REQUIRE(::mkfifo((made.path / "ca.key.pem").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(issue_certificate(made.path, {"a", "node", {}}),
                    has_text("ca.key.pem: expected a regular file, got a FIFO"));
}

TEST_CASE("credentials: files that will not do are named at the start") {
  authority made;
  CHECK_NOTHROW(load_credentials(made.node, "node"));
  CHECK_THROWS_WITH(load_credentials(made.node, "controller"), has_text("expected the role"));
  CHECK_THROWS_WITH(load_credentials(made.path, "node"), has_text("cert.pem: cannot read"));
  const authority other;
  fs::copy_file(other.path / "ca.pem", made.node / "ca.pem", fs::copy_options::overwrite_existing);
  CHECK_THROWS_WITH(load_credentials(made.node, "node"), has_text("cert.pem: the certificate of"));
  fs::copy_file(other.node / "key.pem", made.controller / "key.pem",
                fs::copy_options::overwrite_existing);
  CHECK_THROWS_WITH(load_credentials(made.controller, "controller"),
                    has_text("key.pem: is not the key of"));
  std::ofstream(made.controller / "key.pem") << "no key";
  CHECK_THROWS_WITH(load_credentials(made.controller, "controller"),
                    has_text("key.pem: expected a private key"));
  const auto old = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) -
                   std::chrono::days(3);
  const auto expired = issue_certificate(made.path, {"old", "node", {}, std::chrono::days(1), old});
  CHECK_THROWS_WITH(load_credentials(expired, "node"), has_text("cert.pem: expired at"));
}

/// A certificate that nobody has signed but itself, of any name.
std::string stranger_named(const std::string& name) {
  const key_ptr key(EVP_EC_gen("P-256"));
  const certificate_ptr made(X509_new());
  X509_set_pubkey(made.get(), key.get());
  const auto* const bytes = reinterpret_cast<const unsigned char*>(name.data());
  X509_NAME_add_entry_by_NID(X509_get_subject_name(made.get()), NID_commonName, V_ASN1_UTF8STRING,
                             bytes, static_cast<int>(name.size()), -1, 0);
  X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
  X509_gmtime_adj(X509_getm_notBefore(made.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  REQUIRE(X509_sign(made.get(), key.get(), EVP_sha256()) != 0);
  const bio_ptr memory(BIO_new(BIO_s_mem()));
  REQUIRE(PEM_write_bio_X509(memory.get(), made.get()) == 1);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

TEST_CASE("credentials: a stranger's name is bounded and without control characters") {
  const authority made;
  const auto judged =
      verify_chain(stranger_named("gpu-1\nerror all is lost" + std::string(500, 'x')),
                   {.directory = made.controller, .own = {}}, std::chrono::system_clock::now());
  const auto* const no = std::get_if<join_refusal>(&judged);
  REQUIRE(no);
  CHECK(no->reason == "other_authority");
  CHECK_THAT(no->text, has_text("the certificate of \"gpu-1\\u000aerror all is lostxxx"));
  CHECK_THAT(no->text, has_text("xxx...\": "));
  CHECK(no->text.size() < 250);
}

TEST_CASE("credentials: what a name means") {
  CHECK(matches("gpu-1", "gpu-1"));
  CHECK_FALSE(matches("gpu-1", "gpu-12"));
  CHECK(matches("*", ""));
  CHECK(matches("gpu-*", "gpu-12"));
  CHECK(matches("*-*-b", "a-b-c-b"));
  CHECK_FALSE(matches("gpu-*x", "gpu-12"));
  CHECK_FALSE(matches("", "a"));
}

TEST_CASE("secure: beyond this machine nothing is said in plain text") {
  CHECK_THROWS_WITH(link_server({.address = "0.0.0.0:0"}, nullptr), has_text("troupe certs init"));
  CHECK_THROWS_WITH(link_server({.address = "[::]:0"}, nullptr), has_text("without certificates"));
  CHECK_THROWS_WITH(link_client({.address = "10.0.0.1:7777", .name = "a"}, {}),
                    has_text("cannot join 10.0.0.1:7777 without certificates"));
  CHECK_THROWS_WITH(link_server({.address = "nowhere"}, nullptr), has_text("expected HOST:PORT"));
  CHECK_THROWS_WITH(link_server({.address = "127.0.0.1:70000"}, nullptr), has_text("HOST:PORT"));
}

TEST_CASE("secure: of seven bad joiners none is admitted, each is counted, and a good one joins") {
  const authority made, stranger;
  const auto old = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) -
                   std::chrono::days(3);
  const auto expired =
      issue_certificate(made.path, {"expired", "node", {}, std::chrono::days(1), old});
  metrics_registry metrics;
  controller_side controller({.certs = made.controller, .metrics = &metrics});
  const auto at = controller.address();
  const auto good = security_of(made.node, made.path);

  CHECK(say_hello(at, raw_security{good.authority, "", ""}, hello_text("gpu-1")).hello.empty());
  CHECK(say_hello(at, security_of(stranger.node, made.path), hello_text("gpu-1")).hello.empty());
  CHECK(say_hello(at, security_of(expired, made.path), hello_text("expired")).hello.empty());
  CHECK(say_hello(at, security_of(made.controller, made.path), hello_text("head", "controller"))
            .hello.empty());
  CHECK_THAT(say_hello(at, security_of(made.controller, made.path), hello_text("head")).why,
             has_text("expected the certificate of a node, got that of a \"controller\""));
  CHECK_THAT(say_hello(at, good, hello_text("gpu-2")).why,
             has_text("expected the certificate of gpu-2, got that of \"gpu-1\""));
  CHECK(say_hello(at, std::nullopt, hello_text("gpu-1")).hello.empty());

  CHECK(are_refused(metrics, "no_certificate", 1));
  CHECK(are_refused(metrics, "other_authority", 1));
  CHECK(are_refused(metrics, "expired", 1));
  CHECK(are_refused(metrics, "role", 2));
  CHECK(are_refused(metrics, "name", 1));
  CHECK(refused(metrics, "plain_text") == 1);
  CHECK(controller.joined.made.size() == 0);

  node_side node(at, "gpu-1", [&](auto& o) { o.certs = made.node; });
  CHECK(controller.joined.made.take().other.name == "gpu-1");
  CHECK(node.joined.made.take().other.role == "controller");
  CHECK_THAT(metrics.text(), has_text("troupe_tls_not_after_timestamp_seconds"));
}

/// Seconds until a joiner is refused, the least of three times: any thread may be held up for as
/// long on a machine that others use, too.
double refused_after(const std::function<raw_answer()>& join) {
  double least = 1e9;
  for (int i = 0; i < 3 && least >= 1; ++i) {
    const auto before = std::chrono::steady_clock::now();
    CHECK(join().hello.empty());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
    least = std::min(least, took.count());
  }
  return least;
}
double refused_after(const std::string& at, const std::optional<raw_security>& security,
                     const std::string& hello) {
  return refused_after([&] { return say_hello(at, security, hello); });
}

TEST_CASE("secure: whoever may not join hears so within a second") {
  const authority made, stranger;
  const auto old = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) -
                   std::chrono::days(3);
  const auto expired =
      issue_certificate(made.path, {"expired", "node", {}, std::chrono::days(1), old});
  controller_side controller({.certs = made.controller}), open;
  const auto at = controller.address(), at_open = open.address();
  const auto good = security_of(made.node, made.path);

  CHECK(refused_after(at, raw_security{good.authority, "", ""}, hello_text("gpu-1")) < 1);
  CHECK(refused_after(at, security_of(stranger.node, made.path), hello_text("gpu-1")) < 1);
  CHECK(refused_after(at, security_of(expired, made.path), hello_text("expired")) < 1);
  CHECK(refused_after(at, security_of(made.controller, made.path), hello_text("head")) < 1);
  CHECK(refused_after(at, good, hello_text("gpu-2")) < 1);
  CHECK(refused_after(at, std::nullopt, hello_text("gpu-1")) < 1);
  const join_secret usual("");
  const hello other_build{
      .build = "other", .self = incarnation::random(), .name = "gpu-1", .role = "node"};
  CHECK(refused_after([&] { return join_knowing(usual, at_open, other_build); }) < 1);
  CHECK(refused_after(at_open, std::nullopt, "garbage") < 1);
}

TEST_CASE("secure: a node refuses a controller at another host, of another authority or role") {
  const authority made, stranger;
  const auto elsewhere = issue_certificate(made.path, {"far", "controller", {"far.example"}});
  const auto no_role = issue_certificate(made.path, {"gpu-9", "node", {"127.0.0.1"}});
  const auto failure = [&](const fs::path& server_side) {
    controller_side controller({.certs = server_side});
    node_side node(controller.address(), "gpu-1", [&](auto& o) { o.certs = made.node; });
    const auto why = node.failures.take();
    CHECK(node.joined.made.size() == 0);
    return why;
  };
  CHECK_THAT(
      failure(elsewhere),
      has_text("expected the certificate of a controller at 127.0.0.1, got one for far.example"));
  CHECK_THAT(failure(stranger.controller), has_text("the certificate of \"head\""));
  CHECK_THROWS_WITH(failure(no_role), has_text("expected the role controller"));
}

// ---- revoked certificates -----------------------------------------------------------------------

/// A list that is older than its authority said, of the same entries.
void age(const fs::path& authority_folder, const fs::path& list) {
  auto lists = revocation_lists_in(read_whole_file(list));
  REQUIRE(lists.size() == 1);
  const key_ptr key = key_in(read_whole_file(authority_folder / "ca.key.pem"));
  const asn1_time_ptr past(ASN1_TIME_set(nullptr, std::time(nullptr) - 86'400));
  X509_CRL_set1_nextUpdate(lists[0].get(), past.get());
  REQUIRE(X509_CRL_sign(lists[0].get(), key.get(), EVP_sha256()) != 0);
  const bio_ptr to(BIO_new_file(list.c_str(), "w"));
  REQUIRE(PEM_write_bio_X509_CRL(to.get(), lists[0].get()) == 1);
}

TEST_CASE("revocation: the list grows, and whoever is on it doesn't start") {
  authority made;
  const auto other = issue_certificate(made.path, {"gpu-2", "node", {}});
  const auto files = revoke_certificate(made.path, "gpu-1");
  CHECK(files.list == made.path / "crl.pem");
  CHECK(files.copies == std::vector<fs::path>{made.node / "crl.pem", other / "crl.pem",
                                              made.controller / "crl.pem"});
  CHECK_THROWS_WITH(load_credentials(made.node, "node"),
                    has_text("the certificate of \"gpu-1\" has been revoked"));
  CHECK_NOTHROW(load_credentials(other, "node"));
  revoke_certificate(made.path, "gpu-2");
  CHECK_THROWS_WITH(load_credentials(made.node, "node"), has_text("has been revoked"));
  CHECK_THROWS_WITH(load_credentials(other, "node"), has_text("\"gpu-2\" has been revoked"));
  CHECK_NOTHROW(load_credentials(made.controller, "controller"));
  CHECK(read_whole_file(other / "crl.pem") == read_whole_file(files.list));

  // One who is added, or once more, gets the list, and is not on it.
  const auto late = issue_certificate(made.path, {"gpu-3", "node", {}});
  CHECK(read_whole_file(late / "crl.pem") == read_whole_file(files.list));
  CHECK_NOTHROW(
      load_credentials(issue_certificate(made.path, {"gpu-1", "node", {}}, true), "node"));
  CHECK_THROWS_WITH(revoke_certificate(made.path, "gpu-4"), has_text("gpu-4/cert.pem"));
  CHECK_THROWS_WITH(revoke_certificate(made.path, "../gpu-1"), has_text("name"));

  // A new authority knows of none of them.
  make_authority(made.path, std::chrono::days(10), true);
  CHECK_FALSE(fs::exists(made.path / "crl.pem"));
  CHECK_THROWS_WITH(revoke_certificate(made.path, "gpu-1"),
                    has_text("expected a certificate that this authority has signed"));
  const auto fresh = issue_certificate(made.path, {"gpu-1", "node", {}}, true);
  CHECK_FALSE(fs::exists(fresh / "crl.pem"));
}

TEST_CASE("revocation: a controller refuses the node, whatever else the list is, and others join") {
  const authority made;
  const auto other = issue_certificate(made.path, {"gpu-2", "node", {}});
  metrics_registry metrics;
  controller_side controller({.certs = made.controller, .metrics = &metrics});
  const auto at = controller.address();
  const auto revoked = security_of(made.node, made.path);
  CHECK_FALSE(say_hello(at, revoked, hello_text("gpu-1")).hello.empty());
  controller.joined.made.take();

  revoke_certificate(made.path, "gpu-1");
  const auto refuses = [&] {
    const auto before = refused(metrics, "revoked");
    CHECK(say_hello(at, revoked, hello_text("gpu-1")).hello.empty());
    CHECK(refused(metrics, "revoked") > before);
  };
  refuses();
  age(made.path, made.controller / "crl.pem");
  refuses();
  node_side node(at, "gpu-2", [&](auto& o) { o.certs = other; });
  CHECK(controller.joined.made.take().other.name == "gpu-2");
}

TEST_CASE("revocation: a node refuses the controller") {
  const authority made;
  controller_side controller({.certs = made.controller});
  revoke_certificate(made.path, "head");
  node_side node(controller.address(), "gpu-1", [&](auto& o) { o.certs = made.node; });
  CHECK_THAT(node.failures.take(), has_text("the certificate of \"head\" has been revoked"));
  CHECK(node.joined.made.size() == 0);
}

TEST_CASE("revocation: where the list will not do nobody joins, until it does") {
  const authority made, stranger;
  revoke_certificate(stranger.path, "gpu-1");
  metrics_registry metrics;
  controller_side controller({.certs = made.controller, .metrics = &metrics});
  const auto at = controller.address();
  const auto good = security_of(made.node, made.path);
  const auto list = made.controller / "crl.pem";
  const auto foreign = read_whole_file(stranger.path / "crl.pem");
  revoke_certificate(made.path, "head");
  const auto own = read_whole_file(made.path / "crl.pem");
  for (const auto& text : {std::string(), std::string("no list"), foreign, own + foreign,
                           own.substr(0, own.size() / 2), own + own.substr(0, own.size() / 2)}) {
    std::ofstream(list) << text;
    const auto before = refused(metrics, "certificate");
    CHECK(say_hello(at, good, hello_text("gpu-1")).hello.empty());
    CHECK(refused(metrics, "certificate") > before);
    CHECK_THROWS_WITH(load_credentials(made.controller, "controller"),
                      has_text(list.string() + ": expected a list"));
  }
  fs::remove(list);
  fs::create_symlink("nowhere", list);
  CHECK(say_hello(at, good, hello_text("gpu-1")).hello.empty());
  CHECK_THROWS_WITH(load_credentials(made.controller, "controller"),
                    has_text(list.string() + ": cannot read it"));
  fs::remove(list);
  CHECK_FALSE(say_hello(at, good, hello_text("gpu-1")).hello.empty());
}

TEST_CASE("revocation: the link of a node that is there ends, and no other") {
  const authority made;
  const auto other = issue_certificate(made.path, {"gpu-2", "node", {}});
  metrics_registry metrics;
  controller_side controller(
      {.certs = made.controller, .revoked_every = 50ms, .metrics = &metrics});
  node_side kept(controller.address(), "gpu-2", [&](auto& o) { o.certs = other; });
  const auto there = kept.joined.made.take();
  const auto kept_here = controller.joined.made.take();
  node_side node(controller.address(), "gpu-1", [&](auto& o) { o.certs = made.node; });
  const auto here = controller.joined.made.take();
  node.joined.made.take();

  // A list that is only half there ends nothing.
  std::ofstream(made.controller / "crl.pem") << "-----BEGIN X509 CRL-----";
  there.way->send(block_of("still here"), priority::normal);
  CHECK(text_of(kept_here.heard->messages.take()) == "still here");
  CHECK(here.heard->ends.size() == 0);

  revoke_certificate(made.path, "gpu-1");
  CHECK_THAT(here.heard->ends.take(), has_text("the certificate of \"gpu-1\" has been revoked"));
  CHECK(refused(metrics, "revoked") >= 1);
  CHECK_NOTHROW(node.failures.take());
  there.way->send(block_of("still here"), priority::normal);
  CHECK(text_of(kept_here.heard->messages.take()) == "still here");
  CHECK(kept_here.heard->ends.size() == 0);
}

TEST_CASE("secure: a large message crosses") {
  const authority made;
  controller_side controller({.certs = made.controller});
  node_side node(controller.address(), "gpu-1", [&](auto& o) { o.certs = made.node; });
  const auto here = controller.joined.made.take();
  const auto there = node.joined.made.take();
  const std::string text(10'000'000, 'x');
  there.way->send(block_of(text), priority::normal);
  CHECK(text_of(here.heard->messages.take()) == text);
}

}  // namespace
}  // namespace troupe::detail::testing
