#include "core/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "core/open_file.h"

namespace headprune {
namespace {

constexpr std::array<uint32_t, 256> make_crc32c_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0x82F63B78u : 0u);
    table[byte] = crc;
  }
  return table;
}

constexpr auto kCrc32cTable = make_crc32c_table();

}  // namespace

struct Sha256::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
  if (!impl_->context || EVP_DigestInit_ex(impl_->context, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL cannot compute SHA-256");
  }
}

Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  if (EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size()) != 1) throw std::runtime_error("SHA-256 failed");
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_DigestFinal_ex(impl_->context, digest.data(), &length) != 1) throw std::runtime_error("SHA-256 failed");
  std::string text;
  for (unsigned int i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  const OpenFile file(path);
  Sha256 hash;
  std::vector<char> buffer(size_t{1} << 20);
  for (uint64_t at = 0;;) {
    const size_t count = file.read(buffer.data(), buffer.size(), at);
    hash.update({buffer.data(), count});
    at += count;
    if (count < buffer.size()) return hash.hex();
  }
}

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFFu;
  for (const char c : bytes) crc = (crc >> 8) ^ kCrc32cTable[(crc ^ static_cast<unsigned char>(c)) & 0xFFu];
  return ~crc;
}

}  // namespace headprune
