/** NTP time as RTCP carries it (RFC 3550 §4): seconds since 1900 and their fraction. Pure. */

/** From the first of January 1900 to 1970, in seconds. */
const EPOCH = 2208988800

/** The whole seconds of `now`, a time on the monotonic clock in milliseconds. */
export function ntpSeconds(now: number): number {
  return Math.floor((performance.timeOrigin + now) / 1000) + EPOCH
}

/** The rest of it, in 1/2³² s. */
export function ntpFraction(now: number): number {
  const ms = performance.timeOrigin + now
  return Math.floor(((ms - 1000 * Math.floor(ms / 1000)) / 1000) * 2 ** 32)
}

/** The middle 32 bits of both, in 1/65536 s. */
export function ntpMiddle(now: number): number {
  return ((ntpSeconds(now) << 16) | (ntpFraction(now) >>> 16)) >>> 0
}
