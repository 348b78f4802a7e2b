#pragma once

extern "C" {  // The header of glibc 2.36 lacks this declaration.
#include <sys/pidfd.h>
}
