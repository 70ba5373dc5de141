import { rename, stat } from 'node:fs/promises'
import type { FrontFiles } from './front-files.ts'

/** The socket of one router, which several routers in turn have at the same path. */
export interface OwnSocket {
  /** The path on which this router listens first. */
  readonly path: string
  /** Takes the path to which HAProxy connects. */
  take(): Promise<void>
  /** Returns whether this router still has that path. */
  isMine(): Promise<boolean>
}

/** Returns the socket of this process in front of which HAProxy runs. */
export function ownSocket({ own }: FrontFiles): OwnSocket {
  const path = `${own}.${process.pid}`
  let inode: number | undefined
  return {
    path,
    take: async () => {
      inode = (await stat(path)).ino
      await rename(path, own)
    },
    isMine: async () => inode !== undefined && (await stat(own).catch(() => undefined))?.ino === inode,
  }
}
