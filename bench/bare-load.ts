import { connect } from 'node:net'
import { systemClock as clock } from '../server/lib/clock.ts'

export interface BareLoad {
  readonly port: number
  readonly host: string
  /** Requested in turn. */
  readonly paths: readonly string[]
  readonly seconds: number
}

const connections = 32
const empty = '\r\n\r\n'

/**
 * Measures GET requests answered a second, over 32 connections to 127.0.0.1. It only writes bytes
 * and finds the end of each response: a load program that costs more than a proxy measures itself.
 * Throws unless every response is a 200 with its length.
 */
export async function bareLoad({ port, host, paths, seconds }: BareLoad): Promise<number> {
  const requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}${empty}`))
  const startedAt = clock.monotonic()
  const endsAt = startedAt + seconds * 1000
  let answered = 0
  const next = (): Buffer | undefined =>
    clock.monotonic() < endsAt ? requests[answered++ % requests.length] : undefined
  await Promise.all(Array.from({ length: connections }, () => converse(port, next)))
  return answered / ((clock.monotonic() - startedAt) / 1000)
}

/** Sends requests on one connection, one after the other, until none is left. */
function converse(port: number, next: () => Buffer | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let answer = ''
  const ask = (): void => {
    const request = next()
    if (request) socket.write(request)
    else socket.destroy()
  }
  const onread = {
    buffer: Buffer.alloc(65_536),
    callback: (length: number, bytes: Uint8Array): boolean => {
      answer += Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1')
      const isWhole = hasEnded(answer)
      if (isWhole === undefined) socket.destroy(new Error(`under load, a request got the response ${answer}`))
      if (!isWhole) return true
      answer = ''
      ask()
      return true
    },
  }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
  socket.once('connect', ask)
  socket.once('error', reject)
  socket.once('close', resolve)
  socket.once('end', () => socket.destroy(new Error('a connection was closed under load')))
  return promise
}

/** Returns whether a response is complete. Undefined if it is not the expected one. */
function hasEnded(answer: string): boolean | undefined {
  const end = answer.indexOf(empty)
  if (end === -1) return false
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(answer)?.[1]
  if (length === undefined || !answer.startsWith('HTTP/1.1 200 ')) return undefined
  return answer.length >= end + empty.length + Number(length)
}
