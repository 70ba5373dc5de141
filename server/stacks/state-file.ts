import { ForeignJsonProblem, type ForeignReader, foreignTask, parseFar, readForeign } from '../lib/foreign-json.ts'
import { isObject } from './json-values.ts'

/** The parts of a state that are read. Everything else belongs to the engine. */
export interface StateFile {
  readonly text: string
  /** Increases with each change of a state. */
  readonly serial: number
  /** The same for all versions of one state. */
  readonly lineage: string
}

/** A state of the longest size has a fourth of these values. One that is refused would be lost. */
const mostParts = 4_000_000
const limits = { limitMs: 20_000, memoryMiB: 1024 }

/**
 * Reads a state file. Returns undefined if it is damaged, as after a kill in the middle of a write.
 * A state that OpenTofu has encrypted has the same two members.
 */
export async function readState(bytes: Uint8Array): Promise<StateFile | undefined> {
  try {
    const head = await readForeign(stateHead, { json: bytes, limits }, undefined)
    return head && { text: Buffer.from(bytes).toString(), ...head }
  } catch (error) {
    if (error instanceof ForeignJsonProblem) return undefined
    throw error
  }
}

function readHead(json: Uint8Array): Omit<StateFile, 'text'> | undefined {
  const state = parseFar(json, mostParts)
  if (!isObject(state)) return undefined
  const { serial, lineage } = state
  if (typeof serial !== 'number' || !Number.isSafeInteger(serial) || serial < 0) return undefined
  if (typeof lineage !== 'string' || lineage.length > 255) return undefined
  return { serial, lineage }
}

/** Runs in a worker for a long state. */
export const headTask = foreignTask(readHead)
const stateHead: ForeignReader<undefined, Omit<StateFile, 'text'> | undefined> = {
  module: new URL(import.meta.url),
  name: 'headTask',
  task: headTask,
}
