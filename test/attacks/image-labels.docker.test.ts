import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { engineForTests } from '../../server/builders/docker/engine-for-tests.ts'
import { label } from '../../server/engines/docker/labels.ts'
import { type DockerBench, openDockerBench } from '../../server/engines/docker/test-bench.ts'
import { importTestImage, removeTestImage } from '../../server/engines/docker/test-image.ts'
import { changeImage } from '../../server/engines/docker/test-push.ts'
import { openTaskBench } from '../../server/engines/docker/test-task-bench.ts'
import { attempt, newRelease } from '../../server/engines/engine.cases.ts'
import { newTask, type TaskBench } from '../../server/engines/engine.tasks.cases.ts'
import { newId } from '../../server/lib/id.ts'

const { socketPath, skip } = await engineForTests()

/** A container has the labels of its image, except those that its creator sets. */
describe('labels of images', { skip }, () => {
  const image = `quayside-engine-test/labels:${newId().slice(-8)}`
  const forged = `${image}-forged`
  let bench: DockerBench
  let tasks: TaskBench
  before(async () => {
    await importTestImage(socketPath, image)
    bench = await openDockerBench({ socketPath, image })
    tasks = await openTaskBench({ socketPath, image })
  })
  after(async () => {
    await bench?.close()
    await tasks?.close()
    await removeTestImage(socketPath, image)
  })

  /** Starts a service and a task of an image that has the label. */
  async function tryLabel(name: string, value: string): Promise<string[]> {
    await changeImage(socketPath, image, forged, [`LABEL ${name}=${JSON.stringify(value)}`])
    const release = newRelease({ ...bench.workload('web'), image: forged })
    const task = newTask({ ...tasks.task('works'), image: forged })
    const say = (error: Error): string => error.message
    const service = await bench.engine.start(release, { ...attempt(), whenBegun: () => {} }).then(() => 'started', say)
    const run = await tasks.engine.prepareTask(task, newId(), attempt()).then(() => 'started', say)
    await bench.reset()
    await tasks.close()
    await removeTestImage(socketPath, forged)
    return [service, run]
  }

  for (const name of [label.liveness, label.postStart, label.preStop, label.run, label.copy, label.holder]) {
    it(`cannot set ${name}, on which the engine acts`, async () => {
      const [service, task] = await tryLabel(name, 'no JSON')
      assert.match(service ?? '', new RegExp(`the image sets the label ${name}`))
      // A task has its own run id.
      if (name !== label.run) assert.match(task ?? '', new RegExp(`the image sets the label ${name}`))
    })
  }

  it('of other programs, and those that the builder sets, do not prevent a start', async () => {
    assert.deepEqual((await tryLabel('org.example.liveness', 'x'))[0], 'started')
    assert.deepEqual((await tryLabel(label.service, newId()))[0], 'started')
  })
})
