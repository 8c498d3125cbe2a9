/*
 * The peer of the relay's benchmark: what a C program does with the same sockets. One thread, recvmmsg and sendmmsg, an
 * open-addressing table of flows, the framing header put in front in place. It knows one route format, twelve hex
 * digits at the front of the USERNAME (ip and port), and none of the relay's rules, so it is a lower bound for the work.
 * Its sockets are IPv4's, as those of a relay that binds IPv4 addresses; its table has room for IPv6, as the relay's has.
 *
 * usage: relay PORT COALESCE_US SEGMENTS
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum { BATCH = 64, SLOT = 2240, HEAD = 64, HEADER = 38, TABLE = 1 << 21, UPSTREAMS = 256, LONGEST_RUN = 40 };
enum { KERNEL_BUFFER = 4 << 20 };

struct flow {
  uint32_t ip[4], port, upstream, seen, used;
};

struct direction {
  int fd;
  uint8_t *slots;
  struct mmsghdr in[BATCH], out[BATCH];
  struct iovec in_parts[BATCH], out_parts[BATCH];
  struct sockaddr_in from[BATCH], to[BATCH];
  char control[BATCH][CMSG_SPACE(sizeof(uint16_t))];
};

static struct direction clients, transceivers;
static struct flow *flows;
static struct sockaddr_in upstreams[UPSTREAMS];
static int upstream_count, segments;
static uint32_t second;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* Beyond the system's limit where the process may (CAP_NET_ADMIN), up to it everywhere. */
static void enlarge(int fd, int forced, int plain) {
  int size = KERNEL_BUFFER;
  if (setsockopt(fd, SOL_SOCKET, forced, &size, sizeof size)) setsockopt(fd, SOL_SOCKET, plain, &size, sizeof size);
}

static int open_socket(int port) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  enlarge(fd, SO_RCVBUFFORCE, SO_RCVBUF);
  enlarge(fd, SO_SNDBUFFORCE, SO_SNDBUF);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(fd, (void *)&at, sizeof at)) fail("bind");
  return fd;
}

/* IPv4 as mapped IPv6. */
static void map(uint32_t *ip, const struct sockaddr_in *from) {
  ip[0] = ip[1] = 0;
  ip[2] = htonl(0xffff);
  ip[3] = from->sin_addr.s_addr;
}

static uint32_t hash(const uint32_t *ip, uint32_t port) {
  uint32_t h = ip[0] * 0x9e3779b1u ^ ip[1] * 0x85ebca6bu ^ ip[2] * 0xc2b2ae35u ^ ip[3] * 0x27d4eb2fu ^ port * 0x165667b1u;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  return (h ^ h >> 13) & (TABLE - 1);
}

/* The client's flow, or the free place where it would be. */
static struct flow *find(const uint32_t *ip, uint32_t port) {
  uint32_t at = hash(ip, port);
  while (flows[at].used && (flows[at].port != port || memcmp(flows[at].ip, ip, 16))) at = (at + 1) & (TABLE - 1);
  return &flows[at];
}

static int digit(int c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

static int upstream_of(const uint8_t *hex) {
  uint8_t bytes[6];
  for (int i = 0; i < 6; i++) bytes[i] = digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]);
  struct sockaddr_in at = {.sin_family = AF_INET};
  memcpy(&at.sin_addr, bytes, 4);
  memcpy(&at.sin_port, bytes + 4, 2);
  for (int i = 0; i < upstream_count; i++)
    if (!memcmp(&upstreams[i], &at, sizeof at)) return i;
  if (upstream_count == UPSTREAMS) return -1;
  upstreams[upstream_count] = at;
  return upstream_count++;
}

/* Where a Binding request's USERNAME leads; -1 for anything else. */
static int route(const uint8_t *p, int length) {
  static const uint8_t cookie[4] = {0x21, 0x12, 0xa4, 0x42};
  if (length < 20 || p[0] != 0 || p[1] != 1 || memcmp(p + 4, cookie, 4)) return -1;
  for (int at = 20; at + 4 <= length;) {
    int type = p[at] << 8 | p[at + 1], size = p[at + 2] << 8 | p[at + 3];
    if (at + 4 + size > length) return -1;
    if (type == 6) return size < 13 ? -1 : upstream_of(p + at + 4);
    at += 4 + ((size + 3) & ~3);
  }
  return -1;
}

static void lay(struct direction *d, int fd, int room) {
  d->fd = fd;
  d->slots = aligned_alloc(4096, (BATCH * SLOT + 4095) / 4096 * 4096);
  for (int i = 0; i < BATCH; i++) {
    d->in_parts[i] = (struct iovec){d->slots + i * SLOT + room, SLOT - HEAD - room};
    d->in[i].msg_hdr = (struct msghdr){&d->from[i], sizeof d->from[i], &d->in_parts[i], 1, 0, 0, 0};
    d->out[i].msg_hdr = (struct msghdr){&d->to[i], sizeof d->to[i], &d->out_parts[i], 1, 0, 0, 0};
    d->to[i] = (struct sockaddr_in){.sin_family = AF_INET};
  }
}

