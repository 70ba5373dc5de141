import { helperPlace } from './volume-helper.ts'

const { above, name } = helperPlace

/** Prints the archive of a volume. Times of access would make equal volumes differ. */
export const packCommand: readonly string[] = [
  'tar',
  `--directory=${above}`,
  '--format=posix',
  '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
  '--numeric-owner',
  '--sort=name',
  '--create',
  '--file=-',
  name,
]

/** Fills a volume from the archive at its input, below this path. */
export const unpackCommand = (below: string): readonly string[] => [
  'tar',
  `--directory=${below}`,
  '--numeric-owner',
  '--same-owner',
  '--preserve-permissions',
  '--extract',
  '--file=-',
]

/** Stores what was written on its disk. */
export const syncCommand: readonly string[] = ['sync']
