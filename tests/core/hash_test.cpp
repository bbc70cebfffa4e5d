#include "core/hash.h"

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "support/catch.h"

using namespace headprune;

// FIPS 180-2, appendix B, and the NIST example of the empty message.
TEST_CASE("SHA-256 gives the published digests", "[core]") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("SHA-256 in pieces equals SHA-256 at once", "[core]") {
  Sha256 hash;
  for (int i = 0; i < 1000; ++i) hash.update(std::string(1000, 'a'));
  CHECK(hash.hex() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");  // FIPS 180-2, B.3
}

TEST_CASE("the hash of a file is the hash of its bytes, over several buffers", "[core]") {
  const auto path = std::filesystem::temp_directory_path() / "headprune-hash-test.bin";
  // 2.5 MiB: more than two buffers of 1 MiB.
  const std::string bytes(5 << 19, 'x');
  std::ofstream(path, std::ios::binary) << bytes;
  CHECK(sha256_file(path) == sha256(bytes));
  std::filesystem::remove(path);
}

TEST_CASE("a file that cannot be hashed is named with the reason", "[core]") {
  try {
    sha256_file("/no/such/file");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    CHECK_THAT(error.what(), ContainsSubstring("/no/such/file: No such file or directory"));
  }
  CHECK_THROWS_AS(sha256_file(std::filesystem::temp_directory_path()), Error);
}

// RFC 3720, appendix B.4, and the usual check value.
TEST_CASE("CRC-32C gives the published values", "[core]") {
  CHECK(crc32c("123456789") == 0xE3069283u);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAu);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62A8AB43u);
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i) {
    ascending += static_cast<char>(i);
    descending += static_cast<char>(31 - i);
  }
  CHECK(crc32c(ascending) == 0x46DD794Eu);
  CHECK(crc32c(descending) == 0x113FDB5Cu);
  CHECK(crc32c("") == 0u);
}

TEST_CASE("CRC-32C of the journal line that docs/formats.md section 7 shows", "[core]") {
  CHECK(crc32c(R"({"v":1,"seq":17,"t":"2026-01-02T03:04:05.678Z","attempt":1,"ev":"warn","code":"tied_scores",)"
               R"("message":"3 heads share one score")") == 0xd304181du);
}
