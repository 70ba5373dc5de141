/** Over plain HTTP another host may set cookies of the same name. */
const mostTried = 4

/**
 * Returns the cookies of a request. Only spaces are removed around them: any host of the domain may
 * set the name `\u00a0__Host-…`.
 */
export const pairsOf = (header: string | undefined): string[] =>
  (header ?? '')
    .split(';')
    .map((pair) => pair.replace(/^ +/, ''))
    .filter((pair) => pair !== '')

/** Returns the values of a cookie, at most a few. */
export const cookiesOf = (header: string | undefined, name: string): readonly string[] =>
  pairsOf(header)
    .filter((pair) => pair.startsWith(`${name}=`))
    .slice(0, mostTried)
    .map((pair) => pair.slice(name.length + 1))
