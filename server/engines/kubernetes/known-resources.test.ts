import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KubeError } from './client/index.ts'
import { resourcesOf, rightsWith } from './known-resources.ts'
import { rights } from './rights.ts'

const signal = new AbortController().signal

/** A cluster with these documents, each a list or the status of a refusal. */
const cluster = (documents: Readonly<Record<string, object | number>>) => ({
  raw: async (path: string): Promise<unknown> => {
    const found = documents[path] ?? 404
    if (typeof found === 'number') throw new KubeError(found, `Status${found}`, 'refused')
    return found
  },
})
const groups = (...names: readonly string[]) => ({
  groups: names.map((name) => ({ name, versions: [{ groupVersion: `${name}/v1` }] })),
})
const askedOf = async (documents: Readonly<Record<string, object | number>>) =>
  rightsWith(await resourcesOf(cluster(documents), signal)).map(({ group, resource }) => `${group}/${resource}`)

test('optional rights are asked for if the cluster has their resources, and the others always', async () => {
  const asked = await askedOf({
    '/apis': groups('keda.sh', 'cert-manager.io', 'example.org'),
    '/apis/keda.sh/v1': { resources: [{ name: 'scaledobjects' }] },
    '/apis/cert-manager.io/v1': { resources: [{ name: 'certificates' }, { name: 'certificates/status' }] },
  })
  const extra = rights.filter(({ group, isOptional }) => isOptional && group !== '')
  const kept = extra.map(({ group, resource }) => `${group}/${resource}`).filter((one) => asked.includes(one))
  assert.deepEqual(kept, ['keda.sh/scaledobjects', 'cert-manager.io/certificates'])
  assert.equal(asked.length, rights.length - extra.length + 2)
})

test('a group whose program is away has no rights to ask for', async () => {
  for (const status of [404, 503]) {
    const asked = await askedOf({ '/apis': groups('metrics.k8s.io'), '/apis/metrics.k8s.io/v1': status })
    assert.deepEqual(
      asked.filter((one) => one.startsWith('metrics.k8s.io')),
      [],
    )
  }
})

test('all rights are asked for if the cluster does not tell what it has', async () => {
  const telling = { '/apis': groups('metrics.k8s.io'), '/apis/metrics.k8s.io/v1': { resources: [] } }
  for (const path of ['/apis', '/apis/metrics.k8s.io/v1']) {
    assert.equal((await askedOf({ ...telling, [path]: 403 })).length, rights.length, path)
  }
  assert.ok((await askedOf(telling)).length < rights.length)
})
