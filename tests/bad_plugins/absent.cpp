extern "C" [[gnu::visibility("default")]] int absent_function() { return 0; }
