#include "header.hpp"

#include <limits>

namespace adpipe::kineto {

namespace {

/// Calls `read_value(key, cursor)` for every member of the object at the cursor. Anything else is skipped.
template <class ReadValue>
Scan for_each_member(Cursor& c, const ReadValue& read_value) {
    if (*c.at != '{') return skip_value(c);
    ++c.at;
    for (;;) {
        RawText key;
        bool done = false;
        if (const Scan result = next_key(c, key, done); result != Scan::ok || done) return result;
        if (const Scan result = read_value(key.view(), c); result != Scan::ok) return result;
    }
}

template <class ReadValue>
Scan for_each_element(Cursor& c, const ReadValue& read_value) {
    if (*c.at != '[') return skip_value(c);
    ++c.at;
    for (;;) {
        bool done = false;
        if (const Scan result = next_element(c, done); result != Scan::ok || done) return result;
        if (const Scan result = read_value(c); result != Scan::ok) return result;
    }
}

/// The member of a device that a key is for, or nullptr. ROCm's profiler spells one of them otherwise.
std::int32_t Device::*device_number(std::string_view key) {
    if (key == "id") return &Device::id;
    if (key == "numSms") return &Device::multiprocessors;
    if (key == "computeMajor") return &Device::compute_major;
    if (key == "computeMinor") return &Device::compute_minor;
    if (key == "warpSize") return &Device::warp_size;
    if (key == "maxThreadsPerMultiprocessor") return &Device::threads_per_multiprocessor;
    if (key == "regsPerMultiprocessor") return &Device::registers_per_multiprocessor;
    return nullptr;
}

Scan read_device(Cursor& c, Device& device) {
    return for_each_member(c, [&](std::string_view key, Cursor& value) {
        std::int64_t number = -1;
        if (key == "name" && *value.at == '"') {
            RawText name;
            const Scan result = scan_text(value, name);
            if (result == Scan::ok) device.name = decode_text(name);
            return result;
        }
        const bool shared_memory = key == "sharedMemPerMultiprocessor" || key == "maxSharedMemoryPerMultiProcessor";
        std::int32_t Device::*const member = device_number(key);
        if (member == nullptr && !shared_memory) return skip_value(value);
        const Scan result = scan_integer(value, number);
        if (number < 0) return result;
        if (shared_memory) device.shared_memory_per_multiprocessor = number;
        else if (number <= std::numeric_limits<std::int32_t>::max()) device.*member = static_cast<std::int32_t>(number);
        return result;
    });
}

Scan read_devices(Cursor& c, std::vector<Device>& devices) {
    constexpr std::size_t most = 4096;
    devices.clear();
    return for_each_element(c, [&](Cursor& value) {
        Device device;
        const Scan result = read_device(value, device);
        if (result == Scan::ok && devices.size() < most) devices.push_back(std::move(device));
        return result;
    });
}

Scan read_messages(std::string_view severity, Cursor& c, std::vector<std::string>& messages) {
    constexpr std::size_t most = 20;
    std::vector<std::string> found;
    const Scan result = for_each_element(c, [&](Cursor& value) {
        if (*value.at != '"') return skip_value(value);
        RawText text;
        const Scan scanned = scan_text(value, text);
        if (scanned == Scan::ok && found.size() < most) found.push_back(std::string(severity) + ": " + decode_text(text));
        return scanned;
    });
    if (result == Scan::ok) messages.insert(messages.end(), found.begin(), found.end());
    return result;
}

}  // namespace

bool is_header_key(std::string_view key) {
    return key == "baseTimeNanoseconds" || key == "deviceProperties" || key == "distributedInfo" || key == "simulated" ||
           key == "WARNING" || key == "ERROR";
}

Scan read_header_member(std::string_view key, Cursor& c, Header& header) {
    if (key == "baseTimeNanoseconds") return scan_integer(c, header.base_time);
    if (key == "deviceProperties") return read_devices(c, header.devices);
    if (key == "distributedInfo") {
        return for_each_member(c, [&](std::string_view member, Cursor& value) {
            return member == "rank" ? scan_integer(value, header.rank) : skip_value(value);
        });
    }
    if (key == "simulated") {
        RawScalar scalar;
        const Scan result = *c.at == '{' || *c.at == '[' ? skip_value(c) : scan_scalar(c, scalar);
        if (result == Scan::ok) header.simulated = scalar.view() == "true";
        return result;
    }
    return read_messages(key == "ERROR" ? "error" : "warning", c, header.messages);
}

}  // namespace adpipe::kineto
