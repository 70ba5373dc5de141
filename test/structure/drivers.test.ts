import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sourceFiles } from './source-files.ts'

// Engines, builders and routers belong to clusters. They are reached through engineOf, builderOf
// and routerOf, so that no code acts on one of another cluster.

const root = join(import.meta.dirname, '..', '..')

/** The files that create drivers of this machine: for the server, and for commands. */
const creators = [
  'server/composition/connecting.ts',
  'server/composition/ground.ts',
  'server/start/push-image.ts',
  'server/start/uninstall.ts',
]
const creates = /\b(?:new DockerEngine|new KubernetesEngine|createDockerBuilder|createOwnRouter)\(/

/** Files outside of the drivers' rooms that may name the type of a whole driver, and why. */
const holders: Readonly<Record<string, string>> = {
  'server/composition/connecting.ts': 'creates the drivers of connected clusters',
  'server/composition/ground.ts': 'creates the drivers of this machine',
  'server/disk/keeper.ts': 'keeps the disk of one engine',
  'server/domains/publisher.ts': 'hands routes to one router',
  'server/rollout/canary-looks.ts': 'asks one router for counts',
  'server/rollout/recipe.ts': 'resolves the drivers of one cluster',
  'server/scaling/sleeper.ts': 'watches one router',
  'server/scaling/waker.ts': 'listens to one router',
  'server/traffic/access-lines.ts': 'takes the lines of one router',
  'server/traffic/collector.ts': 'takes the numbers of one router',
}
const rooms = /^server\/(?:engines|builders|routers)\//

/** Whether a text imports the type of a whole engine, builder or router. */
const namesDriver = (text: string): boolean =>
  [...text.matchAll(/^import (?:type )?\{([^}]*)\} from '[^']*\/(?:engines|builders|routers)\/[^']*'/gm)].some(
    ([, names = '']) => names.split(',').some((name) => /^\s*(?:type )?(?:Engine|Builder|Router)\s*$/.test(name)),
  )

const files = sourceFiles()
  .filter((file) => file.startsWith('server/') && !rooms.test(file))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

test('an import of the type of a whole driver is found, and no other', () => {
  assert.ok(namesDriver("import type { Builder } from '../builders/index.ts'"))
  assert.ok(namesDriver("import { x, type Router, y } from '../routers/index.ts'"))
  assert.ok(namesDriver("import {\n  type Engine,\n  localEngine,\n} from '../engines/index.ts'"))
  assert.ok(!namesDriver("import { type BuilderOf, BuildError } from '../builders/index.ts'"))
  assert.ok(!namesDriver("import { Engine } from '../elsewhere/index.ts'"))
})

test('only the listed files create drivers', () => {
  const found = files.filter(({ text }) => creates.test(text)).map(({ file }) => file)
  assert.deepEqual(found, creators)
})

test('a driver is reached through its cluster', () => {
  const found = files.filter(({ text }) => namesDriver(text)).map(({ file }) => file)
  assert.deepEqual(found, Object.keys(holders), 'take engineOf, builderOf or routerOf of the cluster instead')
})
