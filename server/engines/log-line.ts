export interface LogQuery {
  readonly follow: boolean
  /**
   * Only lines after this moment of the engine's clock (RFC 3339 with nanoseconds), taken from an
   * earlier line.
   */
  readonly after?: string
}

export interface LogLine {
  /** RFC 3339 with nanoseconds, by the engine's clock. */
  readonly at: string
  readonly replica: string
  readonly release: string
  /** The container of a pod of a chart. Absent if a replica has only one. */
  readonly container?: string
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}
