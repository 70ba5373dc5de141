import { basename, dirname } from 'node:path/posix'
import { EngineError, type Task } from '../engine.ts'
import { writtenFiles } from '../program-rules.ts'

/**
 * The container that receives the input files of a run, and keeps all its files after its end. It
 * runs before the program begins, and Kubernetes ends it after the program.
 */
export const filesContainer = 'files'
/** Keeps the pod of a run after its program has ended, until its files were read. */
export const holdContainer = 'hold'

/** A directory of the files container, which the program of the run cannot reach. */
const gate = '/gate'
/** Files in it: the input is complete, and the output was read. */
export const marks = { open: `${gate}/open`, read: `${gate}/read` } as const

/** How long the files are kept if somebody deletes the pod of a running program. */
const lingerSeconds = 10

/** Waits until it is asked to end. */
export const wait = 'trap "exit 0" TERM; while :; do sleep 3600 & wait $!; done'
const waitForReader =
  `leave() { n=0; while [ ! -e ${marks.read} ] && [ $n -lt ${lingerSeconds} ]; do sleep 1; n=$((n + 1)); done; ` +
  'exit 0; }; trap leave TERM; while :; do sleep 3600 & wait $!; done'

type Files = Pick<Task, 'outputFile' | 'inputFiles' | 'outputFiles' | 'layerGiB'>

/** Whether a run has files that are sent to it or read while it runs. */
export const hasFiles = ({ inputFiles, outputFiles }: Files): boolean =>
  inputFiles !== undefined || outputFiles !== undefined

/**
 * Returns the directories of the files of a task, each of which is a volume. Throws
 * EngineError('refused') for a file outside any directory.
 */
function directoriesOf(files: Files): string[] {
  const outside = writtenFiles(files).find((path) => dirname(path) === '/')
  if (outside === undefined) return [...new Set(writtenFiles(files).map((path) => dirname(path)))]
  throw new EngineError('refused', `the file ${outside} of a run must be inside a directory other than /`)
}

/** Returns the place of a file of the task in the files container. */
export const keptFile = (files: Files, path: string): string =>
  `/kept/${directoriesOf(files).indexOf(dirname(path))}/${basename(path)}`

/** The parts of a pod through which the files of its run travel. */
export interface FileParts {
  readonly mounts: readonly object[]
  readonly initContainers: readonly object[]
  readonly containers: readonly object[]
  readonly volumes: readonly object[]
}

/**
 * Returns the parts of the pod of a task that has files. The program begins once its input files
 * are complete. Pure.
 */
export function fileParts(files: Files, helperImage: string): FileParts {
  const volumes = directoriesOf(files).map((directory, index) => ({ name: `run-${index}`, directory, index }))
  const sizeLimit = files.layerGiB === undefined ? {} : { sizeLimit: `${Math.max(1, files.layerGiB)}Gi` }
  const keeper = {
    ...helper(filesContainer, helperImage, waitForReader),
    restartPolicy: 'Always',
    volumeMounts: [
      ...volumes.map(({ name, index }) => ({ name, mountPath: `/kept/${index}` })),
      { name: 'gate', mountPath: gate },
    ],
    startupProbe: {
      exec: { command: ['sh', '-c', `[ -e ${marks.open} ]`] },
      periodSeconds: 1,
      timeoutSeconds: 10,
      // The server may be away for long before it sends the files.
      failureThreshold: 1_000_000,
    },
  }
  return {
    mounts: volumes.map(({ name, directory }) => ({ name, mountPath: directory })),
    initContainers: [keeper],
    containers: [helper(holdContainer, helperImage, wait)],
    volumes: [
      ...volumes.map(({ name }) => ({ name, emptyDir: sizeLimit })),
      { name: 'gate', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    ],
  }
}

const helper = (name: string, image: string, program: string) => ({
  name,
  image,
  imagePullPolicy: 'IfNotPresent',
  command: ['sh', '-c', program.replaceAll('$', '$$$$')],
  resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '1m', memory: '8Mi' } },
  securityContext: {
    runAsUser: 0,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE'] },
    seccompProfile: { type: 'RuntimeDefault' },
    readOnlyRootFilesystem: true,
  },
})
