import { dirname } from 'node:path/posix'
import { EngineError, type Release, type Task } from '../engine.ts'
import type { KubeObject } from './client/index.ts'
import { annotation, label } from './labels.ts'
import { labelsOf, type Setting } from './manifests.ts'
import { namespaceOf, runName } from './names.ts'
import { contentsOf, contentsSecret, podSettings, programContainer } from './program.ts'
import { type FileParts, fileParts, hasFiles, wait } from './task-files.ts'
import { annotated, usersAnnotations } from './users-annotations.ts'
import { usersLabels } from './users-labels.ts'

/** The container that keeps the output file of a run until it was read. */
export const keeperContainer = 'output'
const outputVolume = 'output'

/** The values on which the objects of a run depend, in addition to the release. */
export interface TaskSetting extends Setting {
  /** An image with a shell and the usual tools. Needed for runs with an output file. */
  readonly helperImage?: string | undefined
}

/** How long the files of a run that has ended wait for a server that is away. */
const keptSeconds = 7 * 24 * 3600

/**
 * Returns the objects of one run. The Job is suspended: nothing begins before it is resumed. Pure.
 */
export function taskObjects(release: Release<Task>, run: string, setting: TaskSetting): KubeObject[] {
  const { workload } = release
  const name = runName(run)
  const contents = contentsOf(workload, name)
  const labels = { ...labelsOf(release, setting.instance), [label.run]: run }
  const metadata = { name, namespace: namespaceOf(release.environment), labels }
  const parts = partsOf(workload, setting)
  const program = programContainer(workload, { ...contents, mounts: [...parts.mounts, ...contents.mounts] })
  const chosen = { displayName: release.displayName, workload }
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      ...metadata,
      annotations: { ...usersAnnotations(chosen, 'JOBS'), [annotation.name]: release.displayName },
    },
    spec: {
      suspend: true,
      // A run happens once: a new try is another run.
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      template: {
        metadata: {
          labels: { ...usersLabels(chosen), ...labels },
          annotations: { ...usersAnnotations(chosen, 'PODS'), [annotation.name]: release.displayName },
        },
        spec: {
          ...podSettings(setting.pullSecret),
          restartPolicy: 'Never',
          ...(workload.nodeLabels && { nodeSelector: workload.nodeLabels }),
          activeDeadlineSeconds: Math.max(1, workload.timeoutSeconds) + (hasFiles(workload) ? keptSeconds : 0),
          terminationGracePeriodSeconds: workload.stopGraceSeconds,
          ...(parts.initContainers.length > 0 && { initContainers: parts.initContainers }),
          containers: [program, ...parts.containers],
          volumes: [
            ...(contents.mounts.length > 0 ? [{ name: 'files', secret: { secretName: name } }] : []),
            ...parts.volumes,
          ],
        },
      },
    },
  }
  return [contentsSecret(annotated(metadata, usersAnnotations(chosen, 'SECRETS')), contents), job]
}

const noParts: FileParts = { mounts: [], initContainers: [], containers: [], volumes: [] }

/**
 * Returns the parts of a pod for the files of its run. The limits of time of a run with files are
 * the platform's, because Kubernetes would end the container that keeps them as well.
 */
function partsOf(workload: Task, { helperImage }: TaskSetting): FileParts {
  const { outputFile } = workload
  if (outputFile === undefined && !hasFiles(workload)) return noParts
  if (helperImage === undefined) throw new EngineError('refused', 'the cluster has no image for files of runs')
  if (hasFiles(workload)) return fileParts(workload, helperImage)
  return {
    ...noParts,
    mounts: outputFile === undefined ? [] : [{ name: outputVolume, mountPath: outputDirectory(outputFile) }],
    containers: [keeper(helperImage)],
    volumes: [{ name: outputVolume, emptyDir: { sizeLimit: '64Mi' } }],
  }
}

/** An output file has a directory of its own, which is a volume while it runs. */
function outputDirectory(path: string): string {
  const directory = dirname(path)
  if (directory !== '/') return directory
  throw new EngineError('refused', `the output file ${path} must be inside a directory other than /`)
}

/** The place of the output file in the container that keeps it. */
export const keptOutput = (path: string): string => `/kept/${path.slice(path.lastIndexOf('/') + 1)}`

function keeper(helperImage: string): object {
  const limits = { cpu: '50m', memory: '32Mi' }
  return {
    name: keeperContainer,
    image: helperImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', wait.replaceAll('$', '$$$$')],
    resources: { limits, requests: { cpu: '1m', memory: '8Mi' } },
    volumeMounts: [{ name: outputVolume, mountPath: '/kept', readOnly: true }],
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE'] },
      seccompProfile: { type: 'RuntimeDefault' },
      readOnlyRootFilesystem: true,
    },
  }
}
