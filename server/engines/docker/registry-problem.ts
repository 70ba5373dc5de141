import { withoutFullStop } from '../../lib/without-full-stop.ts'

/** The reason why a registry does not provide an image, or why its image is rejected. */
export type ProblemKind =
  | 'away'
  | 'busy'
  | 'denied'
  | 'absent'
  | 'broken'
  | 'disk-full'
  | 'platform'
  | 'address'
  | 'certificate'
  | 'form'
  | 'size'
  | 'other'

/**
 * An error with its kind. `said` holds the details in a few words; the message puts them in
 * parentheses.
 */
export class RegistryProblem extends Error {
  readonly kind: ProblemKind

  constructor(kind: ProblemKind, said: string, options: { readonly cause?: unknown } = {}) {
    super(said, options)
    this.name = 'RegistryProblem'
    this.kind = kind
  }
}

/** Returns the kind of problem of a failed status. */
export function kindOfStatus(status: number): ProblemKind {
  if (status === 401 || status === 403) return 'denied'
  if (status === 404) return 'absent'
  if (status === 429) return 'busy'
  return status >= 500 ? 'away' : 'other'
}

/** The pauses before each retry, for problems that may pass. */
const pauses: Partial<Record<ProblemKind, readonly number[]>> = {
  away: [1000, 2000, 4000, 8000, 16_000],
  busy: [5000, 10_000, 20_000, 40_000, 80_000],
  broken: [1000, 5000],
}

/** Returns the pause after so many tries. Undefined: a retry is pointless. */
export const pauseMs = (kind: ProblemKind, tries: number): number | undefined => pauses[kind]?.[tries - 1]

/** Returns the message for people: what happened, where, and what to do. */
export function problemText(kind: ProblemKind, image: string, host: string, said: string): string {
  const plain = withoutFullStop(said)
  const because = `(${plain})`
  switch (kind) {
    case 'away':
      return (
        `The image ${image} cannot be fetched: the registry ${host} cannot be reached ${because}. Check that ` +
        'it runs and that this machine reaches it, and deploy again.'
      )
    case 'busy':
      return (
        `The image ${image} cannot be fetched: the registry ${host} received too many requests ${because}. Deploy ` +
        'again later, or give the registry a user name and password.'
      )
    case 'denied':
      return (
        `The image ${image} cannot be fetched: the registry ${host} does not give access ${because}. Check the ` +
        `user name and password of the registry, and the image's name.`
      )
    case 'absent':
      return (
        `The image ${image} cannot be fetched: the registry ${host} has no image with that name and tag ${because}. ` +
        'Correct them, or push the image.'
      )
    case 'broken':
      return (
        `The image ${image} is rejected: the data that the registry ${host} sent does not match its digest ` +
        `${because}. Push the image again, or check for a proxy between the registry and this machine.`
      )
    case 'disk-full':
      return (
        `The image ${image} cannot be stored: the disk of the engine is full ${because}. Free space there, and ` +
        'deploy again.'
      )
    case 'platform':
      return (
        `The image ${image} of the registry ${host} was not built for the engine's platform ${because}. Push one ` +
        'that was.'
      )
    case 'address':
      return `The image ${image} is not fetched: ${plain}.`
    case 'certificate':
      return (
        `The image ${image} cannot be fetched: the registry ${host} did not present a trusted certificate ` +
        `${because}. Give it a valid certificate, or add its authority to /etc/docker/certs.d/${host}/ca.crt.`
      )
    case 'form':
      return (
        `The image ${image} of the registry ${host} cannot be used ${because}. Push it in a format that Docker ` +
        'can run.'
      )
    case 'size':
      return `The image ${image} is too large ${because}. Use a smaller one, and deploy again.`
    case 'other':
      return (
        `The image ${image} cannot be fetched: the registry ${host} or the engine said: ${plain}. Check the ` +
        `image's name and its registry, and deploy again.`
      )
  }
}

/** Returns the message for people if an image cannot be pushed. */
export function pushProblemText(kind: ProblemKind, name: string, host: string, said: string): string {
  const plain = withoutFullStop(said)
  const what = `The image cannot be published to ${name}`
  switch (kind) {
    case 'away':
    case 'busy':
      return (
        `${what}: the registry ${host} cannot be reached or is overloaded (${plain}). Check that it runs and ` +
        'that this machine reaches it, and deploy again.'
      )
    case 'denied':
      return (
        `${what}: the registry ${host} does not give access (${plain}). Check the user name and password, and ` +
        'whether they may push there.'
      )
    case 'disk-full':
      return `${what}: the disk of this machine is full (${plain}). Free space there, and deploy again.`
    case 'certificate':
      return (
        `${what}: the registry ${host} did not present a trusted certificate (${plain}). Give it a valid ` +
        `certificate, or add its authority to /etc/docker/certs.d/${host}/ca.crt.`
      )
    default:
      return `${what}: the registry ${host} said: ${plain}. Check the registry, and deploy again.`
  }
}
