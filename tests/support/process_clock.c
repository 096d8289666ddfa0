/* Preloaded into a process under test: its wall clock is the machine's plus the seconds in the file SHIFT_FILE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t which, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(which, at);
    const char *path = getenv("SHIFT_FILE");
    if (failed || which != CLOCK_REALTIME || !path) return failed;
    FILE *file = fopen(path, "r");
    long seconds = 0;
    if (file) {
        if (fscanf(file, "%ld", &seconds) == 1) at->tv_sec += seconds;
        fclose(file);
    }
    return failed;
}
