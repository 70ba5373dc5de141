import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type StackBench, slowApply, stackSuite } from './stack-bench.ts'
import type { OpenStackPlace } from './stack-place.ts'
import { until } from './until.ts'

/** Runs of a stack at the same time, and the lock of a run that is gone, wherever they run. */
export const stackLocks = (name: string, open: OpenStackPlace): Promise<void> =>
  stackSuite({ name, folder: 'stack-locks', open }, togetherCases, deadCases)

const success = { action: 'APPLY', status: 'SUCCESS' }

function togetherCases(get: () => StackBench): void {
  it('a second deployment of a stack waits for the first one, and applies on its state', async () => {
    const { startApply, runs, overlaps, states } = get()
    const { stack } = await startApply(5)
    await stack.git.push({ 'main.tf': 'resource "terraform_data" "first" { input = 2 }\n' })
    await stack.deploy()
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.deepEqual(await runs(stack), [success, success])
    assert.equal(await overlaps(stack), 0)
    assert.equal((await states(stack)).length, 2)
    assert.match((await stack.log()).join('\n'), /The plan: 0 to create, 1 to change, 0 to replace, 1 to destroy\./)
  })

  it('deployments of an environment and of its stack at the same time never run it twice at once', async () => {
    const { place, newStack, runs, overlaps, addresses } = get()
    const stack = await newStack()
    await stack.git.push(slowApply(3))
    const environment = `/environment/${place.environmentId}/deploy`
    await Promise.all([place.server.api('POST', environment), stack.deploy(), place.server.api('POST', environment)])
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.equal(await overlaps(stack), 0)
    for (const run of await runs(stack)) assert.deepEqual(run, success)
    assert.deepEqual(await addresses(stack), ['terraform_data.first', 'terraform_data.slow'])
  })
}

function deadCases(get: () => StackBench): void {
  it('a run whose container is removed while the server is away keeps its lock until it is released', async () => {
    const { place, startApply, runs, states } = get()
    const { stack, container } = await startApply(60)
    await until('the first resource is in the kept state', async () => (await states(stack))[0]?.serial === 1)
    await place.server.kill9()
    await place.remove(container)
    await place.server.restart({ env: place.env })
    assert.equal((await stack.settles()).state, 'DEPLOYMENT_ERROR')
    assert.deepEqual(await runs(stack), [{ action: 'APPLY', status: 'LOST' }])
    await place.server.must('POST', `/environment/${place.environmentId}/deploy`)
    const locked = await stack.settles()
    assert.equal(locked.state, 'DEPLOYMENT_ERROR')
    assert.match(locked.reason ?? '', /^The stack is locked: .* with serial 1 is kept.* FORCE_UNLOCK\.$/)
    await stack.deploy({ action: 'FORCE_UNLOCK' })
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    await stack.git.push(slowApply(0))
    await stack.deploy()
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.match((await stack.log()).join('\n'), /The plan: 1 to create, 0 to change, 0 to replace, 0 to destroy\./)
  })
}
