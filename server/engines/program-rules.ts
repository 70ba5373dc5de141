import { Secret } from '../lib/secret.ts'
import { EngineError } from './engine-error.ts'
import type { OutputFile, Task, Workload } from './workload.ts'

/**
 * The capabilities that ordinary images need if they start as root and then drop to their own user
 * (PostgreSQL, nginx, Redis …): to take over and enter their data directories, change user, and
 * signal workers of that user. The other defaults of Docker and containerd (raw sockets, device
 * nodes, chroot, file capabilities, audit) are dropped. Programs that never were root have none of
 * these either.
 */
export const addedCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID']

/**
 * Returns the variables of a program in plain text. Throws EngineError('refused') for names and
 * values that a program cannot receive.
 */
export const checkedVariables = ({ variables }: Pick<Workload, 'variables'>): [string, string][] =>
  Object.entries(variables).map(([name, value]) => {
    const text = value instanceof Secret ? value.reveal() : value
    if (!/^[^\s=\0]+$/.test(name)) {
      throw new EngineError(
        'refused',
        `variable name ${JSON.stringify(name)} is empty or contains a space or "="; rename it`,
      )
    }
    if (text.includes('\0')) {
      throw new EngineError('refused', `variable ${name} contains a NUL character, which no program accepts; remove it`)
    }
    return [name, text]
  })

/** Lists the files of a task whose directories every user may write to. */
export const writtenFiles = ({
  outputFile,
  inputFiles = [],
  outputFiles = [],
}: Pick<Task, 'outputFile' | 'inputFiles' | 'outputFiles'>): string[] => [
  ...(outputFile === undefined ? [] : [outputFile]),
  ...[...inputFiles, ...outputFiles].map(({ path }) => path),
]

/** Pure: returns a task with the output files to read after an end with this exit code. */
export const endedWith = <T extends Pick<Task, 'outputFiles' | 'filelessExitCode'>>(task: T, exitCode?: number): T =>
  exitCode !== undefined && exitCode === task.filelessExitCode ? { ...task, outputFiles: [] } : task

/**
 * Returns the output file of a task at this path. Throws EngineError('refused') for another path.
 */
export function outputFileAt({ outputFiles = [] }: Pick<Task, 'outputFiles'>, path: string): OutputFile {
  const found = outputFiles.find((file) => file.path === path)
  if (found) return found
  throw new EngineError('refused', `the run has no output file ${path}`)
}

/**
 * Throws EngineError('refused') if a path of a mounted file, a storage or a file of a task cannot
 * be used.
 */
export function checkPaths(workload: Workload): void {
  const ofShape =
    workload.shape === 'task' ? writtenFiles(workload) : workload.storage.map(({ mountPoint }) => mountPoint)
  const paths = [...ofShape, ...workload.files.map((file) => file.path)]
  for (const path of paths) {
    const parts = path.split('/').slice(1)
    const isPlain = path.startsWith('/') && parts.every((part) => part !== '' && part !== '.' && part !== '..')
    if (!isPlain || path.includes('\0') || ['proc', 'sys', 'dev'].includes(parts[0] ?? '')) {
      throw new EngineError(
        'refused',
        `${JSON.stringify(path)} is not a usable path: use an absolute path outside /proc, /sys and /dev`,
      )
    }
  }
}
