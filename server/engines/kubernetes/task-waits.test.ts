import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { silent } from '../../lib/attempt.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Pod } from './client/index.ts'
import { startRunWait } from './task-waits.ts'

const unschedulable = (message: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'pod' },
  spec: { containers: [{ name: 'main' }] },
  status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] },
})

/** A wait whose time is over when `end` is called. */
function startWait(output = silent) {
  const over = Promise.withResolvers<void>()
  const clock = { ...systemClock, sleep: () => over.promise }
  return { wait: startRunWait({ clock, helperImage: 'helper' }, output), end: over.resolve }
}

test('a run that waits too long fails with what it waited for last', async () => {
  const { wait, end } = startWait()
  for (const message of ['0/1 nodes are available', '0/2 nodes are available']) wait.see(unschedulable(message))
  end()
  await once(wait.signal, 'abort')
  const { reason, message } = wait.signal.reason
  assert.equal(reason, 'not-ready')
  assert.match(message, /took the run within 900 s: no node takes it: 0\/2 nodes are available$/)
})

test('each reason is reported once, and the usual creation of a pod is not', () => {
  const lines: string[] = []
  const { wait } = startWait({ line: (text) => void lines.push(text) })
  const pod = unschedulable('no room')
  wait.see({ ...pod, status: { containerStatuses: [] } })
  for (let times = 0; times < 3; times++) wait.see(pod)
  assert.deepEqual(lines, ['The run waits: no node takes it: no room.'])
})
