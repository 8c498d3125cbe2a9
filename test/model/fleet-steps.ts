/** What happens to the fleet, and how often. */

/** The steps and how often each is taken. */
const WEIGHTS = {
  wait: 600,
  move: 20,
  rebind: 20,
  swap: 10,
  rehash: 20,
  restartRelay: 4,
  rename: 5,
  store: 5,
  redial: 10,
  restartIce: 10,
  garbage: 20,
  spoofMedia: 20,
  spoofCheck: 20,
  replay: 10,
  joinFromThere: 10,
  poison: 10,
  strangeFrame: 10,
  crossFrame: 10,
} as const
/** One of them, by the name of the method that does it. */
export type Step = keyof typeof WEIGHTS

/** To pick from: each step as often as it is taken. */
export const BAG: readonly Step[] = (Object.keys(WEIGHTS) as Step[]).flatMap((step) =>
  Array<Step>(WEIGHTS[step]).fill(step),
)
