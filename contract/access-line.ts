/** One request at a router, as a line of its service. */
export interface AccessLine {
  /** The id of the service. */
  readonly service: string
  /** When the request ended, in RFC 3339. */
  readonly at: string
  /** Printable ASCII: level, method, path, status, time, bytes and client. */
  readonly text: string
}

/** The name of the replica that the lines of requests have. */
export const accessReplica = 'router'

/** The longest text of a line. */
export const longestAccessText = 1_000

/** Whether a value is a line that a router may send. */
export const isAccessLine = (value: unknown): value is AccessLine => {
  const { service, at, text } = Object(value)
  const areTexts = typeof service === 'string' && typeof at === 'string' && typeof text === 'string'
  return areTexts && text.length <= longestAccessText && /^[\x20-\x7e]*$/.test(text) && !Number.isNaN(Date.parse(at))
}
