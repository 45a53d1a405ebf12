# Writes OUTPUT, a C++ source that holds the files of ASSETS (name=path;…) and their SHA-256, as HEADER declares them in NAMESPACE. The source
# files are written byte by byte in hexadecimal: no content can end a literal early.
set(text "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
foreach(asset IN LISTS ASSETS)
  string(REGEX MATCH "^([^=]*)=(.*)$" parts "${asset}")
  set(name "${CMAKE_MATCH_1}")
  set(path "${CMAKE_MATCH_2}")
  file(SHA256 "${path}" hash)
  file(READ "${path}" bytes HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n    " bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "static constexpr unsigned char ${name}_bytes[] = {\n    ${bytes}\n};\n"
    "const Asset ${name}{{reinterpret_cast<const char*>(${name}_bytes), sizeof ${name}_bytes}, \"${hash}\"};\n\n")
endforeach()
string(APPEND text "}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUTPUT}" "${text}")
