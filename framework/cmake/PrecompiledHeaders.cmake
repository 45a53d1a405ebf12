# Reading the standard library's headers is a third of the compile time of most files: they are compiled once. No file may rely on
# them being there; each includes what it uses. ADPIPE_PCH=OFF checks that.
option(ADPIPE_PCH "Precompile the standard library's headers" ON)

set(ADPIPE_COMMON_HEADERS <algorithm> <array> <cstdint> <deque> <filesystem> <functional> <map> <memory> <optional> <set> <span>
  <string> <string_view> <unordered_map> <variant> <vector>)

if(ADPIPE_PCH AND CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)  # ccache asks for it
endif()

# For code of shared objects (-fPIC): libadpipe, plugins. All reuse one.
function(adpipe_precompile_shared target)
  if(NOT ADPIPE_PCH)
    return()
  endif()
  if(NOT TARGET adpipe_shared_headers)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/empty.cpp" CONTENT "")  # written once, so that configuring anew compiles nothing
    add_library(adpipe_shared_headers OBJECT "${PROJECT_BINARY_DIR}/empty.cpp")
    target_precompile_headers(adpipe_shared_headers PRIVATE ${ADPIPE_COMMON_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM adpipe_shared_headers)
endfunction()

# For a program (-fPIE), with headers of its own on top.
function(adpipe_precompile_program target)
  if(ADPIPE_PCH)
    target_precompile_headers(${target} PRIVATE ${ADPIPE_COMMON_HEADERS} ${ARGN})
  endif()
endfunction()
