import { dirname } from 'node:path/posix'
import { EngineError, type Release, type Task } from '../engine.ts'
import type { KubeObject } from './client/index.ts'
import { annotation, label } from './labels.ts'
import { labelsOf, type Setting } from './manifests.ts'
import { namespaceOf, runName } from './names.ts'
import { contentsOf, contentsSecret, podSettings, programContainer } from './program.ts'
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

/** Waits until it is asked to end. */
export const wait = 'trap "exit 0" TERM; while :; do sleep 3600 & wait $!; done'

/**
 * Returns the objects of one run. The Job is suspended: nothing begins before it is resumed. Pure.
 */
export function taskObjects(release: Release<Task>, run: string, setting: TaskSetting): KubeObject[] {
  const { workload } = release
  const name = runName(run)
  const contents = contentsOf(workload, name)
  const labels = { ...labelsOf(release, setting.instance), [label.run]: run }
  const metadata = { name, namespace: namespaceOf(release.environment), labels }
  const { outputFile } = workload
  const mount = outputFile === undefined ? [] : [{ name: outputVolume, mountPath: outputDirectory(outputFile) }]
  const program = programContainer(workload, { ...contents, mounts: [...mount, ...contents.mounts] })
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
          activeDeadlineSeconds: Math.max(1, workload.timeoutSeconds),
          terminationGracePeriodSeconds: workload.stopGraceSeconds,
          containers: [program, ...(outputFile === undefined ? [] : [keeper(setting)])],
          volumes: [
            ...(contents.mounts.length > 0 ? [{ name: 'files', secret: { secretName: name } }] : []),
            ...(outputFile === undefined ? [] : [{ name: outputVolume, emptyDir: { sizeLimit: '64Mi' } }]),
          ],
        },
      },
    },
  }
  return [contentsSecret(annotated(metadata, usersAnnotations(chosen, 'SECRETS')), contents), job]
}

/** An output file has a directory of its own, which is a volume while it runs. */
function outputDirectory(path: string): string {
  const directory = dirname(path)
  if (directory !== '/') return directory
  throw new EngineError('refused', `the output file ${path} must be inside a directory other than /`)
}

/** The place of the output file in the container that keeps it. */
export const keptOutput = (path: string): string => `/kept/${path.slice(path.lastIndexOf('/') + 1)}`

function keeper({ helperImage }: TaskSetting): object {
  if (helperImage === undefined) throw new EngineError('refused', 'the cluster has no image for output files of jobs')
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
