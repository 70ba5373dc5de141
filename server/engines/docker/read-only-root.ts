import { EngineError, type Task, type Workload } from '../engine.ts'
import { writtenFiles } from '../program-rules.ts'

/** The settings that decide where a program with a read-only root may write. */
type Written = Pick<Workload, 'hasReadOnlyRoot' | 'files'> &
  Pick<Task, 'outputFile' | 'inputFiles' | 'outputFiles'> & {
    readonly storage?: readonly { readonly mountPoint: string }[]
  }

export const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'
const isInside = (path: string, directory: string): boolean => path === directory || path.startsWith(`${directory}/`)

/**
 * Lists the directories that need their own volume in a container with a read-only root: those of
 * mounted files and files of a task, except below a storage. Docker fills such a volume from the
 * image and removes it with the container. Docker never writes to a read-only root, not even before
 * the start. Throws EngineError('refused') for a file directly below the root.
 */
export function writableDirectories(workload: Written): string[] {
  if (!workload.hasReadOnlyRoot) return []
  const mounted = (workload.storage ?? []).map(({ mountPoint }) => mountPoint)
  const paths = [...workload.files.map(({ path }) => path), ...writtenFiles(workload)]
  const wanted = [...new Set(paths.map(directoryOf))].sort()
  const own: string[] = []
  for (const directory of wanted) {
    if (directory === '/') {
      throw new EngineError(
        'refused',
        'a file directly below / cannot be mounted while the root filesystem is read-only; give it a path such ' +
          'as /config/file, or set security.read_only_root_filesystem to false',
      )
    }
    if (![...mounted, ...own].some((other) => isInside(directory, other))) own.push(directory)
  }
  return own
}

/**
 * Lists the places where files can be written before a container starts: the whole root, or only
 * the volumes of a read-only root.
 */
export const placesToWrite = (workload: Written): string[] =>
  workload.hasReadOnlyRoot
    ? [...(workload.storage ?? []).map(({ mountPoint }) => mountPoint), ...writableDirectories(workload)]
    : ['/']

/** Returns the innermost of these places that contains a path. */
export const placeOf = (path: string, places: readonly string[]): string =>
  places
    .filter((place) => place === '/' || isInside(path, place))
    .reduce((inner, place) => (place.length > inner.length ? place : inner), '/')
