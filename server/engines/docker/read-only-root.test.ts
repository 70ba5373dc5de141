import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeOf, placesToWrite, writableDirectories } from './read-only-root.ts'

const file = (path: string) => ({ path, content: '' })
const of = (paths: readonly string[], more: object = {}) => ({ hasReadOnlyRoot: true, files: paths.map(file), ...more })

test('a writable root needs no volumes for its files', () => {
  assert.deepEqual(writableDirectories({ files: [file('/etc/app/a')] }), [])
  assert.deepEqual(placesToWrite({ files: [] }), ['/'])
})

test('a read-only root has a volume for each directory of files, except below storage or another one', () => {
  const storage = [{ mountPoint: '/data' }]
  const workload = of(['/etc/app/a', '/etc/app/deep/b', '/data/c', '/opt/d'], { storage, outputFile: '/out/file' })
  assert.deepEqual(writableDirectories(workload), ['/etc/app', '/opt', '/out'])
  assert.deepEqual(placesToWrite(workload), ['/data', '/etc/app', '/opt', '/out'])
})

test('a file directly below a read-only root is rejected', () => {
  assert.throws(() => writableDirectories(of(['/a'])), { reason: 'refused', message: /read_only_root_filesystem/ })
})

test('placeOf returns the innermost place that contains the path', () => {
  assert.equal(placeOf('/data/in/x', ['/data', '/data/in', '/dat']), '/data/in')
  assert.equal(placeOf('/x', ['/']), '/')
})
