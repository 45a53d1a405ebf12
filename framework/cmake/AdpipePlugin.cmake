# adpipe_add_plugin(NAME SOURCES file... [LIBRARIES target...]): a plugin that the adpipe host can load.
# Used inside the project and, through find_package(adpipe), outside of it.

function(adpipe_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "" "" "SOURCES;LIBRARIES")
  if(plugin_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "adpipe_add_plugin(${name}): unknown arguments: ${plugin_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT plugin_SOURCES)
    message(FATAL_ERROR "adpipe_add_plugin(${name}): SOURCES is missing")
  endif()
  add_library(${name} MODULE ${plugin_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    target_compile_options(${name} PRIVATE -O2 -g)  # CMake's own default is unoptimised
  endif()
  target_link_libraries(${name} PRIVATE adpipe::adpipe ${plugin_LIBRARIES})
  set_target_properties(${name} PROPERTIES
    PREFIX "" CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN/../..")
  set(map "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/adpipe_plugin.map")
  target_link_options(${name} PRIVATE "-Wl,--version-script=${map}")
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${map}")
  # Clang links no sanitizer runtime into shared objects, so its symbols stay undefined there.
  if(NOT (ADPIPE_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
  if(ADPIPE_PLUGIN_OUTPUT_DIRECTORY)
    adpipe_precompile_shared(${name})
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${ADPIPE_PLUGIN_OUTPUT_DIRECTORY}")
  endif()
  # Where the host looks below its own prefix, whichever project the plugin is of.
  install(TARGETS ${name} LIBRARY DESTINATION lib/adpipe/plugins)
endfunction()
