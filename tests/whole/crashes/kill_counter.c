/* Counts a program's writes, syncs and sends from outside, and kills it at the n-th of them.
 *
 * Counted is what a program leaves behind: bytes of a file, bytes on a network socket. Between two of these its death
 * is the same death, whatever it received or wrote to itself; nor is the budget counted, which each start has anew.
 * Preloaded (LD_PRELOAD). Orders arrive as writes to a descriptor that does not exist:
 *   "ahead MS"   put the wall clock and the monotonic clock so far ahead, as if so long had passed
 *   "pace N MS"  let both clocks run N times as fast since MS, in Unix milliseconds of the real wall clock
 *   "kill N HOW" count from here and kill at the N-th call (0: never; -1: at the first byte of a POST)
 *   "told"       the count so far, as the write's result
 * HOW is b (before the call), w (within: half of what is written, or all of what is synced, was done), or
 * p (power cut: before the call, and nothing stays in a file that was not synced).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define ORDERS 1000
#define REAL(name) ((__typeof__(&name))real(#name))

typedef struct Unsynced {
    int fd;
    dev_t dev;
    ino_t ino;
    off_t offset, size_before;
    size_t length;
    char *before;
    struct Unsynced *earlier;
} Unsynced;

static atomic_long counted;
static long kill_at;
static int counting;
static char how;
static long long ahead_ms, fast_since_ms;
static long pace = 1;
static Unsynced *unsynced;
static pthread_mutex_t files = PTHREAD_MUTEX_INITIALIZER;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

static void lose_what_is_not_synced(void) {
    struct stat about;
    pthread_mutex_lock(&files);
    for (Unsynced *unkept = unsynced; unkept; unkept = unkept->earlier) {
        /* A file that was closed since may have left its descriptor to another one. */
        if (fstat(unkept->fd, &about) || about.st_dev != unkept->dev || about.st_ino != unkept->ino) continue;
        syscall(SYS_pwrite64, unkept->fd, unkept->before, unkept->length, unkept->offset);
        syscall(SYS_ftruncate, unkept->fd, unkept->size_before);
    }
}

static int outlives(int fd) {
    struct stat about;
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char link[64], path[4096];
    if (fstat(fd, &about)) return 0;
    if (S_ISSOCK(about.st_mode)) {
        return !getsockname(fd, (struct sockaddr *)&address, &size) && address.ss_family != AF_UNIX;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    return S_ISREG(about.st_mode) && !strstr(path, "/budget.sqlite");
}

/* Dies here where it is to die before the call it has come to. */
static int dies_within(void) {
    if (how == 'p') lose_what_is_not_synced();
    if (how != 'w') die();
    return 1;
}

/* Whether this is the call to die within. */
static int due(int fd) {
    if (!counting || !outlives(fd)) return 0;
    return atomic_fetch_add(&counted, 1) + 1 == kill_at && dies_within();
}

static int due_at_post(const void *bytes, size_t length) {
    return counting && kill_at < 0 && length >= 5 && !memcmp(bytes, "POST ", 5) && dies_within();
}

static void note_write(int fd, size_t length, off_t offset) {
    struct stat about;
    if (!counting || how != 'p' || fstat(fd, &about) || !S_ISREG(about.st_mode)) return;
    Unsynced *unkept = calloc(1, sizeof *unkept);
    if (offset < 0) offset = lseek(fd, 0, SEEK_CUR);
    *unkept = (Unsynced){fd, about.st_dev, about.st_ino, offset, about.st_size, 0, malloc(length), NULL};
    ssize_t had = syscall(SYS_pread64, fd, unkept->before, length, offset);
    unkept->length = had > 0 ? (size_t)had : 0;
    pthread_mutex_lock(&files);
    unkept->earlier = unsynced;
    unsynced = unkept;
    pthread_mutex_unlock(&files);
}

static void note_sync(int fd) {
    struct stat about;
    if (!counting || how != 'p' || fstat(fd, &about)) return;
    pthread_mutex_lock(&files);
    for (Unsynced **at = &unsynced; *at;) {
        if ((*at)->dev == about.st_dev && (*at)->ino == about.st_ino) *at = (*at)->earlier;
        else at = &(*at)->earlier;
    }
    pthread_mutex_unlock(&files);
}

static ssize_t order(const char *words, size_t length) {
    char text[64] = {0};
    memcpy(text, words, length < sizeof text - 1 ? length : sizeof text - 1);
    if (!strcmp(text, "told")) {
        counting = 0;
        return atomic_load(&counted);
    }
    if (sscanf(text, "ahead %lld", &ahead_ms) == 1) return (ssize_t)length;
    if (sscanf(text, "pace %ld %lld", &pace, &fast_since_ms) == 2) return (ssize_t)length;
    if (sscanf(text, "kill %ld %c", &kill_at, &how) == 2) {
        atomic_store(&counted, 0);
        counting = 1;
    }
    return (ssize_t)length;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (fd == ORDERS) return order(bytes, length);
    int dies = due(fd);
    note_write(fd, length, -1);
    ssize_t done = REAL(write)(fd, bytes, dies && length > 1 ? length / 2 : length);
    if (dies) die();
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) {
    int dies = due(fd);
    note_write(fd, length, offset);
    ssize_t done = REAL(pwrite64)(fd, bytes, dies && length > 1 ? length / 2 : length, offset);
    if (dies) die();
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
    int dies = due(fd);
    ssize_t done = REAL(writev)(fd, parts, dies && count > 1 ? count / 2 : count);
    if (dies) die();
    return done;
}

int fsync(int fd) {
    int dies = due(fd), done = REAL(fsync)(fd);
    note_sync(fd);
    if (dies) die();
    return done;
}

int fdatasync(int fd) {
    int dies = due(fd), done = REAL(fdatasync)(fd);
    note_sync(fd);
    if (dies) die();
    return done;
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    int dies = due(fd) || due_at_post(bytes, length);
    ssize_t done = REAL(send)(fd, bytes, dies && length > 1 ? length / 2 : length, flags);
    if (dies) die();
    return done;
}

ssize_t sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t size) {
    int dies = due(fd);
    ssize_t done = REAL(sendto)(fd, bytes, dies && length > 1 ? length / 2 : length, flags, to, size);
    if (dies) die();
    return done;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    const struct iovec *first = message->msg_iov;
    int dies = due(fd) || (message->msg_iovlen && due_at_post(first->iov_base, first->iov_len));
    ssize_t done = REAL(sendmsg)(fd, message, flags);
    if (dies) die();
    return done;
}

static long long gained_ns(void) {
    struct timespec wall;
    if (pace == 1) return 0;
    REAL(clock_gettime)(CLOCK_REALTIME, &wall);
    long long since_ns = wall.tv_sec * 1000000000LL + wall.tv_nsec - fast_since_ms * 1000000LL;
    return since_ns > 0 ? since_ns * (pace - 1) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int done = REAL(clock_gettime)(clock, now);
    if ((clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && (ahead_ms || pace != 1)) {
        long long ns = now->tv_nsec + ahead_ms * 1000000LL + gained_ns();
        now->tv_sec += ns / 1000000000LL;
        now->tv_nsec = ns % 1000000000LL;
    }
    return done;
}
