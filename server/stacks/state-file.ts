import { isObject, parseJson } from './json-values.ts'

/** The parts of a state that are read. Everything else belongs to the engine. */
export interface StateFile {
  readonly text: string
  /** Increases with each change of a state. */
  readonly serial: number
  /** The same for all versions of one state. */
  readonly lineage: string
}

/**
 * Reads a state file. Returns undefined if it is damaged, as after a kill in the middle of a write.
 * A state that OpenTofu has encrypted has the same two members.
 */
export function readState(bytes: Uint8Array): StateFile | undefined {
  const state = parseJson(bytes)
  if (!isObject(state)) return undefined
  const { serial, lineage } = state
  if (typeof serial !== 'number' || !Number.isSafeInteger(serial) || serial < 0) return undefined
  if (typeof lineage !== 'string' || lineage.length > 255) return undefined
  return { text: Buffer.from(bytes).toString(), serial, lineage }
}
