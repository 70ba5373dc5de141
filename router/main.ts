import { writeSync } from 'node:fs'
import { parseConfig } from './config.ts'
import { codeOf, createLog, describe } from './log.ts'
import { startRouter } from './router.ts'

/** The exit code that says: the port of the applications belongs to another program. */
const portInUse = 98

const log = createLog((line) => {
  try {
    writeSync(2, line)
  } catch {
    // A full disk or a closed pipe must not end traffic.
  }
})

// Last resort: one broken connection must never take the others with it.
process.on('uncaughtException', (error) => log.error('unexpected error', { error: error.stack ?? describe(error) }))
process.on('unhandledRejection', (reason) => log.error('unexpected rejection', { error: describe(reason) }))
process.on('SIGHUP', () => {})

try {
  const config = parseConfig(process.argv.slice(2))
  const router = await startRouter(config, log)
  log.info('router started', { host: config.host, port: router.port, pid: process.pid })
  process.once('SIGTERM', () => router.stop().catch(() => {}))
  process.once('SIGINT', () => router.stop().catch(() => {}))
  await router.ended
  log.info('router ended')
  process.exit(0)
} catch (error) {
  log.error('router could not start', { error: describe(error) })
  process.exit(codeOf(error) === 'EADDRINUSE' ? portInUse : 1)
}
