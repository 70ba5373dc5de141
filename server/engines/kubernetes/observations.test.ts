import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { kinds } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { label } from './labels.ts'
import { Observations } from './observations.ts'

test('Deployments that belong to no service are not observed as one', async (t) => {
  const service = newId()
  const deployment = (name: string, labels: Record<string, string>) => ({
    ...kinds.deployment,
    metadata: { name, namespace: 'a', labels },
    spec: { replicas: 1 },
  })
  const items = [
    deployment('router', { [label.router]: 'true' }),
    deployment('odd', { [label.service]: 'shop' }),
    deployment('own', { [label.service]: service, [label.release]: newId() }),
  ]
  const kube = {
    list: async ({ kind }: { kind: string }) => ({ items: kind === 'Deployment' ? items : [], resourceVersion: '1' }),
    watch: async function* (_kind: unknown, _selection: unknown, signal: AbortSignal) {
      await clock.sleep(60_000, signal).catch(() => {})
    },
  }
  // Nothing else of the host is used.
  const host = { kube, clock, instance: 'test', mayConnect: () => true } as unknown as KubeHost
  const observations = new Observations(host)
  t.after(() => observations.close())
  assert.deepEqual([...(await observations.all(AbortSignal.timeout(5_000))).keys()], [service])
})
