import { type Database, inTransaction } from '../database/index.ts'
import { sealingKey } from '../lib/seal.ts'
import { KeyFileError, makeKeyFile, readKeyFile } from './key-file.ts'
import { findProof, insertProof, lockKeySetUp } from './key-store.ts'

/**
 * Returns the 32 bytes with which API tokens are hashed. They have their own file, so tokens can be
 * checked while the vault is sealed. The very first start creates it. A missing, damaged or
 * different file later throws KeyFileError, because every token would silently stop working.
 */
export async function openPepper(options: { database: Database; file: string }): Promise<Buffer> {
  const { database, file } = options
  return inTransaction(database, async (sql) => {
    await lockKeySetUp(sql)
    const proof = await findProof(sql, 'vault.pepper')
    const pepper = await readKeyFile(file, 'token pepper').catch((error: unknown) => {
      const isMissing = error instanceof KeyFileError && error.reason === 'missing'
      if (!isMissing || proof !== undefined) throw error
      return makeKeyFile(file, 'token pepper')
    })
    const { id } = sealingKey(pepper)
    if (proof === undefined) await insertProof(sql, 'vault.pepper', id)
    else if (proof !== id) {
      const message = `the pepper in ${file} is not the one that the API tokens were made with: restore the former file`
      throw new KeyFileError('wrong', file, message)
    }
    return pepper
  })
}
