import { readPair } from './judge-certificate.ts'
import type { KubeObject } from './kube-objects.ts'

export type ReadPair = ReturnType<typeof readPair>

/** Reads Secrets with certificates. Reading a key takes long, so each version is read once. */
export class PairReader {
  #former = new Map<string, ReadPair>()
  #current = new Map<string, ReadPair>()

  /** Begins a round. Entries that the previous round did not read are forgotten. */
  begin(): void {
    this.#former = this.#current
    this.#current = new Map()
  }

  read(secret: KubeObject): ReadPair {
    const { namespace, name, resourceVersion } = secret.metadata
    if (resourceVersion === undefined) return readPair(secret)
    const key = `${namespace}/${name} ${resourceVersion}`
    const read = this.#former.get(key) ?? readPair(secret)
    this.#current.set(key, read)
    return read
  }
}
