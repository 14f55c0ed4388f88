# What only the compiler side needs: LLVM, MLIR, LLD, TableGen, the precompiled header.

set(KILN_LLVM_DIR /usr/lib/llvm-22 CACHE PATH "Where LLVM, MLIR and LLD 22 are installed")
find_package(MLIR REQUIRED CONFIG PATHS ${KILN_LLVM_DIR}/lib/cmake/mlir NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# Options and definitions of every translation unit that includes MLIR.
add_library(kiln_mlir INTERFACE)
target_include_directories(kiln_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(kiln_mlir INTERFACE -fno-rtti -fno-exceptions)
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(kiln_mlir INTERFACE ${llvm_definitions})
# The shared libraries, which link fast; a program with the property KILN_BUNDLED takes what it needs from the archives.
set(is_bundled $<BOOL:$<TARGET_PROPERTY:KILN_BUNDLED>>)
target_link_libraries(kiln_mlir INTERFACE $<$<NOT:${is_bundled}>:MLIR> $<$<NOT:${is_bundled}>:LLVM>
  $<${is_bundled}:kiln_llvm_archives>)

kiln_precompiled_header(compiler kiln_mlir)
kiln_precompiled_header(codegen kiln_mlir)

# kiln_compiler_library(name PCH codegen SOURCES ... DEPS ... TABLEGEN target ...): a kiln_library that includes MLIR. PCH is
# compiler where it is not given.
# TABLEGEN names the targets whose generated files it includes (also inherited through DEPS' own TABLEGEN).
function(kiln_compiler_library name)
  cmake_parse_arguments(ARG "" "PCH" "SOURCES;DEPS;TABLEGEN" ${ARGN})
  if(NOT ARG_PCH)
    set(ARG_PCH compiler)
  endif()
  kiln_library(${name} PCH ${ARG_PCH} SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS} kiln_mlir)
  add_dependencies(${name} kiln_tablegen)
  if(ARG_TABLEGEN)
    add_dependencies(kiln_tablegen ${ARG_TABLEGEN})
  endif()
endfunction()

# Everything TableGen generates; a compiler library waits for all of it, which keeps dependencies simple.
add_custom_target(kiln_tablegen)

# kiln_tablegen_files(target file.td out1 -flags... , out2 -flags...): generates into the mirror of the source folder below
# build/generated, so that it is included as "kiln/compiler/Dialect/Flow/IR/FlowOps.h.inc".
function(kiln_tablegen_file target td out)
  file(RELATIVE_PATH dir ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  set(output ${KILN_GENERATED_DIR}/${dir}/${out})
  get_filename_component(outdir ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${outdir})
  add_custom_command(OUTPUT ${output}
    COMMAND ${KILN_LLVM_DIR}/bin/mlir-tblgen ${ARGN} -I ${CMAKE_SOURCE_DIR}/src -I ${KILN_LLVM_DIR}/include
            ${CMAKE_CURRENT_SOURCE_DIR}/${td} -o ${output} --write-if-changed -d ${output}.d
    DEPFILE ${output}.d
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${td} VERBATIM)
  string(MAKE_C_IDENTIFIER "${target}_${out}" id)
  add_custom_target(${id} DEPENDS ${output})
  add_dependencies(kiln_tablegen ${id})
endfunction()

# kiln_dialect(Flow flow): the six generated files of a dialect whose .td files are <Name>Ops.td (dialect, types,
# attributes and operations in one).
function(kiln_dialect name mnemonic)
  set(td ${name}Ops.td)
  kiln_tablegen_file(kiln_${name} ${td} ${name}Dialect.h.inc -gen-dialect-decls -dialect=${mnemonic})
  kiln_tablegen_file(kiln_${name} ${td} ${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${mnemonic})
  kiln_tablegen_file(kiln_${name} ${td} ${name}Ops.h.inc -gen-op-decls -dialect=${mnemonic})
  kiln_tablegen_file(kiln_${name} ${td} ${name}Ops.cpp.inc -gen-op-defs -dialect=${mnemonic})
  kiln_tablegen_file(kiln_${name} ${td} ${name}Types.h.inc -gen-typedef-decls -typedefs-dialect=${mnemonic})
  kiln_tablegen_file(kiln_${name} ${td} ${name}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${mnemonic})
  kiln_tablegen_file(kiln_${name} ${td} ${name}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${mnemonic})
  kiln_tablegen_file(kiln_${name} ${td} ${name}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${mnemonic})
  kiln_tablegen_file(kiln_${name} ${td} ${name}Enums.h.inc -gen-enum-decls)
  kiln_tablegen_file(kiln_${name} ${td} ${name}Enums.cpp.inc -gen-enum-defs)
endfunction()

# kiln_passes(Flow): generates FlowPasses.h.inc from FlowPasses.td, one entry for each pass of the folder.
function(kiln_passes name)
  kiln_tablegen_file(kiln_${name}Passes ${name}Passes.td ${name}Passes.h.inc -gen-pass-decls -name=${name})
endfunction()
