import { connect, createServer, type Socket } from 'node:net'
import type { Database } from './database.ts'
import { openDatabase } from './pool.ts'
import type { Cleanup } from './testing.ts'

export interface CutDatabase {
  readonly sql: Database
  readonly url: string
  /** Closes all connections, and new ones at once until `join`. */
  cut(): void
  /**
   * Closes all connections, and answers new ones like a PostgreSQL without a free one, until
   * `join`.
   */
  fill(): void
  /** Holds back all data and new connections until `join`, when everything arrives. */
  silence(): void
  join(): void
  /** The number of connections that were closed at once. */
  refused(): number
  /**
   * Closes this many connections right after PostgreSQL has committed their transaction, before the
   * client knows.
   */
  loseCommits(count: number): void
  /** The number of connections still to be closed. */
  commitsToLose(): number
}

/** PostgreSQL's message for a committed transaction contains this text. */
const committed = 'C\0\0\0\x0bCOMMIT\0'
const fields = 'SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0'
/** PostgreSQL's refusal of a connection when all are in use. */
const tooMany = Buffer.concat([Buffer.from('E'), Buffer.from([0, 0, 0, fields.length + 4]), Buffer.from(fields)])

/**
 * A connection to the database at `url` that a test can cut. Register its users before it, so that
 * they end first.
 */
export async function cutDatabase(t: Cleanup, url: string): Promise<CutDatabase> {
  const target = new URL(url)
  const directory = target.searchParams.get('host')
  const path = `${directory}/.s.PGSQL.5432`
  const sockets = new Set<Socket>()
  const state = { isCut: false, isFull: false, isSilent: false, refused: 0, commitsToLose: 0 }
  const server = createServer((near) => {
    near.on('error', () => {})
    if (state.isCut) {
      state.refused++
      near.destroy()
      return
    }
    if (state.isFull) return void near.once('data', () => near.end(tooMany))
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
    near.on('data', (bytes: Buffer) => far.write(bytes))
    far.on('data', (bytes: Buffer) => {
      const isLost = state.commitsToLose > 0 && bytes.includes(committed)
      if (!isLost) return void near.write(bytes)
      state.commitsToLose--
      near.destroy()
    })
    if (state.isSilent) for (const socket of [near, far]) socket.pause()
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const address = server.address()
  target.searchParams.delete('host')
  target.host = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const sql = openDatabase({ url: target.href, name: 'cut' })
  const end = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const cut = (): void => {
    state.isCut = true
    end()
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
    fill: () => {
      state.isFull = true
      end()
    },
    silence: () => {
      state.isSilent = true
      for (const socket of sockets) socket.pause()
    },
    join: () => {
      state.isCut = false
      state.isFull = false
      state.isSilent = false
      for (const socket of sockets) socket.resume()
    },
    refused: () => state.refused,
    loseCommits: (count) => {
      state.commitsToLose = count
    },
    commitsToLose: () => state.commitsToLose,
  }
}
