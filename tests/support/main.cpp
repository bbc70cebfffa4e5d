// Catch2 2.x: the one file that pays for compiling its main. With 3.x the library brings it.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
