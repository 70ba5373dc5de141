import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('main replaces control characters when a refusal quotes another program', () => {
  const refusal = 'in use by process 5: \u001b[2J\u001b]0;title\u0007\u009b31m\rdone\nnext line'
  const program = `import { main, Refusal } from ${JSON.stringify(import.meta.resolve('./progress.mjs'))}
    await main(() => { throw new Refusal(${JSON.stringify(refusal)}) })`
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  assert.equal(stderr, '\nin use by process 5: ?[2J?]0;title??31m?done\nnext line\n')
})