static void send_all(int fd, struct mmsghdr *messages, int count) {
  for (int at = 0; at < count;) {
    int sent = sendmmsg(fd, messages + at, count - at, MSG_DONTWAIT);
    at += sent > 0 ? sent : 1;
  }
}

/* Equal datagrams to one upstream become one message that the kernel cuts up. */
static int join(struct direction *d, int count) {
  int messages = 0;
  for (int i = 0; i < count;) {
    int end = i + 1;
    size_t size = d->out_parts[i].iov_len;
    while (end < count && end - i < LONGEST_RUN && d->out_parts[end].iov_len == size &&
           d->to[end].sin_port == d->to[i].sin_port && d->to[end].sin_addr.s_addr == d->to[i].sin_addr.s_addr)
      end++;
    struct msghdr *m = &d->out[messages].msg_hdr;
    *m = (struct msghdr){&d->to[i], sizeof d->to[i], &d->out_parts[i], end - i, 0, 0, 0};
    if (end - i > 1) {
      m->msg_control = d->control[messages];
      m->msg_controllen = sizeof d->control[messages];
      struct cmsghdr *c = CMSG_FIRSTHDR(m);
      *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(uint16_t)), .cmsg_level = SOL_UDP, .cmsg_type = UDP_SEGMENT};
      *(uint16_t *)CMSG_DATA(c) = size;
    }
    messages++;
    i = end;
  }
  return messages;
}

static int from_clients(void) {
  struct direction *d = &clients;
  int count = recvmmsg(d->fd, d->in, BATCH, MSG_DONTWAIT, 0), kept = 0;
  for (int i = 0; i < count; i++) {
    uint8_t *packet = d->slots + i * SLOT + HEAD, *header = packet - HEADER;
    uint32_t ip[4], port = d->from[i].sin_port;
    map(ip, &d->from[i]);
    struct flow *f = find(ip, port);
    if (!f->used) {
      int upstream = route(packet, d->in[i].msg_len);
      if (upstream < 0) continue;
      memcpy(f->ip, ip, 16);
      f->port = port;
      f->upstream = upstream;
      f->used = 1;
    }
    f->seen = second;
    memcpy(header + 2, ip, 16);
    memcpy(header + 34, &port, 2);
    d->out_parts[kept] = (struct iovec){header, d->in[i].msg_len + HEADER};
    d->to[kept++] = upstreams[f->upstream];
  }
  if (kept) send_all(transceivers.fd, d->out, segments ? join(d, kept) : kept);
  return count;
}

static int from_transceivers(void) {
  struct direction *d = &transceivers;
  int count = recvmmsg(d->fd, d->in, BATCH, MSG_DONTWAIT, 0), kept = 0;
  for (int i = 0; i < count; i++) {
    uint8_t *header = d->slots + i * SLOT + HEAD - HEADER;
    if (d->in[i].msg_len <= HEADER || header[0] != 0x56 || header[1] != 0xec) continue;
    uint16_t port;
    memcpy(&port, header + 34, 2);
    struct flow *f = find((uint32_t *)(header + 2), port);
    const struct sockaddr_in *own = &upstreams[f->upstream];
    if (!f->used || own->sin_addr.s_addr != d->from[i].sin_addr.s_addr || own->sin_port != d->from[i].sin_port) continue;
    memcpy(&d->to[kept].sin_addr, header + 14, 4);
    d->to[kept].sin_port = port;
    d->out_parts[kept++] = (struct iovec){header + HEADER, d->in[i].msg_len - HEADER};
  }
  if (kept) send_all(clients.fd, d->out, kept);
  return count;
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  int port = atoi(argv[1]), coalesce = atoi(argv[2]);
  segments = atoi(argv[3]);
  flows = calloc(TABLE, sizeof *flows);
  lay(&clients, open_socket(port), HEAD);
  lay(&transceivers, open_socket(0), HEAD - HEADER);
  for (int i = 0; i < BATCH; i++) {
    uint8_t *header = clients.slots + i * SLOT + HEAD - HEADER;
    memset(header, 0, HEADER);
    header[0] = 0x56, header[1] = 0xec;
    header[28] = header[29] = 0xff, header[30] = 127, header[33] = 1;
    header[36] = port >> 8, header[37] = port;
  }
  puts("ready");
  fflush(stdout);
  struct pollfd ready[2] = {{clients.fd, POLLIN, 0}, {transceivers.fd, POLLIN, 0}};
  for (int up = 1, down = 1;;) {
    int n = up ? from_clients() : 0, m = down ? from_transceivers() : 0;
    up = n == BATCH, down = m == BATCH;
    if (coalesce > 0 && !up && !down && n + m > 0 && n + m < BATCH / 2) usleep(coalesce);
    /* With more at hand it is only asked what else there is: neither direction waits for the other's flood. */
    poll(ready, 2, up || down ? 0 : 50);
    second = time(0);
    up |= ready[0].revents != 0, down |= ready[1].revents != 0;
  }
}
