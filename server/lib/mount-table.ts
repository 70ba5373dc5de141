/** A mounted file system. */
export interface Mount {
  readonly mountPoint: string
  readonly fileSystem: string
  /** Options of the mount and of its file system: `rw`, `prjquota`. */
  readonly options: ReadonlySet<string>
}

/** Pure: reads the text of `/proc/self/mountinfo`. Skips lines of another form. */
export function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [own = '', further = ''] = line.split(' - ', 2)
    const [, , , , mountPoint, mountOptions] = own.split(' ')
    const [fileSystem, , superOptions = ''] = further.split(' ')
    if (!mountPoint || mountOptions === undefined || !fileSystem) return []
    const options = new Set([...mountOptions.split(','), ...superOptions.split(',')].filter((option) => option !== ''))
    return [{ mountPoint: unescaped(mountPoint), fileSystem, options }]
  })
}

/** The kernel writes a space as `\040`. */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))

/** Pure: returns the file system of a path. The last of two mounts at one place hides the first. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  let found: Mount | undefined
  for (const mount of mounts) {
    const isAbove = mount.mountPoint === '/' || path === mount.mountPoint || path.startsWith(`${mount.mountPoint}/`)
    if (isAbove && mount.mountPoint.length >= (found?.mountPoint.length ?? 0)) found = mount
  }
  return found
}
