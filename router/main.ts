import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { endProcess } from '@quayside/contract/end-process.ts'
import { parseConfig } from './config.ts'
import { codeOf, createLog, describe } from './log.ts'
import { startRouter } from './router.ts'

/** The exit codes if another program has the port, and if this user may not listen there. */
const exitCodes = new Map([
  ['EADDRINUSE', 98],
  ['EACCES', 99],
])

const log = createLog((line) => {
  try {
    writeSync(2, line)
  } catch {
    // Traffic must survive a full disk or a closed pipe.
  }
})

// Last resort: one broken connection must never end the others.
process.on('uncaughtException', (error) => log.error('unexpected error', { error: error.stack ?? describe(error) }))
process.on('unhandledRejection', (reason) => log.error('unexpected rejection', { error: describe(reason) }))
process.on('SIGHUP', () => {})

try {
  const config = parseConfig(process.argv.slice(2))
  const router = await startRouter(config, log)
  log.info('router started', { host: config.host, port: router.port, pid: process.pid })
  // Otherwise Node.js writes compiled code at the end only, and a killed process leaves none.
  flushCompileCache()
  process.once('SIGTERM', () => router.leave().catch(() => {}))
  process.once('SIGINT', () => router.stop().catch(() => {}))
  await router.ended
  log.info('router ended')
  endProcess(0)
} catch (error) {
  log.error('router could not start', { error: describe(error) })
  endProcess(exitCodes.get(codeOf(error) ?? '') ?? 1)
}
