/** The environments for which an engine keeps something besides their services. */
export interface EnvironmentList {
  /**
   * Lists the ids of environments for which this installation has something that stays when their
   * last service is gone, and that `eraseEnvironment` removes. Throws EngineError.
   */
  listEnvironments(signal: AbortSignal): Promise<readonly string[]>
}
