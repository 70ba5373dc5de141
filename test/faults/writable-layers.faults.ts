import assert from 'node:assert/strict'
import { statfs } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import type { Tree } from '../support/git-remote.ts'
import { makeJob, program, type TestJob } from '../support/job.ts'
import { type PrivateEngine, whyNoBtrfsEngine } from '../support/private-engine.ts'
import { startPrivateServer } from '../support/private-server.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'

// Programs fill the disk outside their volumes. The engine stops them in the middle of a write.

const skip = (await whyNoBtrfsEngine()) ?? false
const gibibyte = 1024 ** 3
let engine: PrivateEngine
let server: ServerProcess
let close: (() => Promise<void>) | undefined
let environmentId: string
let application: TestApplication
let job: TestJob

before(
  async () => {
    if (skip) return
    ;({ engine, server, close } = await startPrivateServer(undefined, { btrfsMiB: 8 * 1024 }))
    environmentId = await makeEnvironment(server, 'layers')
  },
  { timeout: 120_000 },
)
after(async () => {
  await application?.git.remove()
  await job?.git.remove()
  await close?.()
})

/** EDQUOT, for which Node has no name, and ENOSPC. */
const full = [-122, -28]

/** Writes 2 GiB. `errno` is the reason of the failure, `mebibytes` the size written. */
const fill = `const fill = () => {
  const [out, part] = [fs.openSync('/tmp/big', 'w'), crypto.randomBytes(1 << 20)]
  for (let mebibytes = 0; mebibytes < 2048; mebibytes++) {
    try { fs.writeSync(out, part) } catch ({ errno }) { return { errno, mebibytes } }
  }
  return { errno: 0, mebibytes: 2048 }
}`
const filling = (version: string): Tree => ({
  Dockerfile: 'FROM quayside/node:24\nWORKDIR /app\nCOPY . ./\nCMD ["node", "app.js"]\n',
  'app.js': `
    const [fs, crypto] = [require('node:fs'), require('node:crypto')]
    ${fill}
    require('node:http').createServer((request, response) => {
      if (request.url === '/fill') return response.end(JSON.stringify(fill()))
      response.end(JSON.stringify({ version: '${version}', isThere: fs.existsSync('/tmp/big') }))
    }).listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
})

test('an application that writes 2 GiB is stopped at its limit, keeps running, and is deployed with an empty layer', {
  skip,
  timeout: 300_000,
}, async (t) => {
  const settings = { ephemeral_storage_in_gib: 1 }
  application = await makeApplication(server, { environmentId, name: 'fills', settings })
  await application.run(filling('first'))
  const free = async () => {
    const { bsize, bavail } = await statfs(engine.dataRoot)
    return bsize * bavail
  }
  const before = await free()
  const ask = async (path: string) => JSON.parse((await get(new URL(path, application.url).href)).body)
  const { errno, mebibytes } = await ask('/fill')
  const taken = before - (await free())
  t.diagnostic(`${errno} after ${mebibytes} MiB; the disk lost ${Math.round(taken / 1024 ** 2)} MiB`)
  assert.ok(full.includes(errno), `${errno}`)
  assert.ok(mebibytes > 900 && mebibytes <= 1024, `${mebibytes} MiB fitted`)
  assert.ok(taken < 1.2 * gibibyte, `${taken} bytes were used`)
  assert.equal((await application.status()).state, 'RUNNING')
  assert.deepEqual(await ask('/'), { version: 'first', isThere: true })
  await application.run(filling('second'))
  assert.deepEqual(await ask('/'), { version: 'second', isThere: false })
})

test('a run of a job that writes 2 GiB fails with its own exit code', { skip, timeout: 300_000 }, async () => {
  const on_start = program(`${fill}; const { errno } = fill(); console.log('failed with ' + errno); process.exit(7)`)
  const settings = { ephemeral_storage_in_gib: 1, max_nb_restart: 0 }
  job = await makeJob(server, { environmentId, name: 'fills-too', schedule: { on_start }, settings })
  await job.deploy()
  const { state } = await job.settles()
  assert.equal(state, 'DEPLOYMENT_ERROR')
  const [run] = await job.runs()
  assert.deepEqual([run?.status, run?.exit_code, run?.tries], ['ERROR', 7, 1])
  const printed = await Promise.all(full.map((errno) => job.printed(`failed with ${errno}`)))
  assert.deepEqual(printed.toSorted(), [0, 1])
})
