import type { StoredLine, StreamKey } from './line.ts'

/**
 * A run-time line of a service. Replica, release and stream are empty for lines of the log itself
 * (`marker`).
 */
export interface ServiceLine {
  readonly seq: number
  readonly at: string
  readonly replica: string
  readonly release: string
  /** Empty if its replica has only one container. */
  readonly container: string
  readonly stream: string
  readonly text: string
  readonly marker?: string
}

export const serviceStream = (service: string): StreamKey => `service/${service}`

/** Parses one stored line of a service's stream. */
export function serviceLine(line: StoredLine): ServiceLine {
  const text = (field: string): string => (typeof line[field] === 'string' ? line[field] : '')
  return {
    seq: line.seq,
    at: line.at,
    replica: text('replica'),
    release: text('release'),
    container: text('container'),
    stream: text('stream'),
    text: text('text'),
    ...(line['marker'] === undefined ? {} : { marker: text('marker') }),
  }
}
