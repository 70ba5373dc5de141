import { join } from 'node:path'
import { sizesOf } from '../../console/sizes.ts'
import { absolute, atMost, type Figure } from '../figure.ts'

const dist = join(import.meta.dirname, '..', '..', 'console', 'dist')

/** Returns the most that a page loads beside the first one, by the manifest of the build. */
export async function measurePages(): Promise<Figure> {
  const { more } = await sizesOf(dist)
  return absolute('console-bytes-more', more[0]?.kB ?? Number.NaN, 'kB', atMost(100))
}
