// A shared object that is no plug-in.

extern "C" int plain() { return 1; }
