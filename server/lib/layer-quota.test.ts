import assert from 'node:assert/strict'
import { test } from 'node:test'
import { layerQuota } from './layer-quota.ts'

const root = '/var/lib/docker'
const mounted = (fileSystem: string, options = 'rw', place = root): string =>
  `22 1 254:0 / / rw - ext4 /dev/vda rw\n40 22 7:0 / ${place} rw - ${fileSystem} /dev/vdb ${options}`
const overlay = (backing: string, mountinfo: string) =>
  layerQuota({ driver: 'overlay2', status: [['Backing Filesystem', backing]], root, mountinfo })
const becauseOf = (quota: ReturnType<typeof layerQuota>) => (quota.isEnforced ? undefined : quota.because)

test('btrfs and zfs enforce a size, which includes the image on btrfs', () => {
  const btrfs = layerQuota({ driver: 'btrfs', status: [['Btrfs', '']], root, mountinfo: '' })
  const zfs = layerQuota({ driver: 'zfs', status: [['Zpool', 'tank']], root, mountinfo: '' })
  assert.deepEqual(btrfs, { isEnforced: true, countsImage: true, by: 'btrfs' })
  assert.deepEqual(zfs, { isEnforced: true, countsImage: false, by: 'zfs' })
})

test('containerd image stores enforce no size, whatever their snapshotter', () => {
  for (const driver of ['overlayfs', 'btrfs', 'zfs']) {
    const status = [['driver-type', 'io.containerd.snapshotter.v1']] as const
    assert.match(String(becauseOf(layerQuota({ driver, status, root, mountinfo: mounted('btrfs') }))), /containerd/)
  }
})

test('overlay2 enforces a size only on xfs with project quotas', () => {
  for (const option of ['prjquota', 'pquota'])
    assert.equal(overlay('xfs', mounted('xfs', `rw,attr2,${option}`)).isEnforced, true, option)
  assert.equal(overlay('xfs', mounted('xfs', 'rw,prjquota', `${root}/overlay2`)).isEnforced, true)
  for (const options of ['rw', 'rw,pqnoenforce', 'rw,usrquota,grpquota', 'rw,noquota'])
    assert.match(String(becauseOf(overlay('xfs', mounted('xfs', options)))), /without the mount option pquota/, options)
  assert.match(String(becauseOf(overlay('extfs', mounted('ext4', 'rw,prjquota')))), /overlay2 on extfs/)
  // The daemon sees other mounts than this process.
  assert.equal(overlay('xfs', mounted('ext4', 'rw,prjquota')).isEnforced, false)
  assert.equal(overlay('extfs', mounted('xfs', 'rw,prjquota')).isEnforced, false)
  assert.equal(overlay('xfs', '').isEnforced, false)
})

test('other storage drivers enforce no size', () => {
  for (const driver of ['vfs', 'fuse-overlayfs', 'aufs', 'devicemapper', 'unknown', ''])
    assert.equal(layerQuota({ driver, status: [], root, mountinfo: mounted('xfs', 'rw,prjquota') }).isEnforced, false)
})
