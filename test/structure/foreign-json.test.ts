import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sourceFiles } from './source-files.ts'

const root = join(import.meta.dirname, '..', '..')

/**
 * Files of the server that parse JSON by themselves, and who has written it. All other text comes
 * from outside and is read by server/lib/foreign-json.ts, because a text of a few megabytes can
 * stop the only thread of the server for seconds.
 */
const own: Readonly<Record<string, string>> = {
  'server/accounts/issuer-keys.ts': 'a key that the server sealed',
  'server/accounts/own-account.ts': 'a record that the server sealed',
  'server/accounts/record-adapter.ts': 'a record that the server sealed',
  'server/builders/json-form.ts': 'one instruction of a Dockerfile, which has 256 KiB at most',
  'server/clusters/cluster-store.ts': 'a copy of an object of its own',
  'server/clusters/credentials.ts': 'credentials that the server sealed',
  'server/clusters/part-store.ts': 'a copy of an object of its own',
  'server/config-issuers.ts': 'a setting of the operator',
  'server/database/binaries.ts': 'a file of a package',
  'server/database/snapshot-record.ts': 'a file of the server',
  'server/domains/route-rules.ts': 'settings that the API has checked',
  'server/domains/visitor-readers.ts': 'settings that the API has checked',
  'server/http/change-entry.ts': 'answers of the server itself',
  'server/http/server.ts': 'a file of the platform',
  'server/lib/foreign-json.ts': 'the reader of text from outside',
  'server/lib/log-text.ts': 'a line of the log of the server itself',
  'server/lib/socket-http.ts': 'answers of the Docker Engine of this machine',
  'server/lib/strict-json.ts': 'bodies of the API, of 1 MiB and 32 levels at most',
  'server/logs/line.ts': 'a line that the server wrote, with its checksum',
  'server/registries/helm-index.ts': 'runs in a worker with limits of time and memory',
  'server/registries/registries.ts': 'credentials that the server sealed',
  'server/releases/chart-values.ts': 'runs in a worker; a setting of the API',
  'server/releases/freeze.ts': 'variables that the server sealed',
  'server/routers/control-answer.ts': 'answers of the router, a program of the platform',
  'server/stacks/stacks.ts': 'a plan that the server sealed',
  'server/start/platform-version.ts': 'a file of the platform',
  'server/start/restore-snapshot.ts': 'a file of the server',
  'server/workflows/step-store.ts': 'the result of a step, which the server wrote',
}

/** Whether code parses JSON: by the language, or by a method of an answer. */
const parses = (code: string): boolean => /\bJSON\.parse\b|\.json\(\)|\bJSON\s*\[/.test(withoutComments(code))
const withoutComments = (code: string): string => code.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')

test('code that parses JSON is found', () => {
  for (const code of [
    'JSON.parse(text)',
    'await answer.json()',
    'texts.map(JSON.parse)',
    'sql`\x24{JSON.parse(text)}`',
  ])
    assert.ok(parses(code), code)
  for (const code of [
    'sql.json(rows)',
    'docker.json({ path })',
    'parseForeign(json)',
    '// JSON.parse is slow',
    '/** JSON.parse */',
  ])
    assert.ok(!parses(code), code)
})

test('only the reader of foreign JSON parses text from outside', () => {
  const found = sourceFiles()
    .filter((file) => file.startsWith('server/'))
    .filter((file) => parses(readFileSync(join(root, file), 'utf8')))
  assert.deepEqual(found, Object.keys(own).sort(), 'use parseForeign or readForeign of server/lib/foreign-json.ts')
})
