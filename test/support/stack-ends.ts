import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type StackBench, slowApply, stackSuite } from './stack-bench.ts'
import type { OpenStackPlace } from './stack-place.ts'
import { until } from './until.ts'

const bothAddresses = ['terraform_data.first', 'terraform_data.slow']

/** Kills the engine of a run, and not the program that started it. */
const killEngine =
  'for file in /proc/[0-9]*/cmdline; do case "$(tr "\\0" " " <$file)" in ' +
  'terraform\\ apply*) file=$(dirname $file); kill -9 $(basename $file);; esac; done'

/** The steps of a run at which a server is killed. */
const points = ['task.created', 'task.started', 'task.ended', 'stack.ran'] as const

/**
 * Runs of a stack that are cancelled, killed or lost, wherever the place runs them. The state that
 * they wrote is kept, and no run begins twice.
 */
export const stackEnds = (
  name: string,
  open: OpenStackPlace,
  ...more: readonly ((get: () => StackBench) => void)[]
): Promise<void> =>
  stackSuite({ name, folder: 'stack-ends', open }, killedServerCases, endedCases, lostCases, choiceCases, ...more)

function killedServerCases(get: () => StackBench): void {
  it('a server that is killed in an apply joins it again, and it runs once', async () => {
    const { place, startApply, addresses, runs } = get()
    const { stack } = await startApply(8)
    await place.server.kill9()
    await place.server.restart({ env: place.env })
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.deepEqual(await addresses(stack), bothAddresses)
    assert.deepEqual(await runs(stack), [{ action: 'APPLY', status: 'SUCCESS' }])
  })

  for (const point of points) {
    it(`a server that is killed at ${point} of a plan continues with it, and applies once`, async () => {
      const { place, newStack, addresses, states } = get()
      await place.server.restart({ env: place.env, failpoint: `${point}:kill` })
      const stack = await newStack()
      await stack.git.push(slowApply(0))
      await stack.deploy()
      await place.server.exited()
      await place.server.restart({ env: place.env })
      assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
      assert.deepEqual(await addresses(stack), bothAddresses)
      assert.equal((await states(stack)).length, 1)
    })
  }
}

function endedCases(get: () => StackBench): void {
  it('a cancelled apply ends in order, and the resources that it created are in the kept state', async () => {
    const { place, startApply, addresses, runs, states } = get()
    const { stack } = await startApply(20)
    await place.server.must('POST', `/environment/${place.environmentId}/cancelDeployment`)
    assert.equal((await stack.settles()).state, 'CANCELED')
    const kept = await addresses(stack)
    assert.ok(kept.includes('terraform_data.first'), kept.join())
    assert.equal((await states(stack)).length, 1)
    assert.deepEqual(await runs(stack), [{ action: 'APPLY', status: 'CANCELED' }])
  })

  it('an apply whose engine is killed fails, keeps its state and leaves the stack unlocked', async () => {
    const { place, startApply, runs } = get()
    const { stack, container } = await startApply(40)
    await place.inside(container, killEngine)
    const killed = await stack.settles()
    assert.equal(killed.state, 'DEPLOYMENT_ERROR')
    assert.match(killed.reason ?? '', /^The stack could not apply its plan/)
    assert.deepEqual(await runs(stack), [{ action: 'APPLY', status: 'ERROR' }])
    assert.deepEqual(await stack.run(slowApply(0)), { state: 'DEPLOYED', reason: null })
    assert.match((await stack.log()).join('\n'), /The plan: 1 to create, 0 to change, 0 to replace, 0 to destroy\./)
  })
}

function lostCases(get: () => StackBench): void {
  it('an apply whose container is removed keeps what it had created, and locks the stack', async () => {
    const { place, startApply, runs, states, lastTerms, events } = get()
    const { stack, container } = await startApply(60)
    await until('the first resource is in the kept state', async () => (await states(stack))[0]?.serial === 1)
    await place.remove(container)
    assert.equal((await stack.settles()).state, 'DEPLOYMENT_ERROR')
    assert.deepEqual(await runs(stack), [{ action: 'APPLY', status: 'LOST' }])
    const locked = await stack.run(slowApply(0))
    assert.equal(locked.state, 'DEPLOYMENT_ERROR')
    const reason = locked.reason ?? ''
    assert.match(
      reason,
      /^The stack is locked: its run \S+ ended without its last state\. Its state with serial 1 is kept/,
    )
    assert.match(reason, /FORCE_UNLOCK\.$/)
    await stack.deploy({ action: 'FORCE_UNLOCK' })
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.deepEqual(await lastTerms(stack), ['TERRAFORM_FORCE_UNLOCK', 'TERRAFORM_FORCE_UNLOCK_STATE'])
    assert.deepEqual(await events(stack, 2), ['TRIGGER_TERRAFORM_FORCE_UNLOCK', 'TERRAFORM_FORCE_UNLOCK_SUCCEEDED'])
    assert.deepEqual(await stack.run(slowApply(0)), { state: 'DEPLOYED', reason: null })
    assert.match((await stack.log()).join('\n'), /The plan: 1 to create, 0 to change, 0 to replace, 0 to destroy\./)
    assert.equal((await states(stack)).length, 2)
  })
}

function choiceCases(get: () => StackBench): void {
  it('a deployment with the action PLAN applies nothing', async () => {
    const { newStack, addresses, runs, lastTerms, events } = get()
    const stack = await newStack()
    await stack.git.push(slowApply(0))
    await stack.deploy({ action: 'PLAN' })
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.deepEqual(await addresses(stack), [])
    assert.deepEqual(await runs(stack), [{ action: 'PLAN', status: 'SUCCESS' }])
    assert.match((await stack.log()).join('\n'), /\+ create terraform_data\.first/)
    assert.deepEqual(await lastTerms(stack), ['DEPLOY_DRY_RUN', 'TERRAFORM_PLAN_ONLY'])
    assert.deepEqual(await events(stack, 2), ['TRIGGER_DEPLOY_DRY_RUN', 'DEPLOYED_DRY_RUN'])
  })

  it('a deletion with SKIP_DESTROY runs nothing', async () => {
    const { place, newStack } = get()
    const stack = await newStack()
    assert.equal((await stack.run(slowApply(0))).state, 'DEPLOYED')
    await place.server.must('DELETE', `/terraform/${stack.id}?force_terraform_action=SKIP_DESTROY`)
    assert.equal((await stack.settles()).state, 'GONE')
  })
}
