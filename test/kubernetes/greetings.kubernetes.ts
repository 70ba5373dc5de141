import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Bash, openBash, sectionsOf } from '../support/bash.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { provideRunnerImage } from '../support/stack.ts'
import { imageName } from './cluster/build.ts'
import { helmCache } from './cluster/settings.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'

// The commands of docs/charts-and-stacks.md, section by section, on the real cluster.

const root = fileURLToPath(new URL('../..', import.meta.url))
const sections = sectionsOf(readFileSync(join(root, 'docs', 'charts-and-stacks.md'), 'utf8'))
const image = (await provideRunnerImage('opentofu')) ?? assert.fail('OpenTofu was not built')
let server: ServerProcess
let bash: Bash

before(async () => {
  const env = { QUAYSIDE_HELM: join(helmCache, 'helm'), QUAYSIDE_OPENTOFU_IMAGE: image }
  server = await startServer({ env: { ...clusterSettings('greetings'), ...env } })
  const cluster = await addDeployedCluster(server, 'greetings')
  bash = openBash({
    cwd: root,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: server.dataDirectory,
      API: server.apiUrl,
      TOKEN: server.token,
      CLUSTER: cluster.id,
      IMAGE: imageName('busybox'),
    },
  })
})
after(async () => {
  await bash?.close()
  await server?.close()
})

/** The lines that a section must print, by its title. */
const expected: Readonly<Record<string, readonly RegExp[]>> = {
  Deploy: [
    /^DEPLOYED$/m,
    /^\{"greeting":"Greetings from Lübeck","knowsKey":true\}$/m,
    /^\+ create terraform_data\.key\n {4}input: \(sensitive\)$/m,
  ],
  Change: [/^DEPLOYED$/m, /^\{"greeting":"Greetings from Bremen","knowsKey":true\}$/m],
  'Roll back': [/^\{"greeting":"Greetings from Lübeck","knowsKey":true\}$/m],
  Copy: [/^DEPLOYED$/m, /^\{"greeting":"Greetings from Bremen","knowsKey":true\}$/m],
}

for (const { title, commands } of sections) {
  test(`the commands of "${title}" do what the page says`, async () => {
    const printed = await bash.run(commands, 300_000)
    for (const line of expected[title] ?? []) assert.match(printed, line)
    assert.doesNotMatch(printed, /\b(?:undefined|"status": ?[45]\d\d)\b/)
  })
}

test('the page has every section that is expected', () => {
  const titles = sections.map(({ title }) => title)
  assert.deepEqual(
    Object.keys(expected).filter((title) => !titles.includes(title)),
    [],
  )
})
