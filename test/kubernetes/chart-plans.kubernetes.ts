import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { makeEnvironment } from '../support/application.ts'
import { type GitRemote, openGitRemote } from '../support/git-remote.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { openKube } from './support/access.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'
import { configMap, makeChart, smallChart, type TestChart } from './support/charts.ts'
import { helmProgram } from './support/helm.ts'

// Deployments that only show what they would change, and values at a commit of their own. The tests
// build on each other.

let server: ServerProcess
let environmentId: string
let chart: TestChart
let values: GitRemote
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const secret = (text: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: sealed}\nstringData: {word: "${text}"}\n`
const setPassword = (value: string) =>
  server.must('POST', '/variable', {
    ...{ key: 'PASSWORD', value, is_secret: true, is_file: false },
    ...{ variable_scope: 'HELM', variable_parent_id: chart.id },
  })
const textOf = async (): Promise<unknown> => {
  const { items } = await kube.list(kinds.configMap, { labels: { [label.service]: chart.id } }, limit())
  const object: unknown = items.find(({ metadata }) => metadata.name.endsWith('-small'))
  return Object(Object(object).data).text
}
/** Returns the lines of the last deployment. */
async function diff(): Promise<string> {
  await server.must('POST', `/helm/${chart.id}/deploy?forceEvent=DIFF`, {})
  await chart.settles()
  return chart.lines()
}

interface Diff {
  readonly id: string
  readonly is_current: boolean
  readonly has_changes: boolean
  readonly counts: object
  readonly objects: readonly { kind: string; name: string; change: string; fields: readonly object[] }[]
}
/** Returns the newest diff, as the operations of the chart return it. */
async function newest(): Promise<Diff> {
  const [first] = (await server.must<{ results: Diff[] }>('GET', `/helm/${chart.id}/diff`)).results
  return server.must<Diff>('GET', `/helm/${chart.id}/diff/${first?.id}`)
}
/** Returns the diff in the dry run of the environment. */
async function planned(): Promise<Diff | null | undefined> {
  const path = `/environment/${environmentId}/deploy?dry_run=true`
  const { services } = await server.must<{ services: { chart_diff: Diff | null }[] }>('POST', path)
  return services[0]?.chart_diff
}

before(async () => {
  server = await startServer({ env: { ...clusterSettings('chart-plans'), QUAYSIDE_HELM: helmProgram } })
  const cluster = await addDeployedCluster(server, 'plans')
  environmentId = await makeEnvironment(server, 'plans', cluster.id)
  chart = await makeChart(server, { environmentId, name: 'plans' })
  values = await openGitRemote({ url: `${server.apiUrl}/git/values.git`, token: server.token })
})
after(async () => {
  await server.must('DELETE', `/environment/${environmentId}`)
  await until('it is gone', async () => (await server.api('GET', `/environment/${environmentId}`)).status === 404)
  await server.close()
  kube.close()
})

test('the diff of a chart that was never deployed lists its objects and installs nothing', async () => {
  await chart.git.push(smallChart())
  const lines = await diff()
  assert.match(lines, /Create ConfigMap chart-\S+-small/)
  assert.match(lines, /1 object\(s\) would change\. Nothing was installed\./)
  assert.equal((await chart.settles()).state, 'READY')
  assert.equal(await textOf(), undefined)
})

test('the diff of a deployed chart lists created, changed and deleted objects, and changes nothing', async () => {
  await setPassword('hunter2hunter2')
  const password = [['text', 'is {{PASSWORD}}']]
  await chart.edit({ values_override: { set: [], set_string: password, set_json: [], file: null } })
  await chart.git.push(
    smallChart({ 'chart/templates/a.yaml': configMap('old'), 'chart/templates/b.yaml': secret('one') }),
  )
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  await chart.git.push(
    smallChart({ 'chart/templates/a.yaml': configMap('new'), 'chart/templates/b.yaml': secret('two') }),
  )
  await chart.set([['text', 'is other']])
  const lines = await diff()
  assert.match(lines, /Create ConfigMap new/)
  assert.match(lines, /Delete ConfigMap old/)
  assert.match(lines, /Change ConfigMap chart-\S+-small/)
  assert.match(lines, / data\.text: \\"is \*{6}\\" → \\"is other\\"/)
  assert.match(lines, /Change Secret sealed.* stringData\.word: \*{6}/s)
  assert.doesNotMatch(lines, /hunter2|two/)
  const shown = await newest()
  assert.deepEqual([shown.counts, shown.has_changes], [{ create: 1, change: 2, delete: 1 }, true])
  const of = (kind: string, change: string) => shown.objects.find((one) => one.kind === kind && one.change === change)
  assert.deepEqual(of('ConfigMap', 'CREATE')?.fields.at(-1), {
    ...{ path: 'data.text', before: null, after: '"x"', is_hidden: false },
  })
  assert.deepEqual(of('ConfigMap', 'CHANGE')?.fields, [
    { path: 'data.text', before: '"is ******"', after: '"is other"', is_hidden: false },
  ])
  assert.deepEqual(of('Secret', 'CHANGE')?.fields, [
    { path: 'stringData.word', before: null, after: null, is_hidden: true },
  ])
  assert.equal(of('ConfigMap', 'DELETE')?.name, 'old')
  assert.deepEqual(await planned(), shown)
  assert.equal(shown.is_current, true)
  assert.equal((await chart.settles()).state, 'DEPLOYED')
  assert.equal(await textOf(), 'is hunter2hunter2')
})

test('a chart that cannot be rendered fails its diff, and the service keeps its state', async () => {
  await chart.git.push(smallChart({ 'chart/templates/a.yaml': '{{ fail "no such thing" }}' }))
  assert.match(await diff(), /no such thing/)
  assert.equal((await chart.settles()).state, 'DEPLOYED')
  assert.equal(await textOf(), 'is hunter2hunter2')
})

test('a deployment without changes has an empty diff', async () => {
  await chart.git.push(smallChart())
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  assert.equal(await planned(), null)
  assert.equal((await newest()).is_current, false)
  assert.match(await diff(), /Nothing would change\. Nothing was installed\./)
  assert.deepEqual(Object(await planned()).objects, [])
  await chart.set([['text', 'is another']])
  assert.equal(Object(await planned()).is_current, false)
})

test('a variable that names none is a warning of the dry run and of the log, with the place', async () => {
  await server.must('POST', '/variable', {
    ...{ key: 'GREETING', value: 'Hello {{NOBODY}}', is_secret: false, is_file: false },
    ...{ variable_scope: 'HELM', variable_parent_id: chart.id },
  })
  const set_string = [['text', 'qovery.env.GREETING']]
  await chart.edit({ values_override: { set: [], set_string, set_json: [], file: null } })
  const warning =
    'set_string "text" refers to the variable GREETING, which contains {{NOBODY}}. No variable has that name, so an ' +
    'empty text stands in its place.'
  const path = `/environment/${environmentId}/deploy?dry_run=true`
  const { services } = await server.must<{ services: { warnings: string[] }[] }>('POST', path)
  assert.deepEqual(services[0]?.warnings, [warning])
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  assert.equal(await textOf(), 'Hello ')
  assert.ok((await chart.lines()).includes(JSON.stringify(warning).slice(1, -1)))
  await chart.set([['text', 'qovery.env.NOBODY']])
  const { services: next } = await server.must<{ services: { warnings: string[] }[] }>('POST', path)
  assert.match(String(next[0]?.warnings), /set "text" refers to the variable NOBODY, which the service does not have/)
})

test('values are taken from the commit that a deployment names', async () => {
  const first = await values.push({ 'values.yaml': 'text: first\n' })
  await values.push({ 'values.yaml': 'text: second\n' })
  const file = { git: { git_repository: { url: values.url, branch: 'main' }, paths: ['values.yaml'] } }
  await chart.edit({ values_override: { set: [], set_string: [], set_json: [], file } })
  assert.equal((await chart.run()).state, 'DEPLOYED')
  assert.equal(await textOf(), 'second')
  const at = { values_override_git_commit_id: first.slice(0, 12) }
  await server.must('POST', `/helm/${chart.id}/deploy`, at)
  assert.equal((await chart.settles()).state, 'DEPLOYED')
  assert.equal(await textOf(), 'first')
  assert.ok((await chart.lines()).includes(`Its values are those of commit ${first.slice(0, 12)}`))
  assert.equal((await chart.run()).state, 'DEPLOYED')
  assert.equal(await textOf(), 'second')
  await server.must('POST', `/environment/${environmentId}/service/deploy`, { helms: [{ id: chart.id, ...at }] })
  assert.equal((await chart.settles()).state, 'DEPLOYED')
  assert.equal(await textOf(), 'first')
})

test('a commit of values that does not exist is refused by the name of its field', async () => {
  const body = { values_override_git_commit_id: '0123456789abcdef' }
  const { status, body: answer } = await server.api('POST', `/helm/${chart.id}/deploy`, body)
  assert.equal(status, 400)
  assert.match(JSON.stringify(answer), /values_override_git_commit_id: /)
})
