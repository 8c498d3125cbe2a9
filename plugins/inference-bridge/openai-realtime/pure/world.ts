/** What the translation needs to know of the world; it asks for it, so that it stays pure. */

/** Ids and time. */
export interface World {
  /** A new id of an event, `event_…`. */
  eventId(): string
  /** Seconds since 1970. */
  unixSeconds(): number
}
