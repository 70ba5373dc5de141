import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { withImportTables } from './import-tables.ts'
import { joiningRooms, libraryPlaces, roomImports, typesPastTheDoor } from './imports.ts'
import { hasComputedImport, type Import, readImports } from './read-imports.ts'

const root = resolve(import.meta.dirname, '../..')

interface File {
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
}

const isTest = (path: string): boolean =>
  /\.(test|faults|cases|fixture|child|bench)\.ts$|\/(testing[\w-]*|test-[\w-]+|[\w-]+-for-tests)\.ts$|^(test|bench)\//.test(
    path,
  )

const sources = globSync(['contract/**/*.ts', 'server/**/*.ts', 'router/**/*.ts', 'client/**/*.ts'], { cwd: root })
  .filter((path) => !path.includes('node_modules') && !isTest(path))
  .map(read)

function read(path: string): File {
  const text = readFileSync(join(root, path), 'utf8')
  return { path, text, imports: readImports(text) }
}

const roomOf = (path: string): string | undefined => /^server\/([^/]+)\//.exec(path)?.[1]
const targetOf = (file: File, specifier: string): string => relative(root, resolve(root, dirname(file.path), specifier))

test('the readings are not empty', () => {
  assert.ok(sources.length > 200, `${sources.length} files`)
  assert.ok(sources.reduce((sum, file) => sum + file.imports.length, 0) > 1000)
})

test('every dynamic import names its module', () => {
  const lazy = sources.find(({ path }) => path === 'server/engines/docker/probe.ts')
  assert.ok(lazy?.imports.some(({ specifier }) => specifier === './grpc-probe.ts'))
  const wrong = sources.filter(({ text }) => hasComputedImport(text)).map(({ path }) => path)
  assert.deepEqual(wrong, [], 'a computed name hides the import from these tests')
})

