import { join } from 'node:path'
import { mountOf, parseMounts } from './mount-table.ts'

/** Facts about the place where Docker keeps the writable layers of containers. */
export interface LayerStorage {
  /** The storage driver: `overlay2`, `btrfs`. */
  readonly driver: string
  /** `DriverStatus` of Docker's `GET /info`. */
  readonly status: readonly (readonly [string, string])[]
  /** `DockerRootDir`. */
  readonly root: string
  /** The text of `/proc/self/mountinfo`. */
  readonly mountinfo: string
}

/**
 * Whether Docker can enforce a size of writable layers. `countsImage`: the size includes the image
 * below the layer, so the image's size must be added.
 */
export type LayerQuota =
  | { readonly isEnforced: true; readonly countsImage: boolean; readonly by: string }
  | { readonly isEnforced: false; readonly because: string }

/**
 * Pure: follows the storage drivers of moby. `btrfs` limits everything that a subvolume refers to,
 * including its image. `zfs` and `overlay2` count only the layer; `overlay2` needs project quotas
 * of xfs. Image stores of containerd accept a size and ignore it.
 */
export function layerQuota({ driver, status, root, mountinfo }: LayerStorage): LayerQuota {
  const store = status.find(([name]) => name === 'driver-type')?.[1]
  if (store !== undefined)
    return { isEnforced: false, because: `the image store of containerd (${driver}) has no limits of layers` }
  if (driver === 'btrfs') return { isEnforced: true, countsImage: true, by: 'btrfs' }
  if (driver === 'zfs') return { isEnforced: true, countsImage: false, by: 'zfs' }
  if (driver !== 'overlay2')
    return { isEnforced: false, because: `the storage driver ${driver} has no limits of layers` }
  const mount = mountOf(parseMounts(mountinfo), join(root, 'overlay2'))
  const backing = status.find(([name]) => name === 'Backing Filesystem')?.[1] || 'an unknown file system'
  if (backing !== 'xfs' || mount?.fileSystem !== 'xfs')
    return { isEnforced: false, because: `overlay2 on ${backing} has no limits of layers` }
  // With `pqnoenforce` the kernel counts and never refuses.
  if (!mount.options.has('prjquota') && !mount.options.has('pquota'))
    return { isEnforced: false, because: 'overlay2 on xfs has no limits of layers without the mount option pquota' }
  return { isEnforced: true, countsImage: false, by: 'overlay2 on xfs with project quotas' }
}
