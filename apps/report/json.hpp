#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace block_eigs {

/// An object in JSON (RFC 8259), on one line, key after key.
class JsonObject {
 public:
  void add(std::string_view key, std::string_view text);
  void add(std::string_view key, const char* text) { add(key, std::string_view(text)); }
  void add(std::string_view key, std::int64_t value);
  /// null where it is not finite.
  void add(std::string_view key, double value);
  void add(std::string_view key, const std::vector<double>& values);
  void add(std::string_view key, const std::vector<std::string>& texts);

  std::string line() const { return "{" + members_ + "}"; }

 private:
  void member(std::string_view key, std::string_view value);

  std::string members_;
};

}  // namespace block_eigs
