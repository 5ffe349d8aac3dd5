// Bytes as text: base64 (RFC 4648, section 4).
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

std::string encoded_base64(std::string_view bytes);

/// Decodes base64; padding may be missing. Throws Error{kMalformed}, with `where` before the
/// message, for other characters.
std::string decoded_base64(std::string_view text, std::string_view where);

}  // namespace attnviz
