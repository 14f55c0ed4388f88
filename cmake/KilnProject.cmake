# Settings and helpers that every part of Kiln uses.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Kiln's own asserts stay on in every build but a release of the runtime; they are for bugs and cost little.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

find_program(KILN_CCACHE ccache)
if(KILN_CCACHE)
  # Precompiled headers and ccache get on only with this sloppiness. Clones in other folders share what is cached: paths
  # below the checkout are made relative to the build folder.
  set(ccache env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_PCH_EXTSUM=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${KILN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
endif()
find_program(KILN_MOLD mold)
if(KILN_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror=return-type -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Xclang -fno-pch-timestamp)
else()
  # GCC 12 sees them in std::variant, std::optional and std::vector where they are not.
  add_compile_options(-Wno-maybe-uninitialized -Wno-free-nonheap-object)
endif()
add_link_options(-Wl,--gc-sections)

# Sanitized programs hold options for the sanitizers. Libraries that stand for compiled kernels are built without: kernels
# are loaded by programs that know nothing of sanitizers.
set(KILN_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize= takes them; see the presets asan, tsan, fuzz")
option(KILN_FUZZERS "Link the targets of tests/fuzz with libFuzzer; otherwise they run their corpora and nothing else" OFF)
set(KILN_TEST_TIMEOUT 600) # seconds of a unit test, of which some take two minutes on a busy machine
if(KILN_SANITIZE)
  set(KILN_TEST_TIMEOUT 900) # ThreadSanitizer makes work in one thread 10 times slower, and more
  add_compile_options(-fsanitize=${KILN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${KILN_SANITIZE})
  add_library(kiln_sanitizer_options OBJECT ${CMAKE_SOURCE_DIR}/cmake/sanitizer_options.cpp)
  target_compile_options(kiln_sanitizer_options PRIVATE -fno-sanitize=all)
  set(KILN_PROGRAM_LIBRARIES kiln_sanitizer_options)
  set(KILN_KERNEL_OPTIONS -fno-sanitize=all)
endif()
if(KILN_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
  set(KILN_KERNEL_OPTIONS -fno-sanitize=all)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.70 REQUIRED) # headers only
if(KILN_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

set(KILN_GENERATED_DIR ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${KILN_GENERATED_DIR})

# kiln_precompiled_header(runtime lib ...): cmake/runtime_pch.h with the options of these libraries, compiled once with clang
# and reused by kiln_library(... PCH runtime). What a source forgets to include itself shows with gcc. Compiled headers hold
# paths, and are not the same in two folders: ccache takes a sum of what is in them instead.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>) # whose path ccache makes relative
function(kiln_precompiled_header kind)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(header ${CMAKE_SOURCE_DIR}/cmake/${kind}_pch.h)
    add_library(kiln_${kind}_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
    target_link_libraries(kiln_${kind}_pch PUBLIC ${ARGN})
    target_precompile_headers(kiln_${kind}_pch PRIVATE ${header})
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -x c++ -std=c++20 -E -P -isystem ${KILN_LLVM_DIR}/include ${header}
      OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    string(SHA256 sum "${text}")
    file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/kiln_${kind}_pch.dir/cmake_pch.hxx.pch.sum ${sum})
  endif()
endfunction()
function(kiln_use_precompiled_header target kind default)
  if(NOT kind)
    set(kind ${default})
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT kind STREQUAL "none")
    target_precompile_headers(${target} REUSE_FROM kiln_${kind}_pch)
  endif()
endfunction()
kiln_precompiled_header(runtime kiln_fmt)
# What is tested is optimized; compilers take half the time where the tests are not.
set(KILN_TEST_OPTIONS -O0)
if(KILN_BUILD_TESTS)
  kiln_precompiled_header(test kiln_fmt GTest::gtest)
  if(TARGET kiln_test_pch) # as programs are compiled, not libraries
    set_target_properties(kiln_test_pch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(kiln_test_pch PRIVATE -fPIE ${KILN_TEST_OPTIONS})
  endif()
endif()

# kiln_library(name SOURCES a.cpp ... DEPS lib ...): a static library; includes are written from src/, "kiln/base/status.h".
# Without SOURCES it is an interface library. PCH: runtime, compiler, codegen or none.
function(kiln_library name)
  cmake_parse_arguments(ARG "" "PCH" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    kiln_use_precompiled_header(${name} "${ARG_PCH}" runtime)
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${KILN_GENERATED_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR}/src ${KILN_GENERATED_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# kiln_tool(name SOURCES main.cpp DEPS lib ...): an executable in build/bin. COMPAT names get a link in build/bin/compat.
function(kiln_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;COMPAT" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${KILN_GENERATED_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${KILN_PROGRAM_LIBRARIES})
  foreach(link ${ARG_COMPAT})
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bin/compat
      COMMAND ${CMAKE_COMMAND} -E create_symlink ../${name} ${CMAKE_BINARY_DIR}/bin/compat/${link} VERBATIM)
  endforeach()
endfunction()

set(KILN_TEST_SHARE 1 CACHE STRING "Build one of so many programs of unit tests; KILN_TEST_SEED draws which")
set(KILN_TEST_SEED 1 CACHE STRING "A number")

# kiln_unit_test(name SOURCES a_test.cpp DEPS lib ...): a GoogleTest binary, beside the code it tests. SERIAL is for tests
# that compare times: they are optimized, and ctest runs nothing else beside them. WHOLE is for tests of one program that
# look at the same: ctest runs them in one process.
function(kiln_unit_test name)
  cmake_parse_arguments(ARG "SERIAL;WHOLE" "PCH" "SOURCES;DEPS" ${ARGN})
  if(NOT KILN_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_SERIAL)
    set(ARG_PCH none)
  else()
    target_compile_options(${name} PRIVATE ${KILN_TEST_OPTIONS})
  endif()
  kiln_use_precompiled_header(${name} "${ARG_PCH}" test)
  string(SHA256 lot "${KILN_TEST_SEED} ${name}")
  string(SUBSTRING ${lot} 0 8 lot)
  math(EXPR lot "0x${lot} % ${KILN_TEST_SHARE}")
  if(NOT lot EQUAL 0)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  elseif(KILN_TEST_SHARE GREATER 1)
    target_compile_options(${name} PRIVATE -w) # no warning may depend on the draw
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${KILN_GENERATED_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${KILN_PROGRAM_LIBRARIES} GTest::gtest_main)
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${KILN_TEST_TIMEOUT} RUN_SERIAL ${ARG_SERIAL})
    return()
  endif()
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS unit TIMEOUT ${KILN_TEST_TIMEOUT} RUN_SERIAL ${ARG_SERIAL})
endfunction()

# kiln_target_driver(registerNullDriver kiln_target_null_driver): called by targets/<t>; the function is
# `void kiln::hal::registerNullDriver(DriverRegistry &)`.
function(kiln_target_driver function library)
  set_property(GLOBAL APPEND PROPERTY KILN_DRIVERS "${function},${library}")
endfunction()

# kiln_target_backend(registerCpuBackend kiln_target_cpu_codegen): the function is
# `void kiln::registerCpuBackend(TargetBackendRegistry &)`.
function(kiln_target_backend function library)
  set_property(GLOBAL APPEND PROPERTY KILN_BACKENDS "${function},${library}")
endfunction()

# kiln_family(registerMatmulFamily kiln_family_matmul): called by families/<f>; the function is
# `void kiln::families::registerMatmulFamily(measure::FamilyRegistry &)`.
function(kiln_family function library)
  set_property(GLOBAL APPEND PROPERTY KILN_FAMILY_ENTRIES "${function},${library}")
endfunction()

# Generates <header without .h>.cpp, which defines `function` of the header: it calls what the folders have added to a global
# property as "function,library". Their libraries go to the variable `libraries`. So there are neither static initialisers
# nor #ifdef chains.
function(kiln_generate_registration property header namespace function registry libraries)
  get_property(entries GLOBAL PROPERTY ${property})
  set(declarations "")
  set(calls "")
  set(found "")
  foreach(entry ${entries})
    string(REPLACE "," ";" entry ${entry})
    list(GET entry 0 called)
    list(GET entry 1 library)
    string(APPEND declarations "void ${called}(${registry} &registry);\n")
    string(APPEND calls "  ${called}(registry);\n")
    list(APPEND found ${library})
  endforeach()
  string(REGEX REPLACE "\\.h$" ".cpp" source ${header})
  file(CONFIGURE OUTPUT ${KILN_GENERATED_DIR}/${source} CONTENT
"// Generated from the folders that this build has enabled.
#include \"${header}\"
namespace ${namespace} {
${declarations}void ${function}(${registry} &registry) {
${calls}}
} // namespace ${namespace}
")
  set(${libraries} ${found} PARENT_SCOPE)
endfunction()
