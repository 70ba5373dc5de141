import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { makeJob, program, type TestJob } from '../support/job.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'
import { web } from '../support/trees.ts'

// Jobs on a real engine. Services of later stages get their outputs, and a failure stops those
// services.

const outputs = { URL: { value: 'db.internal' }, TOKEN: { value: 'canary-e2e-jobs', sensitive: true } }
const write = program(
  `fs.writeFileSync('/qovery-output/qovery-output.json', ` +
    `${JSON.stringify(JSON.stringify(outputs))});console.log('wrote')`,
)

let server: ServerProcess
let environmentId: string
let application: TestApplication
let seed: TestJob

before(async () => {
  server = await startServer()
  environmentId = await makeEnvironment(server, 'jobs')
  seed = await makeJob(server, { environmentId, name: 'seed', schedule: { on_start: write } })
  application = await makeApplication(server, { environmentId, name: 'web' })
})
after(async () => {
  await Promise.all([seed, application].map((one) => one?.git.remove()))
  await server?.close()
})

const deployAll = () => server.must('POST', `/environment/${environmentId}/deploy`)
const stateOf = async (id: string) =>
  (await server.sql<{ state: string }[]>`select state from service where id = ${id}`)[0]?.state

test('an application of a later stage gets the outputs of a job in the same deployment', async () => {
  await application.git.push(web('first'))
  await deployAll()
  const ended = await seed.settles()
  assert.deepEqual([ended.state, ended.reason], ['DEPLOYED', null])
  assert.equal((await application.settles()).state, 'RUNNING')
  const variable = (name: string) => `QOVERY_OUTPUT_JOB_Z${seed.id.slice(0, 8).toUpperCase()}_${name}`
  assert.equal((await get(`${application.url}/variable/${variable('URL')}`)).body, 'db.internal')
  assert.equal((await get(`${application.url}/variable/${variable('TOKEN')}`)).body, outputs.TOKEN.value)
  const log = JSON.stringify(await server.must('GET', `/environment/${environmentId}/logs`))
  assert.match(log, /Its outputs are variables of the environment now: URL, TOKEN \(secret\)\./)
  assert.doesNotMatch(log, /canary-e2e-jobs/)
})

test('a failed job keeps the old version of later services', async () => {
  await server.must('PUT', `/job/${seed.id}`, {
    schedule: { on_start: program(`console.log('no such table');process.exitCode = 9`) },
  })
  await application.git.push(web('second'))
  await deployAll()
  const ended = await seed.settles()
  assert.equal(ended.state, 'DEPLOYMENT_ERROR')
  assert.match(ended.reason ?? '', /It ended with exit code 9\.\nno such table/)
  await application.settles()
  assert.equal((await application.answer()).body, 'first')
  assert.equal(await stateOf(application.id), 'DEPLOYED')
})
