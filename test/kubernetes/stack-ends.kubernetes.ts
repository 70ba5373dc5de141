import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { StackBench } from '../support/stack-bench.ts'
import { stackEnds } from '../support/stack-ends.ts'
import { kubectl } from './cluster/commands.ts'
import { openClusterPlace } from './support/stack-place.ts'

// Runs of a stack on a cluster that are cancelled, killed or lost.

await stackEnds('ends of stacks on a cluster', openClusterPlace, deletedPodCases)

function deletedPodCases(get: () => StackBench): void {
  it('an apply whose pod is deleted in order ends in order, and its last state is kept', async () => {
    const { startApply, runs, states } = get()
    const { stack, container } = await startApply(61)
    const [namespace = '', pod = ''] = container.split('/')
    await kubectl(['delete', 'pod', '--namespace', namespace, pod], { timeoutMs: 120_000 })
    const { state, reason } = await stack.settles()
    assert.equal(state, 'DEPLOYMENT_ERROR')
    assert.match(reason ?? '', /^Somebody removed the pod of (?:this|the) run before its (?:files were read|end)\.$/)
    assert.deepEqual(await runs(stack), [{ action: 'APPLY', status: 'LOST' }])
    // The engine wrote it when it was asked to end: the second resource is tainted.
    assert.equal((await states(stack))[0]?.serial, 3)
  })
}
