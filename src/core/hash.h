// SHA-256 (OpenSSL's EVP) and CRC-32C.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace headprune {

/// Incremental SHA-256.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(std::string_view bytes);
  /// Lower-case hex; call once.
  std::string hex();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// SHA-256 of bytes, 64 lower-case hex digits.
std::string sha256(std::string_view bytes);
/// SHA-256 of a file's bytes. Throws Error(usage) when it cannot be read.
std::string sha256_file(const std::filesystem::path& path);
/// CRC-32C, reflected polynomial 0x82F63B78: crc32c("123456789") = 0xE3069283.
uint32_t crc32c(std::string_view bytes);

}  // namespace headprune
