# Every folder of src/ is one OBJECT library hp_FOLDER: a plug-in's registrar in a static library would be dropped by
# the linker. Objects do not travel through other libraries, so an executable links the whole closure of a folder.

function(headprune_flags target)
  # GCC takes an empty std::optional for an uninitialized one once enough is inlined.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wno-maybe-uninitialized)
  if(HEADPRUNE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(HEADPRUNE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${HEADPRUNE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
    target_link_options(${target} PRIVATE -fsanitize=${HEADPRUNE_SANITIZE})
  endif()
endfunction()

# headprune_unity(TARGET): most of a file's compile time is headers and templates, paid for again in each file, so
# several files go to the compiler as one. HEADPRUNE_UNITY=OFF compiles each on its own (a clang-tidy run wants that).
function(headprune_unity target)
  if(HEADPRUNE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${HEADPRUNE_UNITY_BATCH} UNITY_BUILD_UNIQUE_ID HP_UNITY_ID)
  endif()
endfunction()

# headprune_torch(TARGET): LibTorch, and the one precompiled header that makes it bearable.
function(headprune_torch target)
  target_link_libraries(${target} PUBLIC LibTorch::LibTorch)
  if(NOT TARGET hp_torch_pch)
    file(WRITE ${CMAKE_BINARY_DIR}/torch_pch.cpp "// Exists to build the precompiled header.\n")
    add_library(hp_torch_pch OBJECT ${CMAKE_BINARY_DIR}/torch_pch.cpp)
    headprune_flags(hp_torch_pch)
    target_link_libraries(hp_torch_pch PRIVATE LibTorch::LibTorch)
    target_precompile_headers(hp_torch_pch PRIVATE ${PROJECT_SOURCE_DIR}/src/core/torch.h)
  endif()
  target_precompile_headers(${target} REUSE_FROM hp_torch_pch)
endfunction()

# headprune_allocator(TARGET): tcmalloc in place of glibc's malloc, which gives the large blocks of every training step
# back to the system and asks for them again: that costs a third of a step (benchmarks/README.md). Sanitizers bring their
# own; without the library the program is only slower.
function(headprune_allocator target)
  if(TCMALLOC_LIBRARY AND NOT HEADPRUNE_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-as-needed)
    target_link_libraries(${target} PRIVATE ${TCMALLOC_LIBRARY})
  endif()
endfunction()

# headprune_library(FOLDER [TORCH] SOURCES ... [DEPENDS folders below] [LINK libraries])
function(headprune_library folder)
  cmake_parse_arguments(ARG "TORCH" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(hp_${folder} OBJECT ${ARG_SOURCES})
  headprune_flags(hp_${folder})
  headprune_unity(hp_${folder})
  target_include_directories(hp_${folder} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  set(closure ${folder})
  set(links ${ARG_LINK})
  foreach(below IN LISTS ARG_DEPENDS)
    get_property(more GLOBAL PROPERTY HEADPRUNE_CLOSURE_${below})
    list(APPEND closure ${more})
    get_property(more GLOBAL PROPERTY HEADPRUNE_LINKS_${below})
    list(APPEND links ${more})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  list(REMOVE_DUPLICATES links)
  set_property(GLOBAL PROPERTY HEADPRUNE_CLOSURE_${folder} ${closure})
  set_property(GLOBAL PROPERTY HEADPRUNE_LINKS_${folder} ${links})
  target_link_libraries(hp_${folder} PUBLIC ${links})
  if(ARG_TORCH)
    headprune_torch(hp_${folder})
  endif()
endfunction()

# headprune_link(TARGET FOLDER): everything that FOLDER and the folders below it consist of.
function(headprune_link target folder)
  get_property(closure GLOBAL PROPERTY HEADPRUNE_CLOSURE_${folder})
  foreach(part IN LISTS closure)
    target_link_libraries(${target} PRIVATE hp_${part})
  endforeach()
endfunction()

# headprune_test(NAME [TORCH] [FOLDER folder] SOURCES ...): one test program a folder, run in a random order. It links
# the folder of its name, or FOLDER.
function(headprune_test folder)
  cmake_parse_arguments(ARG "TORCH" "FOLDER" "SOURCES" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${folder})
  endif()
  add_executable(test_${folder} ${ARG_SOURCES})
  headprune_flags(test_${folder})
  headprune_unity(test_${folder})
  target_include_directories(test_${folder} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  headprune_link(test_${folder} ${ARG_FOLDER})
  target_link_libraries(test_${folder} PRIVATE hp_test_main)
  target_compile_definitions(test_${folder} PRIVATE HEADPRUNE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HEADPRUNE_BINARY="${CMAKE_BINARY_DIR}/headprune")
  if(ARG_TORCH)
    headprune_torch(test_${folder})
  endif()
  add_test(NAME ${folder} COMMAND test_${folder} --order rand --rng-seed time)
endfunction()

# headprune_readme_example(FOLDER NAME): the one C++ block of src/FOLDER/README.md as a file NAME.cpp, whose path
# README_EXAMPLE then holds.
function(headprune_readme_example folder name)
  set(example ${CMAKE_CURRENT_BINARY_DIR}/readme/${name}.cpp)
  add_custom_command(
    OUTPUT ${example}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/readme
    COMMAND sh -c "sed -n '/^```cpp$/,/^```$/p' README.md | sed '1d;$d' > ${example}"
    DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/README.md
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/src/${folder}
    VERBATIM)
  set(README_EXAMPLE ${example} PARENT_SCOPE)
endfunction()
