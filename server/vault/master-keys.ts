import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import * as envelope from '../lib/seal.ts'
import { KeyFileError, nextKeyFile, readKeyFile } from './key-file.ts'
import { holdProof } from './key-store.ts'

/**
 * The master key of a process. It follows an exchange while the process runs, because every text
 * names its key.
 */
export interface MasterKeys {
  /**
   * Returns the key with that id, from memory or from the files of an exchange. Undefined if
   * neither has it.
   */
  find(id: string): Promise<envelope.SealingKey | undefined>
  /**
   * Returns the sealing key. No exchange ends before the transaction does. Throws AppError `sealed`
   * if no file has it.
   */
  current(sql: Sql): Promise<envelope.SealingKey>
}

/** A text that was read a moment ago may need the previous key. */
const rememberedKeys = 2

export function createMasterKeys(file: string, first: envelope.SealingKey): MasterKeys {
  let remembered: readonly envelope.SealingKey[] = [first]

  async function find(id: string): Promise<envelope.SealingKey | undefined> {
    const known = remembered.find((key) => key.id === id)
    if (known) return known
    // The order matters: if the first file is missing, it has been renamed to the second.
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
        'Secrets cannot be written: the master key was exchanged, and the file that QUAYSIDE_MASTER_KEY_FILE ' +
          'names has a different key. The operator must put the new file there.',
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

/**
 * The session name of a server. Servers that read the same key file share it and follow its
 * exchange.
 */
export function serverSession(file: string): string {
  const place = createHash('sha256')
    .update(`${hostname()}\n${resolve(file)}`)
    .digest('hex')
  return `quayside ${place.slice(0, 8)}`
}
