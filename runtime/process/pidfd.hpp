#pragma once

extern "C" {  // glibc 2.36 does not say so itself.
#include <sys/pidfd.h>
}
