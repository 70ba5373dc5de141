import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import * as envelope from '../lib/seal.ts'
import { KeyFileError, nextKeyFile, readKeyFile } from './key-file.ts'
import { holdProof } from './key-store.ts'

/** The master key as a process holds it. Exchanged while the process works, it is followed by itself: every text names its key. */
export interface MasterKeys {
  /** The key of that id: from memory, or from the files where an exchange has put it. Undefined where it is in neither. */
  find(id: string): Promise<envelope.SealingKey | undefined>
  /** What is to be sealed by: no exchange ends before the transaction does. Throws AppError `sealed` where no file holds it. */
  current(sql: Sql): Promise<envelope.SealingKey>
}

/** A text that was read a moment ago may need the key before the present one. */
const rememberedKeys = 2

export function createMasterKeys(file: string, first: envelope.SealingKey): MasterKeys {
  let remembered: readonly envelope.SealingKey[] = [first]

  async function find(id: string): Promise<envelope.SealingKey | undefined> {
    const known = remembered.find((key) => key.id === id)
    if (known) return known
    // In this order: where the first is gone, it has taken the name of the other one.
    for (const name of [nextKeyFile(file), file]) {
      const key = await readKey(name)
      if (key?.id !== id) continue
      remembered = [key, ...remembered].slice(0, rememberedKeys)
      return key
    }
    return undefined
  }

  return {
    find,
    async current(sql) {
      const key = await find(envelope.keyIdOf((await holdProof(sql, 'vault.canary')) ?? '') ?? '')
      if (key) return key
      throw new AppError(
        'sealed',
        'Secrets cannot be written: the master key was exchanged, and the file that QUAYSIDE_MASTER_KEY_FILE names holds another one. The operator has to put the new file there.',
      )
    },
  }
}

async function readKey(file: string): Promise<envelope.SealingKey | undefined> {
  try {
    return envelope.sealingKey(await readKeyFile(file, 'master key'))
  } catch (error) {
    if (error instanceof KeyFileError) return undefined
    throw error
  }
}

/** How a server's sessions call themselves in the database: who reads the same key file has the same name, and follows its exchange. */
export function serverSession(file: string): string {
  const place = createHash('sha256')
    .update(`${hostname()}\n${resolve(file)}`)
    .digest('hex')
  return `quayside ${place.slice(0, 8)}`
}
