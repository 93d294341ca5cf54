// A safetensors file as other programs, or attackers, may write it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

inline std::string with_length(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + data;
}
