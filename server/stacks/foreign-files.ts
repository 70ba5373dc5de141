import { ForeignJsonProblem, type ForeignReader, foreignTask, parseFar, readForeign } from '../lib/foreign-json.ts'
import { shapeOf } from '../lib/json-shape.ts'
import { masker } from '../lib/masker.ts'
import { Secret } from '../lib/secret.ts'
import type { ServiceOutput } from '../variables/index.ts'
import { mostParts } from './json-parts.ts'
import { readPlan } from './plan-file.ts'
import { type Mask, type PlanSummary, summarizePlan } from './plan-summary.ts'
import { type PackedResource, readResult } from './read-result.ts'

// A worker loads this file, so what it imports is small.

/** A plan of many resources is summarized in seconds. */
const limits = { limitMs: 20_000, memoryMiB: 512 }

/** Summarizes the JSON that the program of a run has written. Throws ForeignJsonProblem. */
export const planIn = (json: Uint8Array, secrets: readonly Secret[]): Promise<PlanSummary> =>
  readForeign(planReader, { json, limits }, revealed(secrets))

/** Reads the resources and outputs of a result. Throws ForeignJsonProblem. */
export const resultIn = (json: Uint8Array, secrets: readonly Secret[]): Promise<PackedResult> =>
  readForeign(resultReader, { json, limits }, revealed(secrets))

export interface PackedResult {
  readonly resources: readonly PackedResource[]
  readonly outputs: readonly ServiceOutput[]
}

const module = new URL(import.meta.url)
const revealed = (secrets: readonly Secret[]): string[] => secrets.map((secret) => secret.reveal())
const maskOf = (secrets: readonly string[]): Mask => masker(secrets.map((secret) => new Secret(secret)))

const summarize = (json: Uint8Array, secrets: readonly string[]): PlanSummary =>
  inForm(() => summarizePlan(readPlan(json), maskOf(secrets)))

/**
 * The attributes of all resources of a stack: answers of the API have them. Resources beyond are
 * listed without theirs.
 */
const mostOfAttributes = { bytes: 8 * 2 ** 20, parts: 200_000, depth: 100 }
/** One more output than a service may have, so that the caller refuses them. */
const mostOutputs = 1001

function pack(json: Uint8Array, secrets: readonly string[]): PackedResult {
  const { resources, outputs } = inForm(() => readResult(parseFar(json, mostParts), maskOf(secrets)))
  let left = mostOfAttributes
  const packed = resources.map((resource): PackedResource => {
    const attributes = Buffer.from(JSON.stringify(resource.attributes))
    const { parts, beyond } = shapeOf(attributes, left)
    if (beyond !== undefined) return { ...resource, attributes: '{}' }
    left = { ...left, bytes: left.bytes - attributes.length, parts: left.parts - parts }
    return { ...resource, attributes: attributes.toString() }
  })
  return { resources: packed, outputs: outputs.slice(0, mostOutputs) }
}

/** Another form than that of the engine shows as an error of the language. */
function inForm<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof TypeError || cause instanceof RangeError)) throw cause
    throw new ForeignJsonProblem('has another form, too many parts, or is nested too deeply', { cause })
  }
}

/** Run in a worker for long texts. */
export const planTask = foreignTask(summarize)
export const resultTask = foreignTask(pack)
const planReader: ForeignReader<readonly string[], PlanSummary> = { module, name: 'planTask', task: planTask }
const resultReader: ForeignReader<readonly string[], PackedResult> = { module, name: 'resultTask', task: resultTask }
