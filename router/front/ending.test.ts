import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { until } from '../../test/support/until.ts'
import { silentLog } from '../log.ts'
import { Front } from './front.ts'
import { frontFiles } from './front-files.ts'

const nothing = async (): Promise<void> => {}
const skip = (await missingHaproxy()) ?? false

test('an HAProxy that ends while its router looks after it is not started again', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-front-'))
  const files = frontFiles(join(folder, 'control.sock'))
  const { promise: isMine, resolve } = Promise.withResolvers<boolean>()
  const answers: Promise<boolean>[] = [Promise.resolve(true)]
  let looks = 0
  const front = new Front({
    program: haproxy,
    log: silentLog,
    settings: {
      host: '127.0.0.1',
      port: await findFreePort(),
      tlsPort: undefined,
      files,
      connections: usualConnections,
      trusted: [],
      proxies: [],
    },
    hosts: () => new Map(),
    isListed: () => false,
    keysOf: () => [],
    certificates: () => [],
    isAsked: () => false,
    standIn: { open: nothing, openSecure: nothing, close: nothing, closePlain: nothing },
    isMine: () => {
      looks++
      return answers.pop() ?? isMine
    },
  })
  t.after(async () => {
    front.kill()
    await until('it has ended', () => front.hasEnded())
    await rm(folder, { recursive: true })
  })
  await front.start()
  await until('the router looks', () => looks === 2)
  front.kill()
  resolve(true)
  // Settles once the look has ended.
  await front.follow()
  await until('it has ended', () => front.hasEnded())
})
