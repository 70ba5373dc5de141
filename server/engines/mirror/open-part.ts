import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { lied } from './part-sizes.ts'

export interface PartToOpen {
  readonly path: string
  readonly digest: string
  readonly size: number
  /**
   * Held while the file is written. Without it, a second writer could change a file whose digest
   * was checked.
   */
  readonly turn: Disposable
}

/** Opens the file of a part that arrives. Checks its size and its digest at the end. */
export async function openPart({ path, digest, size, turn }: PartToOpen) {
  const release = (): void => turn[Symbol.dispose]()
  const file: FileHandle = await open(path, 'w', 0o600).catch((error: unknown) => {
    release()
    throw error
  })
  const hash = createHash('sha256')
  let received = 0
  return {
    async write(bytes: Uint8Array): Promise<void> {
      received += bytes.length
      if (received > size) throw lied('more bytes than it announced')
      hash.update(bytes)
      await file.writeFile(bytes)
    },
    async finish(): Promise<void> {
      await file.close()
      if (received !== size || `sha256:${hash.digest('hex')}` !== digest) throw lied('bytes of another digest')
    },
    /** Lets others write the part. */
    close: () => file.close().finally(release),
  }
}
