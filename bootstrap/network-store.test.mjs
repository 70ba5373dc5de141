import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { dataRootOfEngine, findHalfRemoved, mendNetworkStore, withoutHalfRemoved } from './network-store.mjs'

const directory = await mkdtemp(join(tmpdir(), 'quayside-networks-'))
after(() => rm(directory, { recursive: true }))

/**
 * Returns a network in the engine's format, in which lists are JSON strings.
 * @param {string} name
 */
const network = (name, { inDelete = false, info = true, version = 'V4' } = {}) =>
  Buffer.from(
    JSON.stringify({
      addrSpace: 'LocalDefault',
      inDelete,
      [`ipam${version}Config`]: JSON.stringify([{ PreferredPool: '', Gateway: '' }]),
      ...(info && {
        [`ipam${version}Info`]: JSON.stringify([{ IPAMData: JSON.stringify({ Pool: '172.18.0.0/16' }) }]),
      }),
      labels: { 'a "label"}': '{' },
      name,
    }),
  )
/** @param {Buffer[]} values */
const storeOf = (...values) => Buffer.concat(values.flatMap((value) => [Buffer.from([0x7b, 0, 255, 0x22]), value]))
/**
 * @param {Buffer} store
 * @param {number} at
 * @param {number} length
 */
const read = (store, at, length) => JSON.parse(store.toString('utf8', at, at + length))

test('withoutHalfRemoved repairs only half-removed networks, and moves no byte', () => {
  const whole = [network('whole'), network('removed later', { inDelete: true })]
  const cut = Buffer.from('{"addrSpace":"cut')
  for (const version of ['V4', 'V6']) {
    const broken = network('brøken', { inDelete: true, info: false, version })
    const before = storeOf(...whole, broken, cut)
    const { mended, names } = withoutHalfRemoved(before)
    assert.equal(names.length, 1)
    assert.equal(mended.length, before.length)
    const at = before.indexOf(broken)
    const { [`ipam${version}Config`]: list, ...rest } = read(mended, at, broken.length)
    const { [`ipam${version}Config`]: _, ...restBefore } = read(before, at, broken.length)
    assert.equal(list, '[]')
    assert.deepEqual(rest, restBefore)
    /** @param {Buffer} store */
    const others = (store) => Buffer.concat([store.subarray(0, at), store.subarray(at + broken.length)])
    assert.ok(others(mended).equals(others(before)))
  }
})

test('mendNetworkStore changes nothing when the store is intact, empty or missing', async () => {
  const store = storeOf(network('whole'), network('removed later', { inDelete: true }))
  assert.deepEqual(withoutHalfRemoved(store), { mended: store, names: [] })
  assert.deepEqual(withoutHalfRemoved(Buffer.alloc(0)).names, [])
  assert.deepEqual(findHalfRemoved(join(directory, 'nowhere')), [])
  assert.deepEqual(mendNetworkStore(join(directory, 'nowhere')), [])
})

test('mendNetworkStore keeps a copy of the original store', async () => {
  const path = join(directory, 'network', 'files')
  await mkdir(path, { recursive: true })
  const before = storeOf(network('broken', { inDelete: true, info: false }))
  await writeFile(join(path, 'local-kv.db'), before)
  assert.deepEqual(findHalfRemoved(directory), ['broken'])
  assert.deepEqual(mendNetworkStore(directory), ['broken'])
  assert.deepEqual(findHalfRemoved(directory), [])
  assert.ok((await readFile(join(path, 'local-kv.db.before-mending'))).equals(before))
})

test('dataRootOfEngine returns the configured directory, and the default one otherwise', () => {
  assert.equal(dataRootOfEngine(''), '/var/lib/docker')
  assert.equal(dataRootOfEngine('{"live-restore": true}'), '/var/lib/docker')
  assert.equal(dataRootOfEngine('{"data-root": "/srv/docker"}'), '/srv/docker')
  // The engine itself reports why it does not start with such settings.
  assert.equal(dataRootOfEngine('{"data-root": '), '/var/lib/docker')
})
