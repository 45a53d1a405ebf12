# ISA-L (libisal-dev on Debian and Ubuntu, isa-l elsewhere), which ships no CMake package: target isal::isal.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_ISAL QUIET libisal)
endif()
find_path(Isal_INCLUDE_DIR NAMES isa-l/igzip_lib.h HINTS ${PC_ISAL_INCLUDE_DIRS})
find_library(Isal_LIBRARY NAMES isal HINTS ${PC_ISAL_LIBRARY_DIRS})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Isal REQUIRED_VARS Isal_LIBRARY Isal_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "it inflates gzip traces: install libisal-dev (Debian, Ubuntu) or isa-l-devel (Fedora)")
mark_as_advanced(Isal_INCLUDE_DIR Isal_LIBRARY)
if(Isal_FOUND AND NOT TARGET isal::isal)
  add_library(isal::isal UNKNOWN IMPORTED)
  set_target_properties(isal::isal PROPERTIES
    IMPORTED_LOCATION "${Isal_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Isal_INCLUDE_DIR}")
endif()
