import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mountOf, parseMounts } from './mount-table.ts'

const table = [
  '22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=continue',
  '40 22 7:0 / /var/lib/docker rw,noatime shared:9 master:1 - xfs /dev/loop0 rw,attr2,inode64,prjquota',
  String.raw`41 22 0:35 / /mnt/two\040words rw - tmpfs a\040name rw,size=1024k`,
  '42 40 7:1 /data /var/lib/docker/btrfs rw - btrfs /dev/loop1 rw,subvol=/data',
].join('\n')

test('a line of mountinfo is a mount with the options of both of its lists', () => {
  const [root, docker, words] = parseMounts(table)
  assert.deepEqual(root, {
    mountPoint: '/',
    fileSystem: 'ext4',
    options: new Set(['rw', 'relatime', 'errors=continue']),
  })
  assert.deepEqual([docker?.fileSystem, docker?.options.has('prjquota')], ['xfs', true])
  assert.deepEqual([words?.mountPoint, words?.fileSystem], ['/mnt/two words', 'tmpfs'])
})

test('lines of another form are skipped', () => {
  for (const text of ['', '\n', 'nonsense', '1 2 3:4 / /x', '1 2 3:4 / /x rw -', ' - ext4 /dev/vda rw'])
    assert.deepEqual(parseMounts(text), [], text)
})

test('a path is on the deepest mount above it', () => {
  const mounts = parseMounts(table)
  const at = (path: string) => mountOf(mounts, path)?.fileSystem
  assert.deepEqual(
    ['/', '/var/lib', '/var/lib/docker', '/var/lib/docker/overlay2', '/var/lib/docker/btrfs/x', '/var/lib/dockers'].map(
      at,
    ),
    ['ext4', 'ext4', 'xfs', 'xfs', 'btrfs', 'ext4'],
  )
  assert.equal(mountOf([], '/'), undefined)
})

test('the last of two mounts at one place wins', () => {
  const over = '43 40 7:2 / /var/lib/docker rw - ext4 /dev/loop2 rw'
  assert.equal(mountOf(parseMounts(`${table}\n${over}`), '/var/lib/docker/overlay2')?.fileSystem, 'ext4')
})
