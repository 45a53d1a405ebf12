# The kernel-name rules, compiled into libadpipe: configs/rules/kernel_names/*.yaml → constant tables.
set(kernels_dir "${CMAKE_CURRENT_LIST_DIR}")
file(GLOB kernel_name_rules CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/configs/rules/kernel_names/*.yaml")
set(kernel_rules_table "${CMAKE_CURRENT_BINARY_DIR}/kernel_rules_table.cpp")

add_executable(compile_rules "${kernels_dir}/compile_rules.cpp" "${kernels_dir}/rule_reader.cpp" "${kernels_dir}/kernel_text.cpp"
  "${kernels_dir}/category.cpp")
target_include_directories(compile_rules PRIVATE "${kernels_dir}/../include" "${kernels_dir}/..")
target_link_libraries(compile_rules PRIVATE yaml-cpp::yaml-cpp)
set_target_properties(compile_rules PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")

add_custom_command(OUTPUT "${kernel_rules_table}" COMMAND compile_rules "${kernel_rules_table}" ${kernel_name_rules}
  DEPENDS compile_rules ${kernel_name_rules} COMMENT "Compiling the kernel-name rules" VERBATIM)
target_sources(adpipe PRIVATE "${kernel_rules_table}" "${kernels_dir}/kernel_names.cpp" "${kernels_dir}/rule_reader.cpp"
  "${kernels_dir}/kernel_text.cpp" "${kernels_dir}/category.cpp")
set_source_files_properties("${kernel_rules_table}" TARGET_DIRECTORY adpipe PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
