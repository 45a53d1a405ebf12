#pragma once

#include <isa-l/igzip_lib.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

/// One gzip member that holds the text.
inline std::string gzip(std::string_view text) {
    std::string out(text.size() + text.size() / 8 + 1024, '\0');
    isal_zstream stream;
    isal_deflate_stateless_init(&stream);
    stream.end_of_stream = 1;
    stream.flush = NO_FLUSH;
    stream.gzip_flag = IGZIP_GZIP;
    std::string input(text);
    stream.next_in = reinterpret_cast<std::uint8_t*>(input.data());
    stream.avail_in = static_cast<std::uint32_t>(input.size());
    stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream.avail_out = static_cast<std::uint32_t>(out.size());
    if (isal_deflate_stateless(&stream) != COMP_OK) throw std::runtime_error("cannot compress");
    out.resize(stream.total_out);
    return out;
}
