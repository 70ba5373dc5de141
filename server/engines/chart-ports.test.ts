import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChartService } from './chart.ts'
import { podsOfPort, withChartEndpoints } from './chart-ports.ts'
import type { ChartPod, Observation, Replica } from './observation.ts'

const web: ChartService = {
  name: 'web',
  type: 'ClusterIP',
  ports: [{ name: 'http', port: 80, target: 'http' }],
  selectors: [{ key: 'app', value: 'web' }],
}
const port = { name: 'site', internal_port: 80, service_name: 'web' }

const replica = (name: string, pod?: ChartPod): Replica => ({
  ...{ name, release: 'r', running: true, image: '', exits: 0, outOfMemory: false, endpoints: [] },
  ...(pod && { pod }),
})
const pod = (address: string | undefined, app = 'web', ports: Record<string, number> = { http: 8080 }): ChartPod => ({
  ...{ labels: { app, more: 'yes' }, ports, address },
})
const seen = (...replicas: Replica[]): Observation => ({ state: 'running', release: 'r', replicas, services: [web] })
const endpointsOf = (observation: Observation) =>
  observation.state === 'absent' ? [] : observation.replicas.flatMap(({ endpoints }) => endpoints)

test('a port leads to the ready pods that its Service selects, at the port that they name', () => {
  const others = [replica('b', pod(undefined)), replica('c', pod('10.0.0.3', 'other')), replica('d')]
  const found = withChartEndpoints(seen(replica('a', pod('10.0.0.1')), ...others), [port])
  const of = { name: 'site', port: 80, pods: { app: 'web' } }
  assert.deepEqual(endpointsOf(found), [{ replica: 'a', address: '10.0.0.1', port: 8080, of }])
})

test('a port with selectors leads to the pods with all of these labels', () => {
  const selectors = (value: string) => [
    { key: 'app', value: 'web' },
    { key: 'more', value },
  ]
  const at = (value: string) => ({ name: 'pods', internal_port: 9000, service_selectors: selectors(value) })
  const here = seen(replica('a', pod('10.0.0.1')))
  assert.deepEqual(
    endpointsOf(withChartEndpoints(here, [at('yes')])).map(({ port: number }) => number),
    [9000],
  )
  assert.deepEqual(endpointsOf(withChartEndpoints(here, [at('no')])), [])
})

test('pods of two versions have the port that each of them names', () => {
  const both = seen(replica('a', pod('10.0.0.1')), replica('b', pod('10.0.0.2', 'web', { http: 9090 })))
  const found = endpointsOf(withChartEndpoints(both, [port]))
  assert.deepEqual(
    found.map(({ address, port: number }) => `${address}:${number}`),
    ['10.0.0.1:8080', '10.0.0.2:9090'],
  )
})

test('a port that leads nowhere says why', () => {
  const problem = (change: object, services = [web]) => Object(podsOfPort({ ...port, ...change }, services)).problem
  assert.match(problem({ service_name: 'db' }), /"db", which the chart does not have\. The Services .* are "web"/)
  assert.match(problem({}, []), /The chart has no Service/)
  assert.match(problem({ internal_port: 81 }), /is 81, which the Service "web" does not have\. It has 80/)
  assert.match(problem({}, [{ ...web, selectors: [] }]), /selects no pods/)
})

test('an observation keeps no details of pods', () => {
  assert.deepEqual(withChartEndpoints(seen(replica('a', pod('10.0.0.1'))), []), {
    state: 'running',
    release: 'r',
    replicas: [replica('a')],
  })
})
