import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDependencyFetcher } from './chart-fetcher.ts'

/** Returns the address that is asked for a dependency of this repository. */
async function askedFor(repository: string): Promise<string> {
  const asked: string[] = []
  const charts = {
    charts: () => Promise.resolve([]),
    defaultValues: () => Promise.resolve(''),
    fetch: ({ url }: { readonly url: string }) => {
      asked.push(url)
      return Promise.resolve(Buffer.alloc(0))
    },
  }
  const fetch = createDependencyFetcher(() => ({ charts }))
  await fetch({ repository, name: 'a', version: '1.0.0' }, AbortSignal.timeout(1_000))
  return asked.join()
}

test('a registry of dependencies is asked with TLS unless its address is a loopback one', async () => {
  for (const host of ['registry.example.org', '127.0.0.1.example.org', 'localhost.example.org', '10.0.0.1:5000']) {
    assert.equal(await askedFor(`oci://${host}/charts`), `https://${host}/charts`)
  }
  for (const host of ['localhost:5000', '127.0.0.1', '[::1]:5000']) {
    assert.equal(await askedFor(`oci://${host}/charts`), `http://${host}/charts`)
  }
  assert.equal(await askedFor('https://charts.example.org'), 'https://charts.example.org')
})
