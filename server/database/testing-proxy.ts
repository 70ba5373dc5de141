import { connect, createServer, type Socket } from 'node:net'
import type { Database } from './database.ts'
import { openDatabase } from './pool.ts'
import type { Cleanup } from './testing.ts'

export interface CutDatabase {
  readonly sql: Database
  readonly url: string
  /** Ends all connections, and new ones at once until `join`. */
  cut(): void
  /** Ends all connections, and answers new ones like a PostgreSQL without a free one, until `join`. */
  fill(): void
  /** Swallows what either side sends, and new connections, until `join`: all of it arrives then. */
  silence(): void
  join(): void
  /** Connections that were ended at once. */
  refused(): number
  /** Ends as many connections right after PostgreSQL has committed a transaction of theirs, before they hear of it. */
  loseCommits(count: number): void
  /** How many of them are still to be ended. */
  commitsToLose(): number
}

/** How PostgreSQL tells that a transaction is committed: a message with this text. */
const committed = 'C\0\0\0\x0bCOMMIT\0'
const fields = 'SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0'
/** How PostgreSQL refuses a connection when others have all of them. */
const tooMany = Buffer.concat([Buffer.from('E'), Buffer.from([0, 0, 0, fields.length + 4]), Buffer.from(fields)])

/** A way to the database at `url` that a test can cut. Register what uses it before, so that it ends before. */
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
