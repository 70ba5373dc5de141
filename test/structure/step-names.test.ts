import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')

/**
 * The names of all steps of a deployment. They are stored: a renamed step runs twice in deployments
 * that continue after an upgrade.
 */
const names = [
  'BEGIN',
  'BUILD',
  'BUILD_QUEUEING',
  'CANARY',
  'DEPLOYMENT',
  'DEPLOYMENT_QUEUEING',
  'DIFF',
  'END',
  'ENVIRONMENT',
  'EXECUTING',
  'FAIL',
  'FETCH_CHART',
  'FIND_BUILT',
  'FIND_IMAGE',
  'FINISH',
  'FREEZE',
  'GIT_CLONE',
  'MIRROR_IMAGE',
  'PIN',
  'PREPARE',
  'PUBLISH',
  'RENDER',
  'RETIRE',
  'ROLLBACK',
  'ROUTER_DEPLOYMENT',
  'RUN',
  'SKIP',
  'STILL_HEALTHY',
]

test('the steps of deployments have the names under which they are stored', () => {
  const found = globSync('server/rollout/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) => [
      ...readFileSync(join(root, path), 'utf8').matchAll(
        /`\$\{[\w.]+\}\/([A-Z_]+)`|'([A-Z]+_QUEUEING)'|\bstep\('([A-Z_]+)'/g,
      ),
    ])
    .map(([, ofService, queueing, ofRequest]) => ofService ?? queueing ?? ofRequest)
  assert.deepEqual([...new Set(found)].sort(), names)
})
