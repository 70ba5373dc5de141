import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../lib/id.ts'
import type { Release, Task } from '../engine.ts'
import { fileParts, keptFile } from './task-files.ts'
import { taskObjects } from './task-objects.ts'

const task: Task = {
  shape: 'task',
  image: 'image',
  arguments: [],
  variables: {},
  files: [],
  cpuMilli: 100,
  memoryMiB: 64,
  layerGiB: 3,
  aliases: [],
  timeoutSeconds: 60,
  stopGraceSeconds: 5,
  inputFiles: [{ path: '/run-files/plan', content: Buffer.from('canary-2207') }],
  outputFiles: [{ path: '/out/state', mostBytes: 10 }],
}
const release: Release<Task> = {
  id: newId(),
  service: newId(),
  environment: newId(),
  displayName: 'stack',
  workload: task,
}

test('no object of a run has the content of a file', () => {
  const text = JSON.stringify(taskObjects(release, 'run', { instance: 'one', helperImage: 'helper' }))
  const canary = Buffer.from('canary-2207')
  assert.ok(!text.includes('canary') && !text.includes(canary.toString('base64')))
})

test('each directory of files is a volume of the program and of the files container', () => {
  const { mounts, volumes } = fileParts(task, 'helper')
  assert.deepEqual(mounts, [
    { name: 'run-0', mountPath: '/run-files' },
    { name: 'run-1', mountPath: '/out' },
  ])
  assert.deepEqual(volumes, [
    { name: 'run-0', emptyDir: { sizeLimit: '3Gi' } },
    { name: 'run-1', emptyDir: { sizeLimit: '3Gi' } },
    { name: 'gate', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
  ])
  assert.equal(keptFile(task, '/out/state'), '/kept/1/state')
})

test('the pod of a run has no service account token, and its helpers have few rights', () => {
  const [, job] = taskObjects(release, 'run', { instance: 'one', helperImage: 'helper' })
  const { spec } = Object(job).spec.template
  assert.equal(spec.automountServiceAccountToken, false)
  assert.deepEqual([spec.initContainers.length, spec.containers.length], [1, 2])
  for (const { securityContext } of [...spec.initContainers, ...spec.containers]) {
    assert.equal(securityContext.allowPrivilegeEscalation, false)
    assert.deepEqual(securityContext.capabilities.drop, ['ALL'])
  }
})

test('a file in the root directory is rejected', () => {
  const inRoot = { ...task, outputFiles: [{ path: '/state', mostBytes: 10 }] }
  assert.throws(() => fileParts(inRoot, 'helper'), { reason: 'refused', message: /the file \/state of a run/ })
})
