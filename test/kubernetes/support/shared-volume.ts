import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { kubectl } from '../cluster/commands.ts'
import { node, state } from '../cluster/settings.ts'

/**
 * Makes a volume of this storage class that several pods of the node mount. It is removed with
 * `opened`.
 */
export async function makeSharedVolume(opened: AsyncDisposableStack, storageClassName: string): Promise<void> {
  const volumes = join(state, 'volumes')
  await mkdir(volumes, { recursive: true })
  const path = await mkdtemp(join(volumes, 'shared-'))
  opened.defer(() => rm(path, { recursive: true, force: true }))
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: storageClassName },
    spec: {
      storageClassName,
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
          ],
        },
      },
    },
  }
  await kubectl(['create', '--filename', '-'], { stdin: JSON.stringify(volume) })
  opened.defer(() => kubectl(['delete', 'persistentvolume', storageClassName, '--wait=false']).then(() => {}))
}
