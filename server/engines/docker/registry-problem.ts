/** Why a registry does not give an image. */
export type ProblemKind = 'away' | 'busy' | 'denied' | 'absent' | 'broken' | 'disk-full' | 'platform' | 'other'

/** What Docker and registries say, in the order in which it is looked for. */
const words: readonly (readonly [ProblemKind, RegExp])[] = [
  ['disk-full', /no space left on device|disk quota exceeded/i],
  ['busy', /toomanyrequests|too many requests|\b429\b|rate limit/i],
  ['denied', /unauthorized|denied|no basic auth credentials|authentication required|\b40[13]\b|forbidden/i],
  ['platform', /no matching manifest|no match for platform/i],
  ['absent', /manifest unknown|name unknown|not found|does not exist|\b404\b/i],
  ['broken', /verification failed|unexpected digest|digest mismatch|don't match image configuration|invalid checksum/i],
  [
    'away',
    /no such host|connection refused|connection reset|no route to host|network is unreachable|i\/o timeout|timeout exceeded|deadline exceeded|tls handshake timeout|\bEOF\b|broken pipe|temporary failure|server misbehaving|\b50[0234]\b|(?:internal server|gateway|unavailable)/i,
  ],
]

export const problemKind = (said: string): ProblemKind =>
  words.find(([, pattern]) => pattern.test(said))?.[0] ?? 'other'

/** What may pass by itself is tried again after these pauses. */
const pauses: Partial<Record<ProblemKind, readonly number[]>> = {
  away: [1000, 2000, 4000, 8000, 16_000],
  busy: [5000, 10_000, 20_000, 40_000, 80_000],
  broken: [1000, 5000],
}

/** How long to wait after so many tries; undefined: it will not get better. */
export const pauseMs = (kind: ProblemKind, tries: number): number | undefined => pauses[kind]?.[tries - 1]

/** The sentence for people: what happened, where, and what to do. */
export function problemText(kind: ProblemKind, image: string, host: string, said: string): string {
  const because = `(${said.replace(/[\s.]+$/, '')})`
  switch (kind) {
    case 'away':
      return `The image ${image} cannot be fetched: the registry ${host} cannot be reached ${because}. Check that it runs and that the engine's machine reaches it, and deploy again.`
    case 'busy':
      return `The image ${image} cannot be fetched: the registry ${host} was asked too often ${because}. Deploy again later, or give the registry a user name and password.`
    case 'denied':
      return `The image ${image} cannot be fetched: the registry ${host} does not give access ${because}. Check the user name and password of the registry, and the image's name.`
    case 'absent':
      return `The image ${image} cannot be fetched: the registry ${host} has none of that name and tag ${because}. Correct them, or push the image.`
    case 'broken':
      return `The image ${image} is not used: what the registry ${host} sent is not what its digest says ${because}. Push the image again, or check what stands between the registry and the engine.`
    case 'disk-full':
      return `The image ${image} cannot be stored: the disk of the engine is full ${because}. Free space there, and deploy again.`
    case 'platform':
      return `The image ${image} of the registry ${host} is not made for the engine's platform ${because}. Push one that is.`
    case 'other':
      return `The image ${image} cannot be fetched: the registry ${host} or the engine said: ${said.replace(/[\s.]+$/, '')}. Check the image's name and its registry, and deploy again.`
  }
}
