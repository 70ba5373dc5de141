import { strToU8, zipSync } from 'fflate'

/**
 * Returns an archive of a few small files, each deflated. A `/` in a name is a directory. The files
 * must total less than 4 GiB. File times are in UTC: the format has no time zone, so the same files
 * and time give the same bytes everywhere.
 */
export function zip(files: Readonly<Record<string, string>>, at: Date): Buffer {
  const entries = Object.entries(files).map(([name, text]) => [name, strToU8(text)])
  // fflate writes local times; these are replaced below, so any valid one will do.
  const archive = Buffer.from(zipSync(Object.fromEntries(entries), { mtime: '2000-01-02T00:00:00Z' }))
  setTimes(archive, dosTime(at))
  return archive
}

/**
 * Writes the time into every entry of the directory at the end, and into the header of its file.
 */
function setTimes(archive: Buffer, time: number): void {
  const end = archive.length - 22
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    archive.writeUInt32LE(time, at + 12)
    archive.writeUInt32LE(time, archive.readUInt32LE(at + 42) + 10)
    at += 46 + archive.readUInt16LE(at + 28) + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
}

/** Returns a time in UTC as zip writes it: two seconds exact, from 1980. */
function dosTime(at: Date): number {
  const since = at.getUTCFullYear() - 1980
  if (since < 0) return (1 << 21) | (1 << 16)
  const date = (since << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  const clock = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  return ((date << 16) | clock) >>> 0
}
