import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silent } from '../../lib/attempt.ts'
import { newId } from '../../lib/id.ts'
import { makeReader } from './copy-helper.ts'
import { label, volumeName } from './labels.ts'
import { pretend } from './test-daemon.ts'

/** Creates a helper in a daemon whose volume has these labels by then. Returns the calls. */
async function makeOne(labels: object | undefined): Promise<string[]> {
  const calls: string[] = []
  const id = newId()
  await pretend(
    ({ method, url = '' }, response) => {
      const path = url.replace(/\?.*/, '').replace(volumeName({ id }), 'NAME')
      calls.push(`${method} ${path}`)
      const status = method === 'DELETE' ? 204 : 200
      response.writeHead(status).end(JSON.stringify(path === '/volumes/NAME' ? { Labels: labels } : { Id: 'helper' }))
    },
    async (daemon) => {
      const attempt = { signal: AbortSignal.timeout(60_000), output: silent }
      const wish = { id, of: volumeName({ id }), end: 'read' } as const
      assert.equal(await makeReader({ daemon, instance: 'ours' }, wish, attempt), 'helper')
    },
  )
  return calls
}

test('a volume that is removed at the last moment is not read as an empty one', async () => {
  assert.deepEqual(await makeOne({ [label.instance]: 'ours' }), ['POST /containers/create', 'GET /volumes/NAME'])
  // Docker itself created this volume for the helper.
  await assert.rejects(makeOne({}), { name: 'EngineError', reason: 'refused', message: /was removed/ })
})
