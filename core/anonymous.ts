/** Who calls where no key is asked for: a name that no key may have, so that no key ever owns what they began. */
export const ANONYMOUS = 'anonymous'
