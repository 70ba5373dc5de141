import { connect, createServer, type Socket } from 'node:net'
import { type Database, openDatabase } from '../database/index.ts'
import type { Cleanup } from '../database/testing.ts'

export interface CutDatabase {
  readonly sql: Database
  readonly url: string
  /** Ends all connections, and new ones at once until `join`. */
  cut(): void
  join(): void
  /** Connections that were ended at once. */
  refused(): number
}

/** A way to the database at `url` that a test can cut. Register what uses it before, so that it ends before. */
export async function cutDatabase(t: Cleanup, url: string): Promise<CutDatabase> {
  const target = new URL(url)
  const directory = target.searchParams.get('host')
  const path = `${directory}/.s.PGSQL.5432`
  const sockets = new Set<Socket>()
  let isCut = false
  let refused = 0
  const server = createServer((near) => {
    near.on('error', () => {})
    if (isCut) {
      refused++
      near.destroy()
      return
    }
    const far = directory ? connect({ path }) : connect({ host: target.hostname, port: Number(target.port) })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const address = server.address()
  target.searchParams.delete('host')
  target.host = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const sql = openDatabase({ url: target.href, name: 'cut' })
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  t.after(async () => {
    await sql.end({ timeout: 1 })
    cut()
    await new Promise((done) => void server.close(done))
  })
  return {
    sql,
    url: target.href,
    cut,
    join: () => {
      isCut = false
    },
    refused: () => refused,
  }
}
