import { type Pack, pack } from 'tar-stream'

/**
 * The ids of users in build steps. The published image has 65,536, and some images give files to
 * users with larger numbers.
 */
const map = 'user:100000:2000000000\n'

/** Pure: returns an archive of the files that say which ids the daemon's user namespace has. */
export function idMaps(): Pack {
  const files = pack()
  for (const name of ['subuid', 'subgid']) files.entry({ name, mode: 0o644 }, map)
  files.finalize()
  return files
}
