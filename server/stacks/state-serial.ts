import { type ForeignReader, foreignTask, readForeign } from '../lib/foreign-json.ts'
import { findMembers, type Range } from './json-parts.ts'

/**
 * Returns a function that gives a state file another serial and leaves every other character
 * unchanged. Parsing and writing it would round numbers of more than 53 bits. A state that OpenTofu
 * has encrypted repeats its serial inside, so the function returns undefined.
 */
export async function renumbering(text: string): Promise<(serial: number) => string | undefined> {
  const json = Buffer.from(text)
  const place = await readForeign(serialPlace, { json }, undefined)
  if (!place) return () => undefined
  const [before, after] = [json.subarray(0, place.from).toString(), json.subarray(place.to).toString()]
  return (serial) => `${before}${serial}${after}`
}

function findSerial(json: Uint8Array): Range | undefined {
  const found = findMembers(json, ['serial', 'encrypted_data'])
  return found?.has('encrypted_data') ? undefined : found?.get('serial')
}

/** Runs in a worker for a long state. */
export const serialTask = foreignTask(findSerial)
const serialPlace: ForeignReader<undefined, Range | undefined> = {
  module: new URL(import.meta.url),
  name: 'serialTask',
  task: serialTask,
}
