/** Why a workload is not running. `message` says what happened and what to do next. */
export class EngineError extends Error {
  readonly reason: EngineReason
  /** The last lines that the workload printed. */
  readonly lastLines: readonly string[]

  constructor(reason: EngineReason, message: string, options: { lastLines?: readonly string[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'EngineError'
    this.reason = reason
    this.lastLines = options.lastLines ?? []
  }
}

export type EngineReason =
  | 'crashed'
  | 'out-of-memory'
  | 'not-ready'
  | 'image-missing'
  /** The registry cannot be reached at the moment; it may have the image. */
  | 'registry-away'
  | 'disk-full'
  | 'refused'
  | 'unreachable'