test('rooms import only the rooms that they may, and through the door', () => {
  const wrong: string[] = []
  const unused = new Set(Object.entries(roomImports).flatMap(([room, others]) => others.map((to) => `${room} → ${to}`)))
  for (const file of sources) {
    const from = roomOf(file.path)
    for (const { specifier, typeOnly } of file.imports) {
      if (!specifier.startsWith('.')) continue
      const target = targetOf(file, specifier)
      const to = roomOf(target)
      if (to === undefined || to === from) continue
      unused.delete(`${from} → ${to}`)
      const joins = from === undefined || joiningRooms.includes(from)
      const allowed = joins || to === 'lib' || roomImports[from]?.includes(to)
      const begins = from === undefined && to === 'start'
      const byDoor =
        to === 'lib' || begins || target === `server/${to}/index.ts` || (typeOnly && typesPastTheDoor.includes(target))
      if (!allowed || !byDoor) wrong.push(`${file.path} → ${target}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual([...unused], [], 'an entry that no import uses is removed')
})

test('ARCHITECTURE.md has the tables of imports', () => {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  assert.equal(page, withImportTables(page), 'run: npm run emit')
})

test('the Docker daemon is never told to go to a registry', () => {
  const programs = globSync(['bootstrap/**/*.mjs', 'images/**/*.mjs'], { cwd: root })
    .filter((path) => !/\.test\.mjs$/.test(path))
    .map(read)
  // It follows redirects and realms wherever they lead, past the guard of addresses.
  const orders = /fromImage|\/distribution\/|\.(?:pull|createImage)\(|remotecontext|\bpull: (?!false)/
  // The generated code of a service of BuildKit has a method of that name.
  const written = sources.filter(({ path }) => path !== 'server/lib/grpc/upload_pb.ts')
  const told = [...written, ...programs].filter(({ text }) => orders.test(text)).map(({ path }) => path)
  assert.deepEqual(told, [], 'images are fetched by server/engines/docker/registry/ (docs/adr/)')
})

test('every room is listed, and the table has no cycle', () => {
  const rooms = new Set(sources.flatMap((file) => roomOf(file.path) ?? []))
  assert.deepEqual(
    [...rooms].filter((room) => !joiningRooms.includes(room) && !(room in roomImports)),
    [],
  )
  const visit = (room: string, above: readonly string[]): void => {
    assert.ok(!above.includes(room), `cycle: ${[...above, room].join(' → ')}`)
    for (const next of roomImports[room] ?? []) visit(next, [...above, room])
  }
  for (const room of Object.keys(roomImports)) visit(room, [])
})

test('the workspaces stand in one direction', () => {
  const wrong = sources.flatMap((file) =>
    file.imports
      .map(({ specifier }) => (specifier.startsWith('.') ? targetOf(file, specifier) : specifier))
      .filter((target) => {
        if (file.path.startsWith('contract/')) return target.startsWith('server/') || target.startsWith('@quayside/')
        if (file.path.startsWith('router/')) return target.startsWith('server/')
        if (file.path.startsWith('client/')) return target.startsWith('server/') || target.startsWith('router/')
        return file.path.startsWith('server/') && (target.startsWith('router/') || target.startsWith('client/'))
      })
      .map((target) => `${file.path} → ${target}`),
  )
  assert.deepEqual(wrong, [])
})

test('each library is named in its own room only', () => {
  const wrong: string[] = []
  const unused = new Set(
    Object.entries(libraryPlaces).flatMap(([name, places]) => places.map((at) => `${name}: ${at}`)),
  )
  for (const file of sources) {
    for (const { specifier } of file.imports) {
      if (specifier.startsWith('.') || specifier.startsWith('node:') || specifier.startsWith('@quayside/')) continue
      const name = specifier.startsWith('@')
        ? specifier.split('/').slice(0, 2).join('/')
        : (specifier.split('/')[0] ?? '')
      const place = libraryPlaces[name]?.find((one) => file.path.startsWith(one))
      if (place === undefined) wrong.push(`${file.path}: ${specifier}`)
      unused.delete(`${name}: ${place}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual([...unused], [], 'a place that no longer imports the library is removed')
})

/** What only these files may do, and how it is recognised. */
const reserved: Record<string, { pattern: RegExp; places: readonly string[] }> = {
  'start programs': {
    pattern: /^import (?!type)[^\n]*node:child_process/m,
    places: ['server/lib/run.ts', 'router/front/start-haproxy.ts'],
  },
  'read the environment': { pattern: /\bprocess\.env\b(?!.*\*\/)/, places: ['server/config.ts'] },
  'set timers': {
    pattern: /\bsetTimeout\(|\bsetInterval\(|node:timers/,
    places: ['server/lib/clock.ts', 'contract/end-process.ts', 'router/'],
  },
  'hash passwords on the thread that serves everybody': {
    pattern: /\b(?:scrypt|pbkdf2)Sync\b/,
    places: [],
  },
  'ask for the time': { pattern: /\bDate\.now\(/, places: ['server/lib/', 'router/'] },
  'read the address of a connection': {
    pattern: /\brequest\.ip\b|\bremoteAddress\b/,
    places: [
      'server/http/budgets.ts',
      'server/http/connections.ts',
      'server/http/streams/silent-peers.ts',

      'router/',
    ],
  },
  'write to the console': {
    pattern: /\bconsole\./,
    places: [
      'server/main.ts',
      'server/check-upgrade.ts',
      ...['doctor', 'push-image', 'restore-snapshot', 'rotate-key', 'uninstall', 'verify-audit'].map(
        (name) => `server/start/${name}.ts`,
      ),
    ],
  },
}
for (const [what, { pattern, places }] of Object.entries(reserved)) {
  test(`${places.length === 0 ? 'no file' : `only ${places.join(', ')}`} may ${what}`, () => {
    const wrong = sources.filter(
      ({ path, text }) => pattern.test(text) && !places.some((place) => path.startsWith(place)),
    )
    assert.deepEqual(
      wrong.map(({ path }) => path),
      [],
    )
  })
}

test('the compiler is never silenced', () => {
  const wrong = sources.filter(({ text }) =>
    /@ts-(ignore|expect-error|nocheck)|[:<]\s*any\s*[,;)>\]=|&}]|\bas any\b/.test(text),
  )
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('SQL stands in stores', () => {
  const place = /^server\/(database|workflows|vault)\/|-store\.ts$/
  const wrong = sources.filter(({ path, text }) => /\b(?:sql|database|tx)(?:<[^`]*>)?`/.test(text) && !place.test(path))
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

/** Where a kind of service may be told by its name, and why. */
const tellsKindsApart: Record<string, string> = {
  'contract/': 'the table of kinds, and the enumerations of the wire',
  'server/releases/to-workload.ts': 'settings become a workload',
  'server/releases/database-': 'what the official images of databases need',
  'server/releases/job-settings.ts': 'what a job runs, and when',
  'server/rollout/database-place.ts': 'where a database is published',
  'server/rollout/job-': 'how a job is run',
  'server/rollout/deploy-stack.ts': 'how a stack is deployed',
  'server/rollout/stack-': 'how a stack is run',
  'server/stacks/': 'the settings of a stack',
  'server/releases/stack-variables.ts': 'the variables of a stack',
  'server/config-forms.ts': 'a name of an engine of stacks, not a kind',
  'server/rollout/chart-': 'what a chart consists of',
  'server/rollout/deploy-chart.ts': 'how a chart is deployed',
  'server/config.ts': 'the name of a program, not a kind',
  'server/releases/versioned.ts': 'what the version of a kind is made from',
  'server/start/first-start.ts': 'the example is an application',
  'server/services/': 'the settings of each kind as a record',
  'server/webhooks/events.ts': 'the wire has one list for each kind',
  'server/variables/built-ins.ts': 'which built-in variables a kind announces',
  'server/variables/record.ts': 'databases have no scope of their own on the wire',
  'server/engines/docker/events.ts': 'a word of the engine, not a kind',
  'server/engines/kubernetes/': 'words of Kubernetes, not kinds',
  'server/http/handlers/kind.ts': 'a mode of databases, not a kind',
  'server/logs/resume-point.ts': 'the container of a line is a member of that name',
  'server/logs/service-line.ts': 'the same',
}

test('kinds of services are distinguished in few places', () => {
  const kind = /(?<!Pick<\w+, )'(?:application|container|database|job|helm|terraform)'/i
  const found = sources.filter(({ text }) => kind.test(text)).map(({ path }) => path)
  const places = Object.keys(tellsKindsApart)
  assert.deepEqual(
    found.filter((path) => !places.some((place) => path.startsWith(place))),
    [],
  )
  // An exception that is no longer needed is taken back.
  assert.deepEqual(
    places.filter((place) => !found.some((path) => path.startsWith(place)) && !place.endsWith('to-workload.ts')),
    [],
  )
})

test('rights are taken apart in the contract only, because each of their forms counts', () => {
  const looks = sources.filter(({ text }) => /'(?:custom|both)' in /.test(text)).map(({ path }) => path)
  assert.deepEqual(looks, ['contract/roles.ts'])
})

test('no value is claimed to be there without a look', () => {
  const wrong = sources.filter(({ text }) => /[\w)\]]!(?:[.,;)\]]|\n)/.test(text.replace(/`[^`]*`|'[^'\n]*'/g, "''")))
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})
